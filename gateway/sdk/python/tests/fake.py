"""Clients whose requests are answered in order."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterable, Callable, Iterable
from typing import Any

import anyio
import httpx

from partnergifting import AsyncClient, Client

Reply = httpx.Response | Exception
BASE = "https://api.example.com/v1/"


def ok(data: object, **headers: str) -> httpx.Response:
    return httpx.Response(200, json=data, headers={name.replace("_", "-"): value for name, value in headers.items()})


def problem(status: int, code: str, headers: dict[str, str] | None = None, **more: object) -> httpx.Response:
    content = json.dumps({"type": f"https://docs/errors#{code}", "title": code, "status": status, "code": code, **more})
    return httpx.Response(status, content=content, headers=headers)


class Fake:
    """Both clients with one list of replies. What is done with one is done with the other."""

    def __init__(self, *replies: Reply, **options: Any) -> None:
        self.sent: list[httpx.Request] = []
        self._replies = list(replies)
        transport = httpx.MockTransport(self._reply)
        self.sync = Client(BASE, "gft_sbx_test", transport=transport, **options)
        self.asynchronous = AsyncClient(BASE, "gft_sbx_test", transport=transport, **options)

    def _reply(self, request: httpx.Request) -> httpx.Response:
        reply = self._replies[len(self.sent)]
        self.sent.append(request)
        if isinstance(reply, Exception):
            raise reply
        # A client changes the response that it reads.
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)

    def both(self, use: Callable[[Any], Any]) -> list[Any]:
        """What a use of each client results in."""
        results = [_collected(use(self.sync))]
        first, self.sent = self.sent, []
        results.append(anyio.run(_awaited, use, self.asynchronous))
        assert [(one.method, one.url) for one in first] == [(one.method, one.url) for one in self.sent]
        return results

    def queries(self) -> list[dict[str, str]]:
        return [dict(request.url.params) for request in self.sent]


def _collected(result: Any) -> Any:
    return list(result) if isinstance(result, Iterable) and not isinstance(result, dict | list) else result


async def _awaited(use: Callable[[Any], Any], client: AsyncClient) -> Any:
    result = use(client)
    if isinstance(result, AsyncIterable):
        return [item async for item in result]
    return await result if inspect.isawaitable(result) else result
