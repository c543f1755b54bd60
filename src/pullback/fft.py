"""Fourier transforms, by torch's names."""

from __future__ import annotations
