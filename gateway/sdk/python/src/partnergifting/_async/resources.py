"""The operations of the API, in groups."""

from __future__ import annotations

import builtins
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from typing_extensions import Unpack

from .. import models
from .._input import Id, check_options
from .._options import ActionOptions, AnyOptions, CallOptions, PostOptions, ReadOptions
from .._params import CampaignStatus, DeliveryState, EventType, OrderStatus, PersonalLinkStatus
from .pages import AsyncList, Page
from .transport import AsyncTransport


class AsyncGroup:
    """Operations that belong together."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def _data(self, method: str, path: str, *, options: AnyOptions, **request: Any) -> Any:
        return (await self._transport.send(method, path, options=options, **request)).data

    def _reader(
        self, method: str, path: str, *, query: Mapping[str, object], options: AnyOptions
    ) -> Callable[[str | None], Awaitable[Page[Any]]]:
        filters = (re.sub("([A-Z])", r"_\1", name).lower() for name in (*query, "after"))
        # At once, not when the list is read.
        check_options(options, basic=CallOptions.__optional_keys__.union(filters))

        async def read(after: str | None) -> Page[Any]:
            page = await self._data(method, path, query={**query, "after": after}, options=options)
            return Page(page["items"], page["nextCursor"])

        return read


class AsyncAccount(AsyncGroup):
    """The key in use."""

    async def me(self, **options: Unpack[ReadOptions]) -> models.Me:
        """The key in use, its tenant's settings and the environment."""
        return await self._data("GET", "/me", condition="if_none_match", options=options)


class AsyncBrands(AsyncGroup):
    """Brands."""

    async def list(self, **options: Unpack[ReadOptions]) -> builtins.list[models.Brand]:
        """The brands that the key reaches."""
        return await self._data("GET", "/brands", condition="if_none_match", options=options)


class AsyncCampaigns(AsyncGroup):
    """Campaigns."""

    def list(
        self,
        *,
        brand_id: Id | None = None,
        status: CampaignStatus | None = None,
        after: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[models.CampaignSummary]:
        """Campaigns, the newest first."""
        return AsyncList(
            self._reader("GET", "/campaigns", query={"brandId": brand_id, "status": status, "limit": limit}, options=options), after
        )

    async def get(self, campaign_id: Id, *, locale: str | None = None, **options: Unpack[ReadOptions]) -> models.Campaign:
        """A campaign with its gifts."""
        return await self._data(
            "GET",
            "/campaigns/{campaignId}",
            params={"campaignId": campaign_id},
            query={"locale": locale},
            condition="if_none_match",
            options=options,
        )


class AsyncCatalog(AsyncGroup):
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
    ) -> AsyncList[models.ProductEntry]:
        """The gifts for a country of delivery. With `updated_since`, those that changed or left the catalog since."""
        return AsyncList(
            self._reader(
                "GET",
                "/catalog/products",
                query={"country": country, "locale": locale, "updatedSince": updated_since, "limit": limit},
                options=options,
            ),
            after,
        )

    async def product(
        self, product_id: Id, *, country: str, locale: str | None = None, **options: Unpack[ReadOptions]
    ) -> models.Product:
        """A gift."""
        return await self._data(
            "GET",
            "/catalog/products/{productId}",
            params={"productId": product_id},
            query={"country": country, "locale": locale},
            condition="if_none_match",
            options=options,
        )

    async def categories(self, *, locale: str | None = None, **options: Unpack[ReadOptions]) -> builtins.list[models.Category]:
        """The categories of gifts, in display order."""
        return await self._data("GET", "/catalog/categories", query={"locale": locale}, condition="if_none_match", options=options)


class AsyncOrders(AsyncGroup):
    """Orders."""

    async def place(self, body: models.PlaceOrderRequest, **options: Unpack[PostOptions]) -> models.Order:
        """Places an order."""
        return await self._data("POST", "/orders", body=body, options=options)

    async def validate(self, body: models.PlaceOrderRequest, **options: Unpack[CallOptions]) -> models.OrderValidation:
        """Makes all checks of `place`, without placing an order."""
        return await self._data("POST", "/orders:validate", with_key=False, body=body, options=options)

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
    ) -> AsyncList[models.Order]:
        """Orders, the newest first."""
        return AsyncList(
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

    async def get(self, order_id: Id, **options: Unpack[ReadOptions]) -> models.Order:
        """An order."""
        return await self._data(
            "GET", "/orders/{orderId}", params={"orderId": order_id}, condition="if_none_match", options=options
        )

    async def update_delivery(
        self, order_id: Id, body: models.UpdateDeliveryRequest, **options: Unpack[ActionOptions]
    ) -> models.Order:
        """Corrects delivery details of an order in `PROCESSING`."""
        return await self._data(
            "POST",
            "/orders/{orderId}:update-delivery",
            params={"orderId": order_id},
            body=body,
            condition="if_match",
            options=options,
        )

    async def cancel(self, order_id: Id, body: models.CancelOrderRequest, **options: Unpack[ActionOptions]) -> models.Order:
        """Cancels an order."""
        return await self._data(
            "POST", "/orders/{orderId}:cancel", params={"orderId": order_id}, body=body, condition="if_match", options=options
        )

    async def messages(self, order_id: Id, **options: Unpack[CallOptions]) -> builtins.list[models.OrderMessage]:
        """The messages on an order, the oldest first."""
        return await self._data("GET", "/orders/{orderId}/messages", params={"orderId": order_id}, options=options)

    async def post_message(
        self, order_id: Id, body: models.PostOrderMessageRequest, **options: Unpack[ActionOptions]
    ) -> models.PostedMessage:
        """Posts a message on an order."""
        return await self._data(
            "POST", "/orders/{orderId}/messages", params={"orderId": order_id}, body=body, condition="if_match", options=options
        )


class AsyncPersonalLinks(AsyncGroup):
    """Personal links."""

    async def create(self, body: models.CreatePersonalLinksRequest, **options: Unpack[PostOptions]) -> models.PersonalLinkResults:
        """Creates links. A recipient can be rejected while others get a link: read `results`."""
        return await self._data("POST", "/personal-links:create-batch", body=body, options=options)

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
    ) -> AsyncList[models.PersonalLink]:
        """Personal links, the newest first, or with `updated_since` the oldest change first."""
        return AsyncList(
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

    async def get(self, link_id: Id, **options: Unpack[ReadOptions]) -> models.PersonalLink:
        """A personal link."""
        return await self._data(
            "GET", "/personal-links/{linkId}", params={"linkId": link_id}, condition="if_none_match", options=options
        )

    async def cancel(
        self, link_id: Id, body: models.CancelPersonalLinkRequest, **options: Unpack[PostOptions]
    ) -> models.PersonalLink:
        """Withdraws a personal link."""
        return await self._data("POST", "/personal-links/{linkId}:cancel", params={"linkId": link_id}, body=body, options=options)


class AsyncWebhooks(AsyncGroup):
    """The key's own webhook."""

    async def test(self, **options: Unpack[PostOptions]) -> models.TestWebhookResult:
        """Sends a signed `ping` to the key's webhook URL, and returns the outcome."""
        return await self._data("POST", "/webhooks:test", options=options)

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
    ) -> AsyncList[models.WebhookDelivery]:
        """What was sent to the key's webhook and what waits, the newest event first."""
        return AsyncList(
            self._reader(
                "GET",
                "/webhooks/deliveries",
                query={"state": state, "type": type, "eventId": event_id, "since": since, "limit": limit},
                options=options,
            ),
            after,
        )

    async def health(self, **options: Unpack[CallOptions]) -> models.WebhookHealth:
        """Whether the key's webhook works."""
        return await self._data("GET", "/webhooks/health", options=options)

    async def resend(self, delivery_id: Id, **options: Unpack[PostOptions]) -> models.WebhookDelivery:
        """Sends a delivery again."""
        return await self._data(
            "POST", "/webhooks/deliveries/{deliveryId}:resend", params={"deliveryId": delivery_id}, body={}, options=options
        )

    async def replay(self, body: models.ReplayWebhooksRequest, **options: Unpack[PostOptions]) -> models.ReplayWebhooksResult:
        """Sends the deliveries of a time span again."""
        return await self._data("POST", "/webhooks:replay", body=body, options=options)

    async def rotate_secret(
        self, body: models.RotateWebhookSecretRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.RotatedWebhookSecret:
        """Makes a new signing secret, which is only in the first response."""
        return await self._data("POST", "/webhooks:rotate-secret", body=body or {}, options=options)


class AsyncSandbox(AsyncGroup):
    """What people do in production, only in the sandbox."""

    async def approve_order(self, order_id: Id, **options: Unpack[PostOptions]) -> models.Order:
        """Approves an order."""
        return await self._data("POST", "/sandbox/orders/{orderId}:approve", params={"orderId": order_id}, body={}, options=options)

    async def dispatch_order(
        self, order_id: Id, body: models.DispatchSandboxOrderRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.Order:
        """Dispatches an order."""
        return await self._data(
            "POST", "/sandbox/orders/{orderId}:dispatch", params={"orderId": order_id}, body=body or {}, options=options
        )

    async def deliver_order(self, order_id: Id, **options: Unpack[PostOptions]) -> models.Order:
        """Delivers an order."""
        return await self._data("POST", "/sandbox/orders/{orderId}:deliver", params={"orderId": order_id}, body={}, options=options)

    async def correct_tracking(
        self, order_id: Id, body: models.CorrectSandboxTrackingRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.Order:
        """Corrects the shipment of a sent order."""
        return await self._data(
            "POST", "/sandbox/orders/{orderId}:correct-tracking", params={"orderId": order_id}, body=body or {}, options=options
        )

    async def correct_status(
        self, order_id: Id, body: models.CorrectSandboxStatusRequest, **options: Unpack[PostOptions]
    ) -> models.Order:
        """Sets any status of an order."""
        return await self._data(
            "POST", "/sandbox/orders/{orderId}:correct-status", params={"orderId": order_id}, body=body, options=options
        )

    async def post_message(
        self, order_id: Id, body: models.PostSandboxMessageRequest, **options: Unpack[PostOptions]
    ) -> models.PostedMessage:
        """Posts a message as the service operator."""
        return await self._data(
            "POST", "/sandbox/orders/{orderId}:post-message", params={"orderId": order_id}, body=body, options=options
        )

    async def approve_link(self, link_id: Id, **options: Unpack[PostOptions]) -> models.PersonalLink:
        """Approves a personal link."""
        return await self._data(
            "POST", "/sandbox/personal-links/{linkId}:approve", params={"linkId": link_id}, body={}, options=options
        )

    async def claim_link(
        self, link_id: Id, body: models.ClaimSandboxPersonalLinkRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.PersonalLink:
        """Claims a personal link, as its player."""
        return await self._data(
            "POST", "/sandbox/personal-links/{linkId}:claim", params={"linkId": link_id}, body=body or {}, options=options
        )

    async def set_stock(
        self, campaign_id: Id, body: models.SetSandboxStockRequest, **options: Unpack[PostOptions]
    ) -> models.Campaign:
        """Sets the stock of a SKU."""
        return await self._data(
            "POST", "/sandbox/campaigns/{campaignId}:set-stock", params={"campaignId": campaign_id}, body=body, options=options
        )

    async def unlist_product(self, product_id: Id, **options: Unpack[PostOptions]) -> models.UnlistedProduct:
        """Takes a gift out of your catalog."""
        return await self._data(
            "POST", "/sandbox/catalog/products/{productId}:unlist", params={"productId": product_id}, body={}, options=options
        )

    async def relist_product(
        self, product_id: Id, body: models.RelistSandboxProductRequest | None = None, **options: Unpack[PostOptions]
    ) -> models.Product:
        """Puts a gift back into your catalog."""
        return await self._data(
            "POST",
            "/sandbox/catalog/products/{productId}:relist",
            params={"productId": product_id},
            body=body or {},
            options=options,
        )

    async def set_product_available(
        self, product_id: Id, body: models.SetSandboxProductAvailableRequest, **options: Unpack[PostOptions]
    ) -> models.Product:
        """Sets whether a gift can be sent to a country."""
        return await self._data(
            "POST",
            "/sandbox/catalog/products/{productId}:set-available",
            params={"productId": product_id},
            body=body,
            options=options,
        )
