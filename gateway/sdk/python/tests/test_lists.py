from __future__ import annotations

from typing import Any

import httpx
import pytest

from partnergifting import ApiError, CatalogPosition, EventsLostError, GiftingError, models
from partnergifting._position import parse_time

from .fake import Fake, ok, problem
from .test_transport import errors


def page(items: list[Any], cursor: str | None, **headers: str) -> httpx.Response:
    return ok({"items": items, "nextCursor": cursor}, **headers)


def event(identity: str, kind: str = "order.created") -> dict[str, Any]:
    return {"id": identity, "type": kind, "occurredAt": "2026-01-01T00:00:00Z", "environment": "sandbox", "data": {"id": identity}}


def ids(found: list[Any]) -> list[str]:
    return [item["id"] for item in found]


def test_a_list_is_read_page_after_page_also_over_an_empty_one() -> None:
    fake = Fake(page([{"id": "1"}], "a"), page([], "b"), page([{"id": "2"}], None))
    assert [ids(found) for found in fake.both(lambda client: client.orders.list(status="SENT", limit=1))] == [["1", "2"]] * 2
    assert fake.queries() == [{"status": "SENT", "limit": "1"} | ({"after": after} if after else {}) for after in ("", "a", "b")]


def test_a_list_can_be_read_by_pages_and_from_a_cursor_on() -> None:
    fake = Fake(page([{"id": "1"}], "b"))
    assert [first.next_cursor for first in fake.both(lambda client: client.orders.list(after="a").first())] == ["b"] * 2
    assert fake.queries() == [{"after": "a"}]
    fake = Fake(page([{"id": "1"}], "b"), page([], None))
    assert [len(pages) for pages in fake.both(lambda client: client.personal_links.list().pages())] == [2, 2]


def test_the_feed_waits_and_goes_on_after_failures_where_it_was_and_marks_unknown_types() -> None:
    fake = Fake(
        page([event("1"), event("2", "gift.wrapped")], "a"),
        httpx.ReadError("cut"),
        problem(503, "service_unavailable", {"Retry-After": "0"}),
        page([], "b"),
        page([], "b"),
        page([event("3")], "c"),
    )
    failures: list[Exception] = []
    feed = fake.sync.events.feed(after="0", on_disconnect=failures.append)
    events = iter(feed)
    assert next(events)["type"] == "order.created"
    unknown = next(events)
    assert unknown["type"] == "unknown"
    assert unknown["originalType"] == "gift.wrapped"
    assert feed.cursor == "0", "until the page is processed"
    assert next(events)["id"] == "3"
    assert feed.cursor == "b"
    assert [query["after"] for query in fake.queries()] == ["0", "a", "a", "a", "b", "b"]
    assert {query["wait"] for query in fake.queries()} == {"30"}
    assert len(failures) == 2


def test_a_consumer_that_fails_processes_the_page_again() -> None:
    fake = Fake(page([event("1"), event("2")], "a"), page([event("1"), event("2")], "a", Feed_Position="end"))
    feed = fake.sync.events.feed(follow=False)
    for got in feed:
        if got["id"] == "2":
            break
    assert feed.cursor is None
    assert [got["id"] for got in feed] == ["1", "2"]
    assert feed.cursor == "a"
    assert fake.queries() == [{}, {}]


def test_without_follow_the_feed_ends_at_its_end_and_does_not_wait() -> None:
    fake = Fake(page([event("1")], "a"), page([event("2")], "b", Feed_Position="end"))
    found = fake.both(lambda client: client.events.feed(follow=False, limit=1).pages())
    assert [[one.next_cursor for one in pages] for pages in found] == [["a", "b"]] * 2
    assert fake.queries() == [{"limit": "1"}, {"after": "a", "limit": "1"}]
    assert Fake(page([], None, Feed_Position="end")).both(lambda client: client.events.feed(follow=False)) == [[], []]


@pytest.mark.parametrize(("code", "error"), [("events_lost", EventsLostError), ("invalid", ApiError)])
def test_only_a_cursor_whose_events_are_gone_is_an_error_of_lost_events(code: str, error: type[Exception]) -> None:
    fake = Fake(problem(400, "invalid_request", errors=[{"field": "after", "code": code, "message": "refused"}]))
    with pytest.raises(error):
        next(iter(fake.sync.events.feed(after="old")))
    assert len(fake.sent) == 1


def test_the_feed_pauses_when_the_server_could_not_hold_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("partnergifting._sync.feed.sleep", pauses.append)
    fake = Fake(page([], "a", Wait="0"), page([event("1")], "b"))
    assert next(iter(fake.sync.events.feed(after="a")))["id"] == "1"
    assert pauses == [1]
    for wait in (0, 31):
        with pytest.raises(ValueError, match="wait"):
            fake.sync.events.feed(wait=wait)


def gift(identity: str, updated_at: str) -> dict[str, Any]:
    return {"id": identity, "listed": True, "available": True, "updatedAt": updated_at}


class Copy:
    def __init__(self) -> None:
        self.products: dict[str, models.Product] = {}

    def put(self, product: models.Product) -> None:
        self.products[product["id"]] = product

    def remove(self, product_id: str) -> None:
        self.products.pop(product_id, None)


def test_a_sync_loads_the_catalog_then_reads_what_changed_since_five_minutes_before() -> None:
    fake = Fake(
        page([gift("1", "2026-03-14T09:26:53.589793Z")], "a"),
        page([gift("2", "2026-03-14T09:26:53Z")], None),
        page([{"id": "1", "listed": False, "updatedAt": "2026-03-15T10:00:00Z"}, gift("2", "2026-03-15T09:00:00.5Z")], None),
        page([], None),
        page([gift("2", "2026-03-14T00:00:00Z")], None),
    )
    copy = Copy()
    start: CatalogPosition = {"country": "SE", "locale": "sv-SE"}
    loaded = fake.sync.catalog.sync(start, copy)
    assert loaded == {**start, "updatedSince": "2026-03-14T09:21:53.589793Z"}
    assert list(copy.products) == ["1", "2"]
    later = fake.sync.catalog.sync(loaded, copy)
    assert later == {**start, "updatedSince": "2026-03-15T09:55:00Z"}
    assert list(copy.products.values()) == [gift("2", "2026-03-15T09:00:00.5Z")]
    assert fake.sync.catalog.sync(later, copy) == later, "nothing changed"
    assert fake.sync.catalog.sync(later, copy) == later, "it never goes back"
    always = {"country": "SE", "locale": "sv-SE", "limit": "100"}
    assert fake.queries() == [
        always,
        {**always, "after": "a"},
        {**always, "updatedSince": "2026-03-14T09:21:53.589793Z"},
        {**always, "updatedSince": "2026-03-15T09:55:00Z"},
        {**always, "updatedSince": "2026-03-15T09:55:00Z"},
    ]


def test_a_sync_that_fails_does_not_move_on() -> None:
    fake = Fake(page([gift("1", "2026-03-14T09:26:53Z")], "a"), problem(403, "insufficient_scope"))
    with pytest.raises(ApiError):
        fake.sync.catalog.sync({"country": "SE"}, Copy())


def test_the_asynchronous_copy_is_awaited() -> None:
    class AsyncCopy(Copy):
        async def put(self, product: models.Product) -> None:  # type: ignore[override]
            super().put(product)

        async def remove(self, product_id: str) -> None:  # type: ignore[override]
            super().remove(product_id)

    copies = [Copy(), AsyncCopy()]
    fake = Fake(page([gift("1", "2026-03-14T09:26:53Z")], None))
    remaining = iter(copies)
    fake.both(lambda client: client.catalog.sync({"country": "SE"}, next(remaining)))
    assert [list(copy.products) for copy in copies] == [["1"], ["1"]]


def test_times_of_the_api_have_up_to_six_decimals() -> None:
    assert [parse_time(f"2026-03-14T09:26:53{end}").microsecond for end in ("Z", ".5Z", ".589Z", ".589793Z")] == [
        0,
        500000,
        589000,
        589793,
    ]


def test_an_error_of_a_list_is_that_of_its_page() -> None:
    fake = Fake(problem(403, "insufficient_scope"))
    assert [error.code for error in errors(fake, lambda client: client.orders.list().first())] == ["insufficient_scope"] * 2


def test_a_cursor_that_does_not_move_ends_a_list() -> None:
    for cursors in (["a", "a"], ["a", "b", "a"], ["a", "b", "0"]):
        fake = Fake(*[page([], cursor) for cursor in cursors])
        with pytest.raises(GiftingError, match="already used"):
            list(fake.sync.orders.list(after="0"))
        assert len(fake.sent) == len(cursors)
    fake = Fake(page([], "a"), page([], "b"), page([], "a"))
    with pytest.raises(GiftingError, match="already used"):
        list(fake.sync.events.feed(follow=False))


def test_a_cursor_that_does_not_move_is_read_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("partnergifting._sync.feed.sleep", pauses.append)
    fake = Fake(page([], "a"), page([event("1")], "b"))
    assert next(iter(fake.sync.events.feed(after="a")))["id"] == "1"
    assert pauses == [1]


def test_a_long_sync_reads_again_what_changed_meanwhile() -> None:
    fake = Fake(
        page([gift("1", "2026-03-14T00:00:00Z")], "a", Date="Sat, 14 Mar 2026 09:00:00 GMT"),
        page([gift("2", "2026-03-14T10:00:00Z")], None, Date="Sat, 14 Mar 2026 11:00:00 GMT"),
    )
    seen: list[int] = []
    synced = fake.sync.catalog.sync({"country": "SE"}, Copy(), on_response=lambda info: seen.append(info.status))
    assert synced["updatedSince"] == "2026-03-14T08:55:00Z"
    assert seen == [200, 200]


def test_a_page_that_waits_at_the_end_has_the_event_of_a_lost_answer() -> None:
    fake = Fake(page([], "now", Feed_Position="end"), httpx.ReadError("cut"), page([event("1")], "a"))
    seen: list[object] = []
    found = fake.both(lambda client: client.events.list(from_="end", limit=5, wait=30, on_response=seen.append))
    assert [ids(one.items) for one in found] == [["1"]] * 2
    held = {"after": "now", "limit": "5", "wait": "30"}
    assert fake.queries() == [{"from": "end", "limit": "5"}, held, held]
    assert len(seen) == 2


def test_the_feed_begins_at_its_end_and_a_lost_answer_does_not_move_the_beginning() -> None:
    fake = Fake(page([], "now", Feed_Position="end"), httpx.ReadError("cut"), page([event("1")], "a"))
    assert next(iter(fake.sync.events.feed(from_="end")))["id"] == "1"
    assert fake.queries() == [{"from": "end"}, {"after": "now", "wait": "30"}, {"after": "now", "wait": "30"}]
    fake = Fake(page([event("2")], "b", Feed_Position="end"))
    assert [ids(found) for found in fake.both(lambda client: client.events.feed(from_="end", after="a", follow=False))] == [
        ["2"]
    ] * 2
    assert fake.queries() == [{"after": "a"}]


@pytest.mark.parametrize("option", [{"max_attempts": 3}, {"sandbox_fault": "503"}, {"on_response": print}])
def test_an_option_that_means_nothing_to_the_feed_is_refused_by_its_name(option: dict[str, Any]) -> None:
    fake = Fake()
    for client in (fake.sync, fake.asynchronous):
        with pytest.raises(TypeError, match=next(iter(option))):
            client.events.feed(**option)


@pytest.mark.parametrize("from_", ["End", "", None])
def test_the_feed_begins_nowhere_else(from_: Any) -> None:
    fake = Fake()
    for client in (fake.sync, fake.asynchronous):
        with pytest.raises(ValueError, match="from_ must be"):
            client.events.feed(from_=from_)


@pytest.mark.parametrize("wait", [0, 31, -1, 1.5, True])
def test_the_feed_waits_whole_seconds(wait: Any) -> None:
    fake = Fake()
    for client in (fake.sync, fake.asynchronous):
        with pytest.raises(ValueError, match="wait must be a whole number from 1 to 30"):
            client.events.feed(wait=wait)
