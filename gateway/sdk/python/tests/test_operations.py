"""Compares both clients with the OpenAPI document, which `make sdk` writes."""

from __future__ import annotations

import inspect
import keyword
import re
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from partnergifting import _params

from .fake import Fake, ok

DOCUMENT: dict[str, Any] = yaml.safe_load((Path(__file__).parents[4] / ".local" / "openapi" / "sandbox.yaml").read_text("utf-8"))
OPERATIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    if method in {"get", "post"}
}

CALLS: dict[str, Callable[[Any], Any]] = {
    "getMe": lambda client: client.account.me(),
    "listBrands": lambda client: client.brands.list(),
    "listCampaigns": lambda client: client.campaigns.list(),
    "getCampaign": lambda client: client.campaigns.get("1"),
    "getImage": lambda client: client.catalog.image("1"),
    "listProducts": lambda client: client.catalog.products(country="SE"),
    "getProduct": lambda client: client.catalog.product("1", country="SE"),
    "listCategories": lambda client: client.catalog.categories(),
    "placeOrder": lambda client: client.orders.place({}),
    "validateOrder": lambda client: client.orders.validate({}),
    "listOrders": lambda client: client.orders.list(),
    "getOrder": lambda client: client.orders.get("1"),
    "updateDelivery": lambda client: client.orders.update_delivery("1", {"expectedVersion": 0}),
    "cancelOrder": lambda client: client.orders.cancel("1", {"reason": ""}),
    "listOrderMessages": lambda client: client.orders.messages("1"),
    "postOrderMessage": lambda client: client.orders.post_message("1", {"body": ""}),
    "createPersonalLinks": lambda client: client.personal_links.create({}),
    "listPersonalLinks": lambda client: client.personal_links.list(),
    "getPersonalLink": lambda client: client.personal_links.get("1"),
    "cancelPersonalLink": lambda client: client.personal_links.cancel("1", {"reason": ""}),
    "listEvents": lambda client: client.events.list(),
    "testWebhook": lambda client: client.webhooks.test(),
    "listWebhookDeliveries": lambda client: client.webhooks.deliveries(),
    "getWebhookHealth": lambda client: client.webhooks.health(),
    "resendWebhookDelivery": lambda client: client.webhooks.resend("1"),
    "replayWebhooks": lambda client: client.webhooks.replay({}),
    "rotateOwnWebhookSecret": lambda client: client.webhooks.rotate_secret(),
    "approveSandboxOrder": lambda client: client.sandbox.approve_order("1"),
    "dispatchSandboxOrder": lambda client: client.sandbox.dispatch_order("1"),
    "deliverSandboxOrder": lambda client: client.sandbox.deliver_order("1"),
    "correctSandboxTracking": lambda client: client.sandbox.correct_tracking("1"),
    "correctSandboxStatus": lambda client: client.sandbox.correct_status("1", {"status": "SENT"}),
    "postSandboxMessage": lambda client: client.sandbox.post_message("1", {"body": ""}),
    "approveSandboxPersonalLink": lambda client: client.sandbox.approve_link("1"),
    "claimSandboxPersonalLink": lambda client: client.sandbox.claim_link("1"),
    "setSandboxStock": lambda client: client.sandbox.set_stock("1", {}),
    "unlistSandboxProduct": lambda client: client.sandbox.unlist_product("1"),
    "relistSandboxProduct": lambda client: client.sandbox.relist_product("1"),
    "setSandboxProductAvailable": lambda client: client.sandbox.set_product_available("1", {}),
}


def parameters(operation: dict[str, Any]) -> list[dict[str, Any]]:
    def resolved(parameter: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = DOCUMENT
        for part in parameter["$ref"].split("/")[1:] if "$ref" in parameter else ():
            found = found[part]
        return found if "$ref" in parameter else parameter

    return [resolved(parameter) for parameter in operation.get("parameters", [])]


def test_every_operation_has_a_method() -> None:
    assert set(CALLS) == set(OPERATIONS)


@pytest.mark.parametrize("name", CALLS)
def test_an_operation_is_sent_as_the_document_says(name: str) -> None:
    method, path, operation = OPERATIONS[name]
    fake = Fake(ok({"items": [], "nextCursor": None}))
    fake.both(CALLS[name])
    request = fake.sent[0]
    assert (request.method, request.url.path) == (method, "/v1" + re.sub(r"\{\w+\}", "1", path))
    takes = any(parameter["name"] == "Idempotency-Key" and parameter.get("required") for parameter in parameters(operation))
    assert ("Idempotency-Key" in request.headers) == takes


class Recorder:
    """Finds the method that a call uses."""

    def __init__(self, target: Any) -> None:
        self._target = target
        self.method: Any = None

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if inspect.ismethod(found):
            return lambda *_, **__: setattr(self, "method", found)
        self._target = found
        return self


@pytest.mark.parametrize("name", CALLS)
def test_a_method_takes_each_parameter_of_a_query(name: str) -> None:
    fake = Fake()
    recorder = Recorder(fake.sync)
    CALLS[name](recorder)
    signature = inspect.signature(recorder.method)
    for parameter in parameters(OPERATIONS[name][2]):
        if parameter["in"] == "query":
            snake = re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", parameter["name"])
            assert snake + "_" * keyword.iskeyword(snake) in signature.parameters


@pytest.mark.parametrize("name", CALLS)
def test_a_method_takes_the_body_of_its_operation(name: str) -> None:
    recorder = Recorder(Fake().sync)
    CALLS[name](recorder)
    body = OPERATIONS[name][2].get("requestBody")
    members: dict[str, Any] = {}
    if body is not None:
        schema = body["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
        members = DOCUMENT["components"]["schemas"][schema].get("properties", {})
    assert ("body" in inspect.signature(recorder.method).parameters) == bool(members)


def test_the_values_of_parameters_are_those_of_the_document() -> None:
    wanted = {
        "listCampaigns status": _params.CampaignStatus,
        "listOrders status": _params.OrderStatus,
        "listPersonalLinks status": _params.PersonalLinkStatus,
        "listWebhookDeliveries state": _params.DeliveryState,
        "listWebhookDeliveries type": _params.EventType,
        "listEvents from": typing.Literal["start", "end"],
    }
    found = {
        f"{name} {parameter['name']}": parameter["schema"]["enum"]
        for name, (_, _, operation) in OPERATIONS.items()
        for parameter in parameters(operation)
        if parameter["in"] == "query" and "enum" in parameter["schema"]
    }
    assert found == {name: list(typing.get_args(values)) for name, values in wanted.items()}


def test_the_clients_have_the_same_groups() -> None:
    fake = Fake()
    groups = [{name for name in vars(client) if not name.startswith("_")} for client in (fake.sync, fake.asynchronous)]
    assert groups[0] == groups[1]
