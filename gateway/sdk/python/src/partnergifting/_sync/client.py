# Written by make_sync.py from the asynchronous client: change that.
"""The client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Literal, Protocol

import httpx
from typing_extensions import Self, Unpack

from .. import models
from .._input import Id, check_options
from .._options import CallOptions, FeedOptions, ReadOptions
from .._position import Began, CatalogPosition, moved, parse_time
from .._request import Settings, full_user_agent
from ..events import Event, to_event
from . import resources
from .feed import Feed
from .pages import Page
from .transport import Transport


@dataclass(frozen=True)
class ImageFile:
    """An image."""

    data: bytes
    content_type: str


class CatalogCopy(Protocol):
    """Your copy of the catalog of one country and locale."""

    def put(self, product: models.Product, /) -> object:
        """Stores a gift, or replaces it. Show it only while it is `available`."""

    def remove(self, product_id: str, /) -> object:
        """Removes a gift that left the catalog. It may be unknown."""


class Catalog(resources.Catalog):
    """The catalog of gifts."""

    def image(self, file_id: Id, **options: Unpack[ReadOptions]) -> ImageFile:
        """An image, by the id in its address. No key is sent."""
        path = "/catalog/images/{fileId}"
        answer = self._transport.send(
            "GET", path, params={"fileId": file_id}, image=True, condition="if_none_match", options=options
        )
        return ImageFile(answer.data, answer.headers.get("Content-Type", ""))

    def sync(self, position: CatalogPosition, copy: CatalogCopy, **options: Unpack[CallOptions]) -> CatalogPosition:
        """Brings a copy of the catalog up to date.

        The first time, pass a country and perhaps a locale, and an empty copy. Store what it returns with the copy, and pass that
        the next time. After an error pass the old position again: changes may be applied twice.
        """
        newest: datetime | None = None
        began = Began(options.get("on_response"))
        options["on_response"] = began
        for entry in self.products(
            country=position["country"],
            locale=position.get("locale"),
            updated_since=position.get("updatedSince"),
            limit=100,
            **options,
        ):
            if entry["listed"]:
                copy.put(entry)
            else:
                copy.remove(entry["id"])
            changed = parse_time(entry["updatedAt"])
            newest = max(newest or changed, changed)
        return moved(position, began.limit(newest))


class Events(resources.Group):
    """The event feed."""

    def list(
        self,
        *,
        after: str | None = None,
        from_: Literal["start", "end"] | None = None,
        limit: int | None = None,
        wait: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Page[Event]:
        """Reads one page of the feed."""
        if from_ == "end" and wait and not after:
            # The end is a cursor first, without a wait: if that call were held and lost, the next would begin after its event.
            call: CallOptions = {**options}
            call.pop("on_response", None)
            after, from_ = (self.list(from_="end", limit=limit, **call)).next_cursor, None
        query = {"after": after, "from": from_, "limit": limit, "wait": wait}
        answer = self._transport.send("GET", "/events", query=query, held=wait or 0, options=options)
        return Page([to_event(event) for event in answer.data["items"]], answer.data["nextCursor"])

    def feed(
        self,
        *,
        after: str | None = None,
        from_: Literal["start", "end"] = "start",
        limit: int | None = None,
        follow: bool = True,
        wait: int = 30,
        on_disconnect: Callable[[Exception], None] | None = None,
        **options: Unpack[FeedOptions],
    ) -> Feed:
        """Follows the feed.

        Args:
            after: Continues after this cursor.
            from_: Where to begin without a cursor: `start`, with the oldest event that is kept, of 30 days, or `end`, with later
                events only.
            limit: Events of a page, at most 100.
            follow: Whether to go on at the end of the feed and wait for new events.
            wait: Whole seconds for which the server holds a call until there is an event, 1 to 30.
            on_disconnect: Is told of each failure. The feed goes on where it was, after a pause.
        """
        check_options(options, basic=FeedOptions.__optional_keys__)
        return Feed(
            self._transport,
            after=after,
            from_=from_,
            limit=limit,
            follow=follow,
            wait=wait,
            on_disconnect=on_disconnect,
            options=options,
        )


class Client:
    """Calls the API with one key. Use it as a context manager, or close it.

    Args:
        base_url: Base address, such as `https://sandbox.example.com/api/public/v1`. Plain http only for this machine.
        key: The API key, `gft_live_…` or `gft_sbx_…`.
        transport: Sends requests, for instance through a proxy.
        attempt_timeout: Seconds for one attempt. A call that waits for events has its `wait` on top.
        timeout: Seconds for a call with all attempts and pauses.
        max_attempts: Attempts of a call.
        user_agent: Goes before the package's own name in `User-Agent`, such as `shop/2.1`.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        transport: httpx.BaseTransport | None = None,
        attempt_timeout: float = 15,
        timeout: float = 120,
        max_attempts: int = 5,
        user_agent: str | None = None,
    ) -> None:
        settings = Settings(base_url, key, attempt_timeout, timeout, max_attempts, full_user_agent(user_agent))
        self._transport = Transport(settings, transport)
        self.account = resources.Account(self._transport)
        self.brands = resources.Brands(self._transport)
        self.campaigns = resources.Campaigns(self._transport)
        self.catalog = Catalog(self._transport)
        self.events = Events(self._transport)
        self.orders = resources.Orders(self._transport)
        self.personal_links = resources.PersonalLinks(self._transport)
        self.sandbox = resources.Sandbox(self._transport)
        self.webhooks = resources.Webhooks(self._transport)

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
