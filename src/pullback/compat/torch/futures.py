"""torch.futures: results that become available later, as Python's `concurrent.futures`."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Future(Generic[T]):
    """A result that is set once, and can be waited for.

    >>> from pullback.compat.torch.futures import Future
    >>> future = Future()
    >>> doubled = future.then(lambda done: 2 * done.value())
    >>> future.set_result(3)
    >>> doubled.wait()
    6
    """

    def __init__(self, *, devices: object = None) -> None:
        self._result: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def done(self) -> bool:
        """True if there is a result, or an exception."""
        return self._result.done()

    def wait(self) -> T:
        """Wait for the result and return it; an exception that was set is raised."""
        return self._result.result()

    def value(self) -> T:
        """The result; RuntimeError if it is not available yet."""
        if not self.done():
            raise RuntimeError("the Future is not completed: wait() waits for it")
        return self._result.result()

    def set_result(self, result: T) -> None:
        """Set the result; RuntimeError if it is set already."""
        self._set(self._result.set_result, result)

    def set_exception(self, result: object) -> None:
        """Set an exception, which `wait` and `value` raise."""
        if not isinstance(result, Exception):
            raise TypeError(f"{result} is of type {type(result)}, not an Exception.")
        self._set(self._result.set_exception, result)

    def _set(self, setter: Callable[[Any], None], value: Any) -> None:
        try:
            setter(value)
        except concurrent.futures.InvalidStateError:
            raise RuntimeError("Attempting to mark a completed Future as complete again") from None

    def then(self, callback: Callable[[Future[T]], U]) -> Future[U]:
        """A future for the result of a function of this future, called when it is done."""
        following: Future[Any] = Future()

        def call(_: object) -> None:
            try:
                following.set_result(callback(self))
            except Exception as error:  # noqa: BLE001  # whoever waits for it is given it
                following.set_exception(error)

        self._result.add_done_callback(call)
        return following

    def add_done_callback(self, callback: Callable[[Future[T]], object]) -> None:
        """Call a function of this future when it is done."""
        self._result.add_done_callback(lambda _: callback(self))


def collect_all(futures: Sequence[Future[T]]) -> Future[list[Future[T]]]:
    """A future for the list of futures, done when all of them are."""
    collected: Future[list[Future[Any]]] = Future()
    left = [len(futures)]

    def count(_: object) -> None:
        left[0] -= 1
        if not left[0]:
            collected.set_result(list(futures))

    if not futures:
        collected.set_result([])
    for future in futures:
        future.add_done_callback(count)
    return collected


def wait_all(futures: Sequence[Future[T]]) -> list[T]:
    """The results of several futures, when all are done."""
    return [future.wait() for future in collect_all(futures).wait()]
