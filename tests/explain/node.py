"""Parts of the page in a process of Node, for tests: one JSON text a line, in and out."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parents[2] / "frontend"
ESBUILD = FRONTEND / "node_modules" / ".bin" / "esbuild"


class Node:
    """A program of frontend/test, bundled and started; without Node the tests of a module are skipped."""

    def __init__(self, name, folder):
        bundle = folder / f"{name}.mjs"
        build = "--bundle --platform=node --format=esm --log-level=warning".split()
        subprocess.run([ESBUILD, FRONTEND / "test" / f"{name}.ts", *build, f"--outfile={bundle}"], check=True)
        self.process = subprocess.Popen(["node", bundle], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self):
        """What it writes next."""
        return json.loads(self.process.stdout.readline())

    def answer(self, case):
        """What it writes for a case."""
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return self.line()


def needed():
    """Skip a module where there is no Node."""
    if shutil.which("node") is None or not ESBUILD.exists():
        pytest.skip("there is no Node with esbuild", allow_module_level=True)
