"""Lists."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .._cursors import Cursors

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list."""

    items: list[T]
    next_cursor: str | None


class AsyncList(Generic[T]):
    """A list of the API. Iterate over its items, or over its pages. Nothing is read before."""

    def __init__(self, read: Callable[[str | None], Awaitable[Page[T]]], after: str | None) -> None:
        self._read = read
        self._after = after

    async def first(self) -> Page[T]:
        """Reads only the first page. Pass its `next_cursor` as `after` to a later call."""
        return await self._read(self._after)

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Reads page after page. A page may be empty although others follow."""
        after = self._after
        seen = Cursors(after)
        while True:
            page = await self._read(after)
            yield page
            if page.next_cursor is None:
                return
            after = seen.add(page.next_cursor)

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item
