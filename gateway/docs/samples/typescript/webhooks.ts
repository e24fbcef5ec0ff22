import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { Client, webhooks, WebhookVerificationError } from "@partnergifting/sdk";

const client = new Client({ baseUrl: process.env.GIFTING_URL!, key: process.env.GIFTING_KEY! });

// sample: testWebhook
const { responseStatus, error } = await client.webhooks.test();
console.log(responseStatus, error);
// end

// sample: getWebhookHealth
const { state, failingSince, pending } = await client.webhooks.health();
console.log(state, failingSince, pending);
// end

// sample: listWebhookDeliveries
for await (const { id, type, attempts } of client.webhooks.deliveries({ state: "EXHAUSTED" })) {
  console.log(id, type, attempts.at(-1)?.status);
}
// end

const { items } = await client.webhooks.deliveries().first();
const deliveryId = items[0]!.id;
// sample: resendWebhookDelivery
const delivery = await client.webhooks.resend(deliveryId);
console.log(delivery.state);
// end

const from = new Date(Date.now() - 60_000).toISOString();
const to = new Date().toISOString();
// sample: replayWebhooks
const { deliveries } = await client.webhooks.replay({ from, to });
console.log(deliveries, "are sent again");
// end

// sample: rotateOwnWebhookSecret
const { secret } = await client.webhooks.rotateSecret({ overlapSeconds: 86_400 });
if (secret === null) throw new Error("Only the first response has the secret: rotate again.");
console.log("store the new secret,", secret.length, "characters");
// end

async function receive(request: Request): Promise<void> {
  // sample: verifyWebhook
  // It throws WebhookVerificationError for a request that is not genuine.
  const event = await webhooks.verify(await request.text(), request.headers, process.env.GIFTING_WEBHOOK_SECRET!);
  if (event.type === "order.status_changed") console.log(event.data.order.status);
  // end
}

const unsigned = new Request("https://partner.example.com/webhooks", { method: "POST", body: "{}" });
const refusal: unknown = await receive(unsigned).catch((error: unknown) => error);
if (!(refusal instanceof WebhookVerificationError)) throw new Error("a request without a signature was not refused");

// A receiver that accepts what is signed by the relay.
const localSecret = "0".repeat(64);
const local = createServer(async (request, response) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  await webhooks.verify(Buffer.concat(chunks), request.headers, localSecret);
  response.writeHead(204).end();
});
await new Promise<void>((resolve) => local.listen(0, resolve));
const receiver = `http://localhost:${(local.address() as AddressInfo).port}/webhooks`;

// sample: relayEvents
// Without follow: false, it waits for new events and never ends.
for await (const event of client.events.feed({ follow: false })) {
  const body = JSON.stringify(event);
  const time = Math.floor(Date.now() / 1000);
  const v1 = createHmac("sha256", localSecret).update(`${time}.${body}`).digest("hex");
  const headers = { "Content-Type": "application/json", "Service-Signature": `t=${time},v1=${v1}` };
  const answer = await fetch(receiver, { method: "POST", headers, body });
  console.log(event.type, answer.status);
}
// end
local.close();
local.closeAllConnections();
