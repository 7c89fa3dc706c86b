"""Which dialogues teach the gate's models, and which only measure them."""

from __future__ import annotations

import hashlib


def kept_back(name: str) -> bool:
    """One in five, by the hash of its name."""
    return hashlib.sha256(name.encode()).digest()[0] % 5 == 0
