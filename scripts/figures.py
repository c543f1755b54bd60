"""Record the examples of the playground: `python scripts/figures.py FOLDER` writes the page of each, by its name.

The playground shows them until a visitor runs the example himself. They are run by the code that runs programs there.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import runpy
import sys
from pathlib import Path

PLAYGROUND = Path(__file__).resolve().parents[1] / "frontend" / "src" / "playground"


def program(path: Path) -> str:
    """An example without its docstring, which is shown beside it."""
    text = path.read_text(encoding="utf-8")
    end = ast.parse(text).body[0].end_lineno
    return "\n".join(text.split("\n")[end:]).lstrip("\n")


def main(folder: Path) -> None:
    """Write the pages."""
    run = runpy.run_path(str(PLAYGROUND / "session.py"))["run"]
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((PLAYGROUND / "examples").glob("*.py")):
        with contextlib.redirect_stdout(io.StringIO()):
            answer = json.loads(run(json.dumps({"program": program(path)})))
        if answer["page"] is not None:
            (folder / f"{path.stem}.html").write_text(answer["page"], encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
