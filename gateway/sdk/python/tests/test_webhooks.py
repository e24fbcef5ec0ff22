from __future__ import annotations

import json
import math
import time
from http.client import HTTPMessage
from pathlib import Path
from typing import Any

import pytest

from partnergifting import WebhookVerificationError, webhooks

# The platform's own signer wrote them.
VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "testdata" / "webhooks.json").read_text("utf-8"))
GENUINE = VECTORS[0]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["name"]))
def test_what_the_platform_signs(vector: dict[str, Any]) -> None:
    def verify() -> object:
        return webhooks.verify(vector["body"].encode(), vector["headers"], vector["secrets"], now=vector["now"])

    if vector["valid"]:
        assert verify() == json.loads(vector["body"])
    else:
        with pytest.raises(WebhookVerificationError):
            verify()


def test_takes_text_and_headers_in_any_form() -> None:
    lower = {name.lower(): value for name, value in GENUINE["headers"].items()}
    for payload in (GENUINE["body"], GENUINE["body"].encode(), bytearray(GENUINE["body"].encode())):
        for headers in (lower, list(lower.items())):
            event = webhooks.verify(payload, headers, GENUINE["secrets"][0], now=GENUINE["now"] + 0.9)
            assert event["type"] == "order.message_posted"


def test_takes_the_headers_of_http_server_which_are_no_mapping() -> None:
    headers = HTTPMessage()
    headers["Accept"] = "text/plain"
    for name, value in GENUINE["headers"].items():
        headers[name] = value
    headers["Accept"] = "application/json"
    assert webhooks.verify(GENUINE["body"], headers, GENUINE["secrets"], now=GENUINE["now"])["type"] == "order.message_posted"
    with pytest.raises(WebhookVerificationError, match="no signature"):
        webhooks.verify(b"{}", HTTPMessage(), GENUINE["secrets"])


def test_a_signature_in_several_headers_is_one_list() -> None:
    signature = GENUINE["headers"]["Service-Signature"]
    at, _, genuine = signature.partition(",")
    for first, second in ((at, genuine), (signature, "v1=" + "0" * 64)):
        headers = HTTPMessage()
        headers["Service-Signature"] = first
        headers["Service-Signature"] = second
        for form in (headers, headers.items()):
            webhooks.verify(GENUINE["body"], form, GENUINE["secrets"], now=GENUINE["now"])


def test_uses_the_clock_and_a_tolerance() -> None:
    with pytest.raises(WebhookVerificationError):
        webhooks.verify(GENUINE["body"], GENUINE["headers"], GENUINE["secrets"])
    webhooks.verify(GENUINE["body"], GENUINE["headers"], GENUINE["secrets"], tolerance=time.time())


def test_refuses_what_is_used_wrongly_without_calling_it_a_forgery() -> None:
    with pytest.raises(TypeError, match="raw body"):
        webhooks.verify(json.loads(GENUINE["body"]), GENUINE["headers"], GENUINE["secrets"])
    for tolerance in (math.nan, math.inf, -1):
        with pytest.raises(ValueError, match="tolerance"):
            webhooks.verify(GENUINE["body"], GENUINE["headers"], GENUINE["secrets"], tolerance=tolerance)
    missing: Any = None
    for secret in ("", [], [""], missing, [missing]):
        with pytest.raises(ValueError, match="secret is empty"):
            webhooks.verify(GENUINE["body"], GENUINE["headers"], secret)
    for pasted in (GENUINE["secrets"][0] + "\n", [GENUINE["secrets"][0], " " + GENUINE["secrets"][0]]):
        with pytest.raises(ValueError, match="secret has a line break"):
            webhooks.verify(GENUINE["body"], GENUINE["headers"], pasted)


@pytest.mark.parametrize("value", ["v1,é", "v1,\udcff", "v1,!", "v1,", "\udcff"])
def test_a_signature_of_any_letters_is_only_a_forgery(value: str) -> None:
    signed = {"Webhook-Id": "\udcff", "Webhook-Timestamp": "1773480413", "Webhook-Signature": value}
    for headers in (signed, {"Service-Signature": f"t=1773480413,{value}"}):
        with pytest.raises(WebhookVerificationError):
            webhooks.verify(b"{}", headers, "secret", now=1773480413)
