"""Reductions and normalisations that leave out masked elements, by torch's names."""

from __future__ import annotations
