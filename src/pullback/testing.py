"""Functions to test derivatives."""

from __future__ import annotations

from .autograd.checks import GradcheckError as GradcheckError, gradcheck as gradcheck, gradgradcheck as gradgradcheck
