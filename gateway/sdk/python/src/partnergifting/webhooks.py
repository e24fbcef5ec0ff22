"""Verifies webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from ._input import check_secret
from .errors import WebhookVerificationError
from .events import Event, to_event

__all__ = ["verify"]


class _Headers(Protocol):
    """A dictionary of headers, or an object like that of `http.server`, which is no mapping: it may have a name several times."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify(
    payload: bytes | bytearray | str,
    headers: _Headers | Iterable[tuple[str, str]],
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> Event:
    """Verifies a webhook and returns its event.

    It accepts both forms of signature: `Service-Signature`, and without it the headers of Standard Webhooks. Raises
    `WebhookVerificationError` if the request is not genuine.

    Args:
        payload: The raw body, as it arrived. A body that was parsed and written again has another signature.
        headers: The headers of the request: a dictionary, pairs, or the object of your framework or of `http.server`.
        secret: The signing secret as text, 64 characters. While you rotate it, all that you accept.
        tolerance: Seconds that the signature's time may be from the clock.
        now: The clock, in seconds since 1970.
    """
    if not isinstance(payload, bytes | bytearray | str):
        raise TypeError("payload must be the raw body, bytes or a string, not what was parsed from it")
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise ValueError("tolerance must be a number of seconds")
    body = payload.encode() if isinstance(payload, str) else bytes(payload)
    secrets = list(secret) if secret and not isinstance(secret, str) else [cast("str", secret)]
    for one in secrets:
        check_secret(one, "secret")
    claim = _claim(_by_name(headers))
    if not re.fullmatch(r"[0-9]{1,15}", claim.time):
        raise WebhookVerificationError("the signature has no time")
    if abs(int(time.time() if now is None else now) - int(claim.time)) > tolerance:
        raise WebhookVerificationError("the signature is too old, or the clock is wrong")
    content = f"{claim.prefix}.".encode("utf-8", "surrogateescape") + body  # Some servers pass on any bytes as such text.
    wanted = [hmac.new(one.encode(), content, hashlib.sha256).digest() for one in secrets]
    if not any(hmac.compare_digest(signature, one) for signature in claim.signatures for one in wanted):
        raise WebhookVerificationError("no signature is right")
    return to_event(json.loads(body))


def _by_name(headers: _Headers | Iterable[tuple[str, str]]) -> dict[str, str]:
    """The headers by their names in lower case. Values of one name are joined as HTTP joins them."""
    found: dict[str, str] = {}
    for name, value in cast("_Headers", headers).items() if hasattr(headers, "items") else headers:
        before = found.get(name.lower())
        found[name.lower()] = value if before is None else f"{before},{value}"
    return found


@dataclass(frozen=True)
class _Claim:
    """What the headers claim: the time, what was signed before the body, and the signatures."""

    time: str
    prefix: str
    signatures: list[bytes]


def _claim(headers: Mapping[str, str]) -> _Claim:
    service = headers.get("service-signature")
    if service is not None:
        parts = [part.strip().partition("=") for part in service.split(",")]
        at = next((value for name, _, value in parts if name == "t"), "")
        return _Claim(at, at, [signature for name, _, value in parts if name == "v1" for signature in _from_hex(value)])
    event, at, standard = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (event and at and standard):
        raise WebhookVerificationError("the request has no signature")
    signatures = [signature for part in standard.split(" ") if part.startswith("v1,") for signature in _from_base64(part[3:])]
    return _Claim(at, f"{event}.{at}", signatures)


def _from_hex(text: str) -> list[bytes]:
    try:
        return [bytes.fromhex(text)]
    except ValueError:
        return []


def _from_base64(text: str) -> list[bytes]:
    try:
        return [base64.b64decode(text, validate=True)]
    except ValueError:  # Not only binascii.Error: other letters than ASCII are a plain one.
        return []
