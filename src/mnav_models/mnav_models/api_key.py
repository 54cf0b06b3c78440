"""Keys of endpoints: read from a file or the system's keyring, shown to nobody."""

from __future__ import annotations

import importlib
from pathlib import Path

from mnav_core.errors import UsageError

MAX_KEY_CHARS = 512
HIDDEN = "***"


class ApiKey:
    """A secret that neither prints nor pickles; `reveal` is for the request header alone."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself."""
        return self._value

    def scrubbed(self, text: str) -> str:
        """`text` with the secret blotted out, for servers that echo it."""
        return text.replace(self._value, HIDDEN)

    def __repr__(self) -> str:
        return f"ApiKey({HIDDEN})"

    def __reduce__(self) -> str:
        raise TypeError("an ApiKey is not written anywhere")


def key_from_file(path: Path) -> ApiKey:
    """The key on the one line of a file that nobody but its owner may read. Raises UsageError."""
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8") if mode & 0o077 == 0 else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"key file {path}: {error.__class__.__name__}; a readable text file is needed") from error
    if mode & 0o077:
        raise UsageError(f"key file {path}: mode {mode & 0o777:o} lets others read it; allowed is 600 (chmod 600)")
    return _checked(text.strip(), f"key file {path}")


def key_from_keyring(service: str, user: str = "mnav") -> ApiKey:
    """The key that the system's keyring keeps for `service`.

    Raises UsageError, also where `keyring` is not installed.
    """
    try:
        keyring = importlib.import_module("keyring")
        errors = importlib.import_module("keyring.errors")
    except ImportError as error:
        raise UsageError("keyring: the package is not installed; install `keyring` or give a key file") from error
    try:
        value = keyring.get_password(service, user)
    except errors.KeyringError as error:
        raise UsageError(f"keyring: {error.__class__.__name__} for service {service!r}; give a key file") from error
    if not isinstance(value, str):
        raise UsageError(f"keyring: nothing is kept for service {service!r}, user {user!r}")
    return _checked(value, f"keyring service {service!r}")


def _checked(value: str, where: str) -> ApiKey:
    if not 1 <= len(value) <= MAX_KEY_CHARS or not value.isascii() or not value.isprintable() or " " in value:
        raise UsageError(f"{where}: not a key; allowed is one line of 1 to {MAX_KEY_CHARS} printable characters")
    return ApiKey(value)
