import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ApiError, Client, ConnectionError, NotModifiedError, type ResponseInfo, version, webhooks } from "../src/index.js";
import { pause } from "../src/transport.js";
import { client, json, problem, type Reply } from "./fake.js";

const soon = { "Retry-After": "0" };
const cancel = { reason: "changed" };
const failed = (error: unknown) => error as ApiError & ConnectionError;

test("a call is authenticated and named", async () => {
  const { client: one, sent } = client([json({ tenant: {} })], { userAgent: "shop/2.1" });
  await one.account.me({ headers: { "X-Trace": "1", Authorization: "other" } });
  const { method, url, headers } = sent[0]!;
  assert.equal(`${method} ${url}`, "GET https://api.example.com/v1/me");
  assert.equal(headers.get("Authorization"), "Bearer gft_sbx_test");
  assert.equal(headers.get("User-Agent"), `shop/2.1 partnergifting-typescript/${version}`);
  assert.equal(headers.get("X-Trace"), "1");
  assert.equal(headers.get("Idempotency-Key"), null);
  assert.equal(version, (JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version);
});

test("ids are escaped in paths", async () => {
  const { client: one, sent } = client([json({})]);
  await one.orders.cancel("a/b?c:d", cancel);
  assert.equal(sent[0]!.url.href, "https://api.example.com/v1/orders/a%2Fb%3Fc%3Ad:cancel");
  for (const id of ["", ".", ".."]) await assert.rejects(one.orders.get(id), /orderId is no id/);
  assert.equal(sent.length, 1);
});

for (const [name, first] of Object.entries<Reply>({
  "no connection": new TypeError("fetch failed"),
  "429": problem(429, "rate_limited", soon),
  "500": problem(500, "internal_error", soon),
  "502 of a proxy": new Response("<html>", { status: 502, headers: soon }),
  "503": problem(503, "service_unavailable", soon),
  "a request in progress": problem(409, "idempotency_request_in_progress", soon),
  "half an answer": new Response(new ReadableStream({ start: (body) => body.error(new TypeError("terminated")) })),
})) {
  test(`${name}: the POST is repeated with the same key and body, without the forced answer`, async () => {
    const { client: one, sent } = client([first, json({ id: "1" }, { headers: { "Idempotent-Replayed": "true" } })]);
    let info: ResponseInfo | undefined;
    assert.deepEqual(await one.orders.cancel("1", cancel, { sandboxFault: "503", onResponse: (i) => (info = i) }), { id: "1" });
    assert.equal(sent.length, 2);
    const keys = sent.map((request) => request.headers.get("Idempotency-Key"));
    assert.match(keys[0]!, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.equal(keys[0], keys[1]);
    assert.deepEqual(sent.map((request) => request.body), ['{"reason":"changed"}', '{"reason":"changed"}']);
    assert.deepEqual(sent.map((request) => request.headers.get("Sandbox-Fault")), ["503", null]);
    assert.equal(info?.replayed, true);
    assert.equal(info?.attempts, 2);
  });
}

for (const [status, code] of [
  [400, "invalid_request"], [401, "invalid_api_key"], [403, "insufficient_scope"], [404, "not_found"], [408, ""], [409, "out_of_stock"],
  [409, "version_conflict"], [412, "precondition_failed"], [413, "payload_too_large"], [422, "idempotency_key_reused"],
] as const) {
  test(`${status} ${code}: is not repeated`, async () => {
    const { client: one, sent } = client([problem(status, code, soon)]);
    await assert.rejects(one.orders.cancel("1", cancel), (error) => failed(error).status === status && failed(error).attempts === 1);
    assert.equal(sent.length, 1);
  });
}

for (const [name, reply, message] of [
  ["an answer that is no JSON", () => new Response("<html>"), /not JSON/],
  ["a certificate that is not trusted", () => {
    throw new TypeError("fetch failed", { cause: Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }) });
  }, /fetch failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
] as [string, Reply, RegExp][]) {
  test(`${name}: ends a call and the feed`, async () => {
    const { client: one, sent } = client([reply, reply]);
    await assert.rejects(one.orders.cancel("1", cancel), (error) => error instanceof ConnectionError && error.attempts === 1 && message.test(error.message));
    await assert.rejects(async () => {
      for await (const _ of one.events.feed()) assert.fail("there is no event");
    }, message);
    assert.equal(sent.length, 2);
  });
}

test("a redirect is not followed", async () => {
  const { client: one } = client([new Response(null, { status: 302, headers: { Location: "https://elsewhere.example/" } })]);
  await assert.rejects(one.account.me(), (error) => failed(error).status === 302 && failed(error).code === "");
});

test("a key of one's own is sent, and each call has another key", async () => {
  const { client: one, sent } = client([json({}), json({}), json({})]);
  await one.orders.cancel("1", cancel, { idempotencyKey: "mine", ifMatch: '"tag"' });
  await one.orders.cancel("1", cancel);
  await one.orders.cancel("1", cancel);
  const keys = sent.map((request) => request.headers.get("Idempotency-Key"));
  assert.equal(keys[0], "mine");
  assert.equal(new Set(keys).size, 3);
  assert.deepEqual(sent.map((request) => request.headers.get("If-Match")), ['"tag"', null, null]);
});

test("attempts are bounded, and the error has what is needed to continue", async () => {
  const { client: one, sent } = client([problem(503, "", soon), problem(503, "", soon), problem(503, "", soon)], { maxAttempts: 3 });
  await assert.rejects(one.orders.cancel("1", cancel, { idempotencyKey: "mine" }), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.attempts, 3);
    assert.equal(error.idempotencyKey, "mine");
    return true;
  });
  assert.equal(sent.length, 3);
});

test("the time is bounded: a pause that would be too long is not begun", async () => {
  const { client: one, sent } = client([problem(429, "rate_limited", { "Retry-After": "30" })]);
  const began = Date.now();
  await assert.rejects(one.account.me({ timeout: 20_000 }), (error) => failed(error).code === "rate_limited" && failed(error).retryAfter === 30);
  assert.ok(Date.now() - began < 5_000);
  assert.equal(sent.length, 1);
});

test("an attempt that hangs is given up and repeated", async () => {
  const hang: Reply = (_, signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  const { client: one, sent } = client([hang, json({ id: "1" })], { attemptTimeout: 20 });
  await one.orders.get("1");
  assert.equal(sent.length, 2);
  const { client: other } = client([hang], { attemptTimeout: 20, maxAttempts: 1 });
  await assert.rejects(other.orders.get("1"), (error) => error instanceof ConnectionError && /timed out/.test(error.message));
});

test("a caller can cancel an attempt and a pause", async () => {
  const controller = new AbortController();
  const { client: one, sent } = client([() => (controller.abort(new Error("enough")), problem(503, "", { "Retry-After": "60" }))]);
  await assert.rejects(one.account.me({ signal: controller.signal }), /enough/);
  await assert.rejects(one.account.me({ signal: controller.signal }), /enough/);
  assert.equal(sent.length, 1);
  const later = new AbortController();
  const { client: other } = client([() => (setTimeout(() => later.abort(new Error("enough")), 10), problem(503, "", { "Retry-After": "60" }))]);
  await assert.rejects(other.account.me({ signal: later.signal }), /enough/);
});

test("pauses double up to a bound, with randomness, and are never shorter than the server asks for", () => {
  const some = (attempts: number, retryAfter?: number) => Array.from({ length: 200 }, () => pause(attempts, retryAfter));
  for (const [attempts, longest] of [[1, 500], [2, 1000], [4, 4000], [5, 8000], [60, 8000]] as const) {
    const pauses = some(attempts);
    assert.ok(Math.min(...pauses) >= longest / 2 && Math.max(...pauses) <= longest);
    assert.ok(new Set(pauses).size > 100);
  }
  assert.ok(Math.min(...some(1, 2)) >= 2000 && Math.max(...some(9, 2)) <= 2500);
});

test("a problem is read whole, with members and codes of later versions", async () => {
  const errors = [{ field: "recipient.phone", code: "invalid", message: "must be international" }];
  const more = { detail: "no", errors, currentStatus: "SENT", orderId: "7", hint: "later" };
  const { client: one } = client([problem(422, "new_code", { "Request-Id": "abc" }, more)]);
  await assert.rejects(one.orders.get("1"), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, "new_code");
    assert.equal(error.message, "new_code (new_code 422): no; recipient.phone: must be international (invalid)");
    assert.equal(error.field("recipient.phone")?.code, "invalid");
    assert.equal(error.field("recipient.name"), undefined);
    assert.deepEqual([error.requestId, error.currentStatus, error.orderId], ["abc", "SENT", "7"]);
    assert.equal((error.problem as unknown as { hint: string }).hint, "later");
    return true;
  });
});

test("Retry-After may be a date", async () => {
  const { client: one } = client([problem(503, "", { "Retry-After": new Date(Date.now() + 60_000).toUTCString() })]);
  await assert.rejects(one.account.me({ timeout: 1000 }), (error) => failed(error).retryAfter! > 50 && failed(error).retryAfter! <= 60);
});

test("Retry-After that is neither whole seconds nor a date counts as none", async () => {
  for (const value of ["2.5", "-1", "2, 5"]) {
    const { client: one } = client([problem(503, "", { "Retry-After": value })], { maxAttempts: 1 });
    await assert.rejects(one.account.me(), (error) => failed(error).retryAfter === undefined, value);
  }
});

test("a copy that is current is not read again", async () => {
  const { client: one, sent } = client([json({}, { headers: { ETag: '"1"' } }), new Response(null, { status: 304 })]);
  let etag: string | undefined;
  await one.orders.get("1", { onResponse: (info) => (etag = info.etag) });
  await assert.rejects(one.orders.get("1", { ifNoneMatch: etag! }), NotModifiedError);
  assert.equal(sent[1]!.headers.get("If-None-Match"), '"1"');
});

test("an image is bytes, and no key is sent for it", async () => {
  const { client: one, sent } = client([new Response(new Uint8Array([1, 2]), { headers: { "Content-Type": "image/png" } })]);
  assert.deepEqual(await one.catalog.image("f"), { data: new Uint8Array([1, 2]), contentType: "image/png" });
  assert.equal(sent[0]!.headers.get("Authorization"), null);
});

test("a client that could show its key to others, or never call, is not made", () => {
  const key = "k";
  for (const baseUrl of ["http://api.example.com", "ftp://localhost", "https://api.example.com/?x", "api.example.com", "http://127.evil.example"]) {
    assert.throws(() => new Client({ baseUrl, key }), TypeError, baseUrl);
  }
  const baseUrl = "http://127.0.0.1:8080/api/public/v1";
  for (const [wrong, message] of [["", /key is empty/], [undefined, /key is empty/], [null, /key is empty/], ["two words", /key has a line break or a space/], ["key\n", /key has a line break/], ["ключ", /key has characters/]] as const) {
    assert.throws(() => new Client({ baseUrl, key: wrong as string }), (error: Error) => error instanceof TypeError && message.test(error.message));
  }
  assert.throws(() => new Client({ baseUrl: undefined as unknown as string, key }), /baseUrl is empty/);
  for (const wrong of [{ maxAttempts: 0 }, { timeout: -1 }, { attemptTimeout: NaN }]) assert.throws(() => new Client({ baseUrl, key, ...wrong }), RangeError);
  for (const fine of [baseUrl, "http://localhost", "http://[::1]:1", "https://api.example.com"]) new Client({ baseUrl: fine, key });
});

test("an answer of another server says what may be wrong", async () => {
  const { client: one } = client([new Response("<!DOCTYPE html>", { status: 404 }), new Response("<!DOCTYPE html>", { status: 403 })]);
  await assert.rejects(one.account.me(), /no problem document: is baseUrl complete, .*\(404\)$/);
  await assert.rejects(one.account.me(), /no problem document \(403\)$/);
});

test("a list without its query leaves it to the API to ask for one", async () => {
  const { client: one, sent } = client([problem(400, "invalid_request")]);
  const products = one.catalog.products as () => ReturnType<typeof one.catalog.products>;
  await assert.rejects(products.call(one.catalog).first(), /invalid_request/);
  assert.equal(sent.length, 1);
});

test("an Idempotency-Key is never replaced", async () => {
  const { client: one, sent } = client([json({}), json({})]);
  await assert.rejects(one.orders.cancel("1", cancel, { idempotencyKey: "" }), /idempotencyKey is empty/);
  await one.orders.cancel("1", cancel, { headers: { "idempotency-key": "mine" } });
  await one.orders.cancel("1", cancel, { headers: { "idempotency-key": "mine" }, idempotencyKey: "option" });
  assert.deepEqual(sent.map(({ headers }) => headers.get("Idempotency-Key")), ["mine", "option"]);
});

test("a response without an end is not read to it, nor requested again", async () => {
  let cancelled = false;
  const chunk = new Uint8Array(2 ** 20);
  const body = new ReadableStream({ pull: (to) => to.enqueue(chunk), cancel: () => void (cancelled = true) });
  const { client: one, sent } = client([new Response(body)]);
  await assert.rejects(one.account.me(), /too large/);
  assert.equal(sent.length, 1);
  assert.ok(cancelled);
});

test("a time limit without an end is none", async () => {
  const { client: one } = client([json({ id: "1" })]);
  assert.deepEqual(await one.orders.get("1", { attemptTimeout: Infinity, timeout: Infinity }), { id: "1" });
  const slow: Reply = () => new Promise((resolve) => setTimeout(() => resolve(json({ id: "1" })), 20));
  const { client: other } = client([slow]);
  assert.deepEqual(await other.orders.get("1", { attemptTimeout: Infinity, timeout: Infinity, maxAttempts: 1 }), { id: "1" });
});

test("a base address is only an address", () => {
  for (const baseUrl of ["https://a.b/v1?", "https://a.b/v1#", "https://user:secret@a.b/v1"]) {
    assert.throws(() => new Client({ baseUrl, key: "k" }), (error: Error) => error instanceof TypeError && !error.message.includes("secret"));
  }
});

// As plain JavaScript calls it, and as values of a database or a form are.
const untyped = (value: unknown) => value as never;

test("an option, a filter or a setting that means nothing is refused by its name, before anything is sent", async () => {
  const { client: one, sent } = client([]);
  for (const call of [
    () => one.personalLinks.create(untyped({}), untyped({ idempotency_key: "k" })),
    () => one.orders.get("1", untyped({ ifMatch: '"1"' })),
    () => one.personalLinks.cancel("1", cancel, untyped({ ifMatch: '"1"' })),
    () => one.orders.validate(untyped({}), untyped({ idempotencyKey: "k" })),
    async () => one.orders.list({}, untyped({ ifNoneMatch: '"1"' })),
    () => one.campaigns.get("1", untyped({ country: "SE" })),
    () => one.events.list(untyped({ form: "end" })),
    async () => one.events.feed(untyped({ onResponse: () => {} })),
    () => webhooks.verify("", {}, "secret", untyped({ tolerence: 1 })),
    async () => client([], untyped({ maxAttempt: 1 })),
  ]) {
    await assert.rejects(call, /"(idempotency_key|ifMatch|idempotencyKey|ifNoneMatch|country|form|onResponse|tolerence|maxAttempt)" is no (option|parameter)/);
  }
  assert.throws(() => one.orders.list(untyped({ stauts: "SENT" })), /"stauts" is no parameter of this call; it takes .*status/);
  assert.throws(() => one.orders.list(untyped("SENT")), TypeError);
  assert.equal(sent.length, 0);
});

test("a limit that is no positive number is refused, of the client and of a call, before anything is sent", async () => {
  const { client: one, sent } = client([]);
  for (const wrong of [
    { attemptTimeout: "5000" }, { attemptTimeout: NaN }, { attemptTimeout: true }, { timeout: "120000" }, { timeout: 0 }, { timeout: -1 },
    { maxAttempts: "3" }, { maxAttempts: 0 }, { maxAttempts: -1 },
  ]) {
    const [name] = Object.keys(wrong);
    const refused = (error: Error) => error instanceof RangeError && error.message === `${name} must be a positive number`;
    assert.throws(() => client([], untyped(wrong)), refused);
    await assert.rejects(one.account.me(untyped(wrong)), refused);
    assert.throws(() => one.orders.list({}, untyped(wrong)), refused);
    if (name !== "maxAttempts") assert.throws(() => one.events.feed(untyped(wrong)), refused);
  }
  assert.equal(sent.length, 0);
});

test("a Date is sent as a time, and what JSON cannot have is refused by its path", async () => {
  const at = new Date("2026-03-14T09:26:53.589Z");
  const { client: one, sent } = client([json({ items: [], nextCursor: null }), json({}), json({})]);
  await one.orders.list({ updatedSince: at }).first();
  assert.equal(sent[0]!.url.searchParams.get("updatedSince"), "2026-03-14T09:26:53.589Z");
  await one.webhooks.replay({ from: at, to: at.toISOString() });
  assert.equal(sent[1]!.body, '{"from":"2026-03-14T09:26:53.589Z","to":"2026-03-14T09:26:53.589Z"}');
  await one.orders.place(untyped({ items: [{ budget: { amount: { toJSON: () => "1500.00" } } }], urgent: undefined, customization: null }));
  assert.equal(sent[2]!.body, '{"items":[{"budget":{"amount":"1500.00"}}],"customization":null}');
  for (const [body, path] of [
    [{ items: [{ budget: { amount: NaN } }] }, /items\[0\]\.budget\.amount has a value that JSON does not have: NaN/],
    [{ items: [{ budget: { amount: 1500n } }] }, /items\[0\]\.budget\.amount .*: bigint/],
    [{ items: [undefined] }, /items\[0\] is undefined/],
    [{ client: new Map() }, /client .*: Map/],
    [{ client: { name: () => "Ann" } }, /client\.name .*: function/],
    [{ at: new Date(NaN) }, /at is an invalid Date/],
  ] as const) {
    await assert.rejects(one.orders.place(untyped(body)), (error: Error) => error instanceof TypeError && path.test(error.message));
  }
  await assert.rejects(async () => one.orders.list({ updatedSince: new Date(NaN) }), /updatedSince is an invalid Date/);
  await assert.rejects(async () => one.orders.list(untyped({ status: ["SENT"] })), /status must be one value/);
  await assert.rejects(one.orders.get(untyped({ id: "1" })), /orderId is no id/);
  assert.equal(sent.length, 3);
});

test("what the API ignored is told once for each name, also with a refusal", async () => {
  const told: string[] = [];
  const reply = () => json({}, { headers: { "Ignored-Members": '"recipients[17].lable", "a \\"b\\\\"' } });
  const { client: one } = client([reply, reply, problem(400, "invalid_request", { "Ignored-Parameters": "limt, brand" })], { onWarning: (message) => told.push(message) });
  const place = () => one.orders.place(untyped({}));
  await place();
  await place();
  await assert.rejects(one.account.me());
  assert.deepEqual(told, [
    "POST /orders: the API ignored the member recipients[17].lable, perhaps because it is misspelt",
    'POST /orders: the API ignored the member a "b\\, perhaps because it is misspelt',
    "GET /me: the API ignored the parameter limt, perhaps because it is misspelt",
    "GET /me: the API ignored the parameter brand, perhaps because it is misspelt",
  ]);
});
