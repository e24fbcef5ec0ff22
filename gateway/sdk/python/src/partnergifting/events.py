"""The events of the feed and of webhooks."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict, cast

from . import models


class PingEvent(TypedDict):
    """A test was requested. It is sent only to the webhook of the key that requested it."""

    id: str
    type: Literal["ping"]
    occurredAt: str
    environment: models.Environment
    data: dict[str, Any]


class UnknownEvent(TypedDict):
    """An event of a type that this version does not know. `originalType` is its type."""

    id: str
    type: Literal["unknown"]
    originalType: str
    occurredAt: str
    environment: str
    data: dict[str, Any]


KnownEvent: TypeAlias = (
    models.OrderCreatedEvent
    | models.OrderStatusChangedEvent
    | models.OrderUpdatedEvent
    | models.OrderMessagePostedEvent
    | models.PersonalLinkCreatedEvent
    | models.PersonalLinkApprovedEvent
    | models.PersonalLinkClaimedEvent
    | models.PersonalLinkCancelledEvent
    | PingEvent
)

Event: TypeAlias = KnownEvent | UnknownEvent
"""An event. Its `type` says what `data` is. Later versions of the API have more types."""

KNOWN = frozenset(
    {
        "order.created",
        "order.status_changed",
        "order.updated",
        "order.message_posted",
        "personal_link.created",
        "personal_link.approved",
        "personal_link.claimed",
        "personal_link.cancelled",
        "ping",
    }
)


def to_event(event: dict[str, Any]) -> Event:
    """Marks an event whose type is unknown."""
    if event["type"] in KNOWN:
        return cast("KnownEvent", event)
    return cast("UnknownEvent", {**event, "type": "unknown", "originalType": event["type"]})
