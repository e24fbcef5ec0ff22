"""The errors of this package."""

from __future__ import annotations

import json
import ssl
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import cast

import httpx

from . import models


class GiftingError(Exception):
    """Every error of this package."""


class CallError(GiftingError):
    """A call failed, after all attempts that could help."""

    def __init__(self, message: str, attempts: int, idempotency_key: str | None) -> None:
        super().__init__(message)
        self.attempts = attempts
        """The attempts that were made."""
        self.idempotency_key = idempotency_key
        """The key of a POST. With it and the same body, the call can be continued later without a second effect."""


class ApiError(CallError):
    """The API refused the call, or failed. Branch on `code`."""

    def __init__(self, response: httpx.Response, body: bytes, attempts: int, idempotency_key: str | None) -> None:
        problem = _problem(body)
        self.problem = problem
        """The body, with members that this version does not know. None if it is no problem document."""
        self.status = response.status_code
        self.code: str = problem["code"] if problem else ""
        """Stable name of the error. New codes may be added. Empty if something before the API answered, such as a proxy."""
        hint = ": is base_url complete, such as https://api.example.com/api/public/v1?" if response.status_code == 404 else ""
        self.title: str = problem["title"] if problem else "The response is no problem document" + hint
        self.detail = problem.get("detail") if problem else None
        """What happened, in English. Not for parsing."""
        self.errors: list[models.FieldError] = problem.get("errors") or [] if problem else []
        """All invalid fields."""
        self.current_status = problem.get("currentStatus") if problem else None
        """The current status of the record, on `not_editable`, `not_cancellable` and `precondition_failed`."""
        self.order_id = problem.get("orderId") if problem else None
        """The existing order, on `external_order_id_conflict`, if the key can see it."""
        self.headers = response.headers
        self.request_id: str | None = response.headers.get("Request-Id")
        """Id of the request. Quote it when you ask about it."""
        self.retry_after = _seconds(response.headers.get("Retry-After"))
        """Seconds that the server asks to wait."""
        summary = f"{self.title} ({' '.join(filter(None, [self.code, str(self.status)]))})"
        fields = [f"{error['field']}: {error['message']} ({error['code']})" for error in self.errors]
        super().__init__("; ".join([f"{summary}: {self.detail}" if self.detail else summary, *fields]), attempts, idempotency_key)

    def field(self, path: str) -> models.FieldError | None:
        """The violation of a field, such as `recipient.phone`."""
        return next((error for error in self.errors if error["field"] == path), None)


class NoAnswerError(CallError):
    """There was no whole answer. A POST may have taken effect: call again with its `idempotency_key` and body to learn that."""

    def __init__(self, message: str, attempts: int, idempotency_key: str | None, handled: BaseException | None = None) -> None:
        super().__init__(message, attempts, idempotency_key)
        self._handled = handled  # What the caller was handling. It is the context of this error, and not its reason.

    @property
    def _permanent(self) -> bool:
        """Whether another attempt would meet the same: an answer that is not JSON, or a certificate that is not trusted."""
        reason: BaseException | None = self
        while reason is not None and reason is not self._handled:
            if isinstance(reason, json.JSONDecodeError | UnicodeDecodeError | ssl.SSLCertVerificationError):
                return True
            reason = reason.__cause__ or reason.__context__
        return False


class NotModifiedError(GiftingError):
    """A read with `if_none_match`: your copy is current."""


class EventsLostError(GiftingError):
    """The feed does not go on from this cursor: events after it are no longer kept. Load all records again, then follow the feed
    without a cursor."""


class WebhookVerificationError(GiftingError):
    """A request that is no genuine webhook. Answer it with 401."""


def retryable(error: BaseException) -> bool:
    """Whether the contract lets a client repeat the call as it was."""
    if isinstance(error, ApiError):
        return error.status >= 500 or error.status == 429 or error.code == "idempotency_request_in_progress"
    return isinstance(error, NoAnswerError) and not error._permanent


def _problem(body: bytes) -> models.Problem | None:
    try:
        value = json.loads(body)
    except ValueError:  # A proxy may answer with a page.
        return None
    if isinstance(value, dict) and isinstance(value.get("code"), str) and isinstance(value.get("title"), str):
        return cast("models.Problem", value)
    return None


MAX_RETRY_AFTER = 86_400.0
"""Longer than any call lasts, and short enough for any timer."""


def _seconds(value: str | None) -> float | None:
    """Retry-After has seconds, or a date if a proxy wrote it."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return min(float(value), MAX_RETRY_AFTER)
    try:
        at = parsedate_to_datetime(value)
        return min(max(0.0, (at - datetime.now(timezone.utc)).total_seconds()), MAX_RETRY_AFTER) if at.tzinfo else None
    except (ValueError, OverflowError):
        return None
