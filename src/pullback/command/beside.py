"""What options of `pullback explain` ask for beside the steps of a call: digits, another run, kernels, examples."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..explain.cancellation import Digits
from ..explain.costs import kernel_sheet
from ..explain.differing import first_difference
from ..explain.foreign import under_torch
from ..explain.shares import examples
from ..explain.sheets import Sheet
from ..explain.trailing import trail
from ..explain.trails import VALUES, Trail
from .against import OtherRun, other_run

CALLS = 3
"""How often a compiled function is called before its kernels are timed: a recorded one has run uncompiled."""


class Beside:
    """What is found, as sheets."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.values = max(options.values, VALUES)
        self.sheets: list[Sheet] = []
        self.differs = False
        """Whether digits are lost, or the runs differ."""
        self.variables: dict[str, Any] = {}
        """The program's, once it has come to its end."""
        self._digits = Digits() if options.digits else None
        self._trail = Trail()
        self._calls: dict[int, Any] = {}

    @contextlib.contextmanager
    def block(self) -> Iterator[None]:
        """The block in which the program runs."""
        with contextlib.ExitStack() as blocks:
            if self.options.trail or self.options.against:
                self._trail = blocks.enter_context(trail(values=self.values))
                if self.options.under_torch:
                    blocks.enter_context(under_torch(self._trail))
            if self._digits is not None:
                blocks.enter_context(self._digits)
            if self.options.kernels:
                export = importlib.import_module("pullback.command.export")  # it takes time to import
                blocks.enter_context(export.noted(self._calls))
            yield

    def save(self) -> None:
        """Write the trail, if it is asked for."""
        name = self.options.trail
        if not name:
            return
        self._check_recorded()
        try:
            self._trail.save(Path(self.options.folder, name))
        except OSError as error:
            raise ValueError(f"--trail {name}: the trail was not written: {error.strerror or error}") from None
        print(f"pullback explain: wrote {name}: {self._trail}", file=sys.stderr)

    def _check_recorded(self) -> None:
        if not self._trail.entries:
            other = "" if self.options.under_torch else "; --torch puts it in the place of the torch that is installed"
            raise ValueError(f"no operation of {self._trail.source} ran, so there is no trail{other}")

    def find(self, program: list[str], arguments: list[str], *, ended: bool) -> None:
        """Add the sheets of a program that has run; one that has not come to its end has no kernels and examples.

        Raises
        ------
        ValueError
            If what is asked for cannot be found.
        """
        if self._digits is not None:
            self.sheets.append(self._digits.sheet())
            self.differs = bool(self._digits.losses)
        if self.options.against:
            self._check_recorded()
            asked = ["--values", str(self.values), *["--torch"] * self.options.torch]
            other = other_run(self.options.against, OtherRun(program, arguments, asked, self.options.folder))
            compared = first_difference(self._trail, other)
            self.sheets.append(compared.sheet())
            self.differs = self.differs or bool(compared)
        if self.options.kernels and ended:
            self._find_kernels()
        if self.options.examples and ended:
            self._find_examples(self.options.examples.split(","))

    def _find_kernels(self) -> None:
        if not self._calls:
            raise ValueError("--kernels: the program called no compiled function: write @pullback.compile above one")
        for compiled, args, kwargs in self._calls.values():
            for _ in range(CALLS):
                compiled(*args, **kwargs)
            report = compiled.report(*args, **kwargs, profile=True)
            try:
                self.sheets.append(kernel_sheet(report))
            except ValueError as error:
                if len(self._calls) == 1:
                    raise
                print(f"pullback explain: {error}", file=sys.stderr)

    def _find_examples(self, names: list[str]) -> None:
        given = []
        for name in names:
            first, *rest = name.strip().split(".")
            try:
                found = self.variables[first]
                for each in rest:
                    found = getattr(found, each)
            except (KeyError, AttributeError):
                known = ", ".join(each for each in self.variables if not each.startswith("_"))
                raise ValueError(
                    f"--examples: {name.strip()!r} is no variable of the script; there are {known[:300] or 'none'}"
                ) from None
            given.append(found)
        if len(given) < 3:
            raise ValueError(
                "--examples: name the model, loss(model, *batch) and the tensors: --examples model,loss,x,y"
            )
        try:
            self.sheets.append(examples(*given).sheet())
        except (
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:  # a transform may refuse a layer, or the names may be others
            named = "a model, loss(model, *batch) and the tensors of the batch, as in --examples model,loss,x,y"
            raise ValueError(
                f"--examples {','.join(names)}: {error}. It takes variables of the script: {named}"
            ) from error
