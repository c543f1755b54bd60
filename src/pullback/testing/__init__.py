"""Means to test derivatives: samples of every primitive."""

from __future__ import annotations

from . import samples as samples
