"""Which endpoint to ask, what it can do, and how patient to be with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import urlsplit

from mnav_core.errors import UsageError
from mnav_models.api_key import ApiKey


class TokenLimitField(Enum):
    """How the endpoint wants the limit of output tokens to be called."""

    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


@dataclass(frozen=True)
class Capabilities:
    """What an endpoint and its model can do.

    Where tools are missing they are written into the prompt and calls are read from the text.
    """

    tools: bool = True
    required_tool_choice: bool = True
    json_schema: bool = True
    images: bool = True
    sampling: bool = True
    token_limit_field: TokenLimitField = TokenLimitField.MAX_TOKENS


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint: `base_url` as far as `/v1`, the model's name, the key if it wants one."""

    base_url: str
    model: str
    key: ApiKey | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """URL#model, without secrets."""
        return f"{self.base_url}#{self.model}"


@dataclass(frozen=True)
class Patience:
    """Limits of one turn. `attempt_s` bounds one HTTP exchange; backoff doubles from `backoff_s` up to
    `backoff_max_s`, with full jitter."""

    attempt_s: float = 30.0
    connect_s: float = 5.0
    attempts: int = 3
    backoff_s: float = 0.5
    backoff_max_s: float = 8.0
    breaker_failures: int = 5
    breaker_cooldown_s: float = 10.0
    max_request_bytes: int = 8_000_000
    max_response_bytes: int = 2_000_000

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if not value > 0:
                raise UsageError(f"patience: {name} is {value}, allowed is > 0")


def parse_endpoint(spec: str, key: ApiKey | None = None) -> Endpoint:
    """The endpoint that `URL#model` names. Raises UsageError."""
    shown = spec if "@" not in spec else "URL with credentials"
    try:
        parts = urlsplit(spec)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"model {shown!r}: {error}; allowed is http(s)://HOST[:PORT]/PATH#MODEL") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"model {shown!r}: allowed is http(s)://HOST[:PORT]/PATH#MODEL")
    if parts.username is not None or parts.password is not None or parts.query:
        raise UsageError("model URL: credentials and queries are not allowed in it; give a key file")
    if not parts.fragment:
        raise UsageError(f"model {shown!r}: the model's name is missing; allowed is http(s)://HOST[:PORT]/PATH#MODEL")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    at_port = "" if port is None else f":{port}"
    return Endpoint(f"{parts.scheme}://{host}{at_port}{parts.path.rstrip('/')}", parts.fragment, key)
