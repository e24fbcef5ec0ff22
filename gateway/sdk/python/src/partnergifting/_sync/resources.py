# Written by make_sync.py from the asynchronous client: change that.
"""The operations of the API, in groups."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from typing_extensions import Unpack

from .. import models
from .._input import Id, check_options
from .._options import ActionOptions, AnyOptions, CallOptions, PostOptions, ReadOptions
from .._params import CampaignStatus, DeliveryState, EventType, OrderStatus, PersonalLinkStatus
from .pages import List, Page
from .transport import Transport


class Group:
    """Operations that belong together."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _data(self, method: str, path: str, *, options: AnyOptions, **request: Any) -> Any:
        return (self._transport.send(method, path, options=options, **request)).data

    def _reader(
        self, method: str, path: str, *, query: Mapping[str, object], options: AnyOptions
    ) -> Callable[[str | None], Page[Any]]:
        filters = (re.sub("([A-Z])", r"_\1", name).lower() for name in (*query, "after"))
        # At once, not when the list is read.
        check_options(options, basic=CallOptions.__optional_keys__.union(filters))

        def read(after: str | None) -> Page[Any]:
            page = self._data(method, path, query={**query, "after": after}, options=options)
            return Page(page["items"], page["nextCursor"])

        return read


class Account(Group):
    """The key in use."""

    def me(self, **options: Unpack[ReadOptions]) -> models.Me:
        """The key in use, its tenant's settings and the environment."""
        return self._data("GET", "/me", condition="if_none_match", options=options)


class Brands(Group):
    """Brands."""

    def list(self, **options: Unpack[ReadOptions]) -> builtins.list[models.Brand]:
        """The brands that the key reaches."""
        return self._data("GET", "/brands", condition="if_none_match", options=options)


class Campaigns(Group):
    """Campaigns."""

    def list(
        self,
        *,
        brand_id: Id | None = None,
        status: CampaignStatus | None = None,
        after: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> List[models.CampaignSummary]:
        """Campaigns, the newest first."""
        return List(
            self._reader("GET", "/campaigns", query={"brandId": brand_id, "status": status, "limit": limit}, options=options), after
        )

    def get(self, campaign_id: Id, *, locale: str | None = None, **options: Unpack[ReadOptions]) -> models.Campaign:
        """A campaign with its gifts."""
        return self._data(
            "GET",
            "/campaigns/{campaignId}",
            params={"campaignId": campaign_id},
            query={"locale": locale},
            condition="if_none_match",
            options=options,
        )


class Catalog(Group):
    """The catalog of gifts."""

    def products(
        self,
        *,
        country: str,
        locale: str | None = None,
        updated_since: str | datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> List[models.ProductEntry]:
        """The gifts for a country of delivery. With `updated_since`, those that changed or left the catalog since."""
        return List(
            self._reader(
                "GET",
                "/catalog/products",
                query={"country": country, "locale": locale, "updatedSince": updated_since, "limit": limit},
                options=options,
            ),
            after,
        )

    def product(
        self, product_id: Id, *, country: str, locale: str | None = None, **options: Unpack[ReadOptions]
    ) -> models.Product:
        """A gift."""
        return self._data(
            "GET",
            "/catalog/products/{productId}",
            params={"productId": product_id},
            query={"country": country, "locale": locale},
            condition="if_none_match",
            options=options,
        )

    def categories(self, *, locale: str | None = None, **options: Unpack[ReadOptions]) -> builtins.list[models.Category]:
        """The categories of gifts, in display order."""
        return self._data("GET", "/catalog/categories", query={"locale": locale}, condition="if_none_match", options=options)


class Orders(Group):
    """Orders."""

    def place(self, body: models.PlaceOrderRequest, **options: Unpack[PostOptions]) -> models.Order:
        """Places an order."""
        return self._data("POST", "/orders", body=body, options=options)

    def validate(self, body: models.PlaceOrderRequest, **options: Unpack[CallOptions]) -> models.OrderValidation:
        """Makes all checks of `place`, without placing an order."""
        return self._data("POST", "/orders:validate", with_key=False, body=body, options=options)

    def list(
        self,
        *,
        external_order_id: str | None = None,
        external_recipient_id: str | None = None,
        status: OrderStatus | None = None,
        brand_id: Id | None = None,
        updated_since: str | datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> List[models.Order]:
        """Orders, the newest first."""
        return List(
            self._reader(
                "GET",
                "/orders",
                query={
                    "externalOrderId": external_order_id,
                    "externalRecipientId": external_recipient_id,
                    "status": status,
                    "brandId": brand_id,
                    "updatedSince": updated_since,
                    "limit": limit,
                },
                options=options,
            ),
            after,
        )

    def get(self, order_id: Id, **options: Unpack[ReadOptions]) -> models.Order:
        """An order."""
        return self._data(
            "GET", "/orders/{orderId}", params={"orderId": order_id}, condition="if_none_match", options=options
        )

    def update_delivery(
        self, order_id: Id, body: models.UpdateDeliveryRequest, **options: Unpack[ActionOptions]
    ) -> models.Order:
        """Corrects delivery details of an order in `PROCESSING`."""
        return self._data(
            "POST",
            "/orders/{orderId}:update-delivery",
            params={"orderId": order_id},
            body=body,
            condition="if_match",
            options=options,
        )

    def cancel(self, order_id: Id, body: models.CancelOrderRequest, **options: Unpack[ActionOptions]) -> models.Order:
        """Cancels an order."""
        return self._data(
            "POST", "/orders/{orderId}:cancel", params={"orderId": order_id}, body=body, condition="if_match", options=options
        )

    def messages(self, order_id: Id, **options: Unpack[CallOptions]) -> builtins.list[models.OrderMessage]:
        """The messages on an order, the oldest first."""
        return self._data("GET", "/orders/{orderId}/messages", params={"orderId": order_id}, options=options)

    def post_message(
        self, order_id: Id, body: models.PostOrderMessageRequest, **options: Unpack[ActionOptions]
    ) -> models.PostedMessage:
        """Posts a message on an order."""
        return self._data(
            "POST", "/orders/{orderId}/messages", params={"orderId": order_id}, body=body, condition="if_match", options=options
        )


class PersonalLinks(Group):
    """Personal links."""

    def create(self, body: models.CreatePersonalLinksRequest, **options: Unpack[PostOptions]) -> models.PersonalLinkResults:
        """Creates links. A recipient can be rejected while others get a link: read `results`."""
        return self._data("POST", "/personal-links:create-batch", body=body, options=options)

    def list(
        self,
        *,
        external_recipient_id: str | None = None,
        campaign_id: Id | None = None,
        status: PersonalLinkStatus | None = None,
        updated_since: str | datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> List[models.PersonalLink]:
        """Personal links, the newest first, or with `updated_since` the oldest change first."""
        return List(
            self._reader(
                "GET",
                "/personal-links",
                query={
                    "externalRecipientId": external_recipient_id,
                    "campaignId": campaign_id,
                    "status": status,
                    "updatedSince": updated_since,
                    "limit": limit,
                },
                options=options,
            ),
            after,
        )

    def get(self, link_id: Id, **options: Unpack[ReadOptions]) -> models.PersonalLink:
        """A personal link."""
        return self._data(
            "GET", "/personal-links/{linkId}", params={"linkId": link_id}, condition="if_none_match", options=options
        )

    def cancel(
        self, link_id: Id, body: models.CancelPersonalLinkRequest, **options: Unpack[PostOptions]
    ) -> models.PersonalLink:
        """Withdraws a personal link."""
        return self._data("POST", "/personal-links/{linkId}:cancel", params={"linkId": link_id}, body=body, options=options)


class Webhooks(Group):
    """The key's own webhook."""

    def test(self, **options: Unpack[PostOptions]) -> models.TestWebhookResult:
        """Sends a signed `ping` to the key's webhook URL, and returns the outcome."""
        return self._data("POST", "/webhooks:test", options=options)

    def deliveries(
        self,
        *,
        state: DeliveryState | None = None,
        type: EventType | None = None,  # noqa: A002 - its name in the API
        event_id: Id | None = None,
        since: str | datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> List[models.WebhookDelivery]:
        """What was sent to the key's webhook and what waits, the newest event first."""
        return List(
            self._reader(
                "GET",
                "/webhooks/deliveries",
                query={"state": state, "type": type, "eventId": event_id, "since": since, "limit": limit},
                options=options,
            ),
            after,
        )

    def health(self, **options: Unpack[CallOptions]) -> models.WebhookHealth:
        """Whether the key's webhook works."""
        return self._data("GET", "/webhooks/health", options=options)

    def resend(self, delivery_id: Id, **options: Unpack[PostOptions]) -> models.WebhookDelivery:
        """Sends a delivery again."""
        return self._data(
            "POST", "/webhooks/deliveries/{deliveryId}:resend", params={"deliveryId": delivery_id}, body={}, options=options
        )

    def replay(self, body: models.ReplayWebhooksRequest, **options: Unpack[PostOptions]) -> models.ReplayWebhooksResult:
        """Sends the deliveries of a time span again."""
        return self._data("POST", "/webhooks:replay", body=body, options=options)

    def rotate_secret(
        self, body: models.RotateWebhookSecretRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.RotatedWebhookSecret:
        """Makes a new signing secret, which is only in the first response."""
        return self._data("POST", "/webhooks:rotate-secret", body=body or {}, options=options)


class Sandbox(Group):
    """What people do in production, only in the sandbox."""

    def approve_order(self, order_id: Id, **options: Unpack[PostOptions]) -> models.Order:
        """Approves an order."""
        return self._data("POST", "/sandbox/orders/{orderId}:approve", params={"orderId": order_id}, body={}, options=options)

    def dispatch_order(
        self, order_id: Id, body: models.DispatchSandboxOrderRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.Order:
        """Dispatches an order."""
        return self._data(
            "POST", "/sandbox/orders/{orderId}:dispatch", params={"orderId": order_id}, body=body or {}, options=options
        )

    def deliver_order(self, order_id: Id, **options: Unpack[PostOptions]) -> models.Order:
        """Delivers an order."""
        return self._data("POST", "/sandbox/orders/{orderId}:deliver", params={"orderId": order_id}, body={}, options=options)

    def correct_tracking(
        self, order_id: Id, body: models.CorrectSandboxTrackingRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.Order:
        """Corrects the shipment of a sent order."""
        return self._data(
            "POST", "/sandbox/orders/{orderId}:correct-tracking", params={"orderId": order_id}, body=body or {}, options=options
        )

    def correct_status(
        self, order_id: Id, body: models.CorrectSandboxStatusRequest, **options: Unpack[PostOptions]
    ) -> models.Order:
        """Sets any status of an order."""
        return self._data(
            "POST", "/sandbox/orders/{orderId}:correct-status", params={"orderId": order_id}, body=body, options=options
        )

    def post_message(
        self, order_id: Id, body: models.PostSandboxMessageRequest, **options: Unpack[PostOptions]
    ) -> models.PostedMessage:
        """Posts a message as the service operator."""
        return self._data(
            "POST", "/sandbox/orders/{orderId}:post-message", params={"orderId": order_id}, body=body, options=options
        )

    def approve_link(self, link_id: Id, **options: Unpack[PostOptions]) -> models.PersonalLink:
        """Approves a personal link."""
        return self._data(
            "POST", "/sandbox/personal-links/{linkId}:approve", params={"linkId": link_id}, body={}, options=options
        )

    def claim_link(
        self, link_id: Id, body: models.ClaimSandboxPersonalLinkRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.PersonalLink:
        """Claims a personal link, as its player."""
        return self._data(
            "POST", "/sandbox/personal-links/{linkId}:claim", params={"linkId": link_id}, body=body or {}, options=options
        )

    def set_stock(
        self, campaign_id: Id, body: models.SetSandboxStockRequest, **options: Unpack[PostOptions]
    ) -> models.Campaign:
        """Sets the stock of a SKU."""
        return self._data(
            "POST", "/sandbox/campaigns/{campaignId}:set-stock", params={"campaignId": campaign_id}, body=body, options=options
        )

    def unlist_product(self, product_id: Id, **options: Unpack[PostOptions]) -> models.UnlistedProduct:
        """Takes a gift out of your catalog."""
        return self._data(
            "POST", "/sandbox/catalog/products/{productId}:unlist", params={"productId": product_id}, body={}, options=options
        )

    def relist_product(
        self, product_id: Id, body: models.RelistSandboxProductRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.Product:
        """Puts a gift back into your catalog."""
        return self._data(
            "POST",
            "/sandbox/catalog/products/{productId}:relist",
            params={"productId": product_id},
            body=body or {},
            options=options,
        )

    def set_product_available(
        self, product_id: Id, body: models.SetSandboxProductAvailableRequest, **options: Unpack[PostOptions]
    ) -> models.Product:
        """Sets whether a gift can be sent to a country."""
        return self._data(
            "POST",
            "/sandbox/catalog/products/{productId}:set-available",
            params={"productId": product_id},
            body=body,
            options=options,
        )
