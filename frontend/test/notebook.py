"""Executes a notebook in a kernel and converts it to what the browser tests open: python notebook.py FOLDER."""

import os
import sys
from pathlib import Path

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbconvert import HTMLExporter

FOLDER = Path(sys.argv[1]).resolve()
CELLS = (
    "import pullback as pb",
    "x = pb.tensor([1.0, 2.0], requires_grad=True)\ny = pb.stack([3 * x[0] ** 2, x[0] ** 2 + 2 * x[1] ** 3, 10 * x[1]])",
    "pb.explain(y, gradient=[1.0, 10.0, 100.0])",
    """w = pb.nn.Parameter(pb.ones(2, 2))
optimizer = pb.optim.SGD([w], lr=0.1)
with pb.explain.record(None, optimizer, every=1, progress=True) as run:
    for _ in range(5):
        optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.step()
run""",
)


def main():
    os.environ |= {"IPYTHONDIR": str(FOLDER / "ipython"), "JUPYTER_RUNTIME_DIR": str(FOLDER / "kernel")}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    kernel = KernelManager(kernel_name="python3", transport="ipc")
    try:
        NotebookClient(notebook, timeout=120, km=kernel).execute()
    finally:
        kernel.shutdown_kernel(now=True)
    nbformat.validate(notebook)
    page, _ = HTMLExporter().from_notebook_node(notebook)
    (FOLDER / "executed.html").write_text(page, encoding="utf-8")


main()
