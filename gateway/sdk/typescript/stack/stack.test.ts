// Uses the package as installed, against a running sandbox whose variables are in the environment.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, Client, ConnectionError, type GiftingEvent, type PlaceOrderRequest, type Product, type ResponseInfo, webhooks } from "@partnergifting/sdk";

const env = (name: string) => process.env[name] ?? assert.fail(`${name} is not set`);
const options = { baseUrl: env("GIFTING_URL"), key: env("GIFTING_KEY") };
const client = new Client(options);

let placed = 0;
const anOrder = (): PlaceOrderRequest => ({
  externalOrderId: `typescript-${process.pid}-${++placed}`,
  brandId: env("GIFTING_BRAND_ID"),
  items: [{ customProductName: "A signed football", budget: { amount: "1500.00", currency: "SEK" } }],
  client: { name: "Ann Berg" },
  recipient: { name: "Ann Berg", phone: "+353 1 234 5678", address: { street: "1 Main Street", city: "Dublin", country: "IE" } },
});

/** A cursor that is before the events of later requests. Events of earlier ones may follow it too, because they arrive a little later. */
async function end(): Promise<string | undefined> {
  const feed = client.events.feed({ follow: false, limit: 100 });
  for await (const _ of feed.pages());
  return feed.cursor;
}

for (const [fault, attempts, replayed] of [
  ["429", 2, false], ["500", 2, false], ["503", 2, false], ["in-progress", 2, false], ["lost", 2, true], ["timeout", 2, true],
] as const) {
  test(`an order whose first answer is ${fault} is placed once`, async () => {
    const order = anOrder();
    let info: ResponseInfo | undefined;
    const { id } = await client.orders.place(order, { sandboxFault: fault, attemptTimeout: 2000, onResponse: (got) => (info = got) });
    assert.deepEqual({ attempts: info?.attempts, replayed: info?.replayed }, { attempts, replayed });
    const orders = [];
    for await (const found of client.orders.list({ externalOrderId: order.externalOrderId })) orders.push(found.id);
    assert.deepEqual(orders, [id]);
  });
}

test("a call that got no answer continues with its key", async () => {
  const order = anOrder();
  const lost: unknown = await client.orders.place(order, { sandboxFault: "lost", maxAttempts: 1 }).catch((error: unknown) => error);
  assert.ok(lost instanceof ConnectionError && lost.idempotencyKey);
  let info: ResponseInfo | undefined;
  await client.orders.place(order, { idempotencyKey: lost.idempotencyKey, onResponse: (got) => (info = got) });
  assert.equal(info?.replayed, true);
});

test("a refusal is a problem with its fields", async () => {
  const refused: unknown = await client.orders.place({ ...anOrder(), recipient: { name: "", phone: "0701", address: { street: "1", city: "Dublin", country: "IE" } } }).catch((error: unknown) => error);
  assert.ok(refused instanceof ApiError);
  assert.equal(refused.code, "invalid_request");
  assert.equal(refused.field("recipient.name")?.code, "required");
  assert.equal(refused.field("recipient.phone")?.code, "invalid");
  assert.match(refused.requestId ?? "", /^[0-9a-f]{32}$/);
});

test("an action obeys the tag of the order that was read", async () => {
  const { id } = await client.orders.place(anOrder());
  let etag: string | undefined;
  await client.orders.get(id, { onResponse: (info) => (etag = info.etag) });
  assert.ok(etag);
  await client.sandbox.dispatchOrder(id);
  await assert.rejects(client.orders.cancel(id, { reason: "late" }, { ifMatch: etag }), (error) => error instanceof ApiError && error.currentStatus === "SENT");
});

test("the feed has every order once and in order, although connections break", async () => {
  const after = await end();
  let calls = 0;
  const breaking = new Client({
    ...options,
    // Every other answer of the feed is lost after the server sent it.
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (++calls % 2 === 0) throw new TypeError("the connection broke");
      return response;
    },
  });
  const orders = Array.from({ length: 12 }, anOrder);
  const wanted = orders.map((order) => order.externalOrderId);
  const placing = (async () => {
    for (const order of orders) await client.orders.place(order);
  })();
  const controller = new AbortController();
  const seen: string[] = [];
  let disconnects = 0;
  const feed = breaking.events.feed({ after, limit: 2, wait: 5, signal: controller.signal, onDisconnect: () => disconnects++ });
  for await (const event of feed) {
    if (event.type === "order.created" && wanted.includes(event.data.externalOrderId ?? "")) seen.push(event.data.externalOrderId!);
    if (seen.length === wanted.length) controller.abort();
  }
  await placing;
  assert.deepEqual(seen, wanted);
  assert.ok(disconnects > 0);
});

test("a waiting feed sees an order at once, and its cursor resumes", async () => {
  const after = await end();
  const order = anOrder();
  const isIt = (event: GiftingEvent) => event.type === "order.created" && event.data.externalOrderId === order.externalOrderId;
  const began = Date.now();
  const waiting = (async () => {
    for await (const event of client.events.feed({ after, wait: 30 })) if (isIt(event)) return event.id;
    return assert.fail("the feed ended");
  })();
  await client.orders.place(order);
  const id = await waiting;
  assert.ok(Date.now() - began < 15_000, "the call was held, and not to its end");
  const again: string[] = [];
  for await (const event of client.events.feed({ after, follow: false })) if (isIt(event)) again.push(event.id);
  assert.deepEqual(again, [id]);
});

test("a list of several pages is read whole", async () => {
  const all: string[] = [];
  for await (const order of client.orders.list({ limit: 3 })) all.push(order.id);
  assert.equal(new Set(all).size, all.length);
  assert.equal(all.length, (await client.orders.list({ limit: 100 }).first()).items.length);
});

test("a copy of the catalog follows it", async () => {
  const copy = new Map<string, Product>();
  const target = { put: (product: Product) => void copy.set(product.id, product), remove: (id: string) => void copy.delete(id) };
  const gift = env("GIFTING_PRODUCT_ID");
  let position = await client.catalog.sync({ country: "SE", locale: "sv-SE" }, target);
  assert.equal(copy.size, 60);
  await client.sandbox.unlistProduct(gift);
  position = await client.catalog.sync(position, target);
  assert.deepEqual([copy.size, copy.has(gift)], [59, false]);
  await client.sandbox.relistProduct(gift);
  await client.catalog.sync(position, target);
  assert.equal(copy.get(gift)?.name, "Mörka tryfflar, ask med 24");
  const image = copy.get(gift)!.images[0]!.url;
  assert.match((await client.catalog.image(image.slice(image.lastIndexOf("/") + 1))).contentType, /^image\//);
});

test("a webhook that the platform sends is genuine", async () => {
  const tested = await client.webhooks.test();
  assert.equal(tested.error, null);
  const received = (await (await fetch(env("GIFTING_INBOX_URL"))).json()) as { headers: Record<string, string>; raw: string; body: { type: string } }[];
  const ping = received.find(({ body }) => body.type === "ping") ?? assert.fail("no ping arrived");
  const standard = Object.fromEntries(Object.entries(ping.headers).filter(([name]) => name !== "Service-Signature"));
  for (const headers of [ping.headers, standard]) {
    assert.equal((await webhooks.verify(ping.raw, headers, env("GIFTING_WEBHOOK_SECRET"))).type, "ping");
    await assert.rejects(webhooks.verify(`${ping.raw} `, headers, env("GIFTING_WEBHOOK_SECRET")), /no signature/);
  }
});
