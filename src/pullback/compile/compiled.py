"""compile: a Python function, run as one program for as long as that means the same."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor
from .._core import dtypes as _dtypes
from .._core.errors import UncompiledError
from .._core.forks import exchanging, give_way, swapping
from .._core.lazy import provider
from .._core.modes import FieldBlock, innermost, mode
from .._core.sites import warn
from .._core.xp import replay
from .._numerics.random import Moment
from .._tape.memory import owner, protect, storage_of, written
from .._tape.recording import Obstacle
from .._tape.views import alias, view
from .._tape.walk import pull_back
from ..nn.modules.module import Module
from ..observe import Snapshot, node as node_of, version
from ..utils.trees import LEAF, flatten, unflatten
from .capture import CapturedRun
from .costs import peak, works
from .holders import meaning
from .layouts import clash, order, overlaps
from .machinery import Machinery
from .numbers import Escaped, Root
from .program import DepartedError, Program, has_effect
from .quick import GIVEN_UP, quick
from .recorder import CaptureError, RefusedError
from .records import Record, Way, signature
from .report import Report
from .source import write
from .whole import recorded

if TYPE_CHECKING:
    from .._core.trees import Structure
    from .._core.typing import Array
    from .._numerics.random import Place as Random
    from .._tape.node import Node
    from .._tape.recording import Tape
    from .costs import Work
    from .placed import Placed

ndarray = np.ndarray
REST = (
    64  # calls that are not looked at, of a function that has only been refused: it costs what it costs without compile
)
QUICK = 4  # records that are tried without further ado
PATIENCE = 8  # records for one kind of call, before a function is said to change too often
KINDS = 256  # kinds of calls that are remembered: an int that counts, or a new module, makes another one at each call


class Prepared:
    """A record, and what runs its program."""

    def __init__(
        self, record: Record, made: Callable[[Program], Machinery], function: Callable[[Sequence[Any]], Any]
    ) -> None:
        self.record = record
        self.function = function
        self.quickened = -1  # the first call may be the only one
        self.machinery = made(record.program)
        self.execute = self.machinery.execute
        if record.drawn and record.program.guards:
            self.execute = functools.partial(_undone, self.execute, record.drawn)
        self.back = None if record.way is None else made(record.way.program)

    def arrays(self, leaves: Sequence[Any]) -> list[Array] | None:
        """The arrays for the program, if the record holds for this call."""
        record = self.record
        if any(leaves[i].hex() != number for i, number in record.numbers):
            return None
        if not record.state.same() or record.meets(leaves) != record.met:
            return None
        if any(signature(place.tensor(leaves)) != expected for place, expected in record.fixed):
            return None
        if any(place.tensor(leaves)._array.strides != strides for place, strides in record.layouts):
            return None
        if any(one.tensor(leaves)._array is not other.tensor(leaves)._array for one, other in record.aliases):
            return None
        if any(order(place.tensor(leaves)._array) != axes for place, axes in record.orders):
            return None
        arrays = []
        for place, value in zip(record.places, record.program.inputs, strict=True):
            array = place.array(leaves)
            if type(array) is not ndarray or array.shape != value.shape or array.dtype != value.dtype:
                return None  # another thread records, perhaps
            arrays.append(array)
        return arrays

    def clashes(self, leaves: Sequence[Any], arrays: list[Array]) -> bool:
        """Whether memory that is written cannot be, or is that of another input: then the function runs as it is."""
        targets = [arrays[number] for number, _ in self.record.program.writes]
        if not all(target.flags.writeable and not overlaps(target) for target in targets):
            return True
        if targets and len(set(map(id, arrays))) < len(arrays):
            return True
        return clash(targets, arrays)

    def run(self, leaves: Sequence[Any], arrays: list[Array]) -> Any:
        """Run the program, and do what the function did with its results."""
        record = self.record
        targets = [(place.tensor(leaves), writes) for place, writes in record.written]
        for tensor, _ in targets:
            protect(tensor)
        results = self.execute(*arrays)
        made = self._made(leaves, results)
        for tensor, writes in targets:
            for _ in range(writes):
                written(tensor)
        answers: list[Any] = []
        for kind, what in record.outputs:
            answers.append(_answer(kind, what, leaves, made, answers))
        for place, number in record.effects:
            place.put(leaves, None if number is None else answers[number])
        return unflatten(record.structure, answers[: record.leaves])

    def _made(self, leaves: Sequence[Any], results: list[Array]) -> list[Tensor]:
        """The tensors that are made of results."""
        record, way = self.record, self.record.way
        arrays = [replay(results[made.number], path=made.steps) for made in record.made]
        tracked = {} if way is None else self._recorded(way, leaves, results, arrays)
        found: list[Tensor] = []
        for i, (made, array) in enumerate(zip(record.made, arrays, strict=True)):
            tensor = tracked.get(i)
            if tensor is None:
                tensor = _spent(array) if made.kind == "spent" else Tensor.interpreter.wrap(array, None)
            found.append(tensor if made.beside is None else alias(found[made.beside], tensor))
        if way is not None:
            node = tracked[way.roots[0]]._node
            assert node is not None
            assert node.edges[0] is not None
            _guard(found, node.edges[0])
        return found

    def _recorded(
        self, way: Way, leaves: Sequence[Any], results: list[Array], arrays: list[Array]
    ) -> dict[int, Tensor]:
        """The tensors that require grad, as results of one operation on the tape."""
        args = [results[kept] if isinstance(kept, int) else kept.operand(leaves) for kept in way.kept]
        again = functools.partial(self._again, leaves, args, [*map(version, self._tensors(leaves))])
        return dict(
            zip(way.roots, recorded(args, [arrays[number] for number in way.roots], self._pull, again), strict=True)
        )

    def _tensors(self, leaves: Sequence[object]) -> list[Tensor]:
        """All tensors that the function can reach."""
        return [leaf for leaf in (*leaves, *self.record.state.tensors) if isinstance(leaf, Tensor)]

    def _again(
        self, leaves: Sequence[Any], args: list[Tensor | Array], versions: list[int], g: Sequence[Any]
    ) -> list[Tensor | None] | None:
        """The gradients with a history of their own: of the function itself, if a second run of it does the same again."""
        record, way = self.record, self.record.way
        assert way is not None
        steady = not (record.program.writes or record.effects or any(map(has_effect, record.program.equations)))
        if not steady or not record.state.same() or versions != [*map(version, self._tensors(leaves))]:
            return None
        with FieldBlock(grad=True):
            clones = {id(leaf): leaf.clone() for leaf in leaves if isinstance(leaf, Tensor) and not leaf.is_leaf}
            found, _ = flatten(self.function([clones.get(id(leaf), leaf) for leaf in leaves]))
        tracked = {number: found[leaf] for number in way.roots if (leaf := record.made[number].leaf) is not None}
        results = {number: leaf._base if record.made[number].base else leaf for number, leaf in tracked.items()}
        targets: dict[int, Any] = {
            i: node_of(clones.get(id(arg), arg)) for i in way.reached if isinstance(arg := args[i], Tensor)
        }
        roots = [(results[number]._node, each) for number, each in zip(way.roots, g, strict=True)]
        tape: Tape = Tensor.interpreter
        reached = pull_back(tape, roots, targets=[*targets.values()], retain_graph=True, create_graph=True).found
        return [reached.get(targets[i]) if i in targets else None for i in range(len(args))]

    def _pull(self, g: Sequence[Any], arrays: Sequence[Any]) -> list[Array | None]:
        """The gradients, by the program of the way back."""
        way = self.record.way
        assert way is not None
        assert self.back is not None
        found = dict(zip(way.reached, self.back.execute(*arrays, *g), strict=True))
        return [found.get(i) for i in range(len(arrays))]


def _undone(execute: Callable[..., list[Array]], drawn: Sequence[Random], *arrays: Array) -> list[Array]:
    """What a program gives; where it departs, no random numbers have been drawn."""
    moment = Moment(drawn)
    try:
        return execute(*arrays)
    except Exception:
        moment.restore()
        raise


def _answer(kind: str, what: Any, leaves: Sequence[Any], made: Sequence[Tensor], answers: list[Any]) -> Any:
    """What a leaf of a result is, or a place holds in the end."""
    if kind == "plain":
        return what
    if kind == "place":
        return what.tensor(leaves)
    if kind == "again":
        return answers[what]
    if kind == "made":
        return made[what]
    start, steps = what
    seen = made[start] if kind == "seen" else start.tensor(leaves).detach()
    for primitive, params in steps:
        seen = view(primitive, seen, **params)
    return seen


def _guard(tensors: Sequence[Tensor], node: Node) -> None:
    """Have writes to tensors leave a node the values that it keeps of their memory."""
    places = {id(owner(tensor._array)): tensor for tensor in tensors}
    for cell in node.saved:
        if type(cell) is Snapshot and (tensor := places.get(id(owner(cell.array)))) is not None:
            storage_of(tensor).hold(cell)


class _Spent(Obstacle):
    """Stands for a graph that was walked, and freed, inside a compiled function."""

    def error(self, node: Node, order: Any = ()) -> Exception:
        """torch's error for a second backward."""
        return RuntimeError(
            "Trying to backward through the graph a second time: backward() was called on this tensor inside a compiled "
            "function, which freed the graph. Call it inside with what you need, or return the tensor before"
        )


def _never(g: Sequence[Any], arrays: Sequence[Any]) -> list[Array | None]:
    return []


def _spent(array: Array) -> Tensor:
    """A tensor that requires grad and whose graph is gone."""
    (made,) = recorded((), (array,), _never)
    assert made._node is not None
    end = made._node.edges[0]
    assert end is not None
    end.saved = _Spent()
    return made


class Compiled:
    """A function that is recorded when it is first called, and then run as a program: what `compile` returns."""

    def __init__(
        self, function: Callable[..., Any], *, fullgraph: bool = False, fuse: bool = True, lenient: bool = False
    ) -> None:
        functools.update_wrapper(self, function)
        self.fullgraph = fullgraph
        self.lenient = lenient
        self.function = function
        self.fuse = fuse
        self.records: dict[Hashable, list[Prepared]] = {}
        self.refused: dict[Hashable, str] = {}
        self.reasons: list[str] = []
        self._tries: dict[Hashable, int] = {}
        self._constant: dict[Hashable, frozenset[Root]] = {}
        self._told: set[str] = set()
        self._quick: list[Callable[[Any], Any]] = []
        self._rest = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        if self._rest > 0:
            self._rest -= 1
            return self.function(*args, **kwargs)
        if not kwargs:
            for call in self._quick:
                answer = call(args)
                if answer is not GIVEN_UP:
                    return answer
        leaves, structure = flatten((args, kwargs))
        now = mode.get()
        if innermost.get() is not None or now.pack is not None or now.compute is not None:
            return self._uncompiled(args, kwargs)
        key = (_typed(structure), tuple(map(_kind, leaves)), _aliases(leaves), now, _dtypes.rules())
        if key in self.refused:
            self._rest = 0 if self.records else REST
            return self._uncompiled(args, kwargs)
        answer = self._known(key, leaves, structure)
        if answer is not GIVEN_UP:
            return answer
        give_way()
        with swapping, exchanging:
            answer = self._known(
                key, leaves, structure
            )  # now that no other thread holds recorded values, or has recorded it
            if answer is GIVEN_UP and key not in self.refused:
                answer = self._record(key, leaves, structure)
            if isinstance(answer, Prepared):
                answer = self._run(answer, key, leaves, structure)
        return self._uncompiled(args, kwargs) if answer is GIVEN_UP else answer

    def _known(self, key: Hashable, leaves: list[Any], structure: Structure) -> Any:
        """What a record that is there gives; GIVEN_UP where none holds."""
        for prepared in [*self.records.get(key, ())]:
            answer = self._run(prepared, key, leaves, structure)
            if answer is not GIVEN_UP:
                return answer
        return GIVEN_UP

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> Any:
        """The function, by its name if that leads here; records belong to this process, and to what they were made of."""
        name = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        for part in name.split("."):
            found = getattr(found, part, None)
        made = functools.partial(Compiled, fullgraph=self.fullgraph, fuse=self.fuse, lenient=self.lenient)
        return name if found is self else (made, (self.function,))

    def _run(self, prepared: Prepared, key: Hashable, leaves: list[Any], structure: Structure) -> Any:
        """What a program gives, or the function where that is to run as it is; GIVEN_UP where the record does not hold."""
        arrays = prepared.arrays(leaves)
        if arrays is None:
            return GIVEN_UP
        if prepared.clashes(leaves, arrays):
            return self._plainly(leaves, structure)
        try:
            answer = prepared.run(leaves, arrays)
        except DepartedError:
            return GIVEN_UP
        except Exception as error:  # noqa: BLE001  # nothing is written yet
            answer = self._plainly(leaves, structure)  # says it better, if the arguments are to blame
            self._refuse(key, f"its program fails where it does not: {type(error).__name__}: {error}")
            return answer
        if prepared.quickened < QUICK:  # memory has been exchanged since
            self._make_quick(prepared, leaves, structure)
        return answer

    def _plainly(self, leaves: Sequence[Any], structure: Structure) -> Any:
        """What the function itself gives, for containers made anew."""
        return self._uncompiled(*unflatten(structure, leaves))

    def _uncompiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function itself gives."""
        return self.function(*args, **kwargs)

    def _record(self, key: Hashable, leaves: list[Any], structure: Structure) -> Any:
        """Run the function, and keep a record of the run; its result where it cannot be kept, GIVEN_UP where it cannot be recorded."""
        kinds: tuple[dict[Hashable, Any], ...] = (self.records, self.refused, self._constant, self._tries)
        for kept in kinds:
            while len(kept) >= KINDS:
                del kept[next(iter(kept))]
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        if tries > PATIENCE:
            self._refuse(
                key, f"it was recorded {PATIENCE} times for one kind of call, the last because {self.reasons[-1]}"
            )
            return GIVEN_UP
        try:
            result, record, reason = self._made(key, leaves, structure)
        except (CaptureError, RefusedError) as refusal:
            if isinstance(refusal, CaptureError) and not self.lenient:
                raise
            self._refuse(key, str(refusal))
            return GIVEN_UP
        except UncompiledError:
            self._tries[key] -= 1
            return GIVEN_UP
        except Exception as error:  # noqa: BLE001  # whatever it is, the function itself says it better
            self.reasons.append(f"{type(error).__name__}: {error}")
            return GIVEN_UP
        if record is None:
            self.reasons.append(reason)
            return result
        known = self.records.setdefault(key, [])
        number = record.numbers and any(other.record.numbers != record.numbers for other in known)
        changed = "a float that is part of the program" if number else "state that it reads"
        self.reasons.append("a first call" if tries == 1 else f"{changed} has changed")
        prepared = self._prepared(record, lambda leaves: self._plainly(leaves, structure))
        known.insert(0, prepared)
        return prepared

    def _prepared(self, record: Record, function: Callable[[Sequence[Any]], Any]) -> Prepared:
        """A record made ready to run."""
        return Prepared(record, functools.partial(Machinery, fuse=self.fuse), function)

    def _made(self, key: Hashable | None, leaves: list[Any], structure: Structure) -> tuple[Any, Record | None, str]:
        """A run of the function, with floats that are constant where they cannot be traced."""
        constant = self._constant.get(key, frozenset())
        while True:
            run = CapturedRun(self.function, leaves, structure, constant)
            try:
                made = run.make()
            except Escaped as escaped:
                constant |= escaped.roots
            except (CaptureError, RefusedError):
                raise
            except Exception:
                if not run.traced:
                    raise
                constant |= run.traced
            else:
                self._constant[key] = constant
                return made

    def recorded(self, leaves: list[Any], structure: Structure) -> tuple[Record | None, str]:
        """A record of a call, which is taken back and not kept; or None, and why there is none."""
        give_way()
        with swapping, exchanging:
            _, record, reason = self._made(None, leaves, structure)
        return record, reason

    def on(self, engine: object) -> Placed:
        """The function on another library's arrays: its programs in the functions of that library.

        Parameters
        ----------
        engine
            "jax", "torch", "cupy" or "dask", or a namespace of the array API standard.

        Its arguments, and its results, hold that library's arrays in the place of tensors. See `docs/how-to/engines.md`.

        >>> import numpy, pullback
        >>> slope = pullback.compile(pullback.func.grad(lambda x: (x**3).sum())).on(numpy)
        >>> slope(numpy.asarray([1.0, 2.0]))
        array([ 3., 12.])
        """
        return provider("engines").placed(self, engine)

    # What it is made of

    def _newest(self) -> Prepared:
        """The record that was made last."""
        for found in reversed(self.records.values()):
            return found[0]
        raise RuntimeError(
            f"{self._name} has no program yet: call it first"
            + "".join(f"; it runs as it is, because {reason}" for reason in self.refused.values())
        )

    @property
    def ir(self) -> str:
        """The program of the newest record, simplified: one equation a line."""
        return str(self._newest().machinery.program)

    @property
    def source(self) -> str:
        """The program as a function of NumPy calls that needs nothing else, with the lines it came from as comments."""
        prepared = self._newest()
        return write(prepared.machinery.program, self.function.__name__, prepared.record.names(self.function)).text

    @property
    def llvm(self) -> str:
        """The machine code of the newest record as LLVM's text; empty without llvmlite."""
        executable = self._newest().machinery.executable
        return "" if executable is None else str(executable.llvm)

    def report(self) -> Report:
        """What the program does, what that must cost on this machine, and why the function was recorded anew."""
        notes = [f"uncompiled calls: {reason}" for reason in self.refused.values()]
        records = [(self.reasons.count(reason), reason) for reason in dict.fromkeys(self.reasons)]
        if not self.records and notes:
            return Report(self._name, [], recorded=0, simplified=0, peak=0, arguments=0, records=records, notes=notes)
        machinery = self._newest().machinery
        program, made = machinery.program, machinery.executable
        kernels: list[Work] = works(program) if made is None else made.kernels
        dtypes = [value.dtype for value in program.inputs if value.dtype.kind == "f"]
        return Report(
            self._name,
            kernels,
            recorded=len(machinery.recorded.equations),
            simplified=len(program.equations),
            peak=peak(program) if made is None else made.peak,
            arguments=sum(value.nbytes for value in (*program.inputs, *program.outputs)),
            records=records,
            notes=notes,
            dtype=str(dtypes[0]) if dtypes else "float32",
        )

    def _make_quick(self, prepared: Prepared, leaves: list[Any], structure: Structure) -> None:
        """Write down the quick way of a record, for calls whose arguments are not nested."""
        args, kwargs = structure.children
        prepared.quickened += 1
        if prepared.quickened and not kwargs.keys and all(child == LEAF for child in args.children):
            call = quick(prepared, leaves, _spent)
            if call is not None:
                self._quick.insert(0, call)
                del self._quick[QUICK:]

    @property
    def _name(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function))

    def _refuse(self, key: Hashable, reason: str) -> None:
        if self.fullgraph:
            raise CaptureError(f"{self._name} cannot be compiled, and fullgraph=True: {reason}")
        self.refused[key] = reason
        if reason not in self._told:
            self._told.add(reason)
            warn(f"compile: {self._name} runs as it is, uncompiled: {reason}")


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: object = None,
    mode: str | None = None,
    options: object = None,
    disable: bool = False,
    fuse: bool = True,
    lenient: bool = False,
) -> Any:
    """A function that is recorded when it is first called, and run as one program afterwards.

    Parameters
    ----------
    model
        A function, or a module, whose calls are compiled then; without it, a decorator.
    fullgraph
        Raise where the function cannot be compiled; otherwise it says why, once, and runs as it is.
    dynamic, backend, mode, options
        Accepted, as torch.compile has them, and without effect: each kind of call has its own program.
    disable
        Give the function back.
    fuse
        With False, operations are computed one by one, as without compile.
    lenient
        Run as it is, instead of raising, where the function asks for a number, as torch.compile does.

    Tensors that the function reads are read anew at each call; where anything else has changed it is recorded again.
    Asking for the numbers in a tensor (`bool`, `item`, `numpy`) raises a CaptureError when it is called.

    >>> import pullback
    >>> gradient = pullback.compile(pullback.func.grad(lambda w: (w**2).sum()))
    >>> gradient(pullback.ones(2)), gradient(pullback.arange(2.0))
    (tensor([2., 2.]), tensor([0., 2.]))
    """
    how: dict[str, Any] = {"fullgraph": fullgraph, "fuse": fuse, "lenient": lenient}
    if model is None:
        return functools.partial(compile, disable=disable, **how)
    if disable:
        return model
    if isinstance(model, Module):
        return CompiledModule(model, **how)
    if not callable(model):
        raise TypeError(f"compile takes a function or a module, not {type(model).__name__}")
    return Compiled(model, **how)


class CompiledModule(Module):
    """A module whose calls are compiled; parameters and all else are those of the module it was made of."""

    def __init__(self, module: Module, **how: bool) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_compiled"] = Compiled(module.__call__, **how)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self.__dict__["_compiled"](*args, **kwargs)

    def on(self, engine: object) -> Placed:
        """Calls of the module on another library's arrays; parameters stay on the engine from call to call."""
        return self.__dict__["_compiled"].on(engine)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_mod"), name)


def _kind(leaf: object) -> Hashable:
    """What of an argument decides which record holds."""
    if isinstance(leaf, Tensor):
        return signature(leaf)
    if type(leaf) is float:
        return float
    return meaning(leaf)


def _typed(structure: Structure) -> Structure:
    """A structure whose keys are compared by what they mean: 1, 1.0 and True are three."""
    children = tuple(map(_typed, structure.children))
    return structure._replace(keys=tuple(map(meaning, structure.keys)), children=children)


def _aliases(leaves: Sequence[object]) -> tuple[int, ...] | None:
    """Which arguments are one tensor; None if all are others."""
    tensors = [id(leaf) for leaf in leaves if isinstance(leaf, Tensor)]
    return None if len(set(tensors)) == len(tensors) else tuple(map(tensors.index, tensors))
