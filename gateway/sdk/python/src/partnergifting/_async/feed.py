"""The event feed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Literal

from .._cursors import Cursors
from .._options import AnyOptions, FeedOptions
from .._request import Answer, pause
from .._runtime import async_sleep
from ..errors import ApiError, EventsLostError, retryable
from ..events import Event, to_event
from .pages import Page
from .transport import AsyncTransport


class AsyncFeed:
    """The event feed, without gaps. It survives disconnects, limits and restarts of the server.

    Without `follow` it ends at the end of the feed. It raises what another attempt cannot mend, and `EventsLostError`.
    """

    cursor: str | None
    """Everything up to this cursor was processed. It moves on when the page after it is requested."""

    def __init__(
        self,
        transport: AsyncTransport,
        *,
        after: str | None,
        from_: Literal["start", "end"],
        limit: int | None,
        follow: bool,
        wait: int,
        on_disconnect: Callable[[Exception], None] | None,
        options: FeedOptions,
    ) -> None:
        if type(wait) is not int or not 1 <= wait <= 30:
            raise ValueError("wait must be a whole number from 1 to 30")
        if from_ not in ("start", "end"):  # Nothing else may begin with the oldest event.
            raise ValueError('from_ must be "start" or "end"')
        self.cursor = after
        self._transport = transport
        self._from = from_
        self._limit = limit
        self._wait = wait if follow else 0
        self._on_disconnect = on_disconnect
        self._options: AnyOptions = {**options, "max_attempts": 1}

    async def __aiter__(self) -> AsyncIterator[Event]:
        async for page in self.pages():
            for event in page.items:
                yield event

    async def pages(self) -> AsyncIterator[Page[Event]]:
        """Pages, to store the events and `next_cursor` of a page in one transaction. A page without events moves the cursor."""
        seen = Cursors(None)
        while True:
            answer = await self._next()
            cursor = answer.data["nextCursor"]
            moved = cursor is not None and cursor != self.cursor
            if moved:
                if not self._wait:
                    seen.add(cursor)
                yield Page([to_event(event) for event in answer.data["items"]], cursor)
                self.cursor = cursor
            if not self._wait and (answer.headers.get("Feed-Position") == "end" or not moved):
                return
            if not moved or answer.headers.get("Wait") == "0":
                await async_sleep(1)

    async def _next(self) -> Answer:
        """Reads a page, however often that fails."""
        query: dict[str, object] = {"after": self.cursor, "limit": self._limit, "wait": self._wait or None}
        if self._from == "end" and self.cursor is None:
            # The end is a cursor first, without a wait: if that call were held and lost, the next would begin after its event.
            query = {"from": "end", "limit": self._limit}
        failures = 0
        while True:
            try:
                return await self._transport.send("GET", "/events", query=query, held=self._wait, options=self._options)
            except Exception as error:
                if isinstance(error, ApiError) and (after := error.field("after")) and after["code"] == "events_lost":
                    raise EventsLostError(str(error)) from error
                if not retryable(error):
                    raise
                failures += 1
                wait = pause(failures, error)
                if self._on_disconnect:
                    self._on_disconnect(error)
            await async_sleep(wait)
