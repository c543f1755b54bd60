"""Runs the tests of one of torch's test files on what `import torch` gives: worker.py FILE JOURNAL SECONDS.

The journal has a line of JSON for each test, before and after it, so that the tests that a crash leaves are run by a further
process. A file $ONLY, if there is one, names the tests to run.
"""

import ast
import json
import os
import signal
import sys
import traceback
import unittest
import warnings

from tests.torchtests import harness


def one_by_one(tree):
    """The module with each statement that may fail by itself in a `try`."""

    def guarded(statement, name):
        handler = ast.parse(f"try: pass\nexcept Exception as error: {name} = _broken({name!r}, error)").body[0]
        handler.body = [statement]
        return handler

    def parts(statement):
        if isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
            for each in statement.names:
                yield guarded(ast.ImportFrom(statement.module, [each], statement.level), each.asname or each.name)
        elif isinstance(statement, ast.Import):
            for each in statement.names:
                yield guarded(ast.Import([each]), each.asname or (each.name if "." not in each.name else "_"))
        elif isinstance(statement, ast.FunctionDef | ast.ClassDef):
            if isinstance(statement, ast.ClassDef):
                statement.body = [piece for each in statement.body for piece in parts(each)]
            yield guarded(statement, statement.name)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield guarded(statement, statement.targets[0].id)
        elif isinstance(statement, ast.Expr | ast.If | ast.For) and not isinstance(
            getattr(statement, "value", 0), ast.Constant
        ):
            yield guarded(statement, "_")
        else:
            yield statement

    tree.body = [piece for each in tree.body for piece in parts(each)]
    return ast.fix_missing_locations(tree)


def broken(name, error):
    """What stands for a name whose statement failed."""
    if name == "torch_npu" or name.startswith("_"):
        return harness.Unknown(name)
    if name.startswith("test"):

        def fails(self):
            raise error

        return fails
    return harness.Unknown(f"{name}: {error}", lacking=True)


class Late(BaseException):
    """The time of a test is over."""


def late(*_):
    raise Late


def outcome(test, seconds):
    """How a test ends, and the error's text."""
    result = unittest.TestResult()
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    kept = harness.torch.get_default_dtype()
    held = []
    for kind in ("addError", "addFailure"):
        setattr(result, kind, lambda _, info: held.append(info))
    result.addSubTest = lambda _, __, info: info and held.append(info)
    try:
        test.run(result)
    except Late:
        return "time", ""
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        harness.torch.set_default_dtype(kept)
        harness.torch.set_grad_enabled(True)
    if held:
        kind, error, trace = held[0]
        place = traceback.extract_tb(trace)[-1]
        return kind.__name__, f"{error}"[:300] + f" ({os.path.basename(place.filename)}:{place.lineno})"
    return ("skipped", result.skipped[0][1][:200]) if result.skipped or result.expectedFailures else ("passed", "")


def tests(path):
    """The tests of a file, by their names."""
    space = {"__name__": "torch_tests", "__file__": path, "_broken": broken}
    module = harness.types.ModuleType("torch_tests")
    sys.modules["torch_tests"] = module
    module.__dict__.update(space)
    with open(path, encoding="utf-8") as file:
        exec(compile(one_by_one(ast.parse(file.read())), path, "exec"), module.__dict__)
    harness.LOADING = False
    for cls in list(module.__dict__.values()):
        if isinstance(cls, type) and issubclass(cls, unittest.TestCase) and cls.__module__ != harness.__name__:
            for name in sorted(dir(cls)):
                if name.startswith("test") and callable(getattr(cls, name)):
                    yield f"{cls.__name__}.{name}", cls, name


def main(path, journal, seconds):
    with open(journal, "a+", encoding="utf-8") as file:
        file.seek(0)
        done = {json.loads(line)["test"] for line in file}
        only = None
        if os.environ.get("ONLY"):
            with open(os.environ["ONLY"], encoding="utf-8") as names:
                only = set(names.read().split("\n"))
        for name, cls, method in tests(path):
            if name in done or (only is not None and name not in only):
                continue
            file.write(json.dumps({"test": name, "kind": "crash", "text": ""}) + "\n")
            file.flush()
            try:
                kind, text = outcome(cls(method), float(seconds))
            except Late:
                kind, text = "time", ""
            except Exception as error:  # noqa: BLE001  # told in the table
                kind, text = type(error).__name__, str(error)[:300]
            file.write(json.dumps({"test": name, "kind": kind, "text": text}) + "\n")
            file.flush()
        file.write(json.dumps({"test": "", "kind": "end", "text": ""}) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
    os._exit(0)
