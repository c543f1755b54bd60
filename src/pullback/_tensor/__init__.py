"""The tensor: its class, its constructors, its public functions, and its memory."""

from __future__ import annotations
