"""Uses the package as installed, against a running sandbox whose variables are in the environment."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
import urllib.request
from typing import Any

import anyio
import httpx
import pytest

from partnergifting import (
    ApiError,
    AsyncClient,
    CatalogPosition,
    Client,
    Event,
    NoAnswerError,
    ResponseInfo,
    WebhookVerificationError,
    models,
    webhooks,
)

URL, KEY = os.environ["GIFTING_URL"], os.environ["GIFTING_KEY"]
client = Client(URL, KEY)
placed = itertools.count(1)


def an_order() -> models.PlaceOrderRequest:
    return {
        "externalOrderId": f"python-{os.getpid()}-{next(placed)}",
        "brandId": os.environ["GIFTING_BRAND_ID"],
        "items": [{"customProductName": "A signed football", "budget": {"amount": "1500.00", "currency": "SEK"}}],
        "client": {"name": "Ann Berg"},
        "recipient": {
            "name": "Ann Berg",
            "phone": "+353 1 234 5678",
            "address": {"street": "1 Main Street", "city": "Dublin", "country": "IE"},
        },
    }


def end() -> str | None:
    """A cursor that is before the events of later requests. Events of earlier ones may follow it too."""
    feed = client.events.feed(follow=False, limit=100)
    for _ in feed.pages():
        pass
    return feed.cursor


FAULTS: list[tuple[Any, bool]] = [
    ("429", False), ("500", False), ("503", False), ("in-progress", False), ("lost", True), ("timeout", True),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "replayed"), FAULTS)
def test_an_order_whose_first_answer_is_forced_is_placed_once(fault: Any, replayed: bool) -> None:
    infos: list[ResponseInfo] = []
    order = an_order()
    found = client.orders.place(order, sandbox_fault=fault, attempt_timeout=2, on_response=infos.append)
    assert [(info.attempts, info.replayed) for info in infos] == [(2, replayed)]
    assert [one["id"] for one in client.orders.list(external_order_id=order["externalOrderId"])] == [found["id"]]


@pytest.mark.parametrize(("fault", "replayed"), FAULTS)
def test_the_asynchronous_client_places_it_once_too(fault: Any, replayed: bool) -> None:
    async def run() -> None:
        infos: list[ResponseInfo] = []
        order = an_order()
        async with AsyncClient(URL, KEY) as one:
            found = await one.orders.place(order, sandbox_fault=fault, attempt_timeout=2, on_response=infos.append)
            assert [(info.attempts, info.replayed) for info in infos] == [(2, replayed)]
            assert [each["id"] async for each in one.orders.list(external_order_id=order["externalOrderId"])] == [found["id"]]

    anyio.run(run)


def test_a_call_that_got_no_answer_continues_with_its_key() -> None:
    order = an_order()
    with pytest.raises(NoAnswerError) as lost:
        client.orders.place(order, sandbox_fault="lost", max_attempts=1)
    assert lost.value.idempotency_key
    infos: list[ResponseInfo] = []
    client.orders.place(order, idempotency_key=lost.value.idempotency_key, on_response=infos.append)
    assert infos[0].replayed


def test_a_refusal_is_a_problem_with_its_fields() -> None:
    order = an_order()
    order["recipient"]["phone"] = "0701"
    order["recipient"]["name"] = ""
    with pytest.raises(ApiError) as refused:
        client.orders.place(order)
    assert refused.value.code == "invalid_request"
    fields = {field["field"]: field["code"] for field in refused.value.errors}
    assert fields == {"recipient.name": "required", "recipient.phone": "invalid"}
    assert len(refused.value.request_id or "") == 32


def test_an_action_obeys_the_tag_of_the_order_that_was_read() -> None:
    infos: list[ResponseInfo] = []
    order = client.orders.place(an_order())
    client.orders.get(order["id"], on_response=infos.append)
    assert infos[0].etag
    client.sandbox.dispatch_order(order["id"])
    with pytest.raises(ApiError) as refused:
        client.orders.cancel(order["id"], {"reason": "late"}, if_match=infos[0].etag)
    assert refused.value.current_status == "SENT"


class Breaking(httpx.HTTPTransport):
    """Every other answer of the feed is lost after the server sent it."""

    calls = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        Breaking.calls += 1
        if Breaking.calls % 2 == 0:
            response.close()
            raise httpx.ReadError("the connection broke")
        return response


def test_the_feed_has_every_order_once_and_in_order_although_connections_break() -> None:
    after = end()
    orders = [an_order() for _ in range(12)]
    wanted = [order["externalOrderId"] for order in orders]
    placing = threading.Thread(target=lambda: [client.orders.place(order) for order in orders])
    placing.start()
    disconnects: list[Exception] = []
    seen: list[str | None] = []
    with Client(URL, KEY, transport=Breaking()) as breaking:
        for event in breaking.events.feed(after=after, limit=2, wait=5, on_disconnect=disconnects.append):
            if event["type"] == "order.created" and event["data"]["externalOrderId"] in wanted:
                seen.append(event["data"]["externalOrderId"])
            if len(seen) == len(wanted):
                break
    placing.join()
    assert seen == wanted
    assert disconnects


def test_a_waiting_feed_sees_an_order_at_once_and_its_cursor_resumes() -> None:
    after, order = end(), an_order()

    def is_it(event: Event) -> bool:
        return event["type"] == "order.created" and event["data"]["externalOrderId"] == order["externalOrderId"]

    async def run() -> str:
        async with AsyncClient(URL, KEY) as one, anyio.create_task_group() as group:
            group.start_soon(one.orders.place, order)
            async for event in one.events.feed(after=after):
                if is_it(event):
                    return event["id"]
        raise AssertionError("the feed ended")

    began = time.monotonic()
    seen = anyio.run(run)
    assert time.monotonic() - began < 15, "the call was held, and not to its end"
    assert [event["id"] for event in client.events.feed(after=after, follow=False) if is_it(event)] == [seen]


def test_a_list_of_several_pages_is_read_whole() -> None:
    found = [order["id"] for order in client.orders.list(limit=3)]
    assert len(set(found)) == len(found)
    assert found == [order["id"] for order in client.orders.list(limit=100)]


def test_a_copy_of_the_catalog_follows_it() -> None:
    class Copy:
        def __init__(self) -> None:
            self.products: dict[str, models.Product] = {}

        def put(self, product: models.Product) -> None:
            self.products[product["id"]] = product

        def remove(self, product_id: str) -> None:
            self.products.pop(product_id, None)

    copy, gift = Copy(), os.environ["GIFTING_PRODUCT_ID"]
    position: CatalogPosition = {"country": "SE", "locale": "sv-SE"}
    position = client.catalog.sync(position, copy)
    assert len(copy.products) == 60
    client.sandbox.unlist_product(gift)
    position = client.catalog.sync(position, copy)
    assert (len(copy.products), gift in copy.products) == (59, False)
    client.sandbox.relist_product(gift)
    client.catalog.sync(position, copy)
    assert copy.products[gift]["name"] == "Mörka tryfflar, ask med 24"
    image = client.catalog.image(copy.products[gift]["images"][0]["url"].rpartition("/")[2])
    assert image.content_type.startswith("image/")


def test_a_webhook_that_the_platform_sends_is_genuine() -> None:
    with Client(URL, KEY) as owner:
        assert owner.webhooks.test()["error"] is None
    with urllib.request.urlopen(os.environ["GIFTING_INBOX_URL"]) as response:  # noqa: S310 - the address of the test's own receiver
        received = json.load(response)
    ping = next(delivery for delivery in received if delivery["body"]["type"] == "ping")
    standard = {name: value for name, value in ping["headers"].items() if name != "Service-Signature"}
    secret = os.environ["GIFTING_WEBHOOK_SECRET"]
    for headers in (ping["headers"], standard):
        assert webhooks.verify(ping["raw"], headers, secret)["type"] == "ping"
        with pytest.raises(WebhookVerificationError):
            webhooks.verify(ping["raw"] + " ", headers, secret)
