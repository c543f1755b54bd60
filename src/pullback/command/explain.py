"""The command `pullback explain`: run a program while recording, and show what its backward calls did."""

from __future__ import annotations

import argparse
import contextlib
import json
import linecache
import runpy
import shlex
import sys
import time
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from ..compat.torch import available, stands_in
from ..explain.arrays import Limits
from ..explain.choosing import calls_at, only_inputs
from ..explain.differing import first_difference
from ..explain.explanation import SUFFIXES, Explanation
from ..explain.failing import names_at
from ..explain.naming import names_of
from ..explain.page import browse
from ..explain.reading import read
from ..explain.recording import Recording
from ..explain.runs import RUNS, Run, read_run
from ..explain.sheets import Sheet
from ..explain.terminal import colored, terminal_width
from ..explain.text import step_text, to_text
from ..explain.trace import Leaf
from ..explain.trails import read_trail
from ..explain.training import begin
from .beside import Beside
from .pipes import own_streams, reader_gone
from .trying import Script, try_fixes, try_mends

DONE, RAISED, USAGE, NOTHING, FOUND = range(5)
KINDS = {"nan": {"nan"}, "inf": {"inf"}, "zero": {"zero", "dead"}, "tiny": {"tiny"}, "huge": {"huge"}}
KINDS |= {kind: {kind} for kind in ("dead", "saturated", "missing", "diverged", "double", "spike", "update")}
KINDS["any"] = {kind for kinds in KINDS.values() for kind in kinds}
EXITS = "exit code: 0 done, 1 the program raised, 2 usage, 3 no backward() ran, 4 --fail-on, --digits or --against found something"
MOST_NAMES = 12
"""The number of leaves that are named where another one is asked for."""


class ExplainedProgram(NamedTuple):
    """The program to run: 'script', 'module' or 'code', the file, module name or code, and the program's arguments."""

    kind: str
    what: str
    arguments: list[str]

    @property
    def named(self) -> list[str]:
        """What stands on a command line for it, before its arguments."""
        return [*{"script": [], "module": ["-m"], "code": ["-c"]}[self.kind], self.what]

    def __str__(self) -> str:
        """The program on a command line."""
        return shlex.join([*self.named, *self.arguments])


def main(arguments: Sequence[str]) -> int:
    """The exit code of `pullback explain` with these arguments.

    >>> from pullback.command.explain import main
    >>> code = "import pullback as pb; x = pb.ones(2, requires_grad=True); (x * x).sum().backward()"
    >>> main(["--no-timing", "--values", "1", "-c", code])  # doctest: +ELLIPSIS
    <string>:1  (x * x).sum().backward() put...
    0
    """
    own, program = split(list(arguments))
    try:
        options = _parser().parse_args(own)
        _check(options, program)
    except SystemExit as stop:
        return DONE if not stop.code else USAGE
    assert program is not None
    limits = Limits(values=options.values, max_nodes=options.max_nodes, timing=options.timing, redact=options.redact)
    if program.kind == "script" and program.what.endswith(".json"):
        return _show_saved(program, options)
    if program.kind == "script" and program.what.endswith(".jsonl"):
        return _show_runs([program.what, *program.arguments], options)
    if program.kind == "script" and program.what.endswith(".trail"):
        return _show_trails(program, options)
    if options.under_torch:
        return _compare(program, options)
    with available(always=options.torch or options.against == "torch"):
        if options.training:
            return _train(program, options)
        if any([options.trail, options.against, options.digits, options.kernels, options.examples]):
            return _compare(program, options)
        recording = Recording(limits, base=sys._getframe(0), hint="")
        begun, folder = time.monotonic(), str(Path.cwd())
        options.folder = folder
        raised = run(program, recording, recording.keep_unpulled, quiet=options.json)
        if options.trials and program.kind == "script":
            script, took = Script(program.what, program.arguments, options.torch, folder), time.monotonic() - begun
            failed = recording.failure
            _say(try_mends(script, recording.all_calls, took) if failed is None else try_fixes(script, failed, took))
        return _report(recording, program, options, raised)


# 1. Arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pullback explain",
        usage="pullback explain [options] script.py [arguments] | -m module | -c code | trace.json | run.jsonl ... | a.trail b.trail",
        description="Run a program and show what each of its backward() calls did.",
        epilog=EXITS,
        allow_abbrev=False,
    )
    add = parser.add_argument
    files = f"write {' '.join(SUFFIXES)}; repeatable"
    add("-o", "--save", action="append", default=[], metavar="FILE", type=_given, help=files)
    add("--training", action="store_true", help="record the optimizer's steps in place of the operations")
    add("--every", type=_positive, default=10, metavar="N", help="with --training: record one step in N (default: 10)")
    add("--digits", action="store_true", help="find the lines that lose digits: all is computed again in float64")
    add("--kernels", action="store_true", help="time the kernels of compiled functions, by line: they are called again")
    each = "divide the gradient among the examples of a batch: the program's model, loss(model, *batch) and tensors"
    add("--examples", type=_given, metavar="model,loss,x,y", help=each)
    add("--trail", type=_given, metavar="FILE", help="record what each operation gives, for --against")
    against = "find the first difference from another run: a trail, torch, a script, a folder or a commit"
    add("--against", type=_given, metavar="WHAT", help=against)
    add("--under-torch", action="store_true", help="with --trail: run the program under the torch that is installed")
    add("--svg", type=_given, metavar="FILE", help="write the steps as an animated SVG")
    add("--torch", action="store_true", help="put pullback in torch's place even where torch is installed")
    add("--json", action="store_true", help="print the trace; what the program prints goes to the standard error")
    add("--open", action="store_true", help="open the page in a browser")
    add("--call", default="last", metavar="N|all", help="which backward call to print, from 1 (default: the last)")
    add("--at", type=_given, metavar="FILE:LINE", help="the calls, or else the steps, of one line")
    add("--inputs", type=_given, metavar="x,w", help="only ways to the leaves of these names")
    add("--step", type=_positive, metavar="N", help="print one backward step, and why its rule is what it is")
    add("--operations", action="store_true", help="print a row for each operation, not for each line of the program")
    add("--jacobian", action="store_true", help="print the Jacobian of the call, row by row")
    add("--cost", action="store_true", help="print bytes, and times, by line, operation and scope")
    add("--health", action="store_true", help="print what went wrong with numbers, and nothing else")
    add("--fail-on", type=_kinds, default=set(), metavar="nan,inf,...|any", help="exit with 4 on such a finding")
    add("--values", type=_positive, default=64, metavar="N", help="keep arrays of up to N elements whole")
    add("--max-nodes", type=_positive, default=20_000, metavar="N", help="show so many operations at most")
    add("--width", type=_positive, metavar="N", help="columns of the text (default: those of the terminal, or 80)")
    add("--redact", action="store_true", help="leave all values and the source out")
    trials = "after an error, nan or inf, run nothing again with fixes"
    add("--no-try", dest="trials", action="store_false", help=trials)
    timing = "measure operations while recorded, longer than alone (default: not)"
    add("--timing", action=argparse.BooleanOptionalAction, default=False, help=timing)
    parser.set_defaults(refused=False, folder="")  # that in which the command was given; a program may leave it
    add("--no-color", dest="color", action="store_false", help="no colors; NO_COLOR does the same")
    return parser


def _kinds(text: str) -> set[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in KINDS]
    if unknown or not words:
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(KINDS)}, not {text!r}")
    return {kind for word in words for kind in KINDS[word]}


def _positive(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a positive number, not {text!r}")
    return int(text)


def _given(text: str) -> str:
    if not text.strip(" ,"):
        raise argparse.ArgumentTypeError(f"expected a name, not {text!r}")
    return text


def split(arguments: list[str]) -> tuple[list[str], ExplainedProgram | None]:
    """The options before the program, and the program with all arguments that follow it."""
    takes = {
        option for action in _parser()._actions if action.nargs is None and action.option_strings
        for option in action.option_strings
    }  # fmt: skip
    place = 0
    while place < len(arguments):
        word = arguments[place]
        if word in {"-m", "-c"}:
            if place + 1 == len(arguments):
                return [*arguments[:place], word], None
            kind = "module" if word == "-m" else "code"
            return arguments[:place], ExplainedProgram(kind, arguments[place + 1], arguments[place + 2 :])
        if not word.startswith("-") or word == "-":
            return arguments[:place], ExplainedProgram("script", word, arguments[place + 1 :])
        place += 2 if word in takes else 1
    return arguments, None


def _check(options: argparse.Namespace, program: ExplainedProgram | None) -> None:
    """Refuse invalid options before anything is run."""
    parser = _parser()
    if program is None:
        parser.error("which program? Give a script, -m module, -c code, a saved trace.json or run.jsonl")
    ending = Path(program.what).suffix if program.kind == "script" else ""
    recorded = ending in {".jsonl", ".trail"}
    suffixes = RUNS[1:] if recorded else RUNS if options.training else SUFFIXES
    for name in options.save:
        if Path(name).suffix.lower() not in suffixes:
            parser.error(f"-o {name}: the suffix says what to write, one of {' '.join(suffixes)}")
    for name in [program.what, *(program.arguments if recorded else ())] if program.kind == "script" else ():
        if recorded and not name.endswith(ending):
            parser.error(f"{name}: after a recorded run come other runs; options stand before the first one")
        if not name or not Path(name).exists():
            parser.error(f"there is no file {name or repr(name)}")
        if Path(name).is_dir() and not Path(name, "__main__.py").exists():
            parser.error(f"{name} is a folder without __main__.py: which script in it?")
        if Path(name).is_block_device() or Path(name).is_char_device():
            parser.error(f"{name} is a device, and no script that could be read to its end")
    if ending == ".trail" and (len(program.arguments) != 1 or options.save):
        parser.error(f"{program.what}: a trail is compared with another one, as text: pullback explain a.trail b.trail")
    if options.svg and Path(options.svg).suffix.lower() != ".svg":
        parser.error(f"--svg {options.svg}: the steps are written as .svg")
    for name in [*options.save, *filter(None, [options.svg, options.trail])]:
        if not Path(name).absolute().parent.is_dir():
            parser.error(f"{name} cannot be written: there is no folder {Path(name).parent}")
    if options.under_torch and (not options.trail or options.torch or options.digits or options.save):
        parser.error(
            "--under-torch goes with --trail, --against and --values alone: pullback is not in the program then"
        )
    if options.call not in {"last", "all"} and not (options.call.isdigit() and int(options.call)):
        parser.error(f"--call {options.call}: expected a number from 1, 'last' or 'all'")
    if options.at is not None and not options.at.rpartition(":")[2].isdigit():
        parser.error(f"--at {options.at}: expected FILE:LINE, such as train.py:41")


# 2. Running


def run(
    program: ExplainedProgram,
    recording: Any,
    after: Callable[[Any], None] | None,
    *,
    quiet: bool = False,
    variables: dict[str, Any] | None = None,
) -> str | None:
    """Run a program in a block, then call `after` with the names of its variables; returns what ended it, or None.

    `variables` is given those that it has at its end.
    """
    before = sys.argv, sys.path[:], sys.modules.get("__main__")
    first = program.what if program.kind == "script" else "-c" if program.kind == "code" else program.what
    sys.argv = [first, *program.arguments]
    folder = str(Path(program.what).resolve().parent) if program.kind == "script" else ""
    sys.path.insert(0, folder)
    out = contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext()
    try:
        with own_streams(), out, recording:
            made = _started(program)
        if after is not None:
            after(names_of(made))
        if variables is not None:
            variables |= made
    except SystemExit as stop:
        if after is not None:
            after(names_at(stop))
        return None if stop.code in {None, 0} else f"the program exited with {stop.code}"
    except BaseException as error:  # any exception of the program is shown
        if isinstance(error, BrokenPipeError) and reader_gone(sys.stdout):
            raise
        with contextlib.suppress(Exception):  # it may be the program's own
            sys.excepthook(type(error), error, error.__traceback__)
        return f"the program raised {type(error).__name__}"
    finally:
        sys.argv, sys.path[:] = before[0], before[1]
        if before[2] is not None:
            sys.modules["__main__"] = before[2]
    return None


def _started(program: ExplainedProgram) -> dict[str, Any]:
    """Run a program as Python would, and return its variables."""
    if program.kind == "script":
        linecache.checkcache(program.what)  # it may have been another text when this process last read it
        return runpy.run_path(program.what, run_name="__main__")
    if program.kind == "module":
        return runpy.run_module(program.what, run_name="__main__", alter_sys=True)
    name = "<string>"
    lines = [f"{line}\n" for line in program.what.split("\n")]
    linecache.cache[name] = (len(program.what), None, lines, name)
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    exec(compile(program.what, name, "exec"), main.__dict__)  # noqa: S102  # code requested by the user
    return main.__dict__


def _compare(program: ExplainedProgram, options: argparse.Namespace) -> int:
    """Run a program, and show what the options ask for beside the steps of its calls."""
    options.folder = str(Path.cwd())
    limits = Limits(values=options.values, max_nodes=options.max_nodes, redact=options.redact)
    paged = bool(options.save or options.open or options.json or options.svg)
    recording, beside = Recording(limits, base=sys._getframe(0), hint=""), Beside(options)
    after = recording.keep_unpulled if paged else None
    with contextlib.ExitStack() as blocks:  # entered with the program's block, so that its error is not theirs
        blocks.enter_context(beside.block())
        if paged:
            blocks.enter_context(recording)
        raised = run(program, blocks.pop_all(), after, quiet=options.json, variables=beside.variables)
    _say(raised)
    try:
        beside.save()
        beside.find(program.named, program.arguments, ended=raised is None)
    except (ValueError, TypeError) as error:
        _say(str(error))
        return USAGE
    recording.sheets += beside.sheets
    if paged and recording.all_calls:
        _show(recording, program, options)
    for sheet in [] if options.json else beside.sheets:
        _print(sheet, options)
    return RAISED if raised is not None else USAGE if options.refused else FOUND if beside.differs else DONE


def _show_trails(program: ExplainedProgram, options: argparse.Namespace) -> int:
    """Compare two trails."""
    try:
        found = first_difference(*[read_trail(name) for name in (program.what, *program.arguments)])
    except (ValueError, OSError) as error:
        _say(str(error))
        return USAGE
    _print(found.sheet(), options)
    return FOUND if found else DONE


def _print(sheet: Sheet, options: argparse.Namespace) -> None:
    _write(sys.stdout, sheet.to_text(options.width or terminal_width(), ascii=not _unicode(sys.stdout)))


# 3. Showing


def _train(program: ExplainedProgram, options: argparse.Namespace) -> int:
    """Run a program while its optimizers' steps are recorded, and show what happened in them."""
    written = [name for name in options.save if Path(name).suffix.lower() == ".jsonl"][:1]  # while the program runs
    file = written[0] if written else None
    training = begin(None, None, options.every, file, progress=sys.stderr.isatty())
    raised = run(program, training, None, quiet=options.json)
    nothing = [] if training.count else ["no optimizer made a step"]
    for line in [raised, *nothing]:
        _say(line)
    ended = _show_training([training], options, written)
    return RAISED if raised is not None else NOTHING if not training.count else ended


def _show_runs(names: Sequence[str], options: argparse.Namespace) -> int:
    """Show recorded training runs beside each other."""
    try:
        return _show_training([read_run(name) for name in names], options, [])
    except (ValueError, OSError) as error:
        _say(str(error))
        return USAGE


def _show_training(runs: Sequence[Run], options: argparse.Namespace, written: Sequence[str]) -> int:
    """Write and print training runs."""
    first, *others = runs
    for name in options.save:
        if name not in written:
            first.save(name, *others)
        _say(f"wrote {name}")
    if first.count:
        text = first.to_text(*others, width=options.width or terminal_width(), ascii=not _unicode(sys.stdout))
        made = [run.to_dict() for run in runs]
        _write(sys.stdout, json.dumps(made if others else made[0]) + "\n" if options.json else text)
    found = {event.kind for run in runs for event in run.events} & options.fail_on
    if found:
        _say(f"found {', '.join(sorted(found))}")
    return FOUND if found else DONE


def _report(recording: Recording, program: ExplainedProgram, options: argparse.Namespace, raised: str | None) -> int:
    """Print and write the requested output; returns the exit code."""
    ran = recording.count
    if recording.all_calls:
        _show(recording, program, options)
    for line in _messages(raised, ran, recording):
        _say(line)
    if raised is not None:
        return RAISED
    if not ran:
        return NOTHING
    if options.refused:
        return USAGE
    if found := recording.kinds & options.fail_on:
        _say(f"found {', '.join(sorted(found))}")
        return FOUND
    return DONE


def _say(line: str | None) -> None:
    if line is not None:
        print(f"pullback explain: {line}", file=sys.stderr)


def _messages(raised: str | None, ran: int, recording: Recording) -> Iterator[str]:
    if raised is not None:
        kept = "this is the tape up to there"
        none = "there is no tape, nothing that requires grad was computed"
        yield f"{raised}; {kept if any(call.tensors for call in recording.all_calls) else none}"
    elif not ran:
        yield "no backward() ran in the program's main thread" + (
            ", this is the tape of what was computed" if recording.all_calls else ""
        )
        if not recording.all_calls and "torch" in sys.modules and not stands_in():
            yield "the program imported the torch that is installed: --torch puts pullback in its place"
    if ran > len(recording.all_calls):
        yield f"of {ran} backward calls the last {len(recording.all_calls)} are kept"


def _chosen(recording: Explanation, options: argparse.Namespace) -> Explanation:
    """The requested calls, and which of them is shown."""
    calls = list(recording.all_calls)
    if options.inputs:
        names = {name.strip() for name in options.inputs.split(",")}
        known = {tensor.name: None for call in calls for tensor in call.tensors if tensor.is_leaf}
        if unknown := sorted(names.difference(known)):
            leaves = ", ".join([*known][:MOST_NAMES]) + ", ..." * (len(known) > MOST_NAMES)
            raise ValueError(f"--inputs: no leaf is called {', '.join(unknown)}; there are {leaves or 'none'}")
        calls = [only_inputs(call, names) for call in calls]
    if options.at is not None:
        calls = calls_at(calls, options.at)
        if not any(call.forward or call.steps for call in calls):
            raise ValueError(f"--at: nothing was recorded at {options.at}: --operations prints all lines that were")
    ex = Explanation(
        calls, recording.limits, recorded=recording.recorded, scopes=recording.scopes, failure=recording.failure
    )
    ex.notes, ex.sheets = recording.notes, recording.sheets
    if options.call.isdigit():
        if int(options.call) > len(calls):
            raise ValueError(f"there is no call {options.call}: --call takes 1 to {len(calls)}, 'last' or 'all'")
        ex.shown = int(options.call) - 1
    if options.step and options.step > (most := max((len(call.steps) for call in calls), default=0)):
        there = f"--step takes 1 to {most}" if most else "no backward() ran"
        raise ValueError(f"there is no step {options.step}: {there}")
    return ex


def _show(recording: Explanation, program: ExplainedProgram, options: argparse.Namespace) -> None:
    """Write and print what is asked for of a recording, or say why it is not there."""
    try:
        ex = _chosen(recording, options)
    except ValueError as error:
        options.refused = True
        _say(str(error))
        return
    for name in [*options.save, *filter(None, [options.svg])]:
        try:
            if name == options.svg:
                Path(options.folder, name).write_text(ex.to_animation(), encoding="utf-8", newline="\n")
            else:
                ex.save(Path(options.folder, name))
        except (RuntimeError, OSError) as error:
            _say(f"{name} was not written: {(isinstance(error, OSError) and error.strerror) or error}")
            options.refused = True
            continue
        _say(f"wrote {name}")
    if options.open:
        browse(ex.to_html())
    if options.json:
        _write(sys.stdout, json.dumps(ex.to_dict(), ensure_ascii=True) + "\n")
        return
    asked = any([options.step, options.jacobian, options.cost, options.health])
    if (options.save or options.svg) and not asked and options.call == "last":
        return
    if ex.failure is not None and not (ex.failure.ours or any(call.tensors for call in ex.all_calls)):
        return  # the exception alone tells what there is to tell
    every = range(len(ex.all_calls)) if options.call == "all" else [ex.primary]
    for index in every:
        ex.shown = index
        _write(sys.stdout, _text(ex, program, options))


def _text(ex: Explanation, program: ExplainedProgram, options: argparse.Namespace) -> str:
    """The text printed for one call."""
    ascii = not _unicode(sys.stdout)
    width = options.width or terminal_width()
    color = bool(options.color and colored(sys.stdout))
    parts: list[str] = []
    if options.step:
        there = options.step <= len(ex.steps)  # of several calls one may have fewer
        no = f"there is no step {options.step}: the call has {len(ex.steps)} backward steps\n"
        parts.append(step_text(ex, options.step, width=width, ascii=ascii) if there else no)
    if options.jacobian:
        parts += [_jacobian(leaf) for leaf in ex.leaves]
    if options.cost:
        parts += [ex.cost().table(what) + "\n" for what in ("line", "op", "scope")]
    if options.health:
        found = [f"{each.kind}: {each.why}{f'. {each.fix}' if each.fix else ''}" for each in ex.health]
        parts.append("\n".join(found or ["nothing wrong with the numbers"]) + "\n")
    if not parts:
        again = f"{'--torch ' * options.torch}{program}"
        again = again if len(again) <= width // 2 else "..."
        parts.append(to_text(ex, width=width, ascii=ascii, color=color, program=again, operations=options.operations))
    text = "\n".join(parts)
    return text.encode("ascii", "backslashreplace").decode() if ascii else text


def _jacobian(leaf: Leaf) -> str:
    if leaf.J is None:
        return f"{leaf.tensor.name}: the Jacobian was not computed: {leaf.missing}\n"
    return f"Jacobian by {leaf.tensor.name}\n{leaf.J}\n"


def _unicode(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "").startswith("utf")


def _write(stream: TextIO, text: str) -> None:
    """Write a text; a reader that has seen enough, such as `head`, is no fault."""
    with contextlib.suppress(BrokenPipeError):
        stream.write(text)
    reader_gone(stream)


def _show_saved(program: ExplainedProgram, options: argparse.Namespace) -> int:
    """Show a saved trace."""
    try:
        ex = read(program.what)
    except (ValueError, OSError) as error:
        print(f"pullback explain: {error}", file=sys.stderr)
        return USAGE
    _show(ex, program, options)
    kinds = {kind for call in ex.all_calls for finding in call.findings for kind in finding.kinds}
    if options.refused or kinds & options.fail_on:
        return USAGE if options.refused else FOUND
    return DONE if any(call.steps for call in ex.all_calls) else NOTHING
