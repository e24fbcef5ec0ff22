"""Warns of what the API ignored."""

from __future__ import annotations

import re
import warnings

import httpx

HEADERS = {"Ignored-Members": "member", "Ignored-Parameters": "parameter"}
MAX_NAMES = 1000
"""More names than a program misspells. Made-up names must not fill the memory."""


class IgnoredWarning(UserWarning):
    """The API ignored a member or a parameter. It is probably misspelt, and what it should do did not happen."""


class IgnoredNames:
    """Warns once of each name."""

    def __init__(self) -> None:
        self._warned: set[tuple[str, str, str]] = set()

    def report(self, method: str, path: str, headers: httpx.Headers) -> None:
        """Reads the headers of a response. `path` is as in the document."""
        for header, kind in HEADERS.items():
            for name in _names(headers.get(header, "")):
                once = (f"{method} {path}", kind, re.sub(r"\[\d+\]", "[]", name))
                if once in self._warned or len(self._warned) >= MAX_NAMES:
                    continue
                self._warned.add(once)
                message = f"{method} {path}: the API ignored the {kind} {name}, perhaps because it is misspelt"
                warnings.warn(message, IgnoredWarning, stacklevel=5)


def _names(header: str) -> list[str]:
    """The items of a list (RFC 8941): strings, or plain words."""
    found = re.finditer(r'"((?:[^"\\]|\\.)*)"|[^",\s]+', header)
    return [one[0] if one[1] is None else re.sub(r"\\(.)", r"\1", one[1]) for one in found]
