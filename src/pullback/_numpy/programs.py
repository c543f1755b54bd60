"""numpy_programs: packages that know nothing of tensors, run on tensors."""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ExtensionFileLoader
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, Self

from .._core import forks
from .._core.dtypes import expect_programs
from .._core.modes import FieldBlock, ModeBlock, mode
from .._core.sites import called, describe
from .._tape.cuts import refusals
from . import manners
from .facades import belongs, facade
from .scipy_integrals import run_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

REFUSED = {"numpy", "pullback", "builtins", "math"}
MISSING = object()
CACHED = type(functools.lru_cache(abs))


class _Entered:
    """The names in the globals of programs that stand for something else, while a block of any thread is entered.

    Counts the blocks, so that the last one restores what the first has changed. Also a finder of `sys.meta_path`: it finds
    nothing, and has the others' modules changed when they have been imported.
    """

    def __init__(self) -> None:
        self.lock = forks.lock()
        self.entered: dict[str, int] = {}
        self.changed: list[tuple[str, dict[str, Any], str, Any, Any]] = []
        self.caches: list[tuple[str, Any]] = []
        self.methods: list[Any] = []

    def enter(self, programs: list[str]) -> None:
        """Change the modules of programs that no block has entered yet."""
        with self.lock:
            first = not self.entered
            fresh = frozenset(program for program in programs if program not in self.entered)
            for program in programs:
                self.entered[program] = self.entered.get(program, 0) + 1
            if first:
                sys.meta_path.insert(0, self)
                self.methods = manners.exchange()
                expect_programs(True)
            for name, module in list(sys.modules.items()) if fresh else ():
                self.change(name, module, fresh)

    def leave(self, programs: list[str]) -> None:
        """Restore the modules of programs that no block is inside of any more."""
        with self.lock:
            for program in programs:
                self.entered[program] = self.entered.get(program, 0) - 1
            self.entered = {program: count for program, count in self.entered.items() if count > 0}
            left = frozenset(self.entered)
            for module, namespace, key, old, new in reversed(self.changed):
                if belongs(module, left) or namespace.get(key) is not new:
                    continue
                if old is MISSING:
                    del namespace[key]
                else:
                    namespace[key] = old
            for module, cached in self.caches:
                if not belongs(module, left):
                    cached.cache_clear()  # what it keeps may be tensors
            self.caches = [each for each in self.caches if belongs(each[0], left)]
            self.changed = [each for each in self.changed if belongs(each[0], left)]
            if not self.entered and self in sys.meta_path:
                sys.meta_path.remove(self)
                manners.restore(self.methods)
                expect_programs(False)

    def change(self, name: str, module: object, programs: frozenset[str]) -> None:
        """Change the names of one module, if it belongs to one of these programs."""
        if not (belongs(name, programs) and isinstance(module, ModuleType)) or _is_compiled(module):
            return
        namespace, replaced = vars(module), facade(name)
        found = {"float": float, "complex": complex} | {k: v for k, v in namespace.items() if not k.startswith("__")}
        for key, value in found.items():
            if isinstance(value, CACHED):
                self.caches.append((name, value))
            new = replaced(value)
            if new is not value:
                self.changed.append((name, namespace, key, namespace.get(key, MISSING), new))
                namespace[key] = new

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The others' specification, with a loader that changes the module's names when it has run."""
        if not belongs(name, frozenset(self.entered)):
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                loader: Any = spec.loader
                with contextlib.suppress(AttributeError, TypeError):  # a loader written in C
                    loader.exec_module = self._changing(name, loader.exec_module)
                return spec
        return None

    def _changing(self, name: str, load: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
        def exec_module(module: ModuleType) -> None:
            with FieldBlock(programs=frozenset()):  # constants of a module outlive the block: they are arrays
                load(module)
            with self.lock:
                self.change(name, module, frozenset(self.entered))

        return exec_module


def _is_compiled(module: ModuleType) -> bool:
    """True for an extension module: its code may take what NumPy's functions return for an array without a look."""
    return isinstance(getattr(module, "__loader__", None), ExtensionFileLoader)


_entered = _Entered()


def _first(error: BaseException) -> BaseException:
    """The error that compiled code went on in spite of, until Python noticed: as SciPy's brentq calls its function again."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _gone_on_from(error: Exception) -> Exception | None:
    """The refusal that compiled code went on in spite of until it raised an error of its own; None if that is not certain.

    The error has come out of the very call that met the refusal, and the refusal never did: so nobody can have caught it.
    """
    places = {*_passed(error)}
    for refusal, frame, at in list(refusals):
        if (frame, at) in places and all(frame is not each for each, _ in _passed(refusal)):
            return None if _follows(error, refusal) else refusal
    return None


def _passed(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """The frames that an error has come through, with the instructions that they were at."""
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame, at.tb_lasti
        at = at.tb_next


def _follows(error: BaseException, first: BaseException) -> bool:
    """True if an error is another, or was raised because of it or while it was handled."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is first:
            return True
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            waiting += [each.__cause__, each.__context__]
    return False


class numpy_programs(ModeBlock):
    r"""A block in which the named packages compute on tensors, although they were written for NumPy's arrays.

    Code that makes arrays and writes into them, `out = np.zeros(3); out[0] = x`, keeps no gradient, since an array holds
    numbers. Inside the block `numpy`, `math` and what was imported from them stand, in the modules of the named
    packages alone, for functions whose new arrays of floats are tensors: writes, views and in-place operations are then
    recorded as everywhere. Methods, scalars and `isinstance` behave as an array's in these modules, and Python's numbers
    are float64.

    What cannot be followed raises, as in `no_escapes`, which the block contains: compiled code and conversions to numbers
    are named with their lines, and never give a wrong gradient silently. The block belongs to the thread; others go on
    with plain NumPy. Modules may be imported before or inside; everything is undone at the end, whatever happens. Works as
    a decorator, too.

    Parameters
    ----------
    *packages
        Names of packages, which stand for all their modules, or modules.

    Raises
    ------
    ValueError
        If there is no package, or it is NumPy or pullback.

    >>> import sys, types
    >>> import numpy as np
    >>> import pullback
    >>> theirs = types.ModuleType("theirs")
    >>> exec("import numpy as np\ndef powers(x):\n    out = np.zeros(3)\n    out[:] = x\n    return np.cumprod(out)", vars(theirs))
    >>> sys.modules["theirs"] = theirs
    >>> x = pullback.tensor(2.0, dtype=pullback.float64, requires_grad=True)
    >>> with pullback.numpy_programs("theirs"):
    ...     theirs.powers(x).sum().backward()
    >>> x.grad
    tensor(17., dtype=pullback.float64)
    """

    def __init__(self, *packages: str | ModuleType) -> None:
        super().__init__()
        self._programs = [package.__name__ if isinstance(package, ModuleType) else package for package in packages]
        if not packages:
            raise ValueError('numpy_programs needs the names of packages, as in numpy_programs("tmm", "skimage.color")')
        for name in self._programs:
            if not isinstance(name, str):
                raise TypeError(f"numpy_programs takes names of packages or modules, not {type(name).__name__}")
            if name.partition(".")[0] in REFUSED:
                raise ValueError(f"numpy_programs({name!r}): name the packages that use NumPy, not {name}")
        self._names = frozenset(self._programs)

    def _fields(self) -> dict[str, Any]:
        return {"programs": mode.get().programs | self._names, "escapes_refused": "no_escapes"}

    def _fresh(self) -> ModeBlock:
        return type(self)(*self._programs)

    def __enter__(self) -> Self:
        before = mode.get()
        try:
            _entered.enter(self._programs)
            super().__enter__()
        except BaseException:  # the handler of a signal may raise it in between
            mode.set(before)
            _entered.leave(self._programs)
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            mode.set(self._around[-1])
            if isinstance(exc[1], SystemError) and (first := _first(exc[1])) is not exc[1]:
                raise first.with_traceback(exc[1].__traceback__) from None
            if isinstance(exc[1], Exception):
                if (refusal := _gone_on_from(exc[1])) is not None:
                    raise refusal.with_traceback(exc[1].__traceback__)
                self._tell(exc[1])
        finally:
            try:  # not in the class above, whose method might be interrupted before its first instruction
                mode.set(self._around.pop())
            finally:
                _entered.leave(self._programs)
                refusals.clear()  # they hold frames

    def _tell(self, error: Exception) -> None:
        """Note the call in which compiled code has raised an error, which itself may name neither."""
        found, compiled = None, None
        at = error.__traceback__
        while at is not None:
            code = at.tb_frame.f_code
            if linecache.getlines(code.co_filename):
                found, compiled = at, None
            else:
                compiled = compiled or code.co_name
            at = at.tb_next
        if found is None or not belongs(found.tb_frame.f_globals.get("__name__", ""), self._names):
            return
        site = (found.tb_frame.f_code, found.tb_lasti)
        if (function := compiled or called(site)) is not None and not getattr(error, "__notes__", None):
            error.add_note(
                f"numpy_programs: raised by {function} at {describe(site)}. If it is compiled, or makes its arrays in a "
                "package that the block does not name, it takes no tensors"
            )


run_in(numpy_programs)
