"""The loader's side of its workers: starting and stopping processes, requests and answers, and failures."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import weakref
from collections import deque
from typing import Any, NoReturn

from .fetching import PLACE, STARTING, STOP, TASK, doing
from .working import Job, Request, receive, work

_GRACE = 5.0  # seconds that workers are given to end by themselves
_GLANCE = 1.0  # seconds per wait: where a wait cannot be interrupted, Ctrl-C is noticed after it


class Member:
    """A worker as seen by the loader: its process, connections and pending requests."""

    def __init__(self, context: Any, job: Job, number: int) -> None:
        requests, self.requests = context.Pipe(duplex=False)
        stop, self.stop = context.Pipe(duplex=False)
        self.answers, answers = context.Pipe(duplex=False)
        self.record = context.RawArray("q", 3)
        self.record[TASK], self.record[PLACE] = -1, STARTING
        self.pending: deque[Request] = deque()
        self.ended = False  # True if its stream has ended
        self.process = context.Process(
            target=work, args=(job, number, self.record, requests, stop, answers), daemon=True
        )
        try:
            self.process.start()
        except Exception as error:
            error.add_note(_why_not_started(context))
            raise
        finally:
            # Close the worker's ends here, since otherwise the connections would stay open after the worker has ended.
            for end in (requests, stop, answers):
                end.close()

    def ask(self, request: Request) -> None:
        """Request a batch; a worker that has ended is detected when its answer is awaited."""
        self.pending.append(request)
        with contextlib.suppress(OSError):
            self.requests.send(request)

    def close(self) -> None:
        """Release the resources of a process that has ended."""
        for end in (self.requests, self.stop, self.answers):
            end.close()
        self.process.close()


def _why_not_started(context: Any) -> str:
    return (
        f"A DataLoader with num_workers > 0 starts processes by {context.get_start_method()!r}: unless that is 'fork', the "
        "data set, collate_fn and worker_init_fn are pickled for them, so they must be functions and classes of a "
        "module, not lambdas"
    )


def _stop(members: list[Member], owner: int) -> None:
    """Stop the workers of a process: by request, then by termination."""
    if os.getpid() != owner:  # a copy of the loader in a forked process
        return
    for member in members:
        member.record[STOP] = 1
        with contextlib.suppress(OSError):
            member.stop.send_bytes(b"stop")
    deadline = time.monotonic() + _GRACE
    for member in members:
        member.process.join(max(0.0, deadline - time.monotonic()))
    for end in ("terminate", "kill"):
        for member in members:
            if member.process.is_alive():
                getattr(member.process, end)()
                member.process.join(_GLANCE)
    while members:
        members.pop().close()


class Pool:
    """The workers of a loader, which are stopped with it."""

    def __init__(self, context: Any, job: Job, timeout: float) -> None:
        self.job, self.timeout, self.context = job, timeout, context
        self.members: list[Member] = []
        self.stop = weakref.finalize(self, _stop, self.members, os.getpid())
        self.tasks = 0
        self.epoch = 0
        try:
            for number in range(job.num_workers):
                self.members.append(Member(context, job, number))
        except BaseException:
            self.stop()
            raise

    def begin(self) -> int:
        """Start another pass through the data; answers to requests of the last pass are discarded."""
        self.epoch += 1
        for member in self.members:
            member.ended = False
        return self.epoch

    def ask(self, member: Member, indices: object) -> None:
        """Request the next batch from a worker."""
        member.ask(Request(self.tasks, self.epoch, indices))
        self.tasks += 1

    def listen(self, members: list[Member]) -> tuple[Member, Request, object]:
        """The first answer of some workers to a request of this pass; raises if a worker has died or takes too long."""
        try:
            while True:
                member = self._ready(members)
                try:
                    _, answer = receive(member.answers)
                except (EOFError, ConnectionError):
                    self._died(member)
                request = member.pending.popleft()
                if request.epoch == self.epoch:
                    return member, request, answer
        except KeyboardInterrupt:
            self.stop()
            raise

    def _ready(self, members: list[Member]) -> Member:
        """A worker that has something to read, or whose connection has ended."""
        deadline = time.monotonic() + (self.timeout or float("inf"))
        by_connection = {member.answers: member for member in members}
        by_end = {member.process.sentinel: member for member in members}
        while (left := deadline - time.monotonic()) > 0:
            ready = multiprocessing.connection.wait([*by_connection, *by_end], min(left, _GLANCE))
            for each in ready:
                if each in by_connection:
                    return by_connection[each]
            for each in ready:  # its data has been read, unless more arrived in between
                if not by_end[each].answers.poll():
                    self._died(by_end[each])
        waited = ", ".join(self._state(member) for member in members)
        for member in members:  # they do not answer, so they are not asked to stop
            member.process.terminate()
        self.stop()
        raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds: {waited}")

    def _state(self, member: Member) -> str:
        """A description of what a worker is doing."""
        number = self.members.index(member)
        request = next((each for each in member.pending if each.task == member.record[TASK]), None)
        if request is None:
            return f"worker {number} was starting"
        what = doing(member.record[PLACE], request.indices, self.job.dataset, self.job.stream)
        return f"worker {number} was {what}"

    def _died(self, member: Member) -> NoReturn:
        member.process.join(_GLANCE)
        code, pid, state = member.process.exitcode, member.process.pid, self._state(member)
        method = self.context.get_start_method()
        self.stop()
        if code is not None and code < 0:
            how = f"is killed by signal: {_signal_name(-code)}."
        else:
            how = (
                f"exited unexpectedly with exit code {code}. Details are lost due to multiprocessing. Rerunning with "
                "num_workers=0 may give better error trace."
            )
        hint = ""
        if "was starting" in state and method != "fork":
            hint = (
                f" Processes are started by {method!r}, which imports the program again: a script must load its data "
                "under `if __name__ == '__main__':`."
            )
        raise RuntimeError(f"DataLoader worker (pid {pid}) {how} When it ended, {state}.{hint}")


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    except ValueError:
        return str(number)
