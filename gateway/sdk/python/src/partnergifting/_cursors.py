"""Cursors of lists."""

from __future__ import annotations

from .errors import GiftingError


class Cursors:
    """The cursors that a reader has used, so that a wrong answer is not read without an end."""

    def __init__(self, first: str | None) -> None:
        self._seen = {first}

    def add(self, cursor: str) -> str:
        """Returns a new cursor. One that was used before would read the same pages again."""
        if cursor in self._seen:
            raise GiftingError("a page has a cursor that was already used")
        self._seen.add(cursor)
        return cursor
