"""A training run: what each step of an optimizer did to each parameter, written to a file while it goes on.

An optimizer's own hooks are used, and the hooks of its parameters, so that operations take no longer than usual. Steps that
are not recorded are only counted, with their loss.
"""

from __future__ import annotations

import json
import math
import operator
import sys
import time
import weakref
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

import numpy as np

from .. import Tensor
from .._core.errors import UncompiledError
from ..observe import ancestors, fault, freed, is_internal, node as node_of, value as inside
from ..optim.optimizer import (
    register_optimizer_group_hook,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from .bounds import DIVERGED, ENOUGH, FIXES, LARGE_UPDATE, PATIENCE, SEVERAL, sizes
from .comparing import settings_of
from .failing import message_of
from .naming import rounds_at, variables_in
from .numbers import counted, short
from .parameters import FROZEN, UNUSED, frozen, idle
from .runs import MOST, Event, Measured, Run, plain
from .scopes import program_frame

if TYPE_CHECKING:
    from os import PathLike

    from .._core.typing import Array
    from ..nn.modules.module import Module
    from ..optim.optimizer import Optimizer


WINDOW = 50
"""The number of losses with whose median a loss is compared."""
LIVE, LOGGED = 0.1, 10.0
"""The seconds after which the line of progress is renewed, and after which a file gets another one."""
REFRESHED = 5
"""The number of steps after which the median is computed anew."""


class Training(Run):
    """A training run that is being recorded: what `pullback.explain.record(model, optimizer)` returns, a block.

    It has all that a `Run` has, also while the block is open.
    """

    def __init__(
        self,
        model: Module | None,
        optimizer: Optimizer | None,
        every: int,
        file: str | PathLike[str] | None,
        progress: bool,
    ) -> None:
        super().__init__(every)
        self.model, self.optimizer, self.progress = model, optimizer, progress
        self.path = None if file is None else Path(file)
        self.name = "" if self.path is None else self.path.stem
        self._out: TextIO | None = None
        self._handles: list[Any] = []
        self._tensors: list[Any] = []
        self._modules: list[Any] = []
        self._sizes: dict[int, int] = {}
        self._before: list[Any] = []
        self._loss: float | None = None
        self._heard = False
        self._heard_at: dict[int, weakref.ref[Tensor]] = {}
        self._recent: list[float] = []
        self._usual, self._limit, self._high = math.nan, math.inf, -WINDOW
        self._unwritten: list[float | None] = []
        self._streaks: dict[tuple[str, int], int] = {}
        self._reached: set[int] = set()
        self._told: set[tuple[str, int]] = set()

    def __enter__(self) -> Self:
        if self._handles:
            raise RuntimeError("this recording is open already: call pullback.explain.record() for another")
        if self.path is not None:
            self._out = self.path.open("w", encoding="utf-8")
        if self.optimizer is None:
            hooks = [
                register_optimizer_step_pre_hook(self._begins),
                register_optimizer_step_post_hook(self._ends),
                register_optimizer_group_hook(self._listen),
            ]
            for _, value in variables_in(program_frame(2)):
                for group in getattr(value, "param_groups", ()):
                    self._listen(group["params"])
        else:
            hooks = [
                self.optimizer.register_step_pre_hook(self._begins),
                self.optimizer.register_step_post_hook(self._ends),
            ]
            self._sizes[id(self.optimizer)] = sum(len(group["params"]) for group in self.optimizer.param_groups)
            self._know(self.optimizer, program_frame(2))
        self._handles += hooks
        self._start = self._shown = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles, self._before = [], []
        self.seconds = time.perf_counter() - self._start
        if error is None:
            meant = set[int]().union(*map(frozen, self._modules), self._idle() if len(self.steps) < ENOUGH else ())
            for number, tensor in enumerate(self._tensors if self.steps else ()):
                if number not in self._reached and id(tensor) not in meant:
                    reason = UNUSED if tensor.requires_grad else FROZEN
                    self._tell("missing", number, "it got no gradient in any recorded step", reason)
        else:
            self.failure = f"{type(error).__name__}: {message_of(error)}"
        self._write(
            {"losses": plain(self._unwritten), "ended": self.count, "seconds": self.seconds, "failure": self.failure}
        )
        if self._out is not None:
            self._out.close()
        self._tell_progress(last=True)

    # Parameters

    def _know(self, optimizer: Optimizer, frame: FrameType | None) -> None:
        """Add the parameters of an optimizer, by the names that the model, or else the program, has for them."""
        held = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        known = set(map(id, self._tensors))
        self._modules, names = [], {}
        for name, value in reversed([*variables_in(frame)] if self.model is None else [("", self.model)]):
            if isinstance(value, Tensor):
                names[id(value)] = name
            elif hasattr(type(value), "named_parameters"):
                self._modules.append(value)
                names |= {id(tensor): f"{name}.{path}".lstrip(".") for path, tensor in value.named_parameters()}
        for tensor in held:
            if id(tensor) in known:
                continue
            name = names.get(id(tensor), f"parameter {len(self._tensors)}")
            self._tensors.append(tensor)
            self.parameters.append(name)
            self.shapes.append(tuple(tensor.shape))
        self._listen(held)
        number = [*self._sizes].index(id(optimizer)) + 1
        self.settings |= settings_of(number, type(optimizer).__name__, optimizer.param_groups)
        self._write(
            {
                "format": "pullback run",
                "version": 1,
                "every": self.every,
                "parameters": self.parameters,
                "shapes": self.shapes,
                "settings": [{"name": name, "value": value} for name, value in self.settings.items()],
            }
        )

    def _listen(self, parameters: Iterable[Tensor]) -> None:
        """Hear of the passes that give parameters a gradient, also before anything is known of them but that they are some."""
        for tensor in parameters:
            known = self._heard_at.get(id(tensor))
            if tensor.requires_grad and tensor.is_leaf and (known is None or known() is not tensor):
                self._heard_at[id(tensor)] = weakref.ref(tensor)
                self._handles.append(tensor.register_post_accumulate_grad_hook(self._arrived))

    # A step

    def _arrived(self, parameter: Tensor) -> None:
        """Called when a gradient has been written: the first of a pass looks for the loss that backward was called on."""
        if type(inside(parameter)) is not np.ndarray:
            raise UncompiledError
        if not self._heard:
            self._heard = True
            self._loss = _loss(sys._getframe(1))

    def _begins(self, optimizer: Optimizer, *_: object) -> None:
        size = sum([len(group["params"]) for group in optimizer.param_groups])
        if self._sizes.get(id(optimizer)) != size:
            self._sizes[id(optimizer)] = size
            frame = program_frame(2)
            self._know(optimizer, frame)
            if not self._heard:  # the first pass came before anything was known to listen at
                self._loss = _passed(frame)
        if self.count % self.every == 0:
            self._before = [
                (None if tensor.grad is None else inside(tensor.grad), inside(tensor).copy())
                for tensor in self._tensors
            ]

    def _ends(self, optimizer: Optimizer, *_: object) -> None:
        loss, self._loss, self._heard = self._loss, None, False
        number = self.count
        self.count += 1
        rate = optimizer.param_groups[0].get("lr")
        self._unwritten.append(loss)
        if loss is not None:
            self.losses.add(number, loss)
            self._compare(number, loss)
        if not self._before:
            return
        measured = [
            _measured(grad, old, inside(tensor))
            for (grad, old), tensor in zip(self._before, self._tensors, strict=True)
        ]
        self._before = []
        gradient, update, zeros = map(list, zip(*measured, strict=True))
        time_taken = time.perf_counter() - self._start
        step = Measured(number, loss, None if rate is None else float(rate), gradient, update, zeros, time_taken)
        self.steps.add(number, step)
        self._write({**step.plain(), "losses": plain(self._unwritten)})
        self._unwritten = []
        self._examine(step)
        self._tell_progress()

    # Findings

    def _compare(self, number: int, loss: float) -> None:
        """Find a loss that is not finite, or far above those before it."""
        if (found := fault(np.asarray(loss))) is not None:
            self._tell(found[0], -1, f"the loss is {short(loss)}{rounds_at(sys._getframe())}", step=number)
            return
        recent = self._recent
        if number % REFRESHED == 0 and len(recent) >= ENOUGH:
            middle = median(recent)
            self._usual = middle
            self._limit = middle + max(20 * median(abs(each - middle) for each in recent), DIVERGED / 2 * abs(middle))
        if loss <= self._limit:
            recent.append(loss)
            del recent[:-WINDOW]
            return
        if number - self._high > ENOUGH:  # what follows a spike is compared with the losses before it
            why = f"the loss is {short(loss)}, and the median of the {len(recent)} before it {short(self._usual)}{rounds_at(sys._getframe())}"
            self._tell("spike", number, why, step=number)
        self._high = number

    def _examine(self, step: Measured) -> None:
        """Find gradients and updates that cannot train."""
        follows = bool(self._told & {("nan", -1), ("inf", -1)})  # a bad gradient, from a bad loss
        for i, norm in enumerate(step.gradient):
            wide, change = len(self.shapes[i]) > 1, step.update[i]
            if norm is not None:
                self._reached.add(i)
                if (bad := fault(np.asarray(norm))) is not None and not follows:
                    self._tell(bad[0], i, f"its gradient has {bad[0]}")
                elif self._lasts("zero", i, wide and norm == 0):
                    self._tell("zero", i, "its gradient was zero in all of the last recorded steps")
            if self._lasts("update", i, wide and change is not None and not change <= LARGE_UPDATE):
                self._tell("update", i, f"one step changes it by {short(change, 2)} of its norm")
        changes = sorted(
            x for x, shape in zip(step.update, self.shapes, strict=True) if x is not None and len(shape) > 1
        )
        if len(changes) >= SEVERAL and (middle := changes[len(changes) // 2]) > LARGE_UPDATE:
            self._tell(
                "update", -1, f"one step changes most weights by {short(middle, 2)} of their norm", step=step.number
            )
        norms = [None if norm == math.inf else norm for norm in step.gradient]
        found = sizes(self.parameters, self.shapes, norms)
        vanished = {size.number for size in found if size.kind == "tiny"}
        lasting = [self._lasts("tiny", i, i in vanished) for i in range(len(norms))]
        for kind, i, why in found:
            if kind == "huge" or lasting[i]:
                self._tell(kind, i, why)

    def _lasts(self, kind: str, number: int, now: bool) -> bool:
        """Whether something has held for so many recorded steps that it is told, once."""
        streak = self._streaks[kind, number] = self._streaks.get((kind, number), 0) + 1 if now else 0
        late = kind == "zero" and streak == PATIENCE and id(self._tensors[number]) in self._idle()
        return streak == ENOUGH or (streak == PATIENCE and not late)

    def _idle(self) -> set[int]:
        """The parameters of members of a ModuleList, such as experts, that got no gradient in the last step while others did."""
        last = self.steps.values[-1][1].gradient if self.steps else ()
        got = {id(tensor) for tensor, norm in zip(self._tensors, last, strict=False) if norm}
        return set[int]().union(*(idle(module, got) for module in self._modules))

    def _tell(self, kind: str, number: int, why: str, fix: str = "", step: int | None = None) -> None:
        """Note a finding, once for each parameter."""
        if (kind, number) in self._told or len(self.events) >= MOST:
            return
        self._told.add((kind, number))
        name = self.parameters[number] if step is None else ""
        event = Event(kind, self.count - 1 if step is None else step, name, why, fix or FIXES[kind])
        self.events.append(event)
        self._write({"event": event._asdict()})

    # Output

    def _write(self, row: dict[str, object]) -> None:
        """Write a line of the file, complete before the next step."""
        if self._out is not None:
            self._out.write(json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n")
            self._out.flush()

    def _tell_progress(self, *, last: bool = False) -> None:
        """Renew the line of a terminal or a notebook; in a file, add a line at times."""
        now = time.perf_counter()
        live = sys.stderr.isatty() or "ipykernel" in sys.modules
        if self.progress and (last or now >= self._shown + (LIVE if live else LOGGED)):
            self._shown = now
            sys.stderr.write(f"\r{self._line():<60}{chr(10) * last}" if live else f"{self._line()}\n")
            sys.stderr.flush()

    def _line(self) -> str:
        loss = "" if not self.losses.values else f", loss {short(self.losses.values[-1][1])}"
        found = f", {counted(len(self.events), 'finding')}" if self.events else ""
        return f"{counted(self.count, 'step')}{loss}{found}"


def _loss(frame: FrameType | None) -> float | None:
    """The number in the tensor on which the pass that calls from here was started."""
    while frame is not None and is_internal(frame.f_code.co_filename):
        for each in frame.f_locals.values() if frame.f_code.co_name == "backward" else ():
            if isinstance(each, Tensor) and math.prod(each.shape) == 1:
                return float(np.asarray(inside(each)).reshape(()))
        frame = frame.f_back
    return None


def _passed(frame: FrameType | None) -> float | None:
    """The number in the latest loss among the variables of a program: of the tensors whose graph a pass has freed."""
    tensors = [each for _, each in variables_in(frame) if isinstance(each, Tensor) and math.prod(each.shape) == 1]
    losses = [
        (made.seq, each)
        for each in tensors
        if (made := node_of(each)) is not None and any(map(freed, ancestors([made])))
    ]
    if not losses:
        return None
    _, latest = max(losses, key=operator.itemgetter(0))
    return float(np.asarray(inside(latest)).reshape(()))


def _measured(grad: Array | None, old: Array, new: Array) -> tuple[float | None, float | None, float | None]:
    """Norm and share of zeros of a gradient, and the norm of an update as a share of the weight's."""
    weight, change = _norm(old), _norm(new - old)
    update = change / weight if weight > 0 else None
    if grad is None:
        return None, update, None
    return _norm(grad), update, 1 - np.count_nonzero(grad) / max(1, grad.size)


def _norm(array: Array) -> float:
    with np.errstate(all="ignore"):
        norm = float(np.linalg.norm(array))
        return norm if norm < math.inf else float(np.linalg.norm(array.astype(np.result_type(array, np.float64))))


def begin(
    model: Module | None, optimizer: Any, every: object, file: str | PathLike[str] | None, progress: bool
) -> Training:
    """A recording of a training run, after its arguments have been checked."""
    if not isinstance(every, int) or every < 1:
        raise ValueError(f"record(every={every!r}): every must be a positive number of steps")
    if model is not None and not hasattr(model, "named_parameters"):
        raise TypeError(
            f"record() takes a module and an optimizer, not {type(model).__name__}: record(model, optimizer)"
        )
    if optimizer is not None and not hasattr(optimizer, "register_step_post_hook"):
        raise TypeError(
            f"record(model, optimizer): the optimizer is a {type(optimizer).__name__}, with no steps to record"
        )
    return Training(model, optimizer, every, file, progress)
