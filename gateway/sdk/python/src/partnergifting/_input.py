"""What the caller passes: written as the API reads it, or refused by its name before anything is sent."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode
from uuid import UUID

from ._options import CallOptions

Id: TypeAlias = str | UUID


def check_options(
    options: Mapping[str, Any],
    *,
    post: bool = False,
    condition: str | None = None,
    basic: frozenset[str] = CallOptions.__optional_keys__,
) -> None:
    """Refuses options that the call does not have, so that a misspelt one does not silently have no effect."""
    known = set(basic)
    if post:
        known.add("idempotency_key")
    if condition:
        known.add(condition)
    for name in options:
        if name not in known:
            raise TypeError(f"{name!r} is no argument of this call; its options are {', '.join(sorted(known))}")
    check_limits(options)


def check_limits(limits: Mapping[str, Any]) -> None:
    """Refuses limits that are none: of another type, such as a text of the environment, or not positive."""
    for name in ("attempt_timeout", "timeout", "max_attempts"):
        limit = limits.get(name, 1)
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
            raise ValueError(f"{name} must be a positive number")


def check_secret(value: object, name: str) -> None:
    """Refuses a key or secret that cannot be one: most often a variable that is not set, or a line break that was pasted."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is empty: is the variable set from which it comes?")
    if any(character.isspace() for character in value):
        raise ValueError(f"{name} has a line break or a space, perhaps pasted with it")


def path_text(path: str, params: Mapping[str, Id]) -> str:
    for name, value in params.items():
        text = str(value) if isinstance(value, UUID) else value
        # Without an id, or with dots, the path would be that of another operation.
        if not isinstance(text, str) or text in {"", ".", ".."}:
            raise ValueError(f"{name} is no id: {value!r}")
        path = path.replace(f"{{{name}}}", quote(text, safe=""))
    return path


def query_text(query: Mapping[str, object]) -> str:
    written = {name: _plain(value, name) for name, value in query.items() if value is not None}
    for name, value in written.items():
        if isinstance(value, dict | list):
            raise TypeError(f"{name} must be one value, not a {type(query[name]).__name__}")
    text = urlencode(written)
    return f"?{text}" if text else ""


def body_text(body: object) -> bytes:
    return json.dumps(_plain(body, ""), ensure_ascii=False).encode()


def _plain(value: object, path: str) -> object:
    """The value as JSON has it. A Decimal, a UUID and a datetime become text."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            raise ValueError(f"{path} is no number: {value}")
        return format(value, "f") if isinstance(value, Decimal) else value
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{path} needs a time zone")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {_name(name, path): _plain(one, f"{path}.{name}" if path else str(name)) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return _items(value, path)
    raise TypeError(f"{path or 'the body'} has a value that JSON does not have: {type(value).__name__}")


def _items(values: Iterable[object], path: str) -> list[object]:
    return [_plain(one, f"{path}[{index}]") for index, one in enumerate(values)]


def _name(name: object, path: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{path or 'the body'} has a member whose name is no text: {name!r}")
    return name
