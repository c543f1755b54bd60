"""Templates: machine code that programs share which differ only in numbers, as those of one function at several sizes do.

The LLVM text of a program is taken apart into words and numbers: operands that can be read from memory as well. If a program
has the words of an earlier one, the numbers in which they differ become parameters: a table of words, whose address stands
before each table of addresses. The code for this is compiled once, and serves each program with the same words whose other
numbers are the same. Nothing is guessed, since the whole text of each program is compared.

What has to be constant (types, numbers of lanes, alignments) belongs to the words, or is refused where it differs.
"""

from __future__ import annotations

import hashlib
import json
import re
import weakref
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import store
from ..program import Array
from . import native
from .linking import TABLE_ARGUMENT
from .loading import loaded

PATIENCE = 8
"""Programs with the same words whose numbers are compared; each that fits no template before makes a new one, up to this."""
KEPT = 256
"""Words of which the numbers are kept."""
LARGEST = 1 << 20
"""Characters of a text that is taken apart: a longer one is that of a long program, whose words depend on its size."""

_NUMBER = (
    re.compile(  # what stands before each begins with a letter or sign of few, which makes the search 30 times as fast
        r"""
    (<i1\ |<i64\ |splat\ \((?:i64|float|double)\ +|i64\ |float\ |double\ |,\ (?=\S+\n)|\[(?=\S+,\ %))
    (1(?:,\ i1\ 1)*(?:,\ i1\ 0)+> | 0(?:,\ i64\ -?\d+)+> | 0x[0-9a-f]+ | -?\d+(?![\w.]|,\ label))
    """,
        re.VERBOSE,
    )
)
"""What stands before a number, and the number; a mask of the first lanes and a vector of multiples, a number for each lane, are one."""
_LONG = re.compile(
    r"""\s+(?:
      %\S+\ =\ (?:getelementptr|alloca|select)\b.*\bi64\b                      # these take numbers in any register
    | %\S+\ =\ (?:phi|icmp\ \w+|add|sub|mul|and|or|shl|[su]div|[su]rem)\ +i64\b
    | (?:store|ret)\ i64\b
    | (?:%\S+\ =\ )?call\b(?!.*@"llvm\.(?!memcpy|memset)).*\bi64\b
    )""",
    re.VERBOSE,
)
_LANES = re.compile(r"<(\d+) x (i64|i1|float|double)>")
_REAL = re.compile(r"\b(float|double)\b")
_BETWEEN = ";"


class _ConstantError(Exception):
    """A number that differs has to be constant."""


class Parts(NamedTuple):
    """A text taken apart: what tells its words from others, and its numbers."""

    key: str
    numbers: list[str]

    @property
    def line(self) -> str:
        """The numbers as one text, which takes little memory."""
        return _BETWEEN.join(self.numbers)


def apart(text: str, *, plain: bool) -> Parts:
    """A text taken apart; `plain` code is compiled without optimization."""
    parts = _NUMBER.split(text)
    words = [str(plain), *parts[::3], *parts[1::3]]
    return Parts(hashlib.sha256("\0".join(words).encode()).hexdigest(), parts[2::3])


class Template:
    """Code with parameters; `seen` are the numbers of the programs by whose comparison it was made."""

    def __init__(self, seen: Sequence[str], code: bytes) -> None:
        self.places = _parameters(seen)
        self.fixed = ["" if place in self.places else each for place, each in enumerate(seen[0].split(_BETWEEN))]
        self.code = loaded(code)

    def parameters(self, numbers: Sequence[str]) -> Array | None:
        """The parameters with which the code is that of a program with such numbers; None if it is another's."""
        found: dict[int, str] = {}
        for place, parameter in self.places.items():
            if found.setdefault(parameter, numbers[place]) != numbers[place]:
                return None
        if any(fixed and fixed != number for fixed, number in zip(self.fixed, numbers, strict=True)):
            return None
        try:
            return np.array([_word(found[parameter]) for parameter in range(len(found))], np.int64)
        except _ConstantError:
            return None


def _parameters(seen: Sequence[str]) -> dict[int, int]:
    """The parameter at each place where numbers differ: places that agree in all programs have the same."""
    known: dict[tuple[str, ...], int] = {}
    columns = zip(*[line.split(_BETWEEN) for line in seen], strict=True)
    differing = [(place, each) for place, each in enumerate(columns) if len({*each}) > 1]
    return {place: known.setdefault(each, len(known)) for place, each in differing}


def _word(number: str) -> int:
    """A number as the word of 64 bits that stands for it."""
    if number.endswith(">"):
        return _lanes_word([int(lane.rpartition(" ")[2]) for lane in number[:-1].split(",")])
    word = int(number, 16 if number.startswith("0x") else 10)
    return word - (1 << 64) if word >> 63 > 0 else word


def _lanes_word(lanes: list[int]) -> int:
    """The word for a number in each lane: how many lanes a mask has, or the step between multiples."""
    if lanes[0]:
        return sum(lanes)
    if lanes != [lane * lanes[1] for lane in range(len(lanes))]:
        raise _ConstantError
    return lanes[1]


# The text of a template


class _Function:
    """The loads of parameters that a function needs, at its beginning."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {}

    def load(self, parameter: int, of: str, lanes: int) -> str:
        """The name of a parameter as a number, in lanes if there are any."""
        name = f"size.{parameter}.{of}"
        self.lines.setdefault(name, _load(parameter, of, name))
        if not lanes:
            return f'%"{name}"'
        spread = f"{name}.{lanes}"
        self.lines.setdefault(spread, _spread(f'%"{name}"', of, lanes, spread))
        return f'%"{spread}"'

    def among(self, parameter: int, lanes: int, how: str) -> str:
        """The name of a mask of the first lanes ("icmp ult"), or of multiples, one for each lane ("mul")."""
        all_lanes, name = self.load(parameter, "i64", lanes), f"size.{parameter}.{how[:4]}.{lanes}"
        of = f"<{lanes} x i64>"
        count = ", ".join([f"i64 {lane}" for lane in range(lanes)])
        self.lines.setdefault(name, [f'%"{name}" = {how} {of} <{count}>, {all_lanes}'])
        return f'%"{name}"'

    @property
    def text(self) -> str:
        """The loads."""
        if not self.lines:
            return ""
        place = f'%"sizes.place" = getelementptr ptr, ptr %"{TABLE_ARGUMENT}", i64 -1'
        lines = [
            place,
            '%"sizes" = load ptr, ptr %"sizes.place", align 8',
            *[x for each in self.lines.values() for x in each],
        ]
        return "".join([f"  {line}\n" for line in lines])


def _load(parameter: int, of: str, name: str) -> list[str]:
    """The instructions that load a parameter."""
    place = f'%"{name}.place" = getelementptr i64, ptr %"sizes", i64 {parameter}'
    if of != "float":
        return [place, f'%"{name}" = load {of}, ptr %"{name}.place", align 8']
    wide = f'%"{name}.wide"'
    return [place, f'{wide} = load double, ptr %"{name}.place", align 8', f'%"{name}" = fptrunc double {wide} to float']


def _spread(number: str, of: str, lanes: int, name: str) -> list[str]:
    """The instructions that put a number into all lanes."""
    vector = f"<{lanes} x {of}>"
    return [
        f'%"{name}.first" = insertelement {vector} undef, {of} {number}, i32 0',
        f'%"{name}" = shufflevector {vector} %"{name}.first", {vector} undef, <{lanes} x i32> zeroinitializer',
    ]


def _operand(function: _Function, parameter: int, before: str, kind: str, number: str) -> str:
    """What stands in the place of a number of a kind, after the beginning of its line."""
    lanes = [(int(count), of) for count, of in _LANES.findall(before)]
    if kind.startswith("<"):
        if not number.endswith(">"):
            raise _ConstantError
        return function.among(parameter, lanes[-1][0], "icmp ult" if kind == "<i1 " else "mul")
    if kind.startswith("splat"):
        of = kind[len("splat (") :].strip()
        return function.load(parameter, of, next(count for count, other in reversed(lanes) if other == of))
    if before.rfind("<") > before.rfind(">") or number.endswith(">"):  # among others, for each lane
        raise _ConstantError
    if number.startswith("0x"):
        return kind + function.load(parameter, _REAL.findall(before + kind)[-1], 0)
    if not _LONG.match(before + kind):
        raise _ConstantError
    return kind + function.load(parameter, "i64", 0)


def written(text: str, seen: Sequence[str]) -> str:
    """A text with parameters in the place of numbers that differ."""
    places = _parameters(seen)
    made, end, function, entry = list[str](), 0, _Function(), 0
    for place, found in enumerate(_NUMBER.finditer(text)):
        if place not in places:
            continue
        begin = text.rfind("\ndefine ", 0, found.start()) + 1
        head = text.index("\n", text.index(":\n", begin)) + 1
        if (
            f'(ptr %"{TABLE_ARGUMENT}"' not in text[begin : text.index("\n", begin)]
            or text.rfind("\n}", begin, found.start()) > 0
        ):
            raise _ConstantError
        if head > end:  # a function that has no parameters yet
            if entry:
                made[entry] = function.text
            made += text[end:head], ""
            end, entry, function = head, len(made) - 1, _Function()
        before, (kind, number) = text[text.rfind("\n", 0, found.start()) + 1 : found.start()], found.groups()
        made += text[end : found.start()], _operand(function, places[place], before, kind, number)
        end = found.end() + kind.startswith("splat")  # and its parenthesis
    if entry:
        made[entry] = function.text
    return "".join([*made, text[end:]])


# Those that are known

_seen: dict[str, list[str]] = {}
"""The numbers of the programs with the same words, by what tells these from others."""
_templates: weakref.WeakValueDictionary[str, Template] = weakref.WeakValueDictionary()


def shared(text: str, *, plain: bool) -> tuple[Template, Array] | None:
    """Code for a text that others share, and its parameters; None where it is to have code of its own, as the first does."""
    if len(text) > LARGEST:
        return None
    parts = apart(text, plain=plain)
    with native.turn:
        template, seen = _known(parts.key)
        if template is not None and (found := template.parameters(parts.numbers)) is not None:
            return template, found
        if parts.line in seen or len(seen) >= PATIENCE:
            return None
        seen.append(parts.line)
        return _made(text, parts, seen, plain=plain) if len(seen) > 1 else None


def _known(key: str) -> tuple[Template | None, list[str]]:
    """The template for words, if it is in memory or on disk, and the numbers of programs that have these words."""
    template, seen = _templates.get(key), _seen.pop(key, [])
    needed = template is None and len(seen) != 1  # one program makes no template
    data = store.get(_stored(key)) if needed else None
    if data is not None:
        head, _, code = data.partition(b"\n")
        seen = json.loads(head)
        template = _templates[key] = Template(seen, code)
    _seen[key] = seen
    while len(_seen) > KEPT:
        del _seen[next(iter(_seen))]
    return template, seen


def _made(text: str, parts: Parts, seen: list[str], *, plain: bool) -> tuple[Template, Array] | None:
    """A template for all that has been seen, and the parameters of the newest program; None where numbers have to be constant."""
    try:
        code = native.compiled(written(text, seen), plain=plain)
    except _ConstantError:
        seen.pop()
        return None
    template = _templates[parts.key] = Template(seen, code)
    store.put(_stored(parts.key), json.dumps(seen).encode() + b"\n" + code)
    found = template.parameters(parts.numbers)
    return None if found is None else (template, found)


def _stored(key: str) -> str | None:
    """The name of words in the store; None where there is no store."""
    return f"template {store.surroundings()} {key}" if store.directory() else None
