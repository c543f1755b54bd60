"""Locks of the whole process, and what is done with them when it forks.

The child of a fork has one thread. What other threads held stays held there, and what they were writing stays half written.
So locks that guard what belongs to the whole process are made here, and a fork waits until it has all of them, and until no
other thread imports a module that the library may need later: Python makes no new locks for those. It holds no lock while
it waits for another, so the order in which code takes them does not matter. Locks are reentrant: code of users, such as a
hook or the handler of a signal, may fork inside one.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock, get_ident  # what `threading` has, which would cost the import 1.5 ms
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

Function = Callable[[], None]
PATIENCE = 60.0
"""Seconds that a fork waits for locks: a thread that holds one may itself wait for the thread that forks."""
COURTESY = 1.0
"""Seconds that a thread without locks waits for a fork that wants them."""


class _Imports:
    """What a fork holds, beside locks, while no other thread imports a module that the library may need.

    Python's table of the locks of modules names those that are being imported; its own lock keeps others from beginning.
    """

    packages = frozenset({"pullback", "numpy", "scipy", "llvmlite"}) | sys.stdlib_module_names
    moment = 0.1
    """Seconds in which a thread that has asked for the lock of a module takes it."""

    def __init__(self) -> None:
        bootstrap = sys.modules["_frozen_importlib"]
        self.lock: Any = vars(bootstrap)["_imp"]
        self.modules: dict[str, Any] = vars(bootstrap).get("_module_locks", {})

    def acquire(self, blocking: bool = True, timeout: float = -1.0) -> bool:  # a lock's
        """Wait until no other thread is importing, and let none begin; False if that takes too long."""
        begin = monotonic()
        while True:
            self.lock.acquire_lock()
            if not self._others(soon=monotonic() - begin < self.moment):
                return True
            self.lock.release_lock()
            if not blocking or 0 <= timeout < monotonic() - begin:
                return False
            sleep(0.001)

    def _owners(self) -> set[int | None]:
        """The threads that import, and None for those that are about to."""
        locks = [find() for name, find in [*self.modules.items()] if name.partition(".")[0] in self.packages]
        return {lock.owner for lock in locks if lock is not None}

    def _others(self, *, soon: bool) -> bool:
        return bool(self._owners() - ({get_ident()} if soon else {get_ident(), None}))

    def _is_owned(self) -> bool:
        return get_ident() in self._owners()

    def release(self) -> None:
        """Let others import."""
        self.lock.release_lock()

    def _at_fork_reinit(self) -> None:
        """Nothing: Python has begun its own lock anew."""


_locks: list[Any] = [_Imports()]
_around: list[tuple[Function, Function, Function]] = []
_taken: dict[int, tuple[list[Any], list[Any]]] = {}
_waiting: list[int] = []


def lock() -> RLock:
    """A reentrant lock that no other thread holds when the process forks."""
    return hold(RLock())


def hold(lock: Any) -> Any:
    """A reentrant lock that somebody else has made, and that from now on no other thread holds when the process forks."""
    _locks.append(lock)
    return lock


swapping = lock()
"""For the thread in which a module has other tensors for some time: `functional_call`, and the first run of a compiled function."""
exchanging = lock()
"""For the thread that writes `.grad`, or in which tensors hold recorded values: taken after `swapping`, if at all."""


def _nothing() -> None:
    pass


def around(*, before: Function = _nothing, in_parent: Function = _nothing, in_child: Function = _nothing) -> None:
    """Call functions when the process forks: before it takes locks, and after it has let them go."""
    _around.append((before, in_parent, in_child))


def give_way() -> None:
    """Let a fork have its locks first, if one waits; called before a lock that is taken again and again, and for long.

    A thread that lets a lock go and takes it at once leaves those that wait no time to wake up. One that has another lock
    goes on: the fork waits for that.
    """
    if _waiting and not any(each._is_owned() for each in _locks):
        end = monotonic() + COURTESY
        while _waiting and monotonic() < end:
            sleep(0.001)


def _take_all(end: float) -> list[Any]:
    """All locks, which this thread holds now; none if it cannot have them before a time."""
    first: Any = None
    while True:
        held: list[Any] = []
        for each in sorted(_locks, key=lambda each: each is not first):
            if not (each.acquire(True, max(0.0, end - monotonic())) if each is first else each.acquire(False)):
                first = each
                break
            held.append(each)
        if len(held) == len(_locks):  # a module that was imported meanwhile may have made one
            return held
        _release(held)
        if monotonic() > end:
            return []


def _release(held: list[Any]) -> None:
    while held:
        held.pop().release()


def _begins() -> None:
    end, begun = monotonic() + PATIENCE, 0
    _waiting.append(get_ident())
    while True:
        while begun < len(_around):
            _around[begun][0]()
            begun += 1
        held = _take_all(end)
        if begun == len(_around) or not held:
            break
        _release(held)  # a module that was imported meanwhile has a function, too
    _taken[get_ident()] = held, _around[:begun]
    _waiting.remove(get_ident())


def _ends() -> None:
    held, begun = _taken.pop(get_ident(), ([], []))
    _release(held)
    for _, in_parent, _ in reversed(begun):
        in_parent()


def _is_born() -> None:
    held, begun = _taken.pop(get_ident(), ([], []))
    _taken.clear()
    _waiting.clear()
    if not held:  # threads that are gone may have some of them
        for each in _locks:
            each._at_fork_reinit()
    _release(held)
    for _, _, in_child in reversed(begun):
        in_child()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_begins, after_in_parent=_ends, after_in_child=_is_born)
