"""Where a copy of the catalog is."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TypedDict

from typing_extensions import NotRequired

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


def moved(position: CatalogPosition, newest: datetime | None) -> CatalogPosition:
    """The position after a sync that has seen changes up to `newest`. It never goes back."""
    since = position.get("updatedSince")
    if newest is None or (since and newest - OVERLAP <= parse_time(since)):
        return position
    return {**position, "updatedSince": (newest - OVERLAP).isoformat().replace("+00:00", "Z")}
