"""Threads that machine code shares work with, without Python: a dispatch costs a microsecond or two.

A job is a function of a table of addresses and of a range of chunks, and how many chunks there are. Whoever takes part
claims one chunk after another until none is left, by one word in memory that holds the number of the job, the chunks
that are left of it, and those that were taken from its end: a thread that comes late finds none, so nobody has to wait
for it. Who asks begins with the first chunk, and those who help with the last. So each comes to the same places of
memory when the same arrays are worked on again, and finds them in its own cache: where two processors have no cache in
common, all would take half as long again. A thread without work looks at
that word for some microseconds, for programs have one job after another, and then sleeps in a lock. It sleeps at once
if it is on the processor of the thread that had the last job: both would have half of it, and others may be idle. Who is
woken is put on one of these.

There is one job at a time. Who comes while another has it, does all chunks himself; so does the job inside a job.
Threads are begun when a job first needs them, as many as `set_num_threads` says, by the functions with which Python
begins its own; they know nothing of Python. They are ended before the process forks, and when it ends.
"""

from __future__ import annotations

import atexit
import ctypes
import os

from llvmlite import binding

from ..._core import forks
from ..._numerics import blas, blocks
from . import native, texts

THREADS = 64
"""The most threads that help."""
LOOKS = 1024
"""How often a thread looks for work before it sleeps: a look takes from 10 to 60 nanoseconds."""
PATIENCE = 1 << 14
"""How often one looks for the end of a job before it sleeps between looks: another process may have the processor."""

BITS = 24
"""Of the word that is claimed by: the lowest count the chunks taken from the end, as many those that are left."""

RELAX = {
    "x86_64": ("@llvm.x86.sse2.pause", ""),
    "aarch64": ("@llvm.aarch64.hint", "i32 1"),
    "arm64": ("@llvm.aarch64.hint", "i32 1"),
}
"""How a processor is told that a thread only waits: a function and its argument."""

# A row of `crew` is a thread's: whether it sleeps, its lock, its number from 1 on; each has a line of the cache.
TEXT = """
@crew = internal global [{threads} x [8 x i64]] zeroinitializer, align 64
@begun = internal global i64 0
@alive = internal global i64 0
@stop = internal global i64 0
@busy = internal global i64 0, align 64
@left = internal global i64 0, align 64
@done = internal global i64 0, align 64
@function = internal global ptr null, align 64
@table = internal global ptr null
@chunks = internal global i64 0
@held = internal global ptr null
@where = internal global i64 -1
declare i64 @llvm.smax.i64(i64, i64)
{declare}

define internal i64 @here() {{
top:
  %getcpu = call ptr @link(sched_getcpu)
  %known = icmp ne ptr %getcpu, null
  br i1 %known, label %ask, label %unknown
ask:
  %short = call i32 %getcpu()
  %number = sext i32 %short to i64
  ret i64 %number
unknown:
  ret i64 -1
}}

define internal i1 @in_the_way() {{
  %own = call i64 @here()
  %other = load atomic i64, ptr @where monotonic, align 8
  %same = icmp eq i64 %own, %other
  %known = icmp sge i64 %own, 0
  %both = and i1 %same, %known
  ret i1 %both
}}

define internal void @take(i64 %from_the_end) {{
top:
  %of_a_claim = sub i64 %from_the_end, {one_left}
  %at_the_end = icmp ne i64 %from_the_end, 0
  br label %look
look:
  %word = load atomic i64, ptr @left acquire, align 8
  %some = and i64 %word, {all_left}
  %none = icmp eq i64 %some, 0
  br i1 %none, label %over, label %claim
claim:
  %less = add i64 %word, %of_a_claim
  %pair = cmpxchg ptr @left, i64 %word, i64 %less acq_rel acquire
  %mine = extractvalue {{i64, i1}} %pair, 1
  br i1 %mine, label %work, label %look
work:
  %function = load ptr, ptr @function
  %table = load ptr, ptr @table
  %chunks = load i64, ptr @chunks
  %taken = and i64 %word, {all_taken}
  %end = sub i64 %chunks, %taken
  %last = sub i64 %end, 1
  %rest = lshr i64 %some, {bits}
  %first = sub i64 %end, %rest
  %number = select i1 %at_the_end, i64 %last, i64 %first
  %after = add i64 %number, 1
  call void %function(ptr %table, i64 %number, i64 %after)
  %before = atomicrmw add ptr @done, i64 1 acq_rel
  br label %look
over:
  ret void
}}

define internal i1 @wanted(ptr %row) {{
  %number = call i64 @word(ptr %row, i64 2)
  %chosen_at = call ptr @link(chosen)
  %chosen = load atomic i64, ptr %chosen_at monotonic, align 8
  %counted = icmp slt i64 %number, %chosen
  %word = load atomic i64, ptr @left seq_cst, align 8
  %some = and i64 %word, {all_left}
  %any = icmp ne i64 %some, 0
  %work = and i1 %counted, %any
  %stop = load atomic i64, ptr @stop seq_cst, align 8
  %ending = icmp ne i64 %stop, 0
  %wanted = or i1 %work, %ending
  ret i1 %wanted
}}

define internal void @help(ptr %row) {{
top:
  %acquire = call ptr @link(PyThread_acquire_lock)
  %lock = call ptr @word(ptr %row, i64 1)
  br label %fresh
fresh:
  br label %look
look:
  %n = phi i64 [ 0, %fresh ], [ %next, %again ]
  %wanted = call i1 @wanted(ptr %row)
  br i1 %wanted, label %come, label %wait
wait:
  {relax}
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, {looks}
  %in_the_way = call i1 @in_the_way()
  %free = xor i1 %in_the_way, true
  %patient = and i1 %more, %free
  br i1 %patient, label %again, label %tired
again:
  br label %look
tired:
  %awake = atomicrmw xchg ptr %row, i64 1 seq_cst
  %late = call i1 @wanted(ptr %row)
  br i1 %late, label %rouse, label %sleep
rouse:
  %was = atomicrmw xchg ptr %row, i64 0 seq_cst
  %still = icmp ne i64 %was, 0
  br i1 %still, label %fresh, label %sleep
sleep:
  %woken = call i32 %acquire(ptr %lock, i32 1)
  br label %fresh
come:
  %stop = load atomic i64, ptr @stop seq_cst, align 8
  %ending = icmp ne i64 %stop, 0
  br i1 %ending, label %end, label %work
work:
  call void @take(i64 1)
  br label %fresh
end:
  %one_less = atomicrmw sub ptr @alive, i64 1 seq_cst
  ret void
}}

define internal void @wake(i64 %count) {{
top:
  %release = call ptr @link(PyThread_release_lock)
  br label %look
look:
  %n = phi i64 [ 0, %top ], [ %next, %on ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %ask, label %over
ask:
  %row = getelementptr [8 x i64], ptr @crew, i64 %n
  %was = atomicrmw xchg ptr %row, i64 0 seq_cst
  %sleeps = icmp ne i64 %was, 0
  br i1 %sleeps, label %rouse, label %on
rouse:
  %lock = call ptr @word(ptr %row, i64 1)
  call void %release(ptr %lock)
  br label %on
on:
  %next = add i64 %n, 1
  br label %look
over:
  ret void
}}

define internal i64 @hire(i64 %asked) {{
top:
  %too_many = icmp sgt i64 %asked, {threads}
  %count = select i1 %too_many, i64 {threads}, i64 %asked
  br label %look
look:
  %begun = load i64, ptr @begun
  %more = icmp slt i64 %begun, %count
  br i1 %more, label %begin, label %over
begin:
  %allocate = call ptr @link(PyThread_allocate_lock)
  %acquire = call ptr @link(PyThread_acquire_lock)
  %start = call ptr @link(PyThread_start_new_thread)
  %lock = call ptr %allocate()
  %no_lock = icmp eq ptr %lock, null
  br i1 %no_lock, label %short, label %locked
locked:
  %taken = call i32 %acquire(ptr %lock, i32 1)
  %number = add i64 %begun, 1
  %row = getelementptr [8 x i64], ptr @crew, i64 %begun
  call void @put(ptr %row, i64 0, i64 0)
  call void @put(ptr %row, i64 1, ptr %lock)
  call void @put(ptr %row, i64 2, i64 %number)
  %one_more = atomicrmw add ptr @alive, i64 1 seq_cst
  %thread = call i64 %start(ptr @help, ptr %row)
  %failed = icmp eq i64 %thread, -1
  br i1 %failed, label %missing, label %started
started:
  store i64 %number, ptr @begun
  br label %look
missing:
  %one_less = atomicrmw sub ptr @alive, i64 1 seq_cst
  %free = call ptr @link(PyThread_free_lock)
  call void %free(ptr %lock)
  br label %short
short:
  ret i64 %begun
over:
  ret i64 %count
}}

define internal void @await(ptr %cell, i64 %wanted) {{
top:
  br label %look
look:
  %n = phi i64 [ 0, %top ], [ %next, %wait ], [ %next, %slow ]
  %now = load atomic i64, ptr %cell acquire, align 8
  %well = icmp eq i64 %now, %wanted
  br i1 %well, label %over, label %more
more:
  %next = add i64 %n, 1
  %patient = icmp ult i64 %n, {patience}
  br i1 %patient, label %wait, label %slow
wait:
  {relax}
  br label %look
slow:
  %held = load ptr, ptr @held
  %timed = call ptr @link(PyThread_acquire_lock_timed)
  %never = call i32 %timed(ptr %held, i64 100, i32 0)
  br label %look
over:
  ret void
}}

define internal i1 @mine() {{
  %pair = cmpxchg ptr @busy, i64 0, i64 1 acq_rel acquire
  %mine = extractvalue {{i64, i1}} %pair, 1
  ret i1 %mine
}}

define void @share(ptr %function, ptr %table, i64 %chunks) {{
top:
  %chosen_at = call ptr @link(chosen)
  %chosen = load atomic i64, ptr %chosen_at monotonic, align 8
  %others = sub i64 %chosen, 1
  %several = icmp sgt i64 %others, 0
  %countable = icmp ult i64 %chunks, {one_left}
  %can = and i1 %several, %countable
  br i1 %can, label %ask, label %alone
ask:
  %mine = call i1 @mine()
  br i1 %mine, label %gather, label %alone
gather:
  %hired = call i64 @hire(i64 %others)
  %fewer = icmp slt i64 %hired, %others
  %helpers = select i1 %fewer, i64 %hired, i64 %others
  store ptr %function, ptr @function
  store ptr %table, ptr @table
  store i64 %chunks, ptr @chunks
  store atomic i64 0, ptr @done monotonic, align 8
  %old = load i64, ptr @left
  %here = call i64 @here()
  store atomic i64 %here, ptr @where monotonic, align 8
  %ended = or i64 %old, {all_told}
  %job = add i64 %ended, 1
  %told = shl i64 %chunks, {bits}
  %word = or i64 %job, %told
  store atomic i64 %word, ptr @left seq_cst, align 8
  call void @wake(i64 %helpers)
  call void @take(i64 0)
  call void @await(ptr @done, i64 %chunks)
  store atomic i64 0, ptr @busy release, align 8
  ret void
alone:
  call void %function(ptr %table, i64 0, i64 %chunks)
  ret void
}}

define internal void @alone(i64 %more) {{
top:
  %words = call ptr @link(openblas)
  %known = icmp ne ptr %words, null
  br i1 %known, label %ask, label %over
ask:
  %acquire = call ptr @link(PyThread_acquire_lock)
  %release = call ptr @link(PyThread_release_lock)
  %get = call ptr @link(get_num_threads)
  %set = call ptr @link(set_num_threads)
  %lock = call ptr @word(ptr %words, i64 0)
  %taken = call i32 %acquire(ptr %lock, i32 1)
  %before = call i64 @word(ptr %words, i64 1)
  %after = add i64 %before, %more
  %larger = call i64 @llvm.smax.i64(i64 %before, i64 %after)
  %number = getelementptr i64, ptr %words, i64 2
  %first = icmp eq i64 %before, 0
  br i1 %first, label %note, label %look
note:
  %now = call i32 %get()
  %now_word = sext i32 %now to i64
  store i64 %now_word, ptr %number
  br label %look
look:
  call void @put(ptr %words, i64 1, i64 %larger)
  %own = load i64, ptr %number
  %several = icmp sgt i64 %own, 1
  %last = icmp eq i64 %after, 0
  %edge = or i1 %first, %last
  %change = and i1 %several, %edge
  %own_short = trunc i64 %own to i32
  %wanted = select i1 %last, i32 %own_short, i32 1
  br i1 %change, label %tell, label %leave
tell:
  call void %set(i32 %wanted)
  br label %leave
leave:
  call void @put(ptr %words, i64 1, i64 %after)
  call void %release(ptr %lock)
  br label %over
over:
  ret void
}}

define void @share_products(ptr %function, ptr %table, i64 %chunks) {{
top:
  call void @alone(i64 1)
  %single = icmp eq i64 %chunks, 1
  br i1 %single, label %one, label %several
one:
  call void %function(ptr %table, i64 0, i64 1)
  br label %over
several:
  call void @share(ptr %function, ptr %table, i64 %chunks)
  br label %over
over:
  call void @alone(i64 -1)
  ret void
}}

define void @begin() {{
  %allocate = call ptr @link(PyThread_allocate_lock)
  %acquire = call ptr @link(PyThread_acquire_lock)
  %lock = call ptr %allocate()
  %taken = call i32 %acquire(ptr %lock, i32 1)
  store ptr %lock, ptr @held
  ret void
}}

define void @pause() {{
top:
  br label %ask
ask:
  %mine = call i1 @mine()
  br i1 %mine, label %end, label %wait
wait:
  {relax}
  br label %ask
end:
  store atomic i64 1, ptr @stop seq_cst, align 8
  %begun = load i64, ptr @begun
  call void @wake(i64 %begun)
  call void @await(ptr @alive, i64 0)
  %free = call ptr @link(PyThread_free_lock)
  br label %look
look:
  %n = phi i64 [ 0, %end ], [ %next, %drop ]
  %more = icmp slt i64 %n, %begun
  br i1 %more, label %drop, label %over
drop:
  %row = getelementptr [8 x i64], ptr @crew, i64 %n
  %lock = call ptr @word(ptr %row, i64 1)
  call void %free(ptr %lock)
  %next = add i64 %n, 1
  br label %look
over:
  store i64 0, ptr @begun
  store atomic i64 0, ptr @stop seq_cst, align 8
  ret void
}}

define void @resume() {{
  store atomic i64 0, ptr @busy release, align 8
  ret void
}}
"""


@native.once
def _code() -> native.Code:
    function, argument = RELAX.get(binding.get_process_triple().partition("-")[0], ("", ""))
    code = texts.code(
        TEXT, {"chosen": blocks.chosen_address(), "sched_getcpu": _sched_getcpu(), **_openblas()}, threads=THREADS, looks=LOOKS, patience=PATIENCE,
        bits=BITS, one_left=1 << BITS, all_taken=(1 << BITS) - 1, all_left=(1 << 2 * BITS) - (1 << BITS),
        all_told=(1 << 2 * BITS) - 1,
        declare=f"declare void {function}({argument.partition(' ')[0]})" if function else "",
        relax=f"call void {function}({argument})" if function else "fence acquire",
    )  # fmt: skip
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

    `share_products` does so while OpenBLAS, if it is that, uses no threads of its own; its results depend on them.
    """
    return _code().address(name)
