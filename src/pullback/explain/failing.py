"""What failed when a program raised an exception: read off the frames through which the exception has passed.

An exception's traceback holds the calls that were open, with their variables: the module, the operation and what both
were given. What was recorded before is no evidence of what failed, and is used for names and places alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import Tensor
from ..nn.modules.calls import headline
from ..observe import Node, called_function, entries, is_internal, is_of_program, node as node_of, uncalled_function
from .clashes import TAKES, Misfit, clash, said
from .naming import Named, name_of, names_in
from .scopes import MODULE_CALL, Scopes
from .sources import Place, place_of, shortened, text_of
from .trace import Argument, Failure, Stage

if TYPE_CHECKING:
    from .trace import Call, Overwritten, Scope


MOST_ARGUMENTS = 12
MOST_STAGES = 40
MOST_ORIGINS = 40
ENDLESS = 50
"""The number of open calls of one function above which it is that which recurses."""
TEXT = 60
"""The number of characters above which an argument that is no tensor is shortened."""


class GivenValue(NamedTuple):
    """An argument of what failed: the name of its parameter, and its value."""

    parameter: str
    value: Any


class Failed:
    """The calls through which an exception has passed, and of these the one that failed.

    `op` is the operation, `module` the module whose call was open; both are None where nothing of ours failed. `given`
    are the arguments of the operation, or else of the module.
    """

    def __init__(self, error: BaseException, inside: FrameType) -> None:
        self.error, self.inside = error, inside
        self.entries = list(entries(error.__traceback__))
        own = [at for at, entry in enumerate(self.entries) if is_of_program(entry)]
        self.program = [self.entries[at] for at in own]
        self.last = self.program[-1] if self.program else None
        after = [entry.tb_frame for entry in self.entries[own[-1] + 1 :]] if own else []
        below = [frame for frame in after if is_internal(frame.f_code.co_filename)]
        calls = [at for at, frame in enumerate(below) if frame.f_code is MODULE_CALL]
        op = operation_in(below[calls[-1] + 1 :] if calls else below)
        if op is None and not calls:
            name = None if self.last is None else uncalled_function(error, self.last)
            op = None if name is None else (name, [])
        endless = isinstance(error, RecursionError) and self.calls_itself
        if endless:  # the operation is but where the last call has come to
            op, calls = None, []
        self.op = None if op is None else op[0]
        self.given = [] if op is None else op[1]
        self.of_module = bool(calls)
        self.ours = op is not None or self.of_module
        opened = [entry.tb_frame for entry in self.entries if entry.tb_frame.f_code is MODULE_CALL]
        self.call = opened[-1] if opened and self.ours else None
        self.module: Any = None if self.call is None else self.call.f_locals["self"]
        self.outer: Any = opened[-2].f_locals["self"] if self.call is not None and len(opened) > 1 else None
        if op is None and self.call is not None and calls:
            self.given = _of_module(self.call)

    @property
    def calls_itself(self) -> bool:
        """Whether the program's innermost function has called itself so often that it may not again."""
        codes = [entry.tb_frame.f_code for entry in self.program]
        return codes.count(codes[-1]) > ENDLESS if codes else False

    @property
    def tensors(self) -> list[Any]:
        """Those arguments of what failed that are tensors."""
        return [each.value for each in self.given if isinstance(each.value, Tensor)]

    @cached_property
    def misfit(self) -> Misfit | None:
        """The setting of the layer that failed which its input does not fit."""
        module, tensors = self.module, self.tensors
        setting = next((name for name in TAKES if hasattr(module, name)), None)
        if setting is None or not tensors or not self.of_module or not type(module).__module__.startswith("pullback."):
            return None
        if setting == "num_embeddings":
            known = isinstance(self.error, IndexError) and not tensors[0].is_floating_point() and tensors[0].numel()
            return Misfit(setting, int(tensors[0].max()), module.num_embeddings) if known else None
        shape = tuple(map(int, tensors[0].shape))
        axis = {"channels": 1 if len(shape) > 1 else 0}.get(TAKES[setting], -1)
        if setting == "in_channels":
            axis = -1 - len(module.kernel_size)
        want = getattr(module, setting)
        want = want[-1] if isinstance(want, tuple) else want
        found = shape[axis] if -len(shape) <= axis < len(shape) else want
        return None if found == want else Misfit(setting, found, want)

    @property
    def frames(self) -> list[FrameType]:
        """The program's functions that were running, outermost first; before the exception's, the recording's own."""
        return [self.inside, *(entry.tb_frame for entry in self.program)]

    @property
    def place(self) -> Place | None:
        """The innermost place of the program."""
        return None if self.last is None else place_in(self.last)

    def places(self, outside: FrameType) -> list[tuple[str, Place]]:
        """The program's functions inside of the recording, each with the place it had reached."""
        inside = [entry for entry in self.program if entry.tb_frame is not outside] or self.program
        return [(entry.tb_frame.f_code.co_qualname, place_in(entry)) for entry in inside]

    def arguments(self, scope: Scope | None, *, redact: bool) -> list[Argument]:
        """The arguments of what failed, under the program's names; without values if they are to be left out."""
        found = []
        for parameter, value in self.given[:MOST_ARGUMENTS]:
            shown: tuple[tuple[int, ...] | None, str | None, str | None]
            if isinstance(value, Tensor):
                shown = tuple(map(int, value.shape)), str(value.dtype).rpartition(".")[2], None
            else:
                shown = None, None, None if redact else text_of_value(value)
            found.append(Argument(self.name(parameter, value, scope), *shown))
        return found

    def name(self, parameter: str, value: Any, scope: Scope | None) -> str:
        """The program's name for a tensor, or that of the parameter which it was passed for."""
        if not isinstance(value, Tensor):
            return parameter
        if scope is not None and self.module is not None:
            own = (path for path, each in self.module.named_parameters() if each is value)
            if (path := next(own, None)) is not None:
                return f"{scope.name}.{path}"
        known = name_of(value, self.frames)
        return known if known is not None and not known.startswith("_") else parameter

    def made(self, scope: Scope | None) -> Place | None:
        """Where the module that failed was made."""
        if scope is None or self.module is None:
            return None
        files = {entry.tb_frame.f_code.co_filename for entry in self.program}
        return made_at(self.module) or only_call(scope.type, files)

    def failure(self, scopes: Scopes, overwritten: Overwritten | None, *, redact: bool) -> Failure:
        """What the exception and its frames tell."""
        scope = scopes.failed(entry.tb_frame for entry in reversed(self.entries)) if self.ours else None
        failure = Failure(type(self.error).__name__, message_of(self.error), self.place)
        failure.overwritten = overwritten
        failure.scope, failure.op, failure.frames = scope, self.op, self.places(scopes.base)
        failure.arguments = self.arguments(scope, redact=redact)
        failure.clash = clash(self.op, [given.value for given in self.given[:MOST_ARGUMENTS]])
        failure.made = self.made(scope)
        remote = isinstance(
            getattr(self.error.__cause__, "tb", None), str
        )  # the traceback there, as pools of processes have it
        failure.said = said(failure, self.misfit, of_module=self.of_module, remote=remote)
        return failure

    def show_stages(self, failure: Failure, scopes: Scopes, call: Call) -> None:
        """Add the modules that were called beside the one that failed; `call` has what they gave."""
        if failure.scope is None:
            return
        shapes = {}
        for tensor in call.tensors:
            for scope in () if tensor.scope is None or tensor.is_leaf else tensor.scope.path:
                shapes[scope.index] = tensor.shape
        for each in scopes.all[: failure.scope.index]:
            if each.parent is failure.scope.parent and each.kind == "module":
                title = title_of(scopes.modules.get(each.index), each)
                failure.stages.append(Stage(each, title, shapes.get(each.index)))
        failure.stages = [
            *failure.stages[-MOST_STAGES:],
            Stage(failure.scope, title_of(self.module, failure.scope), None),
        ]


def origin(error: BaseException, inside: FrameType) -> Failed:
    """What failed first in the library, of an exception, those that it was raised from and those that a group holds; or itself."""
    waiting, seen = [error], {id(error)}
    own: Failed | None = None
    while waiting and len(seen) < MOST_ORIGINS:
        each = waiting.pop(0)
        failed = Failed(each, inside)
        if failed.ours:
            return failed
        own = own or failed
        parts = [each.__cause__, *(each.exceptions if isinstance(each, BaseExceptionGroup) else ())]
        waiting += [part for part in parts if part is not None and id(part) not in seen]
        seen |= {id(part) for part in parts}
    return own or Failed(error, inside)


def message_of(error: BaseException | None) -> str:
    """An exception's text; one that cannot say it says why not."""
    try:
        return str(error)
    except Exception as fault:  # noqa: BLE001  # the program's own
        return f"its text is not known: __str__ raised {type(fault).__name__}"


def text_of_value(value: Any) -> str:
    """An argument that is no tensor: in full if it is a number, a text, or some of these, else its type."""
    plain = (int, float, complex, str, bool, slice, type(None), type(Ellipsis))
    parts = value if type(value) in {tuple, list} else [value]
    return shortened(repr(value), TEXT) if all(type(each) in plain for each in parts) else type(value).__name__


def names_at(error: BaseException) -> dict[Node, Named]:
    """The names of tensors where the program raised an exception."""
    program = [entry.tb_frame for entry in entries(error.__traceback__) if is_of_program(entry)]
    return names_in(program[-1] if program else None)


def place_in(entry: TracebackType) -> Place:
    """The place that an entry of a traceback had reached."""
    code = entry.tb_frame.f_code
    return place_of((code, entry.tb_lasti)) or Place(code.co_filename, entry.tb_lineno, None, None, None)


def made_at(module: Any) -> Place | None:
    """Where one of our modules was made: where its parameters were."""
    ours = type(module).__module__.startswith("pullback.")
    for parameter in module.parameters() if ours else ():
        node = node_of(parameter)
        if node is not None:
            return place_of(node.site)
    return None


def only_call(name: str, files: Iterable[str]) -> Place | None:
    """The only call of a class in some files."""
    found = [place for file in files for place in text_of(file).calls_of(name, file)]
    return found[0] if len(found) == 1 else None


def title_of(module: Any, scope: Scope) -> str:
    """A module in a few words: `Linear(4, 8)`; its class where it has parts."""
    return scope.type if module is None or module._modules else headline(module)


def operation_in(frames: Sequence[FrameType]) -> tuple[str, list[GivenValue]] | None:
    """The first function among frames of ours that a user can call, with what it was given."""
    found = called_function(frames)
    if found is None:
        return None
    name, frame = found
    return name, _arguments(frame)[frame.f_code.co_name == "__init__" :]


def _arguments(frame: FrameType) -> list[GivenValue]:
    code, known = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    names = [*code.co_varnames[:count]]
    if code.co_flags & inspect.CO_VARARGS:
        names.insert(code.co_argcount, code.co_varnames[count])
    return [each for name in names if name in known for each in _pieces(name, known[name])]


def _of_module(frame: FrameType) -> list[GivenValue]:
    """What a module was called with."""
    args = [each for place, value in enumerate(frame.f_locals["args"]) for each in _pieces(f"input {place}", value)]
    return args + [each for name, value in frame.f_locals["kwargs"].items() for each in _pieces(name, value)]


def _pieces(name: str, value: Any) -> Iterator[GivenValue]:
    """An argument; of a list that holds tensors its members, and nothing for None and for further ones that are absent."""
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
        yield from (GivenValue(f"{name}[{place}]", each) for place, each in enumerate(value[:MOST_ARGUMENTS]))
    elif value is not None and not (isinstance(value, tuple) and not value):
        yield GivenValue(name, value)
