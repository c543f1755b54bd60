"""Runs a program for the playground, inside the engine, and reports what happened as JSON.

The playground's worker runs this file once, then calls `run` for each run of a program. What the program prints goes to
`sys.stdout`, which the worker shows as it comes.
"""

from __future__ import annotations

import ast
import contextvars
import json
import linecache
import random
import sys
import traceback
import types
from typing import Any

import numpy as np

import pullback
from pullback.compat.torch import install
from pullback.explain.arrays import Limits
from pullback.explain.naming import names_of
from pullback.explain.page import to_html
from pullback.explain.recording import Recording

NAME = "program.py"
SHOWN = 8
"""Of a tensor with more elements, the values are not listed."""


def run(request: str) -> str:
    """Run a program, and return what happened: the page of explain, the error and notes, as JSON.

    `request` is JSON: `program`, and `start`, the state in which the page of explain opens. `echo` says which
    expression statements print their values: the `last` one of the program, as in a notebook, or `all`. `before` is
    run first, and neither shown nor recorded.
    """
    asked = json.loads(request)
    return json.dumps(contextvars.copy_context().run(_run, **asked))


def _run(program: str, start: str = "", echo: str = "last", before: str = "") -> dict[str, Any]:
    _reset()
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    lines = [f"{line}\n" for line in program.split("\n")]
    linecache.cache[NAME] = (len(program), None, lines, NAME)
    recording = Recording(Limits(timing=False), base=sys._getframe(0), hint="")
    answer: dict[str, Any] = {"page": None, "error": None, "note": ""}
    streams = sys.stdout, sys.stderr
    try:
        exec(compile(before, "before.py", "exec"), main.__dict__)  # the visitor's own program
        code = compile(_echoing(program, echo), NAME, "exec")
        with recording:
            exec(code, main.__dict__)
        recording.keep_tape(names_of(main.__dict__))
    except SystemExit as stop:
        answer["note"] = f"The program ended itself: {stop}."
    except BaseException as error:  # noqa: BLE001  # any exception of the program is shown
        answer["error"] = _described(error)
    sys.stdout, sys.stderr = streams  # a program may have replaced them
    sys.stdout.flush()
    sys.stderr.flush()
    if recording.all_calls:
        answer["page"] = to_html(recording.to_dict(), start=start)
    if not recording.count and not answer["note"]:
        answer["note"] = (
            "No backward() ran: this is what was computed, without gradients."
            if recording.all_calls
            else "Nothing that requires grad was computed, so there is nothing to explain."
        )
    return answer


def _reset() -> None:
    """Undo what an earlier program may have set: each run starts from the same state, and the same random numbers."""
    install()
    pullback.set_default_dtype(pullback.float32)
    pullback.set_printoptions(profile="default")
    pullback.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  # programs use it
    random.seed(0)


def _echoing(program: str, echo: str) -> ast.Module:
    """The program, in which expression statements print their value unless it is None."""
    tree = ast.parse(program, NAME)
    for index, line in enumerate(tree.body):
        if isinstance(line, ast.Expr) and (echo == "all" or index == len(tree.body) - 1):
            shown = ast.Call(ast.Attribute(_imported("sys"), "displayhook", ast.Load()), [line.value], [])
            tree.body[index] = ast.copy_location(ast.Expr(shown), line)
    return ast.fix_missing_locations(tree)


def _imported(module: str) -> ast.expr:
    return ast.Call(ast.Name("__import__", ast.Load()), [ast.Constant(module)], [])


def _described(error: BaseException) -> dict[str, Any]:
    """An exception: its line in the program, its text, and the tensors that the line names."""
    line, frame = _place(error)
    text = "".join(traceback.format_exception_only(error)).strip()
    return {
        "type": type(error).__name__,
        "message": str(error),
        "text": text,
        "line": line,
        "tensors": [] if frame is None or line is None else _tensors(frame, line),
    }


def _place(error: BaseException) -> tuple[int | None, types.FrameType | None]:
    """The innermost line of the program that the exception passed, and its frame."""
    if isinstance(error, SyntaxError) and error.filename == NAME:
        return error.lineno, None
    found: tuple[int | None, types.FrameType | None] = (None, None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == NAME:
            found = trace.tb_lineno, trace.tb_frame
        trace = trace.tb_next
    return found


def _tensors(frame: types.FrameType, line: int) -> list[dict[str, str]]:
    """What is known of the tensors and arrays whose names are in the statement at this line."""
    source = "".join(linecache.getlines(NAME))
    parts = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno
    ]  # fmt: skip
    statement = min(parts, key=lambda node: node.end_lineno - node.lineno, default=None)
    if statement is None:
        return []
    names = dict.fromkeys(
        ast.unparse(node) for node in ast.walk(statement) if isinstance(node, (ast.Name, ast.Attribute))
    )
    known = {name: _looked_up(name, frame) for name in names}
    return [_row(name, value) for name, value in known.items() if isinstance(value, (pullback.Tensor, np.ndarray))]


def _looked_up(name: str, frame: types.FrameType) -> Any:
    """The value of a dotted name, as far as looking it up runs nothing of the program."""
    first, *rest = name.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for part in rest:
        if isinstance(value, pullback.nn.Module):
            value = {**value._modules, **value._parameters, **value._buffers}.get(part)
        elif part == "grad" and isinstance(value, pullback.Tensor) and value.is_leaf:
            value = value.grad
        else:
            return None
    return value


def _row(name: str, value: Any) -> dict[str, str]:
    row = {"name": name, "shape": str(tuple(value.shape)), "dtype": str(value.dtype).removeprefix("torch.")}
    row["values"] = str(value.tolist()) if np.prod(value.shape, dtype=int) <= SHOWN else ""
    if isinstance(value, np.ndarray):
        return {**row, "what": "NumPy array"}
    if value.grad_fn is not None:
        return {**row, "what": f"computed by {type(value.grad_fn).__name__}"}
    return {**row, "what": "leaf that requires grad" if value.requires_grad else "does not require grad"}
