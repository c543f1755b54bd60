"""Operations of which the n-th event fails, for every n: nothing is half written, nothing stays entered, the next call is right.

    python -m tests.stress.failures [OPERATION ...] [--way signal|opcode|block|memory|system] [--step N] [--processes N]

Each n begins with new tensors, in a forked process; after one that is wrong the next runs in another process. The events of
each way are described in `failing.py`, the operations in `operations.py`. Prints a line for each operation and way, and one for each n that is wrong.
"""

import argparse
import collections
import concurrent.futures
import contextvars
import itertools
import multiprocessing
import os
import pickle
import sys
import threading
import traceback
import warnings

from tests.stress.failing import FAILURES, WAYS, numbers
from tests.stress.operations import MAKERS

import pullback

PARTLY = ("step of ", "load state dict", "batch norm", "clip grad norm")
"""Operations on several tensors, of which some may be written and others not: docs/how-to/training.md says so."""


def compiles(name):
    """True for an operation that may hold the locks of compiling."""
    return name.startswith(("compiled", "cache"))


def entered():
    """The context variables of the library that are not as they are in a new thread."""
    new = contextvars.Context()
    found = {}
    for variable in contextvars.copy_context():
        if variable.name.startswith("pullback."):
            try:
                default = new.run(variable.get)
            except LookupError:
                default = None
            if variable.get() is not default:
                found[variable.name] = variable.get()
    return found


def wrong_around(*, compiling):
    """What is still entered, locked or switched on, as text; None if nothing is. Compiling takes its time."""
    if found := entered():
        return f"still entered: {found}"
    if sys.getprofile() is not None:
        return "a profile function is set"
    if type(pullback.ones(2).numpy()).__name__ != "ndarray":
        return "tensors have no arrays"
    done = []

    def elsewhere():
        w = pullback.ones(2, requires_grad=True)
        (w * 3).sum().backward()
        function = pullback.compile(lambda t: t * 7 + 1) if compiling else lambda t: t * 7 + 1
        done.append((w.grad.tolist(), function(pullback.ones(2)).tolist()))

    thread = threading.Thread(target=elsewhere, daemon=True)
    thread.start()
    thread.join(60)
    return None if done == [([3.0, 3.0], [8.0, 8.0])] else f"another thread: {done or 'locked'}"


def tried(name, way, n, states, results):
    """What is wrong after the n-th event has failed; "" if nothing is, None if there is no n-th event."""
    run, look = MAKERS[name]()
    failing, failure, result = WAYS[way](n), None, None
    try:
        with failing:
            result = numbers(run())
    except FAILURES as error:
        failure = error
    except Exception as error:  # noqa: BLE001  # an operation may say it in other words
        failure = error
    if not failing.came:
        return None
    try:
        if failure is None:  # it went another way
            return "" if result == results[0] else f"other numbers: {result} for {results[0]}"
        told = "".join(traceback.format_exception(failure)[-6:]) if not isinstance(failure, str) else failure
        failure = None
        if found := wrong_around(compiling=compiles(name)):
            return f"{found}\n{told}"
        seen = numbers(look())
        if seen not in states[:2]:
            return (
                f"{'partly' if name.startswith(PARTLY) else 'half written'}: {seen} is neither of {states[:2]}\n{told}"
            )
        again = numbers(run())
        place = states.index(seen)
        if again != results[place] or numbers(look()) not in (states[place + 1], states[min(place + 2, 2)]):
            partly = "partly, " if name.startswith(PARTLY) else ""
            return f"{partly}wrong at the next call: {again} for {results[place]}, {look()} for {states[place + 1]}\n{told}"
    except Exception:  # noqa: BLE001  # told by the parent
        return f"an error afterwards: {traceback.format_exc(limit=-5)}\n{told}"
    return ""


def in_child(name, way, numbers_of_events, states, results):
    """What `tried` finds for one n after another, in a forked process: up to the first that is wrong, or that does not come."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as stream:
                for n in numbers_of_events:
                    try:
                        found = tried(name, way, n, states, results)
                    except BaseException:  # noqa: BLE001  # told by the parent
                        found = f"the child failed: {traceback.format_exc()}"
                    pickle.dump((n, found), stream)
                    stream.flush()
                    if found or found is None:
                        break
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        while True:
            try:
                yield pickle.load(stream)
            except EOFError:
                break
    if status := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        yield -1, f"the process ended with {status}"


def expected(name):
    """What can be seen before an operation, after it, and after a second one; and what the two return."""
    run, look = MAKERS[name]()
    states, results = [numbers(look())], []
    for _ in range(2):
        results.append(numbers(run()))
        states.append(numbers(look()))
    return states, results


def places(name, way, step=1, first=1):
    """For every `step`-th n, until there is none: n, and what is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        states, results = expected(name)
        before = wrong_around(compiling=compiles(name))  # which also imports what the children need
        assert before is None, before
        n = first
        while True:
            for at, found in in_child(name, way, itertools.count(n, step), states, results):
                if found is None:
                    return
                n = n if at < 0 else at
                yield n, found
            n += step


def survey(job):
    """How many places of an operation there are, and what is wrong at which."""
    name, way, step = job
    count, found = 0, []
    for n, wrong in places(name, way, step):
        count += 1
        if wrong:
            found.append((n, wrong))
    return name, way, count, found


def main():
    parser = argparse.ArgumentParser(prog="scripts/failures", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="OPERATION", help="which ones, by parts of their names (all)")
    parser.add_argument("--way", action="append", choices=WAYS, help="which events (all but every opcode)")
    parser.add_argument("--step", type=int, default=1, help="every so many n (1)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="in how many processes")
    parser.add_argument(
        "--all", action="store_true", help="show every n that is wrong, not the first two of an operation"
    )
    asked = parser.parse_args()
    chosen = [name for name in MAKERS if not asked.names or any(part in name for part in asked.names)]
    jobs = [(name, way, asked.step) for name in chosen for way in asked.way or ("signal", "block", "memory", "system")]
    total = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(
        asked.processes, mp_context=multiprocessing.get_context("spawn")
    ) as pool:
        for name, way, count, found in pool.map(survey, jobs):
            partly = sum(wrong.startswith("partly") for _, wrong in found)
            total.update(places=count, partly=partly, wrong=len(found) - partly, operations=1)
            print(f"{name}, {way}: {count} places, {len(found) - partly} wrong, {partly} partly", flush=True)
            shown = [each for each in found if not each[1].startswith("partly")]
            for n, wrong in shown if asked.all else shown[:2]:
                print(f"  n = {n}: {wrong}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in total.items()))
    return int(total["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
