"""`pullback explain` on files that are damaged, or none: one plain sentence with the file's name, and exit code 2."""

import gzip
import json
import os
import random
import re

import pytest

from pullback.command import main

CODE = "import pullback as pb; x = pb.arange(3.0).requires_grad_(); (x * x).sum().backward()"
TRAIN = """
import pullback as pb
w = pb.nn.Parameter(pb.ones(3))
o = pb.optim.SGD([w], lr=0.1)
for i in range(3):
    o.zero_grad(); (w * w).sum().backward(); o.step()
"""
MADE = {
    "json": ["-o", "good.json", "-c", CODE],
    "jsonl": ["--training", "--every", "1", "-o", "good.jsonl", "-c", TRAIN],
    "trail": ["--trail", "good.trail", "-c", CODE],
}
INTERNAL = re.compile(
    r"Traceback|Error|codec|Errno|not subscriptable|NoneType|Expecting|recursion|could not|<class|decompress"
)


def packed(kind, data):
    data = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return gzip.compress(data) if kind == "trail" else data


@pytest.fixture(params=MADE)
def refused(request, tmp_path, monkeypatch, capsys):
    """A function that says what is printed of a file, which must be one sentence with its name."""
    monkeypatch.chdir(tmp_path)
    assert main(["explain", *MADE[request.param]]) == 0
    capsys.readouterr()

    def said(data=None, name=f"bad.{request.param}"):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        rest = ["good.trail"] if request.param == "trail" else []
        assert main(["explain", name, *rest]) == 2
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if line.startswith("pullback explain:")]
        assert out == "" and len(lines) == 1 and not INTERNAL.search(lines[0].replace("explain: error:", ""))
        assert name.partition("\udcff")[0] in lines[0] and "\udcff" not in lines[0]
        return lines[0]

    said.kind = request.param
    return said


DAMAGED = {
    "": "",
    "[" * 100_000: "it is nested too deeply",
    "9" * 10_000: "a number in it has too many digits",
    "{": "line 1, column 2 it is no JSON",
    "null": "it is no object",
    '"text"': "it is no object",
    "[[], [], {}]": "it is no object",
}


@pytest.mark.parametrize("data", DAMAGED, ids=range(len(DAMAGED)))
def test_a_file_that_is_not_of_the_format_is_refused_in_words(refused, data):
    assert DAMAGED[data] in refused(packed(refused.kind, data))


def test_bytes_that_are_no_text_are_refused_in_words(refused):
    bits = random.Random(0)
    for _ in range(20):
        refused(bits.randbytes(200))
    assert "no text in UTF-8" in refused(packed(refused.kind, b'{"a": "\xff\xfe"}')) or refused.kind == "trail"


def test_a_trail_that_ends_too_early_or_is_damaged_is_refused_in_words(refused, tmp_path):
    if refused.kind != "trail":
        pytest.skip("the others are not packed")
    whole = (tmp_path / "good.trail").read_bytes()
    for cut in range(1, len(whole), 97):
        assert "ends too early, is damaged, or is not packed" in refused(whole[:cut])
    broken = bytearray(whole)
    broken[40:60] = bytes(20)
    refused(bytes(broken))


def test_a_value_of_another_type_is_refused_in_words(refused, tmp_path):
    good = (tmp_path / f"good.{refused.kind}").read_bytes()
    text = (gzip.decompress(good) if refused.kind == "trail" else good).decode()
    first, *others = text.splitlines()
    row = json.loads(first)
    for name in row:
        for value in (10**400, {"a": 1}, [[[]]]):
            refused(packed(refused.kind, "\n".join([json.dumps(row | {name: value}), *others])))


def test_what_is_no_file_is_refused_at_once(refused, tmp_path):
    kind = refused.kind
    (tmp_path / f"folder.{kind}").mkdir()
    os.mkfifo(tmp_path / f"pipe.{kind}")
    (tmp_path / f"zero.{kind}").symlink_to("/dev/zero")
    assert "is a folder" in refused(name=f"folder.{kind}")
    assert "it is a pipe or a device, and no file" in refused(name=f"pipe.{kind}")
    assert "is a device, and no script" in refused(name=f"zero.{kind}")
    assert "there is no file" in refused(name=f"missing.{kind}")
    with open(tmp_path / f"large.{kind}", "wb") as file:
        file.truncate(1 << 40)
    assert "files of up to 268435456 are" in refused(name=f"large.{kind}")
    refused(b"x", name=f"strange\udcff.{kind}")


def test_a_packed_file_that_grows_without_end_is_refused(refused):
    if refused.kind == "trail":
        refused(gzip.compress(bytes(1 << 28), 1))


def test_a_call_that_there_is_not_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "--call", "99", "-c", CODE]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "there is no call 99: --call takes 1 to 1" in err
    assert main(["explain", "-o", "x.json", "-c", CODE]) == 0
    assert main(["explain", "--call", "7", "x.json"]) == 2
    assert "there is no call 7" in capsys.readouterr().err
