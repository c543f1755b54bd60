"""Means to test derivatives: gradcheck, and samples of every primitive."""

from __future__ import annotations

from ..autograd.checks import GradcheckError as GradcheckError
from ..autograd.checks import gradcheck as gradcheck
from ..autograd.checks import gradgradcheck as gradgradcheck
from . import samples as samples
