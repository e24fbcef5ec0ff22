"""The Partner Gifting API."""

from . import models, webhooks
from ._async.client import AsyncCatalogCopy, AsyncClient
from ._async.feed import AsyncFeed
from ._async.pages import AsyncList
from ._ignored import IgnoredWarning
from ._options import CallOptions, FeedOptions, PostOptions, ReadOptions, ResponseInfo
from ._position import CatalogPosition
from ._sync.client import CatalogCopy, Client, ImageFile
from ._sync.feed import Feed
from ._sync.pages import List, Page
from ._version import __version__
from .errors import (
    ApiError,
    CallError,
    EventsLostError,
    GiftingError,
    NoAnswerError,
    NotModifiedError,
    WebhookVerificationError,
    retryable,
)
from .events import Event, PingEvent, UnknownEvent

__all__ = [
    "ApiError",
    "AsyncCatalogCopy",
    "AsyncClient",
    "AsyncFeed",
    "AsyncList",
    "CallError",
    "CallOptions",
    "CatalogCopy",
    "CatalogPosition",
    "Client",
    "Event",
    "EventsLostError",
    "Feed",
    "FeedOptions",
    "GiftingError",
    "IgnoredWarning",
    "ImageFile",
    "List",
    "NoAnswerError",
    "NotModifiedError",
    "Page",
    "PingEvent",
    "PostOptions",
    "ReadOptions",
    "ResponseInfo",
    "UnknownEvent",
    "WebhookVerificationError",
    "__version__",
    "models",
    "retryable",
    "webhooks",
]
