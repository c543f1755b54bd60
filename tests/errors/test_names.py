"""Messages name functions as the program writes them: `torch.stack` where pullback stands in for torch."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pullback

from .mistakes import MISTAKES

SOURCE = Path(pullback.__file__).parent
NAMED = re.compile(r"\bpullback(\.[a-zA-Z_]\w*|'s functions)")

RUN = """
import json, sys, warnings
from pullback.compat.torch import install
install()
import numpy, torch
from torch import nn
warnings.simplefilter("ignore")
texts = {}
for name, program in json.load(sys.stdin).items():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(program, "<program>", "exec"), {"pb": torch, "nn": nn, "F": nn.functional, "np": numpy})
        except Exception as error:
            texts[name] = str(error)
    for number, warning in enumerate(caught):
        texts[f"{name}, warning {number}"] = str(warning.message)
print(json.dumps(texts))
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    programs = {name: mistake.program for name, mistake in MISTAKES.items() if "scipy" not in mistake.program}
    ran = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path_factory.mktemp("names"),
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
    )
    return json.loads(ran.stdout)


def test_under_pullback_run_every_mistake_is_named_in_torchs_words(texts):
    assert len(texts) > 100
    assert {name: text for name, text in texts.items() if NAMED.search(text)} == {}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrong type", "torch.as_tensor"),
        ("leaf in place", "with torch.no_grad(): w -= lr * w.grad"),
        ("numpy of tracked", "torch.stack([a, b]) for np.array([a, b])"),
        ("math.sin", "torch.sin(x) for math.sin(x)"),
        ("vmap if", "torch.where(condition, a, b)"),
    ],
)
def test_the_fix_can_be_copied_into_a_program_for_torch(texts, name, words):
    assert words in texts[name]
