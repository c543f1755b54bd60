"""A pool of threads that machine code shares work with, without Python: a dispatch costs one or two microseconds.

A job is a function of a table of addresses and of a range of chunks, and the number of chunks. Each thread claims one chunk
after another until none is left. To claim is to exchange one word that holds the number of the job, the chunks that are
left, and those taken from the end; a thread that comes late finds none left, so that nobody waits for it. The thread that
asks claims chunks from the beginning, the others from the end: when the same arrays are worked on again, each thread gets
the same memory, which is in its own cache (otherwise the work takes half as long again on processors without a cache in
common).

A thread without work looks at that word for half a millisecond, since programs have one job after another, and then sleeps
in a lock. It sleeps at once if it runs on the processor of the thread that asked for the last job: each would have half of
it while others may be idle, and a thread that is woken is put on one of these.

There is one job at a time. Who asks while there is a job does all chunks itself; so does a job inside a job. Threads are
begun when a job first needs them, as many as `set_num_threads` says, by the functions with which Python begins its own; no
thread holds a state of the interpreter. They are ended before the process forks, and when it ends.
"""

from __future__ import annotations

import atexit
import ctypes
import os

from llvmlite import binding, ir

from ..._core import forks
from ..._numerics import blas, blocks
from ..mathematics.lanes import IRValue
from . import callables, native
from .callables import FunctionBody
from .linking import LinkedModule
from .llvm import LONG, TYPES, declared

THREADS = 64
"""The most threads that help."""
LOOKS = 1 << 15
"""How often a thread looks for work before it sleeps: a look takes some 20 nanoseconds, and to be woken, on a virtual machine,
as long as a thousand of them."""
PATIENCE = 1 << 14
"""How often one looks for the end of a job before it sleeps between looks: another process may have the processor."""

BITS = 24
"""Bits of each count in the word that chunks are claimed by: the lowest are the chunks taken from the end, the next those
that are left; above is the number of the job."""
ONE_LEFT, ALL_TAKEN, ALL_LEFT = 1 << BITS, (1 << BITS) - 1, (1 << 2 * BITS) - (1 << BITS)

RELAX: dict[str, tuple[str, list[int]]] = {
    "x86_64": ("llvm.x86.sse2.pause", []), "aarch64": ("llvm.aarch64.hint", [1]), "arm64": ("llvm.aarch64.hint", [1]),
}  # fmt: skip
"""How a processor is told that a thread only waits: a function, and its arguments."""

SLEEPS, LOCK, NUMBER, MEMBER = 0, 1, 2, 8
"""Words of a thread: whether it sleeps, its lock, its number from 1 on; and how many there are, a line of the cache."""
GLOBALS = "begun alive stop busy left done function table chunks held where".split()


class PoolWriter:
    """Writes the functions of the pool.

    Its global variables are: how many threads were begun, how many of them live, whether they are to end, whether there is
    a job, the word to claim chunks by, how many chunks are done, the job (a function, its table and the number of chunks), a
    lock that is never released, and the processor of the thread that had the last job.
    """

    def __init__(self, module: LinkedModule) -> None:
        self.module = module
        self.variables = {name: self._variable(name, 1) for name in GLOBALS}
        self.crew = self._variable("crew", THREADS)
        self.functions: dict[str, ir.Function] = {}
        for name, parameters in PARTS.items():
            self.functions[name] = getattr(self, name)(FunctionBody(module, name, parameters, public=name in PUBLIC))

    def _variable(self, name: str, count: int) -> ir.GlobalVariable:
        made = ir.GlobalVariable(self.module, ir.ArrayType(LONG, count * MEMBER), f"pool.{name}")
        made.linkage, made.align, made.initializer = "internal", 64, ir.Constant(made.value_type, None)
        return made

    def _at(self, body: FunctionBody, name: str) -> IRValue:
        return body.shared(self.variables[name])

    def _member(self, body: FunctionBody, number: IRValue) -> IRValue:
        return body.shared(self.crew) + number * (8 * MEMBER)

    def _call(self, body: FunctionBody, name: str, *words: IRValue | int) -> IRValue:
        return body.call(self.functions[name], *words)

    def _relax(self, body: FunctionBody) -> None:
        processor = binding.get_process_triple().partition("-")[0]
        if processor not in RELAX:
            body.builder.fence("acquire")
            return
        name, arguments = RELAX[processor]
        types = [TYPES["i32"]] * len(arguments)
        function = declared(self.module, name, ir.FunctionType(ir.VoidType(), types))
        body.builder.call(function, [of(argument) for of, argument in zip(types, arguments, strict=True)])

    def here(self, body: FunctionBody) -> ir.Function:
        """The processor that the thread is on; -1 where that is not known."""
        get = body.link("sched_getcpu")
        body.result_if(get == 0, -1)
        return body.result(body.call(get, of="i32"))

    def take(self, body: FunctionBody) -> ir.Function:
        """Claim and do one chunk after another, from the end or from the beginning."""
        (at_the_end,) = body.parameters
        left = self._at(body, "left")
        with body.forever() as leave:
            word = body.seen(left)
            some = word & ALL_LEFT
            leave(some == 0)
            with body.when(body.exchanged(left, word, word + at_the_end - ONE_LEFT)):
                function, table, chunks = (body.word(self._at(body, name)) for name in ("function", "table", "chunks"))
                end = chunks - (word & ALL_TAKEN)
                number = (at_the_end != 0).select(end - 1, end - (some >> BITS))
                body.call(function, table, number, number + 1)
                body.atomic("add", self._at(body, "done"), 1)
        return body.result()

    def wanted(self, body: FunctionBody) -> ir.Function:
        """Whether a thread is to take part in a job, or to end."""
        (member,) = body.parameters
        counted = body.word(member, NUMBER) < body.seen(body.link("chosen"))
        work = counted & ((body.seen(self._at(body, "left")) & ALL_LEFT) != 0)
        return body.result((work | (body.seen(self._at(body, "stop")) != 0)).select(1, 0, "i64"))

    def help(self, body: FunctionBody) -> ir.Function:
        """What a thread does until it is to end: look for work, do it, sleep."""
        (member,) = body.parameters
        looks = body.variable(0)
        with body.forever():
            with body.when(self._call(body, "wanted", member) != 0):
                with body.when(body.seen(self._at(body, "stop")) != 0):
                    body.atomic("sub", self._at(body, "alive"), 1)
                    body.result()
                self._call(body, "take", 1)
                body.put(looks, 0, 0)
            self._relax(body)
            body.put(looks, 0, body.word(looks) + 1)
            own = self._call(body, "here")
            in_the_way = (own == body.seen(self._at(body, "where"))) & (own >= 0)
            with body.when((body.word(looks) >= LOOKS) | in_the_way):
                self._sleep(body, member)
                body.put(looks, 0, 0)
        return body.result()

    def _sleep(self, body: FunctionBody, member: IRValue) -> None:
        """Sleep until somebody wakes the thread, unless there is work that came meanwhile and nobody wakes it for."""
        body.tell(member, 1)

        def sleep() -> None:
            body.call("PyThread_acquire_lock", body.word(member, LOCK), 1, of="i32")

        with body.either(self._call(body, "wanted", member) != 0) as (late, idle):
            with late, body.when(body.atomic("xchg", member, 0) == 0):
                sleep()
            with idle:
                sleep()

    def wake(self, body: FunctionBody) -> ir.Function:
        """Wake those of the first threads that sleep."""
        (count,) = body.parameters
        with body.loop(0, count) as number:
            member = self._member(body, number)
            with body.when(body.atomic("xchg", member, 0) != 0):
                body.call("PyThread_release_lock", body.word(member, LOCK))
        return body.result()

    def hire(self, body: FunctionBody) -> ir.Function:
        """Begin threads until there are as many as asked for; how many there are."""
        count = body.parameters[0].at_most(THREADS)
        begun = self._at(body, "begun")
        with body.forever() as leave:
            number = body.word(begun)
            leave(number >= count)
            lock = body.call("PyThread_allocate_lock")
            body.result_if(lock == 0, number)
            body.call("PyThread_acquire_lock", lock, 1, of="i32")
            member = self._member(body, number)
            for place, word in ((SLEEPS, 0), (LOCK, lock), (NUMBER, number + 1)):
                body.put(member, place, word)
            body.atomic("add", self._at(body, "alive"), 1)
            help_ = IRValue(body.ctx, "i64", body.builder.ptrtoint(self.functions["help"], LONG))
            with body.when(body.call("PyThread_start_new_thread", help_, member) == -1):
                body.atomic("sub", self._at(body, "alive"), 1)
                body.call("PyThread_free_lock", lock)
                body.result(number)
            body.put(begun, 0, number + 1)
        return body.result(count)

    def wait(self, body: FunctionBody) -> ir.Function:
        """Wait until a word is what is wanted, after a while with pauses."""
        word, wanted = body.parameters
        looks = body.variable(0)
        with body.forever() as leave:
            leave(body.seen(word) == wanted)
            body.put(looks, 0, body.word(looks) + 1)
            with body.either(body.word(looks) <= PATIENCE) as (patient, tired):
                with patient:
                    self._relax(body)
                with tired:
                    body.call("PyThread_acquire_lock_timed", body.word(self._at(body, "held")), 100, 0, of="i32")
        return body.result()

    def share(self, body: FunctionBody) -> ir.Function:
        """Call a function for all chunks, with no more threads than there are chunks, if they have no job."""
        function, table, chunks = body.parameters
        others, busy = body.seen(body.link("chosen")) - 1, self._at(body, "busy")
        with body.when((others > 0) & (chunks < ONE_LEFT)), body.when(body.exchanged(busy, 0, 1)):
            helpers = self._call(body, "hire", others.at_most(chunks - 1))
            for name, word in (("function", function), ("table", table), ("chunks", chunks)):
                body.put(self._at(body, name), 0, word)
            body.tell(self._at(body, "done"), 0)
            body.tell(self._at(body, "where"), self._call(body, "here"))
            left = self._at(body, "left")
            job = (body.word(left) | (ALL_LEFT | ALL_TAKEN)) + 1
            body.tell(left, job | (chunks << BITS))
            self._call(body, "wake", helpers)
            self._call(body, "take", 0)
            self._call(body, "wait", self._at(body, "done"), chunks)
            body.tell(busy, 0)
            body.result()
        body.call(function, table, 0, chunks)
        return body.result()

    def alone(self, body: FunctionBody) -> ir.Function:
        """Count those who want OpenBLAS for themselves: the first has it use one thread, the last as many as before."""
        (more,) = body.parameters
        words = body.link("openblas")
        body.result_if(words == 0)
        lock = body.word(words, 0)
        body.call("PyThread_acquire_lock", lock, 1, of="i32")
        before = body.word(words, 1)
        after = before + more
        with body.when(before == 0):
            body.put(words, 2, body.call("get_num_threads", of="i32"))
        body.put(words, 1, (before > after).select(before, after))  # as long as there is another number to go back to
        own = body.word(words, 2)
        with body.when((own > 1) & ((before == 0) | (after == 0))):
            body.call("set_num_threads", (after == 0).select(own, 1))
        body.put(words, 1, after)
        body.call("PyThread_release_lock", lock)
        return body.result()

    def share_products(self, body: FunctionBody) -> ir.Function:
        """The same as `share`, while OpenBLAS uses one thread."""
        function, table, chunks = body.parameters
        self._call(body, "alone", 1)
        with body.either(chunks == 1) as (one, several):
            with one:
                body.call(function, table, 0, 1)
            with several:
                self._call(body, "share", function, table, chunks)
        self._call(body, "alone", -1)
        return body.result()

    def begin(self, body: FunctionBody) -> ir.Function:
        """Make the lock that is never released; no processor had a job yet."""
        body.put(self._at(body, "where"), 0, -1)
        lock = body.call("PyThread_allocate_lock")
        body.call("PyThread_acquire_lock", lock, 1, of="i32")
        body.put(self._at(body, "held"), 0, lock)
        return body.result()

    def pause(self, body: FunctionBody) -> ir.Function:
        """End all threads, and have no job until `resume`."""
        busy, begun = self._at(body, "busy"), self._at(body, "begun")
        with body.forever() as leave:
            leave(body.exchanged(busy, 0, 1))
            self._relax(body)
        body.tell(self._at(body, "stop"), 1)
        count = body.word(begun)
        self._call(body, "wake", count)
        self._call(body, "wait", self._at(body, "alive"), 0)
        with body.loop(0, count) as number:
            body.call("PyThread_free_lock", body.word(self._member(body, number), LOCK))
        body.put(begun, 0, 0)
        body.tell(self._at(body, "stop"), 0)
        return body.result()

    def resume(self, body: FunctionBody) -> ir.Function:
        """Take jobs again."""
        body.tell(self._at(body, "busy"), 0)
        return body.result()


PARTS = {
    "here": 0, "take": 1, "wanted": 1, "help": 1, "wake": 1, "hire": 1, "wait": 2, "share": 3, "alone": 1,
    "share_products": 3, "begin": 0, "pause": 0, "resume": 0,
}  # fmt: skip
"""The functions and how many parameters they have; each calls those before."""
PUBLIC = {"share", "share_products", "alone", "begin", "pause", "resume"}


@native.once
def _code() -> native.Code:
    links = {"chosen": blocks.chosen_address(), "sched_getcpu": _sched_getcpu(), **_openblas()}
    code = callables.code("pool", PoolWriter, links, plain=True)
    begin, pause, resume = (ctypes.CFUNCTYPE(None)(code.address(name)) for name in ("begin", "pause", "resume"))
    begin()
    forks.around(before=pause, in_parent=resume, in_child=resume)
    atexit.register(pause)
    return code


def _sched_getcpu() -> int:
    """The address of the C function that tells on which processor a thread is; 0 where the system has none."""
    if not hasattr(os, "sched_getaffinity"):  # which Linux has, where a library without a name is the process
        return 0
    function = getattr(ctypes.CDLL(None), "sched_getcpu", None)
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if function is not None else 0


def _openblas() -> dict[str, int]:
    """The addresses of what `_blas` knows of those who want it for themselves, and of its functions."""
    control = blas.control()
    if control is None:
        return {"openblas": 0, "get_num_threads": 0, "set_num_threads": 0}
    functions = {"get_num_threads": control.get, "set_num_threads": control.change}
    found = {name: ctypes.cast(each, ctypes.c_void_p).value or 0 for name, each in functions.items()}  # type: ignore[arg-type]
    return {"openblas": control.words.buffer_info()[0], **found}


def address(name: str) -> int:
    """The address of `share(function, table, chunks)`, which calls `function(table, begin, end)` for parts of all chunks.

    `share_products` does so while OpenBLAS, if it is that, uses no threads of its own; its results depend on them. `alone(more)`
    counts those who want that.
    """
    return _code().address(name)
