"""Options of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict

import httpx


@dataclass(frozen=True)
class ResponseInfo:
    """What a response says besides its body."""

    status: int
    headers: httpx.Headers
    attempts: int

    @property
    def request_id(self) -> str | None:
        """Id of the request. Quote it when you ask about it."""
        return self._header("Request-Id")

    @property
    def etag(self) -> str | None:
        """Pass it as `if_none_match` or `if_match`."""
        return self._header("ETag")

    @property
    def replayed(self) -> bool:
        """Whether this is the stored response to an earlier request with the same `Idempotency-Key`."""
        return self._header("Idempotent-Replayed") == "true"

    def _header(self, name: str) -> str | None:
        value: str | None = self.headers.get(name)
        return value


class FeedOptions(TypedDict, total=False):
    """Options of each call of the feed."""

    attempt_timeout: float
    """Seconds for one attempt."""
    timeout: float
    """Seconds for the call with all attempts and pauses."""
    headers: Mapping[str, str]
    """Further headers."""


class CallOptions(FeedOptions, total=False):
    """Options of one call."""

    max_attempts: int
    sandbox_fault: Literal["429", "500", "503", "timeout", "lost", "in-progress"]
    """Forces the first answer, to see what your code does then. Only in the sandbox."""
    on_response: Callable[[ResponseInfo], None]
    """Gets status and headers of the successful response."""


class ReadOptions(CallOptions, total=False):
    """Options of a read that has an `ETag`."""

    if_none_match: str
    """The `etag` of your copy. If it is current, the call raises `NotModifiedError`."""


class PostOptions(CallOptions, total=False):
    """Options of a POST."""

    idempotency_key: str
    """Identifies the operation over all its attempts, for 30 days. A random one by default."""


class ActionOptions(PostOptions, total=False):
    """Options of an action on an order."""

    if_match: str
    """The `etag` of the order that you read. If it has changed since, the call fails with `precondition_failed`."""


AnyOptions: TypeAlias = Mapping[str, Any]
"""Options of any kind of call. No TypedDict has fewer members than another."""
