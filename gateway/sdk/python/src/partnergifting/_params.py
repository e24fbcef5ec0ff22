"""Values that parameters of queries may have. A test compares them with the OpenAPI document."""

from typing import Literal, TypeAlias

CampaignStatus: TypeAlias = Literal["DRAFT", "ACTIVE", "COMPLETED"]
OrderStatus: TypeAlias = Literal["REQUESTED", "PROCESSING", "SENT", "COMPLETED", "CANCELLED"]
PersonalLinkStatus: TypeAlias = Literal["REQUESTED", "ACTIVE", "CLAIMED", "EXPIRED", "CANCELLED"]
DeliveryState: TypeAlias = Literal["PENDING", "DELIVERED", "EXHAUSTED", "DROPPED"]
EventType: TypeAlias = Literal[
    "order.created",
    "order.status_changed",
    "order.updated",
    "order.message_posted",
    "personal_link.created",
    "personal_link.approved",
    "personal_link.claimed",
    "personal_link.cancelled",
]
