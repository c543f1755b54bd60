"""Functions to test derivatives."""

from __future__ import annotations

from .autograd.checks import GradcheckError as GradcheckError
from .autograd.checks import gradcheck as gradcheck
from .autograd.checks import gradgradcheck as gradgradcheck
