"""Where a copy of the catalog is."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import TypedDict

from typing_extensions import NotRequired

from ._options import ResponseInfo

# With the last sync, so that a change that was just being saved then is not missed.
OVERLAP = timedelta(minutes=5)


class CatalogPosition(TypedDict):
    """Where a copy of the catalog is, to store with it. The next sync continues there."""

    country: str
    locale: NotRequired[str | None]
    updatedSince: NotRequired[str | None]
    """Absent before the first sync."""


def parse_time(text: str) -> datetime:
    """A time of the API. Before Python 3.11, fromisoformat takes neither Z nor fewer than six decimals."""
    whole, _, fraction = re.sub(r"Z$", "", text).partition(".")
    return datetime.fromisoformat(whole).replace(microsecond=int(f"{fraction:0<6}"[:6]), tzinfo=timezone.utc)


class Began:
    """Notes the server's time of the first response.

    While a long sync goes on, a gift may change on a page already read, and later pages may have newer changes. The next sync must
    not skip the first.
    """

    def __init__(self, then: Callable[[ResponseInfo], None] | None) -> None:
        self._then = then
        self._at: datetime | None = None

    def __call__(self, info: ResponseInfo) -> None:
        if self._at is None:
            with contextlib.suppress(ValueError, OverflowError):
                self._at = parsedate_to_datetime(info.headers.get("Date", "")).astimezone(timezone.utc)
        if self._then:
            self._then(info)

    def limit(self, newest: datetime | None) -> datetime | None:
        return newest if newest is None or self._at is None else min(newest, self._at)


def moved(position: CatalogPosition, newest: datetime | None) -> CatalogPosition:
    """The position after a sync that has seen changes up to `newest`. It never goes back."""
    since = position.get("updatedSince")
    if newest is None or (since and newest - OVERLAP <= parse_time(since)):
        return position
    return {**position, "updatedSince": (newest - OVERLAP).isoformat().replace("+00:00", "Z")}
