"""compile: a Python function, run as one program for as long as that means the same."""

from __future__ import annotations

import functools
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from .._core.errors import UncompiledError
from .._core.forks import exchanging, give_way, swapping
from .._core.lazy import provider
from .._core.modes import innermost, mode
from .._core.recompiling import allow
from ..extend import warn
from ..nn.modules.module import Module
from ..utils.trees import LEAF, flatten, unflatten
from .capture import CapturedRun
from .costs import peak, works
from .holders import Passed, meaning
from .kinds import Kind, Kinds
from .machinery import Machinery
from .numbers import Escaped, Root
from .paths import title
from .prepared import Prepared, spent
from .profiling import profiled
from .program import DepartedError
from .quick import GIVEN_UP, QuickCalls, quick
from .reasons import FIRST, why
from .records import Record
from .refusals import CaptureError, RefusedError
from .report import Report
from .source import write

if TYPE_CHECKING:
    from pathlib import Path

    from .._core.trees import Structure
    from .._core.typing import Threshold
    from .placed import Placed

REST = (
    64  # calls that are not looked at, of a function that has only been refused: it costs what it costs without compile
)
QUICK = 4  # times that the quick way of a record is written down
PATIENCE = 8  # records for one kind of call, before a function is said to change too often
RECORDS: Threshold = 1024  # records of one function; beyond, those go that have not been used for the longest time
REASONS: Threshold = 64  # different reasons that are counted
KINDS: Threshold = 256  # kinds of calls of which it is remembered that they are not compiled


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
        self.records: dict[Kind, list[Prepared]] = {}
        self.refused: dict[Kind, str] = {}
        self.reasons: Counter[str] = Counter()
        self._kinds = Kinds()
        self._tries: dict[Kind, int] = {}
        self._constant: dict[Kind, frozenset[Root]] = {}
        self._told: list[str] = []
        self._quick = QuickCalls()
        self._alone = self._quick.alone
        self._rest = self._busy = 0
        self._alive: dict[Kind, list[Passed]] = {}
        self._gone: deque[Kind] = deque()
        self._around: dict[Hashable, Compiled] = {}
        self._unless: Callable[[object], bool] | None = None  # of calls that are left uncompiled

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        if not kwargs:
            for call in self._alone:
                answer = call(args)
                if answer is not GIVEN_UP:
                    return answer
            if self._quick.several:
                answer = self._quick(args)
                if answer is not GIVEN_UP:
                    return answer
        if self._rest > 0:
            self._rest -= 1
            return self.function(*args, **kwargs)
        self._busy += 1
        try:
            return self._looked_up(args, kwargs)
        finally:
            self._busy -= 1
            self._bury()

    def _looked_up(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a record of the kind of the call gives, or one that is made."""
        if self._unless is not None and self._unless((args, kwargs)):
            return self._uncompiled(args, kwargs)
        leaves, structure = flatten((args, kwargs))
        now = mode.get()
        if innermost.get() is not None or now.pack is not None or now.compute is not None:
            return self._uncompiled(args, kwargs)
        key = self._kinds.of(leaves, structure, now)
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

    def _known(self, key: Kind, leaves: list[Any], structure: Structure) -> Any:
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

    def _run(self, prepared: Prepared, key: Kind, leaves: list[Any], structure: Structure) -> Any:
        """What a program gives, or the function where that is to run as it is; GIVEN_UP where the record does not hold."""
        arrays = prepared.arrays(leaves)
        if arrays is None:
            return GIVEN_UP
        if prepared.clashes(leaves, arrays):
            return self._plainly(leaves, structure)
        try:
            answer = prepared.run(leaves, arrays)
        except DepartedError as departure:
            prepared.departed = departure.guard
            return GIVEN_UP
        except Exception as error:  # noqa: BLE001  # nothing is written yet
            answer = self._plainly(leaves, structure)  # says it better, if the arguments are to blame
            self._refuse(key, f"its program fails where it does not: {type(error).__name__}: {error}")
            return answer
        prepared.used, prepared.departed = True, None
        if prepared.quickened < QUICK:  # memory has been exchanged since
            self._make_quick(prepared, leaves, structure)
        return answer

    def _plainly(self, leaves: Sequence[Any], structure: Structure) -> Any:
        """What the function itself gives, for containers made anew."""
        return self._uncompiled(*unflatten(structure, leaves))

    def _uncompiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function itself gives."""
        return self.function(*args, **kwargs)

    def _record(self, key: Kind, leaves: list[Any], structure: Structure) -> Any:
        """Run the function, and keep a record of the run; its result where it cannot be kept, GIVEN_UP where it cannot be recorded."""
        reason = why(self.function, key, leaves, structure, self.records)
        allow(self._name, reason, again=reason != FIRST)
        self._make_room()
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        if tries > PATIENCE:
            self._refuse(key, f"it was recorded {PATIENCE} times for one kind of call, and would be again: {reason}")
            return GIVEN_UP
        if idle := self._kinds.idle(key, leaves):
            self._say(idle)
            return GIVEN_UP
        try:
            result, record, obstacle = self._made(key, leaves, structure)
        except (CaptureError, RefusedError) as refusal:
            if isinstance(refusal, CaptureError) and not self.lenient:
                raise
            self._refuse(key, str(refusal))
            return GIVEN_UP
        except UncompiledError:
            self._tries[key] -= 1
            return GIVEN_UP
        except Exception as error:  # noqa: BLE001  # whatever it is, the function itself says it better
            self._count(f"{type(error).__name__}: {error}")
            return GIVEN_UP
        if record is None:
            self._count(obstacle)
            return result
        if asked := key.inputs - record.ints:
            key = self._kinds.ask(key, leaves, asked)
        self._mark(key)
        known = self.records.setdefault(key, [])
        self._count(reason)
        prepared = self._prepared(record, lambda leaves: self._plainly(leaves, structure))
        known.insert(0, prepared)
        self._kinds.note(key, leaves, prepared)
        return prepared

    def _mark(self, key: Kind) -> None:
        """Have the records of a kind of calls go with the first of its arguments that goes: modules, optimizers, objects."""
        if key not in self._alive:
            of = ref(self)

            def gone(_: object) -> None:
                if (compiled := of()) is not None:
                    compiled._gone.append(key)
                    compiled._bury()

            passed = [leaf.value() for leaf in key.leaves if type(leaf) is Passed]
            self._alive[key] = [Passed(value, gone) for value in passed if value is not None]

    def _bury(self) -> None:
        """Forget the records of arguments that are gone, unless they are being looked at."""
        while self._gone and not self._busy:
            self._drop(self._gone.popleft())

    def _drop(self, key: Kind) -> None:
        """Forget a kind of calls."""
        for prepared in self.records.pop(key, ()):
            self._quick.drop(prepared)
        kinds: tuple[dict[Kind, Any], ...] = (self.refused, self._constant, self._tries, self._alive)
        for kept in kinds:
            kept.pop(key, None)
        self._kinds.forget()

    def _count(self, reason: str) -> None:
        """Count a recording, by its reason; of many different ones the later are counted together."""
        self.reasons[reason if reason in self.reasons or len(self.reasons) < REASONS else "other reasons"] += 1

    def _make_room(self) -> None:
        """Forget records that have not been used lately, if there are many, and kinds of calls that are not compiled."""
        kinds: tuple[dict[Kind, Any], ...] = (self.refused, self._constant, self._tries)
        for kept in kinds:
            while len(kept) >= KINDS:
                del kept[next(iter(kept))]
        for key in [*self.records] * 2:  # those that have been used since the last look go at the second
            if sum(map(len, self.records.values())) < RECORDS:
                return
            if key not in self.records:  # gone at the first look
                continue
            used = [prepared for prepared in self.records[key] if self._quick.used(prepared)]
            if used:
                self.records[key] = self.records.pop(key)
                continue
            self._drop(key)

    def _prepared(self, record: Record, function: Callable[[Sequence[Any]], Any]) -> Prepared:
        """A record made ready to run."""
        return Prepared(record, functools.partial(Machinery, fuse=self.fuse), function)

    def _made(self, key: Kind | None, leaves: list[Any], structure: Structure) -> tuple[Any, Record | None, str]:
        """A run of the function, with floats that are constant where they cannot be traced."""
        constant, ints = frozenset[Root](), frozenset[int]()
        if key is not None:
            constant, ints = self._constant.get(key, constant), key.inputs
        while True:
            run = CapturedRun(self.function, leaves, structure, constant, ints)
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
                if key is not None:
                    self._constant[key] = constant
                return made

    def recorded(self, leaves: list[Any], structure: Structure) -> tuple[Record | None, str]:
        """A record of a call, which is taken back and not kept; or None, and why there is none."""
        give_way()
        with swapping, exchanging:
            _, record, reason = self._made(None, leaves, structure)
        return record, reason

    def around(
        self, transform: Callable[..., Any], *args: Any, unless: Callable[[object], bool] | None = None, **options: Any
    ) -> Callable[..., Any]:
        """What a transform makes of the function itself, compiled as it is; always the same for the same options.

        A function that asks for values is transformed uncompiled.

        >>> import pullback
        >>> f = pullback.compile(lambda x: (x**3).sum())
        >>> f.around(pullback.func.grad)(pullback.tensor([1.0, 2.0]))
        tensor([ 3., 12.])
        """
        key = transform, meaning(args), meaning(tuple(options.items()))
        try:
            hash((args, *options.values()))
        except TypeError:  # a list may be another at the next call
            return transform(self, *args, **options)
        if key not in self._around:
            how = {"fullgraph": self.fullgraph, "fuse": self.fuse, "lenient": True}  # values are there, uncompiled
            found = self._around[key] = Compiled(transform(self.function, *args, **options), **how)
            found._unless = unless
        return self._around[key]

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

    def export(
        self,
        folder: str | os.PathLike[str],
        /,
        *args: Any,
        name: str | None = None,
        math: str = "own",
        fma: bool = False,
        products: str = "loops",
        work: str = "argument",
        parameters: str = "passed",
        abi: str = "plain",
        **kwargs: Any,
    ) -> Path:
        """Write the function of one call as C99 into a folder, which is returned; the call itself is taken back.

        Parameters
        ----------
        folder
            Where header, source, a recorded test, a makefile, wrappers and a README are written.
        args, kwargs
            The arguments of the call: shapes and dtypes in C are theirs. Tensors that the function reaches by itself are
            its state, a struct that begins as they are now.
        name
            What the function is called in C.
        math
            "own" for pullback's formulas, with the same bits everywhere; "libm" for those of C's library, which are smaller.
        fma
            Fused multiply-adds, on processors that have them.
        products
            "loops", or "cblas" for larger matrix products by BLAS.
        work
            "argument" for memory that the caller gives; "static" for one function at a time.
        parameters
            "passed" for a state that has all tensors; "embedded" for those as constants of the file that nothing writes.
        abi
            "casadi" for a library that `casadi.external` takes, with Jacobians and derivatives in directions.

        Raises
        ------
        ExportError
            If something has no C code: all of it is named with its lines, and nothing is written.

        >>> import pullback, tempfile
        >>> energy = pullback.compile(lambda x: (x**2).sum())
        >>> folder = energy.export(tempfile.mkdtemp(), pullback.ones(3), name="energy")
        >>> sorted(file.name for file in folder.iterdir())
        ['Makefile', 'README.md', 'energy.c', 'energy.h', 'energy.mjs', 'energy.py', 'energy.rs', 'test_energy.c']
        """
        return provider("export").one(self, folder, (args, kwargs), (name, math, fma, products, work, parameters, abi))

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

    def report(self, *args: Any, profile: bool = False, **kwargs: Any) -> Report:
        """What the program does, what that must cost on this machine, and why the function was recorded anew.

        Parameters
        ----------
        *args, **kwargs
            The arguments of a call: the report is of its program. Without any, it is of the newest one.
        profile
            Measure the time of each kernel, by runs on copies: of the arguments, or else of numbers that are made up. Calls
            of the function are as quick as before.

        Raises
        ------
        RuntimeError
            If the function has no program, or none for the arguments: it has not been called so.
        ValueError
            If a profile needs arguments: the program has no result for numbers that are made up.

        >>> import pullback
        >>> f = pullback.compile(lambda a, b: a @ b)
        >>> _ = f(pullback.ones(30, 20), pullback.ones(20, 10))
        >>> [(kernel.equations, kernel.flops) for kernel in f.report().kernels]
        [(('matmul',), 12000)]
        >>> f.report(profile=True).seconds > 0
        True
        """
        notes = [f"uncompiled calls: {reason}" for reason in self._told]
        records = [(count, reason) for reason, count in self.reasons.items()]
        if not self.records and notes:
            return Report(self._name, [], recorded=0, simplified=0, peak=0, arguments=0, records=records, notes=notes)
        leaves, structure = flatten((args, kwargs))
        prepared = self._of_call(leaves, structure) if leaves else self._newest()
        machinery = prepared.machinery
        program, made = machinery.program, machinery.executable
        kernels = profiled(prepared, leaves) if profile else works(program) if made is None else made.kernels
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

    def _of_call(self, leaves: list[Any], structure: Structure) -> Prepared:
        """The record that holds for a call."""
        for prepared in self.records.get(self._kinds.of(leaves, structure, mode.get()), ()):
            if prepared.arrays(leaves) is not None:
                return prepared
        raise RuntimeError(f"{self._name} has no program for these arguments: call it with them first")

    def _make_quick(self, prepared: Prepared, leaves: list[Any], structure: Structure) -> None:
        """Write down the quick way of a record, for calls whose arguments are not nested."""
        args, kwargs = structure.children
        prepared.quickened += 1
        if prepared.quickened and not kwargs.keys and all(child == LEAF for child in args.children):
            call = quick(prepared, leaves, spent)
            if call is not None:
                self._quick.add(leaves, call, prepared)

    @property
    def _name(self) -> str:
        return title(self.function)

    def _refuse(self, key: Kind, reason: str) -> None:
        self._say(reason)
        self.refused[key] = reason
        self._mark(key)

    def _say(self, reason: str) -> None:
        """Say, once, why a call runs as it is."""
        if self.fullgraph:
            raise CaptureError(f"{self._name} cannot be compiled, and fullgraph=True: {reason}")
        if reason not in self._told:
            self._told.append(reason)
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

    def export(self, folder: str | os.PathLike[str], /, *args: Any, **kwargs: Any) -> Path:
        """Write the module's function of one call as C99: as `Compiled.export`."""
        return self.__dict__["_compiled"].export(folder, *args, **kwargs)

    def on(self, engine: object) -> Placed:
        """Calls of the module on another library's arrays; parameters stay on the engine from call to call."""
        return self.__dict__["_compiled"].on(engine)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_mod"), name)
