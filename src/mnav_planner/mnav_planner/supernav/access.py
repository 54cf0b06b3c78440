"""Who may use the server, and what for: bearer tokens, each with its policy."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mnav_core.errors import UsageError
from mnav_planner.supernav.session import SessionPolicy

LEAST_TOKEN_CHARS = 16


@dataclass(frozen=True)
class Access:
    """One caller's right: the token that proves it, a name for messages, and what its sessions may do."""

    principal: str
    policy: SessionPolicy
    token: str = field(default="", repr=False)


def access_of(accesses: Sequence[Access], token: str) -> Access | None:
    """The right that a token proves, compared in constant time; None for a wrong or empty token."""
    found: Access | None = None
    for access in accesses:
        if access.token and hmac.compare_digest(access.token.encode(), token.encode()):
            found = access
    return found


def kept_token(file: Path) -> str:
    """The token in `file`, made and stored readable to its owner alone where there is none.

    Raises UsageError when the file cannot be used or others may read it.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(32) + "\n")
        if file.stat().st_mode & 0o077:
            raise UsageError(f"token file {file}: others may read it, allowed: mode 600")
        token = file.read_text().strip()
    except OSError as error:
        raise UsageError(f"token file {file}: {error.strerror or error}") from error
    if len(token) < LEAST_TOKEN_CHARS:
        raise UsageError(f"token file {file}: {len(token)} characters, allowed: at least {LEAST_TOKEN_CHARS}")
    return token
