// What an integrator does with the client of @hey-api/openapi-ts. deploy/tests/clients/doc.go says what it must print.
import { futureUrl, key, orderOf, url } from "../example.js";
import { createClient } from "./api/client/index.js";
import type { Client } from "./api/client/index.js";
import { listEvents, listProducts, placeOrder } from "./api/index.js";
import type { FeedEvent, Problem } from "./api/index.js";

function clientOf(baseUrl: string): Client {
  return createClient({ baseUrl, auth: key });
}

/** Narrows an event to one type. The type of an UnknownEvent is any text, so comparing the type alone does not exclude it. */
function is<T extends string>(event: FeedEvent, type: T): event is Extract<FeedEvent, { type: T }> {
  return event.type === type;
}

/** A gift that can go to Sweden and has nothing to choose. */
async function gift(client: Client): Promise<string> {
  const { data } = await listProducts({ client, query: { country: "SE" } });
  for (const entry of data?.items ?? []) {
    if (entry.listed && entry.available && entry.variations.length === 0) return entry.id;
  }
  throw new Error("there is no gift to order");
}

function place(client: Client, externalOrderId: string, productId: string) {
  return placeOrder({
    client,
    headers: { "Idempotency-Key": crypto.randomUUID() },
    body: orderOf(externalOrderId, productId),
  });
}

/** The events from the beginning, without end: a call waits for the next event. */
async function* feed(client: Client): AsyncGenerator<FeedEvent> {
  let after: string | undefined;
  for (;;) {
    const query = { limit: 2, wait: 10, ...(after && { after }) };
    const { data, response } = await listEvents({ client, query });
    if (!data) throw new Error(`the feed answered ${response?.status}`);
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
const externalOrderId = `hey-api-${crypto.randomUUID()}`;
const { data: order, error } = await place(client, externalOrderId, productId);
if (!order) throw new Error(refusal(error).detail);
console.log("order", order.id, order.status);

for await (const event of feed(client)) {
  if (is(event, "order.created") && event.data.externalOrderId === externalOrderId) {
    console.log("feed", event.id, event.data.id);
    break;
  }
}

const conflict = refusal((await place(client, externalOrderId, productId)).error);
console.log("problem", conflict.code, conflict.orderId);

const future = clientOf(futureUrl);
const unknown = refusal((await place(future, externalOrderId, productId)).error);
const types: string[] = [];
for await (const event of feed(future)) {
  if (types.push(event.type) === 2) break;
}
console.log("unknown", unknown.code, unknown.errors?.[0]?.code, ...types);
