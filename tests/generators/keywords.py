"""Misspelt keywords of every public function, method and class: the message names the parameter that was meant."""

import contextlib
import functools
import importlib
import inspect
import io
import keyword
import linecache
import re
import sys
import warnings

import pullback

FEW = 15

MODULES = """
    pullback pullback.autograd pullback.distributions pullback.fft pullback.func pullback.linalg pullback.nn
    pullback.nn.functional pullback.nn.init pullback.nn.utils pullback.optim pullback.optim.lr_scheduler
    pullback.signal.windows pullback.special pullback.utils.data""".split()
FILE = "<a misspelt keyword>"
VALUES = dict.fromkeys(("window_length", "M"), "8")
"""What is passed for needed parameters that are checked before the keywords; for the others, a tensor."""


@functools.cache
def public():
    """What users write: functions and classes of all modules, and methods of a tensor."""
    owners = {name.replace("pullback", "pb", 1): importlib.import_module(name) for name in MODULES}
    names = {path: dir(owner) for path, owner in {**owners, "pb.zeros(2, 2)": pullback.Tensor}.items()}
    return [f"{path}.{name}" for path in names for name in names[path] if not name.startswith("_")]


def parameters(written):
    """The parameters of something of ours that is called, and says them all."""
    try:
        value = eval(written, {"pb": pullback})
    except RuntimeError:  # a property
        return []
    if not callable(value) or not str(getattr(value, "__module__", "")).startswith("pullback"):
        return []
    try:
        taken = list(inspect.signature(value).parameters.values())
    except ValueError:
        return []
    open_ended = any(each.kind is each.VAR_KEYWORD for each in taken)
    return [] if open_ended else [each for each in taken if each.kind is not each.VAR_POSITIONAL]


def misspelt(name, rng):
    """A name with a letter less, more or changed, two swapped, or without an underscore."""
    place = int(rng.integers(len(name) - 1))
    letter = "abcdefghijklmnopqrstuvwxyz"[rng.integers(26)]
    ways = [
        name[:place] + name[place + 1 :],
        name[:place] + letter + name[place:],
        name[:place] + letter + name[place + 1 :],
        name[:place] + name[place + 1] + name[place] + name[place + 2 :],
        name.replace("_", "", 1),
    ]
    return ways[rng.integers(len(ways))]


def displayed(expression):
    """The lines that Python displays for an expression that a program evaluates."""
    linecache.cache[FILE] = (len(expression), None, [f"{expression}\n"], FILE)
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of deprecated names, which comes first
        try:
            eval(compile(expression, FILE, "eval"), {"pb": pullback})
        except Exception as error:
            error.__traceback__ = error.__traceback__.tb_next
            sys.excepthook(type(error), error, error.__traceback__)
    return shown.getvalue()


def check(rng):
    """Draw one callable, and misspell each of its keywords of three letters and more: shorter ones have too many neighbours."""
    taken = []
    while not taken:
        written = public()[rng.integers(len(public()))]
        taken = parameters(written)
    return sum(compared(written, taken, place, rng) for place in range(len(taken)))


def compared(written, taken, place, rng):
    """Misspell one keyword of a callable, to which all that it needs is passed besides; whether it could be done."""
    names = [each.name for each in taken]
    name = names[place]
    wrong = misspelt(name, rng) if len(name) > 2 and not name.startswith("_") else name
    unfit = wrong in names or not wrong.isidentifier() or keyword.iskeyword(wrong)
    if unfit or taken[place].kind is inspect.Parameter.POSITIONAL_ONLY or (not place and hands_on(written)):
        return 0
    needed = [each for each in taken if each.default is each.empty and each.name != name]
    given = [
        f"{'' if each.kind is each.POSITIONAL_ONLY else f'{each.name}='}{VALUES.get(each.name, 'pb.ones(1)')}"
        for each in needed
    ]
    expression = f"{written}({', '.join([*given, f'{wrong}=None'])})"
    text = displayed(expression)
    found = re.search(r"unexpected keyword argument '(\w+)'. Did you mean '(\w+)'\?", text)
    assert found is not None, f"{expression}, for {name}:\n{text}"
    assert found[1] == wrong, f"{expression}, for {name}:\n{text}"
    assert found[2] == name or near(wrong, found[2]), f"{expression}, for {name}:\n{text}"
    return 1


def hands_on(written):
    """Whether a wrapper takes all keywords and misses its first argument before it looks at others."""
    function = eval(written, {"pb": pullback})
    return bool(getattr(getattr(function, "__code__", None), "co_flags", 0) & inspect.CO_VARKEYWORDS)


def near(a, b):
    """Whether one edit makes one word of another: the misspelling of two names may be the same."""
    a, b = a.replace("_", ""), b.replace("_", "")
    short, long = sorted((a, b), key=len)
    edits = [long[:i] + long[i + 1 :] for i in range(len(long))]
    changed = len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) <= 1
    swapped = any(a == b[:i] + b[i + 1 : i + 2] + b[i : i + 1] + b[i + 2 :] for i in range(len(b)))
    return a == b or short in edits or changed or swapped
