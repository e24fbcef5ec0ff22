from __future__ import annotations

import json
import re
import ssl
import time
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from email.utils import format_datetime
from typing import Any
from uuid import UUID

import anyio
import httpx
import pytest

import partnergifting
from partnergifting import (
    ApiError,
    AsyncClient,
    Client,
    GiftingError,
    IgnoredWarning,
    NoAnswerError,
    NotModifiedError,
    ResponseInfo,
)
from partnergifting._request import Settings, make_request, pause

from .fake import BASE, Fake, Reply, ok, problem

SOON = {"Retry-After": "0"}


def cancel(client: Any, **options: Any) -> Any:
    return client.orders.cancel("1", {"reason": "changed"}, **options)


def errors(fake: Fake, use: Callable[[Any], Any]) -> list[Any]:
    """The errors of both clients."""

    def caught(call: Callable[[], Any]) -> Exception:
        with pytest.raises(Exception) as raised:
            call()
        return raised.value

    async def asynchronous() -> None:
        await use(fake.asynchronous)

    first = caught(lambda: use(fake.sync))
    fake.sent = []
    return [first, caught(lambda: anyio.run(asynchronous))]


def test_a_call_is_authenticated_and_named() -> None:
    fake = Fake(ok({"tenant": {}}), user_agent="shop/2.1")
    fake.both(lambda client: client.account.me(headers={"x-trace": "1", "authorization": "other"}))
    request = fake.sent[0]
    assert (request.method, str(request.url)) == ("GET", "https://api.example.com/v1/me")
    assert request.headers.get_list("Authorization") == ["Bearer gft_sbx_test"]
    assert request.headers["User-Agent"] == f"shop/2.1 partnergifting-python/{partnergifting.__version__}"
    assert request.headers["X-Trace"] == "1"
    assert "Idempotency-Key" not in request.headers


def test_ids_are_escaped_in_paths() -> None:
    fake = Fake(ok({}))
    fake.both(lambda client: client.orders.cancel("a/b?c:d", {"reason": ""}))
    assert str(fake.sent[0].url) == "https://api.example.com/v1/orders/a%2Fb%3Fc%3Ad:cancel"
    for wrong in ("", ".", ".."):
        with pytest.raises(ValueError, match="orderId is no id"):
            fake.sync.orders.get(wrong)


@pytest.mark.parametrize(
    "first",
    [
        httpx.ConnectError("no connection"),
        httpx.RemoteProtocolError("disconnected"),
        problem(429, "rate_limited", SOON),
        problem(500, "internal_error", SOON),
        httpx.Response(502, text="<html>", headers=SOON),
        problem(503, "service_unavailable", SOON),
        problem(409, "idempotency_request_in_progress", SOON),
        httpx.ReadError("broken off"),
    ],
    ids=str,
)
def test_a_post_is_repeated_with_the_same_key_and_body_without_the_forced_answer(first: Reply) -> None:
    fake = Fake(first, ok({"id": "1"}, Idempotent_Replayed="true"))
    infos: list[ResponseInfo] = []
    assert fake.both(lambda client: cancel(client, sandbox_fault="503", on_response=infos.append)) == [{"id": "1"}] * 2
    assert len(fake.sent) == 2
    keys = [request.headers["Idempotency-Key"] for request in fake.sent]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", keys[0])
    assert keys[0] == keys[1]
    assert [request.content for request in fake.sent] == [b'{"reason": "changed"}'] * 2
    assert [request.headers.get("Sandbox-Fault") for request in fake.sent] == ["503", None]
    assert [(info.replayed, info.attempts) for info in infos] == [(True, 2)] * 2


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "invalid_request"),
        (401, "invalid_api_key"),
        (403, "insufficient_scope"),
        (404, "not_found"),
        (408, ""),
        (409, "out_of_stock"),
        (409, "version_conflict"),
        (412, "precondition_failed"),
        (413, "payload_too_large"),
        (422, "idempotency_key_reused"),
    ],
)
def test_what_stays_refused_is_not_repeated(status: int, code: str) -> None:
    fake = Fake(problem(status, code, SOON))
    assert [(error.status, error.code, error.attempts) for error in errors(fake, cancel)] == [(status, code, 1)] * 2
    assert len(fake.sent) == 1


@pytest.mark.parametrize("body", [b"<html>", b'{"id":', b"\xff"])
def test_an_answer_that_is_not_json_is_not_asked_for_again(body: bytes) -> None:
    for use in (cancel, lambda client: client.orders.get("1")):
        fake = Fake(httpx.Response(200, content=body))
        assert [(type(error), error.attempts) for error in errors(fake, use)] == [(NoAnswerError, 1)] * 2
    fake = Fake(httpx.Response(200, content=body))
    with pytest.raises(NoAnswerError, match="not JSON"):
        next(iter(fake.sync.events.feed()))


@pytest.mark.parametrize("link", ["__cause__", "__context__"])  # Pools of httpx remove the cause.
def test_a_server_that_nobody_trusts_is_not_asked_again(link: str) -> None:
    untrusted = httpx.ConnectError("certificate verify failed")
    setattr(untrusted, link, ssl.SSLCertVerificationError("self-signed certificate"))
    fake = Fake(untrusted)
    assert [(type(error), error.attempts) for error in errors(fake, cancel)] == [(NoAnswerError, 1)] * 2
    with pytest.raises(NoAnswerError, match="certificate"):
        next(iter(Fake(untrusted).sync.events.feed()))


def test_a_call_while_another_error_is_handled_is_repeated() -> None:
    fake = Fake(httpx.ReadError("cut"), ok({"id": "1"}))
    try:
        json.loads("{")
    except json.JSONDecodeError:
        assert fake.both(lambda client: client.orders.get("1")) == [{"id": "1"}] * 2


def test_a_redirect_is_not_followed() -> None:
    fake = Fake(httpx.Response(302, headers={"Location": "https://elsewhere.example/"}))
    assert [error.status for error in errors(fake, lambda client: client.account.me())] == [302, 302]


def test_each_call_has_its_own_key_or_that_of_the_caller() -> None:
    fake = Fake(ok({}), ok({}), ok({}))
    cancel(fake.sync, idempotency_key="mine", if_match='"tag"')
    cancel(fake.sync)
    cancel(fake.sync)
    keys = [request.headers["Idempotency-Key"] for request in fake.sent]
    assert keys[0] == "mine"
    assert len(set(keys)) == 3
    assert [request.headers.get("If-Match") for request in fake.sent] == ['"tag"', None, None]


def test_attempts_are_bounded_and_the_error_has_what_is_needed_to_continue() -> None:
    fake = Fake(*[problem(503, "", SOON)] * 3, max_attempts=3)
    for error in errors(fake, lambda client: cancel(client, idempotency_key="mine")):
        assert isinstance(error, ApiError)
        assert (error.attempts, error.idempotency_key) == (3, "mine")
    assert len(fake.sent) == 3


def test_a_pause_that_would_be_too_long_is_not_begun() -> None:
    fake = Fake(problem(429, "rate_limited", {"Retry-After": "30"}))
    began = time.monotonic()
    found = errors(fake, lambda client: client.account.me(timeout=20))
    assert [(error.code, error.retry_after) for error in found] == [("rate_limited", 30)] * 2
    assert time.monotonic() - began < 5
    assert len(fake.sent) == 1


def test_an_attempt_that_hangs_is_given_up_and_repeated() -> None:
    class Hanging(httpx.AsyncBaseTransport):
        calls = 0

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            Hanging.calls += 1
            if Hanging.calls == 1:
                await anyio.sleep_forever()
            return ok({"id": "1"})

    async def get() -> Any:
        return await AsyncClient(BASE, "key", transport=Hanging(), attempt_timeout=0.05).orders.get("1")

    assert anyio.run(get) == {"id": "1"}
    fake = Fake(httpx.ReadTimeout("timed out"), ok({"id": "1"}))
    assert fake.both(lambda client: client.orders.get("1")) == [{"id": "1"}] * 2


def test_an_answer_that_drips_is_given_up() -> None:
    class Dripping(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            while True:
                yield b" "

    def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=Dripping())

    client = Client(BASE, "key", transport=httpx.MockTransport(reply), attempt_timeout=0.05, max_attempts=1)
    with pytest.raises(NoAnswerError, match="too slow"):
        client.orders.get("1")


def test_pauses_double_up_to_a_bound_with_randomness_and_are_never_shorter_than_the_server_asks_for() -> None:
    for attempts, longest in ((1, 0.5), (2, 1), (4, 4), (5, 8), (6000, 8)):
        pauses = {pause(attempts, Exception()) for _ in range(200)}
        assert longest / 2 <= min(pauses) <= max(pauses) <= longest
        assert len(pauses) > 100
    asked = ApiError(problem(429, "", {"Retry-After": "2"}), b"", 1, None)
    assert all(2 <= pause(9, asked) <= 2.5 for _ in range(200))


def test_a_problem_is_read_whole_with_members_and_codes_of_later_versions() -> None:
    field = {"field": "recipient.phone", "code": "invalid", "message": "must be international"}
    more: dict[str, Any] = {"detail": "no", "errors": [field], "currentStatus": "SENT", "orderId": "7", "hint": "later"}
    fake = Fake(problem(422, "new_code", {"Request-Id": "abc"}, **more))
    for error in errors(fake, lambda client: client.orders.get("1")):
        assert isinstance(error, ApiError)
        assert error.code == "new_code"
        assert str(error) == "new_code (new_code 422): no; recipient.phone: must be international (invalid)"
        assert error.field("recipient.phone") == field
        assert error.field("recipient.name") is None
        assert (error.request_id, error.current_status, error.order_id) == ("abc", "SENT", "7")
        assert dict(error.problem or {})["hint"] == "later"


def test_retry_after_may_be_a_date_or_nonsense() -> None:
    at = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=60), usegmt=True)
    wanted: Any = ApiError(problem(503, "", {"Retry-After": at}), b"", 1, None).retry_after
    assert 50 < wanted <= 60
    assert ApiError(problem(503, "", {"Retry-After": "soon"}), b"", 1, None).retry_after is None


def test_a_copy_that_is_current_is_not_read_again() -> None:
    fake = Fake(httpx.Response(304))
    found = errors(fake, lambda client: client.orders.get("1", if_none_match='"1"'))
    assert all(isinstance(error, NotModifiedError) for error in found)
    assert fake.sent[0].headers["If-None-Match"] == '"1"'


def test_an_image_is_bytes_and_no_key_is_sent_for_it() -> None:
    fake = Fake(httpx.Response(200, content=b"\x01", headers={"Content-Type": "image/png"}))
    assert [(image.data, image.content_type) for image in fake.both(lambda client: client.catalog.image("f"))] == [
        (b"\x01", "image/png")
    ] * 2
    assert "Authorization" not in fake.sent[0].headers


def test_times_are_sent_in_utc() -> None:
    fake = Fake(*[ok({"items": [], "nextCursor": None})] * 2)
    list(fake.sync.orders.list(updated_since=datetime(2026, 3, 14, 10, 0, tzinfo=timezone(timedelta(hours=1)))))
    assert fake.sent[0].url.params["updatedSince"] == "2026-03-14T09:00:00Z"
    with pytest.raises(ValueError, match="time zone"):
        list(fake.sync.orders.list(updated_since=datetime(2026, 3, 14)))


def test_a_client_that_could_show_its_key_to_others_or_never_call_is_not_made() -> None:
    for wrong in (
        "http://api.example.com",
        "ftp://localhost",
        "https://api.example.com/?x",
        "api.example.com",
        "http://127.evil.example",
    ):
        with pytest.raises(ValueError, match="base_url"):
            Client(wrong, "key")
    base = "http://127.0.0.1:8080/api/public/v1"
    missing: Any = None
    for key, message in (
        ("", "key is empty"),
        (missing, "key is empty"),
        ("two words", "key has a line break or a space"),
        ("key\n", "key has a line break"),
        ("ключ", "key has characters"),
    ):
        with pytest.raises(ValueError, match=message):
            Client(base, key)
    with pytest.raises(ValueError, match="base_url is empty"):
        Client(missing, "key")
    for options in ({"max_attempts": 0}, {"timeout": -1}, {"attempt_timeout": float("nan")}):
        with pytest.raises(ValueError, match="positive"):
            Client(base, "key", **options)
    for fine in (base, "http://localhost", "http://[::1]:1", "https://api.example.com"):
        with Client(fine, "key"):
            pass


@pytest.mark.parametrize("at", ["9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 2026 23:59:59 +99999999999999", "\x00"])
def test_a_time_far_away_is_no_error_and_fits_a_timer(at: str) -> None:
    wanted = ApiError(problem(503, "", {"Retry-After": at}), b"", 1, None).retry_after
    assert wanted is None or wanted == 86_400


def test_an_answer_of_another_server_says_what_may_be_wrong() -> None:
    fake = Fake(httpx.Response(404, text="<!DOCTYPE html>"), httpx.Response(403, text="<!DOCTYPE html>"))
    with pytest.raises(ApiError, match=r"no problem document: is base_url complete, .*\(404\)$"):
        fake.sync.account.me()
    with pytest.raises(ApiError, match=r"no problem document \(403\)$"):
        fake.sync.account.me()


def test_an_idempotency_key_is_never_replaced() -> None:
    fake = Fake(ok({}), ok({}))
    with pytest.raises(ValueError, match="idempotency_key is empty"):
        cancel(fake.sync, idempotency_key="")
    cancel(fake.sync, headers={"idempotency-key": "mine"})
    cancel(fake.sync, headers={"idempotency-key": "mine"}, idempotency_key="option")
    assert [request.headers["Idempotency-Key"] for request in fake.sent] == ["mine", "option"]


def test_no_text_shows_the_key() -> None:
    settings = Settings(BASE, "gft_sbx_secret", 1, 1, 1, "agent")
    request = make_request(settings, "GET", "/me", options={})
    assert "gft_sbx_secret" not in f"{settings!r} {request!r}"
    with pytest.raises(ValueError, match="no id") as raised:
        make_request(settings, "GET", "/orders/{orderId}", params={"orderId": ""}, options={})
    trace = raised.traceback[1].frame.f_locals
    assert "gft_sbx_secret" not in repr(trace)


def test_a_response_without_an_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("_sync", "_async"):
        monkeypatch.setattr(f"partnergifting.{kind}.transport.MAX_RESPONSE", 10)
    for error in errors(fake := Fake(ok("x" * 20)), lambda client: client.account.me()):
        assert (type(error), str(error)) == (GiftingError, "the response is too large")
    assert len(fake.sent) == 1, "it is not repeated"


def test_an_argument_that_means_nothing_is_refused_by_its_name_before_anything_is_sent() -> None:
    fake = Fake()
    wrong: list[tuple[Callable[[Any], Any], str]] = [
        (lambda client: client.personal_links.create({}, idempotencyKey="k"), "idempotencyKey"),
        (lambda client: client.orders.list(stauts="SENT"), "stauts"),
        (lambda client: client.orders.list(if_none_match="1"), "if_none_match"),
        (lambda client: client.orders.get("1", if_match="1"), "if_match"),
        (lambda client: client.personal_links.cancel("1", {}, if_match="1"), "if_match"),
        (lambda client: client.orders.validate({}, idempotency_key="k"), "idempotency_key"),
        (lambda client: client.campaigns.get("1", country="SE"), "country"),
        (lambda client: client.events.list(form="end"), "form"),
        (lambda client: client.events.feed(folow=False), "folow"),
        (lambda client: client.catalog.sync({"country": "SE"}, None, limit=1), "limit"),
    ]
    for use, name in wrong:
        for client in (fake.sync, fake.asynchronous):
            with pytest.raises(TypeError, match=name):
                _run(use(client))
    assert not fake.sent


def test_a_list_without_such_an_argument_names_its_filters() -> None:
    fake = Fake()
    for client in (fake.sync, fake.asynchronous):
        misspelt: Any = client.orders
        with pytest.raises(TypeError, match=r"'state'.* after, .* external_order_id, .* status, .* updated_since"):
            misspelt.list(state="SENT")


def _run(result: Any) -> Any:
    async def awaited() -> Any:
        return await result

    return anyio.run(awaited) if hasattr(result, "__await__") else result


@pytest.mark.parametrize("name", ["attempt_timeout", "timeout", "max_attempts"])
@pytest.mark.parametrize("value", ["5", 0, -1, float("nan"), True, None])
def test_a_limit_that_is_no_positive_number_is_refused_before_anything_is_sent(name: str, value: Any) -> None:
    fake = Fake()
    limit: dict[str, Any] = {name: value}
    uses: list[Callable[[Any], Any]] = [
        lambda _: Fake(**limit),
        lambda client: client.account.me(**limit),
        lambda client: client.orders.list(**limit),
    ]
    if name != "max_attempts":
        uses.append(lambda client: client.events.feed(**limit))
    for use in uses:
        for client in (fake.sync, fake.asynchronous):
            with pytest.raises(ValueError, match=f"^{name} must be a positive number$"):
                _run(use(client))
    assert not fake.sent


def test_values_of_python_are_sent_as_the_api_reads_them_or_refused_by_their_path() -> None:
    fake = Fake(*[ok({"items": [], "nextCursor": None})] * 4)
    at, identity = datetime(2026, 3, 14, 10, 0, tzinfo=timezone(timedelta(hours=1))), UUID(int=1)
    fake.sync.orders.place({"brandId": identity, "items": ({"budget": {"amount": Decimal("1.5E+3"), "currency": "SEK"}},)})  # type: ignore[typeddict-item]
    assert json.loads(fake.sent[0].content) == {
        "brandId": str(identity),
        "items": [{"budget": {"amount": "1500", "currency": "SEK"}}],
    }
    fake.sync.webhooks.replay({"from": at, "to": at})  # type: ignore[typeddict-item]
    assert json.loads(fake.sent[1].content) == {"from": "2026-03-14T09:00:00Z", "to": "2026-03-14T09:00:00Z"}
    fake.sync.orders.get(identity)
    assert fake.sent[2].url.path == f"/v1/orders/{identity}"
    fake.sync.orders.list(brand_id=identity).first()
    assert fake.sent[3].url.params["brandId"] == str(identity)
    untyped: Any = fake.sync
    for body, path in (
        ({"items": [{"budget": {"amount": float("nan")}}]}, r"items\[0\]\.budget\.amount is no number: nan"),
        ({"items": [{"budget": {"amount": Decimal("Infinity")}}]}, r"items\[0\]\.budget\.amount is no number"),
        ({"items": {1}}, "items has a value that JSON does not have: set"),
        ({"client": {"name": b"Ann"}}, r"client\.name has a value .*: bytes"),
        ({"client": {1: "Ann"}}, "client has a member whose name is no text: 1"),
        ({"at": datetime(2026, 3, 14)}, "at needs a time zone"),
    ):
        with pytest.raises((TypeError, ValueError), match=path):
            untyped.orders.place(body)
    with pytest.raises(TypeError, match="status must be one value"):
        untyped.orders.list(status=["SENT"]).first()
    with pytest.raises(ValueError, match="orderId is no id"):
        untyped.orders.get(7)
    assert len(fake.sent) == 4


def test_what_the_api_ignored_is_warned_of_once_for_each_name_also_with_a_refusal() -> None:
    members = ok({}, Ignored_Members='"recipients[17].lable", "a \\"b\\\\"')
    fake = Fake(members, members, problem(400, "invalid_request", {"Ignored-Parameters": "limt, brand"}))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        cancel(fake.sync)
        cancel(fake.sync)
        with pytest.raises(ApiError):
            fake.sync.account.me()
    assert {one.category for one in told} == {IgnoredWarning}
    post, get = "POST /orders/{orderId}:cancel: the API ignored the member", "GET /me: the API ignored the parameter"
    assert [str(one.message) for one in told] == [
        f"{start} {name}, perhaps because it is misspelt"
        for start, name in ((post, "recipients[17].lable"), (post, 'a "b\\'), (get, "limt"), (get, "brand"))
    ]
