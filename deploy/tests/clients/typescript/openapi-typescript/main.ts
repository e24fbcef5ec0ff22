// What an integrator does with the types of openapi-typescript and openapi-fetch. deploy/tests/clients/doc.go says what it must print.
import createClient from "openapi-fetch";

import { futureUrl, key, orderOf, url } from "../example.js";
import type { components, paths } from "./api.js";

type FeedEvent = components["schemas"]["FeedEvent"];
type Problem = components["schemas"]["Problem"];

function clientOf(baseUrl: string) {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
}
type Client = ReturnType<typeof clientOf>;

/** Narrows an event to one type. The type of an UnknownEvent is any text, so comparing the type alone does not exclude it. */
function is<T extends string>(event: FeedEvent, type: T): event is Extract<FeedEvent, { type: T }> {
  return event.type === type;
}

/** A gift that can go to Sweden and has nothing to choose. */
async function gift(client: Client): Promise<string> {
  const { data } = await client.GET("/catalog/products", { params: { query: { country: "SE" } } });
  for (const entry of data?.items ?? []) {
    if (entry.listed && entry.available && entry.variations.length === 0) return entry.id;
  }
  throw new Error("there is no gift to order");
}

function placeOrder(client: Client, externalOrderId: string, productId: string) {
  return client.POST("/orders", {
    params: { header: { "Idempotency-Key": crypto.randomUUID() } },
    body: orderOf(externalOrderId, productId),
  });
}

/** The events from the beginning, without end: a call waits for the next event. */
async function* feed(client: Client): AsyncGenerator<FeedEvent> {
  let after: string | undefined;
  for (;;) {
    const query = { limit: 2, wait: 10, ...(after && { after }) };
    const { data, response } = await client.GET("/events", { params: { query } });
    if (!data) throw new Error(`the feed answered ${response.status}`);
    yield* data.items;
    after = data.nextCursor ?? undefined;
  }
}

function refusal(error: Problem | undefined): Problem {
  if (!error) throw new Error("the request was not refused");
  return error;
}

const client = clientOf(url);
const productId = await gift(client);
const externalOrderId = `openapi-typescript-${crypto.randomUUID()}`;
const { data: order, error } = await placeOrder(client, externalOrderId, productId);
if (!order) throw new Error(refusal(error).detail);
console.log("order", order.id, order.status);

for await (const event of feed(client)) {
  if (is(event, "order.created") && event.data.externalOrderId === externalOrderId) {
    console.log("feed", event.id, event.data.id);
    break;
  }
}

const conflict = refusal((await placeOrder(client, externalOrderId, productId)).error);
console.log("problem", conflict.code, conflict.orderId);

const future = clientOf(futureUrl);
const unknown = refusal((await placeOrder(future, externalOrderId, productId)).error);
const types: string[] = [];
for await (const event of feed(future)) {
  if (types.push(event.type) === 2) break;
}
console.log("unknown", unknown.code, unknown.errors?.[0]?.code, ...types);
