"""From what a user writes after `--model` to a chat model."""

from __future__ import annotations

from pathlib import Path

from mnav_core.chat import ChatModel
from mnav_core.errors import UsageError
from mnav_models.api_key import ApiKey, key_from_file, key_from_keyring
from mnav_models.endpoint import Capabilities, Patience, parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.replay import open_replay, record

REPLAY = "replay:"
KEYRING = "keyring:"
BUILTIN = "builtin"
ALLOWED = f"{BUILTIN}, {REPLAY}FILE or http(s)://HOST[:PORT]/PATH#MODEL"


def open_model(
    spec: str,
    key: str | None = None,
    capabilities: Capabilities | None = None,
    patience: Patience | None = None,
    record_to: Path | None = None,
) -> ChatModel | None:
    """The model that `spec` names, None for `builtin`: the agent then chooses by itself.

    `key` is a file's path or keyring:SERVICE. `record_to` is a new file for every turn. Raises UsageError.
    """
    if spec == BUILTIN:
        return None
    if spec.startswith(REPLAY):
        return open_replay(Path(spec.removeprefix(REPLAY)))
    if not spec.startswith(("http://", "https://")):
        raise UsageError(f"model {spec!r}: allowed is {ALLOWED}")
    model = open_endpoint(parse_endpoint(spec, read_key(key)), capabilities, patience)
    return model if record_to is None else record(model, record_to)


def read_key(source: str | None) -> ApiKey | None:
    """The key in a file or, as keyring:SERVICE, in the system's keyring; None for None. Raises UsageError."""
    if source is None:
        return None
    if source.startswith(KEYRING):
        return key_from_keyring(source.removeprefix(KEYRING))
    return key_from_file(Path(source))
