"""Files of all kinds, composed by grammars, and loaded in a process with little memory and time.

Pickles are composed of opcodes: values, containers, references, and calls of every name that pullback knows, with
arguments as they should be or of another kind. They are put into archives as torch writes them, into torch's older format,
and behind the header of pullback's own pickles. Headers of safetensors and the structures in them are composed, too. Then
some are damaged. Whatever the file is, loading returns a value or raises a FileError; it takes no more than `MEMORY` bytes
and `SECONDS` for each byte of the file, and a bit. Files that `save` writes are loaded.
"""

import atexit
import functools
import io
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import traceback
import zipfile
import zlib
from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np

FEW = 4
FILES = 25  # in a case
MEMORY, MEMORY_BESIDES = 400, 48 << 20
SECONDS, SECONDS_BESIDES = 25e-6, 1.0

HEADER = b"a pickle of pullback.compat.torch\n"
INTEGERS = [0, 1, 2, 3, 4, 5, 7, 64, 65, 255, -1, 2**31 - 1, 2**40, 2**62, 2**63, -(2**63), 10**9, 2**61 - 1, 2**3000]
TEXTS = ["", *"a x.weight 0 1 latin1 cpu cuda:0 _metadata conj neg".split(), "\x1b[31m", "\u202e", "é" * 9]
KINDS = "Bool Byte Char Short Int Long Half Float Double ComplexFloat ComplexDouble BFloat16 Untyped".split()
DTYPES = "bool uint8 int8 int16 uint16 int32 int64 uint64 float16 float32 float64 complex64 complex128".split()
CODES = ["f8", "f4", "i8", "b1", "u1", "O8", "U1", "U3", "S2", "V8", "V0", "M8", "m8", "c16", "f3", "U999999999", "O"]

# Names, and the kinds of their arguments
OF_TORCH = {
    "collections OrderedDict": ["pairs"],
    "collections Counter": ["table"],
    "__builtin__ set": ["items"],
    "builtins frozenset": ["items"],
    "builtins complex": ["number", "number"],
    "builtins bytearray": ["bytes"],
    "_codecs encode": ["text", "text"],
    "torch Size": ["sizes"],
    "torch device": ["text"],
    "torch._utils _rebuild_tensor": ["storage", "small", "sizes", "sizes"],
    "torch._utils _rebuild_tensor_v2": ["storage", "small", "sizes", "sizes", "flag", "hooks", "metadata"],
    "torch._utils _rebuild_tensor_v3": ["storage", "small", "sizes", "sizes", "flag", "hooks", "dtype", "metadata"],
    "torch._utils _rebuild_parameter": ["tensor", "flag", "hooks"],
}
OF_OURS = {
    **{name: kinds for name, kinds in OF_TORCH.items() if not name.startswith("torch")},
    "pullback Size": ["sizes"],
    "pullback device": ["text"],
    "numpy dtype": ["code", "flag", "flag"],
    "numpy._core.multiarray _reconstruct": ["class", "sizes", "bytes"],
    "numpy._core.multiarray scalar": ["dtype", "bytes"],
    "numpy._core.numeric _frombuffer": ["bytes", "dtype", "sizes", "order"],
    "pullback._tensor.tensor rebuild": ["array", "flag", "role"],
}
STRANGE = ["os system", "builtins getattr", "numpy load", "torch.nn Module", "pullback.nn.parameter Parameter"]


class Pickle:
    """Composes pickles."""

    def __init__(self, rng, calls, wrong):
        self.rng = rng
        self.calls = calls
        self.wrong = wrong  # how often an argument is of another kind
        self.kept = 0
        self.of = "pullback" if "pullback Size" in calls else "torch"

    def pick(self, options):
        return options[self.rng.integers(len(options))]

    def chance(self, p):
        return self.rng.random() < p

    def whole(self):
        start = b"\x80" + bytes([self.rng.integers(2, 6)])
        return start + self.value(int(self.rng.integers(1, 6))) + b"."

    def value(self, levels):
        made = self.made(levels)
        if self.chance(0.3):
            made += self.pick([b"\x94", b"q" + bytes([self.kept % 256]), b"r" + struct.pack("<I", self.kept)])
            self.kept += 1
        if self.chance(self.wrong / 10):
            made += bytes([self.pick(b"20(1bR\x81aesuQt\x92o")])
        return made

    def made(self, levels):
        if levels <= 0 or self.chance(0.15):
            return self.leaf()
        kind = self.pick("tuple list dict set call call call tensor array known state swell".split())
        return getattr(self, kind)(levels - 1)

    def leaf(self):
        return self.pick([self.number, self.text, self.bytes, self.flag, self.number, self.dtype])()

    def number(self, levels=0):
        if self.chance(0.2):
            return self.pick([b"G" + self.rng.bytes(8), b"F1.5\n", b"Fnan\n", b"F" + b"9" * 400 + b"\n"])
        return self.integer(self.pick(INTEGERS))

    def integer(self, value):
        size = value.bit_length() // 8 + 1
        signed = value.to_bytes(size, "little", signed=True)
        ways = [b"\x8b" + struct.pack("<i", size) + signed]
        if 0 <= value < 256:
            ways += [b"K" + bytes([value])] * 4
        if -(2**31) <= value < 2**31:
            ways += [b"J" + struct.pack("<i", value)] * 2
        if size < 256:
            ways += [b"\x8a" + bytes([size]) + signed, b"I%d\n" % value, b"L%dL\n" % value]
        return self.pick(ways)

    def small(self, levels=0):
        return self.integer(self.pick(INTEGERS if self.chance(self.wrong) else [0, 0, 0, 1, 2, 4]))

    def text(self, levels=0):
        return self.written(self.pick(TEXTS) * self.pick([1, 1, 1, 1, 300]))

    def written(self, text):
        content = text.encode()
        ways = [b"X" + struct.pack("<I", len(content)) + content, b"\x8d" + struct.pack("<Q", len(content)) + content]
        if len(content) < 256:
            ways += [b"\x8c" + bytes([len(content)]) + content] * 4
        if content.isascii() and content.isalnum():
            ways += [b"V" + content + b"\n", b"S'" + content + b"'\n", b"U" + bytes([len(content) % 256]) + content]
        return self.pick(ways)

    def bytes(self, levels=0):
        content = self.rng.bytes(self.pick([0, 1, 4, 8, 8, 16, 32, 64]))
        if self.chance(0.5):
            content = bytes(len(content))
        ways = [b"C" + bytes([len(content)]) + content, b"B" + struct.pack("<I", len(content)) + content]
        lie = struct.pack("<Q", len(content) if self.chance(1 - self.wrong / 5) else self.pick([2**40, 2**63, 10**9]))
        return self.pick([*ways, b"\x8e" + lie + content, b"\x96" + lie + content])

    def flag(self, levels=0):
        return self.pick([b"\x88", b"\x89", b"\x89", b"\x89"])

    def tuple(self, levels):
        count = int(self.rng.integers(0, 4))
        items = b"".join(self.value(levels) for _ in range(count))
        return items + (b")", b"\x85", b"\x86", b"\x87")[count] if self.chance(0.5) else b"(" + items + b"t"

    def list(self, levels):
        items = b"".join(self.value(levels) for _ in range(self.rng.integers(0, 5)))
        return self.pick([b"](" + items + b"e", b"(" + items + b"l"])

    def key(self):
        if self.chance(self.wrong):
            return self.value(2)
        return self.pick([self.text, self.text, self.number, self.flag])()

    def dict(self, levels):
        items = b"".join(self.key() + self.value(levels) for _ in range(self.rng.integers(0, 5)))
        return self.pick([b"}(" + items + b"u", b"(" + items + b"d"])

    def set(self, levels):
        items = b"".join(self.key() for _ in range(self.rng.integers(0, 5)))
        return self.pick([b"\x8f(" + items + b"\x90", b"(" + items + b"\x91"])

    table = dict

    def items(self, levels):
        return self.pick([self.list, self.tuple, self.set])(levels)

    def pairs(self, levels):
        if self.chance(0.5):
            return self.dict(levels)
        pairs = [self.key() + self.value(levels) + b"\x86" for _ in range(self.rng.integers(0, 3))]
        return b"](" + b"".join(pairs) + b"e"

    def sizes(self, levels=0):
        count = self.pick([0, 1, 1, 1, 2, 2, 3] + ([64, 65, 9999] if self.chance(self.wrong) else []))
        return b"(" + b"".join(self.small() for _ in range(count)) + b"t"

    def hooks(self, levels=0):
        return self.pick([b"N", self.name("collections OrderedDict") + b")R"])

    def metadata(self, levels=0):
        return self.pick([b"N", b"}" + self.written("conj") + b"\x88s", b"}(" + self.written("neg") + b"\x88u"])

    def name(self, name):
        module, _, own = name.partition(" ")
        if self.chance(0.5):
            return f"c{module}\n{own}\n".encode()
        return self.written(module) + self.written(own) + b"\x93"

    def storage(self, levels=0):
        key, (kind, count) = self.pick([*enumerate(self.storages)])
        if self.chance(self.wrong):
            kind, count = self.pick(KINDS), self.pick(INTEGERS)
        reference = [self.written("storage"), self.kind(kind), self.written(str(key)), self.written("cpu")]
        view = b"N" if self.chance(0.9) else b"(" + self.text() + self.small() + self.small() + b"t"
        return b"(" + b"".join(reference) + self.integer(count) + (view if self.chance(0.3) else b"") + b"tQ"

    def kind(self, kind):
        return self.name("torch.storage UntypedStorage" if kind == "Untyped" else f"torch {kind}Storage")

    @functools.cached_property
    def storages(self):
        sizes = [1 << int(self.rng.integers(0, 6)) for _ in range(3)]
        return [(self.pick(KINDS[1:]), size) for size in sizes]

    def dtype(self, levels=0):
        if self.of == "torch" or self.chance(0.2):
            return self.name(f"{self.of} {self.pick(DTYPES)}")
        code, flags = self.pick(CODES), self.integer(self.pick([0, 63, -1, 255]))
        order = self.written(self.pick("<>|="))
        fields = b"NNN"
        if code[0] == "V" and self.chance(0.7):
            inner = self.dtype() if levels < 2 else b"N"
            fields = b"N" + self.written("a") + b"\x85}" + self.written("a") + inner + self.small() + b"\x86s"
            fields = fields if self.chance(0.6) else inner + self.sizes() + b"\x86NN"
        numbers = self.small() + self.small() + flags
        unit = b""
        if code[0] in "Mm":
            parts = b"C\x01" + self.pick([b"D", b"s", b"q"]) + b"".join(map(self.integer, (1, 1, 1)))
            unit = b"N(" + parts + b"t\x86"
        state = b"(" + self.integer(3) + order + fields + numbers + unit + b"t"
        return self.name("numpy dtype") + self.written(code) + b"\x89\x88\x87R" + state + b"b"

    def code(self, levels=0):
        return self.written(self.pick(CODES))

    def order(self, levels=0):
        return self.written(self.pick("CFA"))

    def role(self, levels=0):
        return self.pick([b"N", self.name("pullback.nn.parameter Parameter")])

    def tensor(self, levels=0):
        if self.of == "pullback":
            return self.call(levels, "pullback._tensor.tensor rebuild")
        kind = self.pick(["", "_v2", "_v2", "_v2", "_v3"])
        return self.call(levels, f"torch._utils _rebuild_tensor{kind}")

    def array(self, levels=0):
        if self.of == "torch":
            return self.tensor(levels)
        start = self.name("numpy._core.multiarray _reconstruct") + self.name("numpy ndarray") + b"K\0\x85C\x01b\x87R"
        content = self.pick([self.bytes, self.bytes, self.list])(0)
        state = b"(" + b"K\x01" + self.sizes() + self.dtype() + self.flag() + content + b"t"
        return start + (b"\x94" if self.chance(0.3) else b"") + state + b"b"

    def known(self, levels):
        place = int(self.rng.integers(0, max(1, self.kept)))
        return self.pick([b"h" + bytes([place % 256]), b"j" + struct.pack("<I", place), b"g%d\n" % place])

    def state(self, levels):
        value = self.pick([lambda _: self.name("collections OrderedDict") + b")R", self.value, self.tensor])(levels)
        state = self.pick([lambda _: b"}" + self.written("_metadata") + b"}s", self.dict, self.value])(levels)
        return value + state + b"b"

    def call(self, levels, name=None):
        name = name or self.pick([*self.calls] if self.chance(0.97) else STRANGE)
        kinds = list(self.calls.get(name, ["value", "value"]))
        if self.chance(self.wrong / 2):
            kinds = kinds[: self.rng.integers(0, len(kinds) + 1)]
        arguments = b"".join(self.argument(kind, levels) for kind in kinds)
        return self.name(name) + b"(" + arguments + b"t" + (b"R" if self.chance(0.9) else b"\x81")

    def argument(self, kind, levels):
        if kind == "class":
            return self.name("numpy ndarray")
        if self.chance(self.wrong):
            return self.pick([self.value, self.expanded, self.tensor, self.known])(levels - 1)
        return getattr(self, kind)(levels)

    def expanded(self, levels=0):
        """A tensor of very many elements that are one."""
        count = self.integer(self.pick([10**6, 10**9, 2**40]))
        more = b"\x89" + self.name("collections OrderedDict") + b")R" + self.metadata()
        start = self.name("torch._utils _rebuild_tensor_v2") + b"(" + self.storage() + b"K\0"
        return start + count + b"\x85K\0\x85" + more + b"tR"

    def swell(self, levels):
        """What is small in the file and would be large, or slow, in memory."""
        many = int(self.pick([100, 1000, 5000, 20000]))
        start = self.value(levels)
        here = b"r\xff\0\0\0"
        again = b"j\xff\0\0\0"
        latin = again + self.written("latin1") + b"\x86R"
        alike = [b"\x8a\x10" + (k * (2**61 - 1)).to_bytes(16, "little") for k in range(many // 4)]  # one hash
        ways = [
            start + b"\x85" * many,
            b"}" + b")" + b"\x85" * many + b"Ns",
            b"(" + b")" + b"\x85" * many + b"\x91",
            b")" + b"2\x86" * min(many, 60),
            b"}" + b")" + b"2\x86" * min(many, 60) + b"Ns",
            b"]" * many + b"a" * (many - 1),
            b"(" + b"".join(alike) + b"\x91",
            self.name("builtins set") + b"](" + b"".join(alike) + b"e\x85R",
            b"}(" + b"".join(each + b"N" for each in alike) + b"u",
            b"](" + b"N" * many + b"e" + here + b"(" + (self.name("builtins set") + again + b"\x85R") * 300 + b"l",
            self.written("a" * many) + here + b"(" + (self.name("_codecs encode") + latin) * 300 + b"l",
            self.name("builtins bytearray") + self.integer(10**9) + b"\x85R",
            self.name("builtins bytearray") + self.expanded() + b"\x85R",
            self.name("__builtin__ set") + self.expanded() + b"\x85R",
            self.name("torch Size") + self.expanded() + b"\x85R",
            b"\x8f" * many + b"(" * many,
            self.tensor() + here + b"(" + (again + self.name("torch._utils _rebuild_parameter")) * 9 + b"l",
            b"(" + self.expanded() * 20 + b"l",
        ]
        return self.pick(ways)


def archive(rng, program, storages):
    """A zip archive as torch writes it, or nearly so."""
    file = io.BytesIO()
    root = ["archive", "archive", "a/b", "", "\x1b"][rng.integers(5)]
    usual = rng.random() < 0.9
    compression = zipfile.ZIP_STORED if usual else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(file, "w", compression) as zip:
        members = {"data.pkl": program, **{f"data/{key}": content for key, content in enumerate(storages)}}
        if rng.random() < 0.3:
            members["byteorder"] = [b"little", b"big", b"middle"][rng.integers(3)]
        for name, content in members.items():
            zip.writestr(f"{root}/{name}".lstrip("/"), content)
        if rng.random() < 0.05:
            zip.writestr("archive/bomb", bytes(10**6), zipfile.ZIP_DEFLATED)
    return file.getvalue()


def itemsize(kind):
    sizes = dict(zip(KINDS, [1, 1, 1, 2, 4, 8, 2, 4, 8, 8, 16, 2, 1], strict=True))
    return sizes[kind]


def older(composer, program):
    """torch's format before zip archives."""
    keys = b"](" + b"".join(composer.written(str(key)) for key in range(len(composer.storages))) + b"e."
    start = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    start += pickle.dumps({"little_endian": bool(composer.chance(0.8)), "protocol_version": 1001}, 2)
    behind = b"".join(struct.pack("<Q", count) + bytes(count * itemsize(kind)) for kind, count in composer.storages)
    return start + program + b"\x80\x02" + keys + behind


def of_torch(rng):
    composer = Pickle(rng, OF_TORCH, [0, 0.02, 0.2][rng.integers(3)])
    if rng.random() < 0.3:  # all storages are referred to, as the older format demands
        each = b"".join(
            b"(" + composer.written("storage") + composer.kind(kind) + composer.written(str(key)) + composer.written("cpu")
            + composer.integer(count) + b"tQ"
            for key, (kind, count) in enumerate(composer.storages)
        )  # fmt: skip
        return older(composer, b"\x80\x02(" + each + composer.value(4) + b"t.")
    program = composer.whole()
    storages = [bytes(count * itemsize(kind)) for kind, count in composer.storages]
    return archive(rng, program, storages)


def of_ours(rng):
    return HEADER + Pickle(rng, OF_OURS, [0, 0.02, 0.2][rng.integers(3)]).whole()


def structure(rng, levels):
    """The JSON of nested values, or nearly so."""
    kinds = ["list", "tuple", "dict", "set", "OrderedDict", "Counter", "frozenset", "Size", "tensor", "array", "scalar"]
    kinds += ["float", "complex", "bytes", "dtype", "device", "unknown", "plain", "plain", "plain"]
    kind = kinds[rng.integers(len(kinds))]
    if levels <= 0 or kind == "plain":
        plain = [None, True, 0, -1, 1.5, 10**30, 2**61 - 1, *TEXTS]
        return plain[rng.integers(len(plain))]
    inner = [structure(rng, levels - 1) for _ in range(rng.integers(0, 4))]
    if kind in {"dict", "OrderedDict", "Counter"}:
        return {kind: [[key, structure(rng, levels - 1)] for key in inner]}
    if kind in {"tensor", "array", "scalar"}:
        flags = [["complex"], ["requires_grad"], [], [], []][rng.integers(5)]
        return {kind: ["xyz"[rng.integers(3)], *flags]}
    fixed = {"float": "inf", "complex": [1.0, {"float": "nan"}], "bytes": "00ff", "dtype": "float32", "device": "cpu"}
    return {kind: fixed.get(kind, inner) if rng.random() < 0.9 else inner}


def safetensors(rng):
    body, header = b"", {}
    for name in ["x", "y", *(TEXTS if rng.random() < 0.2 else [])]:
        code, size = [("F32", 4), ("U8", 1), ("C64", 8), ("BF16", 2), ("I64", 8), ("BOOL", 1)][rng.integers(6)]
        shape = [int(rng.integers(0, 4)) for _ in range(rng.integers(0, 3))]
        count = int(np.prod(shape)) * size
        entry = {"dtype": code, "shape": shape, "data_offsets": [len(body), len(body) + count]}
        body += bytes(count)
        if rng.random() < 0.1:
            part = ["dtype", "shape", "data_offsets"][rng.integers(3)]
            strange = [None, "F64", [2**62, 2**62], [-1], [2**80] * 3, [1] * 5000, [0, 0], {}, 1e300, [2**63 - 1] * 300]
            entry[part] = strange[rng.integers(len(strange))]
        header[name] = entry
    text = json.dumps(structure(rng, int(rng.integers(0, 5))))
    many = int(rng.integers(1, 3000))
    if rng.random() < 0.1:
        swollen = [
            '{"list": [' * many + "]}" * many,
            json.dumps({"dict": [[k * (2**61 - 1), None] for k in range(many)]}),
            json.dumps({"set": [{"tuple": [k * (2**61 - 1)]} for k in range(many)]}),
            "9" * 5000,
        ]
        text = swollen[rng.integers(len(swollen))]
    header["__metadata__"] = {"pullback": text} if rng.random() < 0.8 else {"format": "pt"}
    content = json.dumps(header)
    if rng.random() < 0.05:
        content = "{" + ", ".join(f'"{k}": 1' for k in [*range(many), 0]) + "}"
    content = content.encode()
    return len(content).to_bytes(8, "little") + content + body


def damaged(rng, content):
    """Some bytes changed, cut out, or repeated."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place, other = sorted(int(each) for each in rng.integers(0, len(content) + 1, 2))
        way = rng.integers(4)
        if way == 0 and content:
            content[min(place, len(content) - 1)] ^= 1 << int(rng.integers(8))
        elif way == 1:
            content[place:other] = b""
        elif way == 2:
            content[place:place] = content[place:other]
        elif len(content) > 4:
            content[place : place + 4] = struct.pack("<I", int(rng.integers(2**32)))
    if content[:2] == b"PK" and len(content) > 30:  # the first checksum is right again, so that the pickle is read
        size, start = struct.unpack_from("<I", content, 18)[0], 30 + sum(struct.unpack_from("<HH", content, 26))
        struct.pack_into("<I", content, 14, zlib.crc32(content[start : start + size]))
    return bytes(content)


def genuine(rng):
    """A file that `save` wrote."""
    import pullback
    from pullback.compat.torch import storing

    def value(levels):
        way = rng.integers(8 if levels else 4)
        array = rng.normal(size=rng.integers(0, 4, rng.integers(0, 4))).astype(DTYPES[rng.integers(len(DTYPES))])
        if way < 3:
            return [pullback.from_numpy(array), INTEGERS[rng.integers(18)], TEXTS[rng.integers(len(TEXTS))]][way]
        if way == 3:
            return [None, True, 1.5, b"\0\xff", 2j, pullback.float16, pullback.Size([1, 2])][rng.integers(7)]
        inner = [value(levels - 1) for _ in range(rng.integers(0, 4))]
        keys = [TEXTS[rng.integers(len(TEXTS))] if rng.random() < 0.5 else int(rng.integers(9)) for _ in inner]
        pairs = zip(keys, inner, strict=True)
        return [inner, tuple(inner), dict(pairs), OrderedDict(pairs), {*keys}, Counter(keys)][rng.integers(6)]

    file, found = io.BytesIO(), value(3)
    way = rng.integers(3)
    if way == 2:
        file.write(HEADER + pickle.dumps([found, pullback.ones(2).numpy(), np.float32(2)], int(rng.integers(4, 6))))
    else:
        (pullback.save, storing.save)[way](found, file)
    return file.getvalue()


def composed(rng):
    """A file, and whether it must be loaded."""
    way = rng.random()
    if way < 0.1:
        return genuine(rng), True
    content = of_torch(rng) if way < 0.55 else of_ours(rng) if way < 0.8 else safetensors(rng)
    return (damaged(rng, content) if rng.random() < 0.3 else content), False


# The process that loads them


def touched(value, seen):
    """Read all numbers of a value."""
    from pullback import Tensor

    if id(value) in seen:
        return
    seen[id(value)] = value
    if isinstance(value, Tensor) and 0 < value.numel() < 10**5:
        value.tolist()
    if isinstance(value, np.ndarray) and 0 < value.size < 10**5:
        value.tolist()
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    for each in inner if isinstance(value, (dict, list, tuple, set, frozenset)) else ():
        touched(each, seen)


def loaded(content):
    """What comes of loading a file: "value", "refused", or what is wrong."""
    from pullback.compat.torch import storing
    from pullback.files import FileError

    try:
        value = storing.load(io.BytesIO(content))
    except FileError as error:
        text = str(error)
        if "asks for more memory" in text or not text.isprintable() or len(text) > 1100:
            return f"a FileError that says {text!r}"
        return "refused"
    except BaseException:  # whatever it is, it is wrong
        return traceback.format_exc()
    try:
        sys.setrecursionlimit(3000)
        touched(value, {})
    except BaseException:
        return "read and not as it should be: " + traceback.format_exc()
    return "value"


def in_child(content):
    """What comes of loading a file in a process of its own, which has little memory and time."""
    import resource

    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = size + MEMORY_BESIDES + MEMORY * len(content)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.write(write, loaded(content).encode(errors="replace")[-3000:])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    _, status, used = os.wait4(child, 0)
    seconds = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name} after {seconds:.2f} s"
    if seconds > SECONDS_BESIDES + SECONDS * len(content):
        return f"took {seconds:.2f} s for {len(content)} bytes: {said}"
    return said or f"exited with {os.WEXITSTATUS(status)}"


def serve():
    """Load the files that come through standard input, each preceded by its length."""
    import warnings

    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", ".*bfloat16")
    warnings.filterwarnings("ignore", ".*multi-threaded")
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    limited = hasattr(os, "fork") and Path("/proc/self/statm").exists()
    for content in [genuine(np.random.default_rng(seed)) for seed in range(20)]:
        loaded(content)  # so that all is imported
    while head := stdin.read(8):
        content = stdin.read(int.from_bytes(head, "little"))
        said = (in_child if limited else loaded)(content).encode()
        stdout.write(len(said).to_bytes(8, "little") + said)
        stdout.flush()


@functools.cache
def server():
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", "from tests.generators.files import serve; serve()"]
    process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(_end, process)
    return process


def _end(process):
    process.stdin.close()
    process.wait(10)
    process.stdout.close()


def outcome(content):
    """What comes of loading a file."""
    process = server()
    process.stdin.write(len(content).to_bytes(8, "little") + content)
    process.stdin.flush()
    return process.stdout.read(int.from_bytes(process.stdout.read(8), "little")).decode()


def check(rng):
    for _ in range(FILES):
        content, good = composed(rng)
        found = outcome(content)
        right = ("value",) if good else ("value", "refused")
        assert found in right, f"{len(content)} bytes, {content[:3000]!r}: {found}"
    return FILES
