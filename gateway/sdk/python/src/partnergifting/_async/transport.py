"""Sends requests."""

from __future__ import annotations

import time
from typing import Any

import httpx

from .._ignored import IgnoredNames
from .._options import AnyOptions
from .._request import MAX_RESPONSE, Answer, Request, Settings, make_request, pause
from .._runtime import async_limit, async_sleep
from ..errors import ApiError, GiftingError, retryable


class AsyncTransport:
    """Sends requests as the API asks: authenticated, with a time limit, and again when that can help."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None) -> None:
        self._settings = settings
        self._ignored = IgnoredNames()
        # The API redirects nothing. A redirect would send the request, and perhaps the key, elsewhere.
        self._http = httpx.AsyncClient(transport=transport, follow_redirects=False)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def send(self, method: str, path: str, *, options: AnyOptions, **parts: Any) -> Answer:
        """Sends a request until it is answered, or until another attempt cannot help."""
        request = make_request(self._settings, method, path, options=options, **parts)
        deadline = time.monotonic() + request.timeout
        attempts = 0
        while True:
            attempts += 1
            try:
                answer = await self._attempt(request, min(request.attempt_timeout, deadline - time.monotonic()), attempts)
                break
            except Exception as error:
                if isinstance(error, ApiError):
                    self._ignored.report(method, path, error.headers)
                wait = pause(attempts, error)
                if not retryable(error) or attempts >= request.max_attempts or time.monotonic() + wait >= deadline:
                    raise
            await async_sleep(wait)
            request.headers.pop("Sandbox-Fault", None)
        if on_response := options.get("on_response"):
            on_response(answer)
        self._ignored.report(method, path, answer.headers)
        return answer

    async def _attempt(self, request: Request, timeout: float, attempts: int) -> Answer:
        ends = time.monotonic() + timeout
        try:
            with async_limit(timeout):
                response = await self._http.send(
                    self._http.build_request(
                        request.method, request.url, headers=request.headers, content=request.content, timeout=max(timeout, 0.001)
                    ),
                    stream=True,
                )
                body = await _read(response, ends)
        except httpx.LocalProtocolError:
            raise  # The request itself is wrong.
        except (httpx.RequestError, TimeoutError) as error:
            raise request.unanswered(error, attempts) from error
        return request.answer(response, body, attempts)


async def _read(response: httpx.Response, deadline: float) -> bytes:
    """Reads the body, unless its parts arrive too slowly."""
    chunks = []
    size = 0
    try:
        async for chunk in response.aiter_bytes():
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_RESPONSE:
                raise GiftingError("the response is too large")
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("the response is too slow")
    finally:
        await response.aclose()
    return b"".join(chunks)
