import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, type CatalogPosition, EventsLostError, type GiftingEvent, type Product, type ResponseInfo } from "../src/index.js";
import { client, json, problem, type Reply } from "./fake.js";

const page = (items: unknown[], nextCursor: string | null, headers: Record<string, string> = {}) => json({ items, nextCursor }, { headers });
const event = (id: string, type = "order.created") => ({ id, type, occurredAt: "2026-01-01T00:00:00Z", environment: "sandbox", data: { id } });
const atEnd = { "Feed-Position": "end" };
const afters = (sent: { url: URL }[]) => sent.map(({ url }) => url.searchParams.get("after"));

test("a list is read page after page, also over an empty one", async () => {
  const { client: one, sent } = client([page([{ id: "1" }], "a"), page([], "b"), page([{ id: "2" }], null)]);
  const ids: string[] = [];
  for await (const order of one.orders.list({ status: "SENT", limit: 1 })) ids.push(order.id);
  assert.deepEqual(ids, ["1", "2"]);
  assert.deepEqual(sent.map(({ url }) => url.search), ["?status=SENT&limit=1", "?status=SENT&limit=1&after=a", "?status=SENT&limit=1&after=b"]);
});

test("a list can be read by pages, and from a cursor on", async () => {
  const { client: one, sent } = client([page([{ id: "1" }], "b"), page([], "c")]);
  assert.equal((await one.orders.list({ after: "a" }).first()).nextCursor, "b");
  for await (const { nextCursor } of one.personalLinks.list({ after: "b" }).pages()) {
    assert.equal(nextCursor, "c");
    break;
  }
  assert.deepEqual(afters(sent), ["a", "b"]);
});

test("the feed waits, goes on after failures where it was, and marks unknown types", async () => {
  const controller = new AbortController();
  const failures: unknown[] = [];
  const { client: one, sent } = client([
    page([event("1"), event("2", "gift.wrapped")], "a"),
    new TypeError("cut"),
    problem(503, "service_unavailable", { "Retry-After": "0" }),
    page([], "b"),
    page([], "b"),
    () => (controller.abort(), Promise.reject(new Error("aborted"))),
  ]);
  const feed = one.events.feed({ after: "0", signal: controller.signal, onDisconnect: (error) => failures.push(error) });
  const events: GiftingEvent[] = [];
  for await (const got of feed) {
    assert.equal(feed.cursor, "0", "until the page is processed");
    events.push(got);
  }
  assert.deepEqual(events.map(({ id, type }) => [id, type]), [["1", "order.created"], ["2", "unknown"]]);
  assert.ok(events[1]!.type === "unknown" && events[1]!.originalType === "gift.wrapped");
  assert.deepEqual(afters(sent), ["0", "a", "a", "a", "b", "b"]);
  assert.ok(sent.every(({ url }) => url.searchParams.get("wait") === "30"));
  assert.equal(failures.length, 2);
  assert.equal(feed.cursor, "b");
});

test("a consumer that fails processes the page again", async () => {
  const { client: one, sent } = client([page([event("1"), event("2")], "a"), page([event("1"), event("2")], "a", atEnd)]);
  const feed = one.events.feed({ follow: false });
  await assert.rejects(async () => {
    for await (const { id } of feed) if (id === "2") throw new Error("failed");
  }, /failed/);
  assert.equal(feed.cursor, undefined);
  const again: string[] = [];
  for await (const { id } of feed) again.push(id);
  assert.deepEqual(again, ["1", "2"]);
  assert.equal(feed.cursor, "a");
  assert.deepEqual(afters(sent), [null, null]);
});

test("without follow the feed ends at its end, and does not wait", async () => {
  const { client: one, sent } = client([page([event("1")], "a"), page([event("2")], "b", atEnd)]);
  const cursors: (string | null)[] = [];
  for await (const { nextCursor } of one.events.feed({ follow: false, limit: 1 }).pages()) cursors.push(nextCursor);
  assert.deepEqual(cursors, ["a", "b"]);
  assert.deepEqual(sent.map(({ url }) => url.search), ["?limit=1", "?after=a&limit=1"]);
  const { client: empty } = client([page([], null, atEnd)]);
  for await (const _ of empty.events.feed({ follow: false })) assert.fail("there is no event");
});

test("a cursor whose events are gone ends the feed with an error, and another refusal is none of lost events", async () => {
  for (const [code, error] of [["events_lost", EventsLostError], ["invalid", ApiError]] as const) {
    const { client: one, sent } = client([problem(400, "invalid_request", {}, { errors: [{ field: "after", code, message: "refused" }] })]);
    await assert.rejects(one.events.feed({ after: "old" })[Symbol.asyncIterator]().next(), error);
    assert.equal(sent.length, 1);
  }
});

test("the feed pauses when the server could not hold the call", async () => {
  const controller = new AbortController();
  const reply: Reply = () => (setTimeout(() => controller.abort(), 50), page([], "a", { Wait: "0" }));
  const { client: one, sent } = client([reply]);
  for await (const _ of one.events.feed({ after: "a", signal: controller.signal })) assert.fail("there is no event");
  assert.equal(sent.length, 1);
  for (const wait of [0, 31, 1.5]) assert.throws(() => one.events.feed({ wait }), RangeError);
  for (const from of ["End", "", null] as unknown as "end"[]) assert.throws(() => one.events.feed({ from }), RangeError);
});

const gift = (id: string, updatedAt: string) => ({ id, listed: true, available: true, updatedAt }) as Product;

test("a sync loads the catalog, then reads what changed since five minutes before", async () => {
  const { client: one, sent } = client([
    page([gift("1", "2026-03-14T09:26:53.589793Z")], "a"),
    page([gift("2", "2026-03-14T09:26:53Z")], null),
    page([{ id: "1", listed: false, updatedAt: "2026-03-15T10:00:00Z" }, gift("2", "2026-03-15T09:00:00.5Z")], null),
    page([], null),
    page([gift("2", "2026-03-14T00:00:00Z")], null),
  ]);
  const copy = new Map<string, Product>();
  const target = { put: (product: Product) => void copy.set(product.id, product), remove: (id: string) => void copy.delete(id) };
  const start: CatalogPosition = { country: "SE", locale: "sv-SE" };
  const loaded = await one.catalog.sync(start, target);
  assert.deepEqual(loaded, { ...start, updatedSince: "2026-03-14T09:21:53.589Z" });
  assert.deepEqual([...copy.keys()], ["1", "2"]);
  const later = await one.catalog.sync(loaded, target);
  assert.deepEqual(later, { ...start, updatedSince: "2026-03-15T09:55:00.000Z" });
  assert.deepEqual([...copy.values()], [gift("2", "2026-03-15T09:00:00.5Z")]);
  assert.deepEqual(await one.catalog.sync(later, target), later, "nothing changed");
  assert.deepEqual(await one.catalog.sync(later, target), later, "it never goes back");
  assert.deepEqual(sent.map(({ url }) => url.search), [
    "?country=SE&locale=sv-SE&limit=100",
    "?country=SE&locale=sv-SE&limit=100&after=a",
    "?country=SE&locale=sv-SE&updatedSince=2026-03-14T09%3A21%3A53.589Z&limit=100",
    "?country=SE&locale=sv-SE&updatedSince=2026-03-15T09%3A55%3A00.000Z&limit=100",
    "?country=SE&locale=sv-SE&updatedSince=2026-03-15T09%3A55%3A00.000Z&limit=100",
  ]);
});

test("null of a database is no position", async () => {
  const { client: one } = client([page([gift("1", "2026-03-14T09:26:53Z")], null)]);
  const start = { country: "SE", updatedSince: null } as unknown as CatalogPosition;
  assert.deepEqual(await one.catalog.sync(start, { put: () => {}, remove: () => {} }), { ...start, updatedSince: "2026-03-14T09:21:53.000Z" });
});

test("a sync that fails does not move on", async () => {
  const { client: one } = client([page([gift("1", "2026-03-14T09:26:53Z")], "a"), problem(403, "insufficient_scope")]);
  await assert.rejects(one.catalog.sync({ country: "SE" }, { put: () => {}, remove: () => {} }), ApiError);
});

test("a long sync reads again what changed meanwhile", async () => {
  const { client: one } = client([
    page([gift("1", "2026-03-14T00:00:00Z")], "a", { Date: "Sat, 14 Mar 2026 09:00:00 GMT" }),
    page([gift("2", "2026-03-14T10:00:00Z")], null, { Date: "Sat, 14 Mar 2026 11:00:00 GMT" }),
  ]);
  const seen: number[] = [];
  const synced = await one.catalog.sync({ country: "SE" }, { put: () => {}, remove: () => {} }, { onResponse: ({ status }) => seen.push(status) });
  assert.equal(synced.updatedSince, "2026-03-14T08:55:00.000Z");
  assert.deepEqual(seen, [200, 200]);
});

test("a cursor that does not move ends a list, and is read once a second by the feed", async () => {
  for (const cursors of [["a", "a"], ["a", "b", "a"], ["a", "b", "0"]]) {
    const { client: one, sent } = client(cursors.map((cursor) => page([], cursor)));
    await assert.rejects(async () => {
      for await (const _ of one.orders.list({ after: "0" })) assert.fail("there is no order");
    }, /already used/);
    assert.equal(sent.length, cursors.length);
  }
  const { client: one } = client([page([], "a"), page([], "b"), page([], "a")]);
  await assert.rejects(async () => {
    for await (const _ of one.events.feed({ follow: false })) assert.fail("there is no event");
  }, /already used/);
  const controller = new AbortController();
  const reply: Reply = () => (setTimeout(() => controller.abort(), 50), page([], "a"));
  const feed = client([reply]);
  for await (const _ of feed.client.events.feed({ after: "a", signal: controller.signal })) assert.fail("there is no event");
  assert.equal(feed.sent.length, 1);
});

test("the feed does not hurry when the server asks for a very long pause", async () => {
  const controller = new AbortController();
  const reply: Reply = () => (setTimeout(() => controller.abort(), 50), problem(503, "service_unavailable", { "Retry-After": "9999999999" }));
  const { client: one, sent } = client([reply]);
  for await (const _ of one.events.feed({ signal: controller.signal })) assert.fail("there is no event");
  assert.equal(sent.length, 1);
});

test("a page that waits at the end has the event of a lost answer", async () => {
  const { client: one, sent } = client([page([], "now", atEnd), new TypeError("cut"), page([event("1")], "a")]);
  const seen: string[] = [];
  const options = { onResponse: (info: ResponseInfo) => seen.push(info.headers.get("Feed-Position") ?? "later") };
  const { items } = await one.events.list({ from: "end", after: null as unknown as string, limit: 5, wait: 30 }, options);
  assert.deepEqual(items.map(({ id }) => id), ["1"]);
  const search = sent.map(({ url }) => url.search);
  assert.deepEqual(search, ["?from=end&limit=5", "?after=now&limit=5&wait=30", "?after=now&limit=5&wait=30"]);
  assert.deepEqual(seen, ["later"]);
});

test("the feed begins at its end, and a lost answer does not move the beginning", async () => {
  const controller = new AbortController();
  const { client: one, sent } = client([page([], "now", atEnd), new TypeError("cut"), page([event("1")], "a")]);
  const feed = one.events.feed({ from: "end", signal: controller.signal });
  for await (const { id } of feed) {
    assert.equal(id, "1");
    controller.abort();
  }
  assert.deepEqual(sent.map(({ url }) => url.search), ["?from=end", "?after=now&wait=30", "?after=now&wait=30"]);
  const none = client([page([], "now", atEnd)]);
  for await (const _ of none.client.events.feed({ from: "end", after: null as unknown as undefined, follow: false })) assert.fail("there is no event");
  assert.equal(none.sent[0]!.url.search, "?from=end", "null, as of a database, is no cursor");
  const stored = client([page([event("2")], "b", atEnd)]);
  for await (const { id } of stored.client.events.feed({ from: "end", after: "a", follow: false })) assert.equal(id, "2");
  assert.equal(stored.sent[0]!.url.search, "?after=a");
});
