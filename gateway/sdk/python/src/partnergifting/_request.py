"""What both clients have in common, without I/O: how a request is made and its answer read, and when it is sent again."""

from __future__ import annotations

import json
import random
import re
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from ._input import Id, body_text, check_limits, check_options, check_secret, path_text, query_text
from ._options import AnyOptions, ResponseInfo
from ._version import __version__
from .errors import ApiError, NoAnswerError, NotModifiedError

BASE_DELAY = 0.5
MAX_DELAY = 8.0
MAX_RESPONSE = 64 << 20
"""More bytes than any response of the API has."""


@dataclass(frozen=True)
class Answer(ResponseInfo):
    """A response with its body."""

    data: Any


@dataclass(frozen=True)
class Settings:
    """How to reach the API."""

    base_url: str
    key: str = field(repr=False)  # Reports of crashes show local variables.
    attempt_timeout: float
    timeout: float
    max_attempts: int
    user_agent: str

    def __post_init__(self) -> None:
        if not isinstance(self.base_url, str) or not self.base_url:
            raise ValueError("base_url is empty: is the variable set from which it comes?")
        check_secret(self.key, "key")
        base = urlsplit(self.base_url)
        local = re.fullmatch(r"localhost|127(\.\d+){3}|::1", base.hostname or "")
        if not base.hostname or not (base.scheme == "https" or (local and base.scheme == "http")):
            raise ValueError("base_url must begin with https://")
        if "?" in self.base_url or "#" in self.base_url or "@" in base.netloc:
            raise ValueError("base_url must have no query, no fragment and no user")
        if not re.fullmatch(r"[!-~]+", self.key):
            raise ValueError("key has characters that no key has")
        check_limits(vars(self))


def pause(attempts: int, error: Exception) -> float:
    """Seconds before the next attempt: what the server asks for, or else twice as long each time, with some randomness."""
    if isinstance(error, ApiError) and error.retry_after is not None:
        return error.retry_after + random.random() * BASE_DELAY  # noqa: S311 - it hides nothing
    return float(min(MAX_DELAY, BASE_DELAY * 2 ** min(attempts - 1, 10))) * (0.5 + random.random() / 2)  # noqa: S311 - the same


@dataclass
class Request:
    """A request with the limits of its attempts."""

    method: str
    url: str
    headers: dict[str, str] = field(repr=False)  # They have the key.
    content: bytes | None
    image: bool
    attempt_timeout: float
    timeout: float
    max_attempts: int
    handled: BaseException | None
    """What the caller is handling, if anything."""

    @property
    def idempotency_key(self) -> str | None:
        return self.headers.get("Idempotency-Key")

    def unanswered(self, cause: Exception, attempts: int) -> NoAnswerError:
        return NoAnswerError(f"no answer: {cause or type(cause).__name__}", attempts, self.idempotency_key, self.handled)

    def answer(self, response: httpx.Response, body: bytes, attempts: int) -> Answer:
        """Reads a whole response."""
        if response.status_code == 304:
            raise NotModifiedError("your copy is current")
        if not response.is_success:
            raise ApiError(response, body, attempts, self.idempotency_key)
        try:
            data = body if self.image else json.loads(body)
        except ValueError as error:
            message = "the response is not JSON: something before the API may have answered"
            raise NoAnswerError(message, attempts, self.idempotency_key, self.handled) from error
        return Answer(response.status_code, response.headers, attempts, data)


def make_request(
    settings: Settings,
    method: str,
    path: str,
    *,
    options: AnyOptions,
    params: Mapping[str, Id] | None = None,
    query: Mapping[str, object] | None = None,
    body: object = None,
    with_key: bool = True,
    condition: str | None = None,
    image: bool = False,
    held: float = 0,
) -> Request:
    """Makes a request. `path` is as in the document, `condition` an option that it also takes, `held` the seconds
    for which the server may hold it."""
    check_options(options, post=method == "POST" and with_key, condition=condition)
    # Before there are headers, which have the key: reports of crashes show local variables.
    url = settings.base_url.rstrip("/") + path_text(path, params or {}) + query_text(query or {})
    content = None if body is None else body_text(body)
    headers = {name.title(): value for name, value in options.get("headers", {}).items()}
    headers["User-Agent"] = settings.user_agent
    if not image:
        headers |= {"Accept": "application/json", "Authorization": f"Bearer {settings.key}"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if method == "POST" and with_key:
        own = options.get("idempotency_key")
        if own == "":  # Replaced, a repeated call would take effect twice.
            raise ValueError("idempotency_key is empty: is the variable set from which it comes?")
        headers["Idempotency-Key"] = headers.get("Idempotency-Key", str(uuid.uuid4())) if own is None else own
    for name, value in (
        ("If-None-Match", options.get("if_none_match")),
        ("If-Match", options.get("if_match")),
        ("Sandbox-Fault", options.get("sandbox_fault")),
    ):
        if value is not None:
            headers[name] = value
    return Request(
        method,
        url,
        headers,
        content,
        image,
        options.get("attempt_timeout", settings.attempt_timeout) + held,
        options.get("timeout", settings.timeout) + held,
        options.get("max_attempts", settings.max_attempts),
        sys.exc_info()[1],
    )


def full_user_agent(own: str | None) -> str:
    return " ".join(filter(None, [own, f"partnergifting-python/{__version__}"]))
