"""What an integrator does with the client of openapi-python-client. deploy/tests/clients/doc.go says what it must print."""

import os
import uuid
from collections.abc import Iterator

import httpx

from gifting_api import AuthenticatedClient
from gifting_api.api.catalog import list_products
from gifting_api.api.events import list_events
from gifting_api.api.orders import place_order
from gifting_api.models import (
    EventPage,
    Order,
    OrderAddress,
    OrderClient,
    OrderCreatedEvent,
    OrderItemInput,
    OrderRecipient,
    PlaceOrderRequest,
    Problem,
    Product,
    ProductPage,
    UnknownEvent,
)
from gifting_api.types import UNSET


def client_of(variable: str) -> AuthenticatedClient:
    """The client waits longer than a call to the feed may wait."""
    return AuthenticatedClient(base_url=os.environ[variable], token=os.environ["GIFTING_KEY"], timeout=httpx.Timeout(40))


def gift(client: AuthenticatedClient) -> uuid.UUID:
    """A gift that can go to Sweden and has nothing to choose."""
    page = list_products.sync(client=client, country="SE")
    assert isinstance(page, ProductPage), page
    return next(g.id for g in page.items if isinstance(g, Product) and g.available and not g.variations)


def place(client: AuthenticatedClient, external_order_id: str, product: uuid.UUID) -> Order | Problem | None:
    order = PlaceOrderRequest(
        external_order_id=external_order_id,
        brand_id=os.environ["GIFTING_BRAND_ID"],
        items=[OrderItemInput(product_id=str(product))],
        client=OrderClient(name="Ada Player"),
        recipient=OrderRecipient(
            name="Ada Player",
            phone="+46701234567",
            address=OrderAddress(street="Storgatan 1", city="Stockholm", postal_code="111 22", country="SE"),
        ),
    )
    return place_order.sync(client=client, body=order, idempotency_key=str(uuid.uuid4()))


def pages(client: AuthenticatedClient) -> Iterator[EventPage]:
    """The feed from the beginning, without end: a call waits for the next event."""
    after: str | None = None
    while True:
        page = list_events.sync(client=client, after=after or UNSET, limit=2, wait=10)
        if not isinstance(page, EventPage):
            raise TypeError(page)
        yield page
        after = page.next_cursor


def created(client: AuthenticatedClient, external_order_id: str) -> OrderCreatedEvent:
    for page in pages(client):
        for event in page.items:
            if isinstance(event, OrderCreatedEvent) and event.data.external_order_id == external_order_id:
                return event
    raise AssertionError


def main() -> None:
    client, future = client_of("GIFTING_URL"), client_of("FUTURE_URL")
    product = gift(client)
    external_order_id = f"openapi-python-client-{uuid.uuid4()}"
    order = place(client, external_order_id, product)
    assert isinstance(order, Order), order
    print("order", order.id, order.status)

    event = created(client, external_order_id)
    print("feed", event.id, event.data.id)

    conflict = place(client, external_order_id, product)
    assert isinstance(conflict, Problem), conflict
    print("problem", conflict.code, conflict.order_id)

    unknown = place(future, external_order_id, product)
    assert isinstance(unknown, Problem) and unknown.errors, unknown
    known_event, unknown_event = next(pages(future)).items
    assert isinstance(known_event, OrderCreatedEvent) and isinstance(unknown_event, UnknownEvent)
    print("unknown", unknown.code, unknown.errors[0].code, known_event.type_, unknown_event.type_)


if __name__ == "__main__":
    main()
