"""Secrets of seats, and codes of invitations: random, kept as hashes, and compared in constant time."""

from __future__ import annotations

import hmac
from hashlib import sha256
from secrets import token_urlsafe

SECRET_BYTES = 24
"""192 bits, in 32 letters, digits, - and _."""

LONGEST = 64


def new_secret() -> str:
    """Return a secret that nobody can guess."""
    return token_urlsafe(SECRET_BYTES)


def sealed(secret: str) -> str:
    """Return what is kept of a secret: enough to know it again, and too little to tell it."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_same(seal: str, other: str | None) -> bool:
    """Tell whether two seals are of the same secret; whoever asks learns nothing by the clock."""
    return other is not None and hmac.compare_digest(seal, other)


def opens(secret: str, seal: str | None) -> bool:
    """Tell whether a secret is the one that was sealed."""
    return is_same(sealed(secret), seal)
