"""The network of moons.py as a page that trains it: WebAssembly, its wrapper, the data, and web/index.html.

    python web.py FOLDER

It is compiled by Clang with LLVM's linker, or by the package ziglang. The page needs a server: python -m http.server.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from moons import training

import pullback

SIDE, LEFT, LOW, WIDE, HIGH = 48, -1.8, -1.4, 3.6, 2.8
"""A side of the picture in points, and what part of the plane it shows."""


def compiler() -> list[str]:
    """What compiles C to WebAssembly here."""
    if importlib.util.find_spec("ziglang"):
        return [f"WASM={sys.executable} -m ziglang cc -target wasm32-freestanding"]
    if shutil.which("clang") and any(shutil.which(name) for name in ("wasm-ld", "wasm-ld-14")):
        return []
    sys.exit("web.py: no compiler for WebAssembly is here: pip install ziglang")


def seen() -> pullback.Tensor:
    """The points of the picture, row after row from above."""
    along = (np.arange(SIDE) + 0.5) / SIDE
    x, y = np.meshgrid(LEFT + WIDE * along, LOW + HIGH * along[::-1])
    return pullback.tensor(np.stack([x.ravel(), y.ravel()], 1).astype(np.float32))


if __name__ == "__main__":
    found, target = compiler(), Path(sys.argv[1])
    step, points, labels = training(seen())
    with tempfile.TemporaryDirectory() as name:
        folder = step.export(Path(name), points, labels, name="step")
        subprocess.run(["make", "-s", "-C", str(folder), "step.wasm", *found], check=True)
        target.mkdir(parents=True, exist_ok=True)
        for file in ("step.wasm", "step.mjs"):
            shutil.copy(folder / file, target)
    frame = {"side": SIDE, "left": LEFT, "low": LOW, "wide": WIDE, "high": HIGH}
    data = {"points": points.numpy().reshape(-1).tolist(), "labels": labels.tolist(), **frame}
    (target / "data.json").write_text(json.dumps(data))
    shutil.copy(Path(__file__).with_name("web") / "index.html", target)
