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
  // The raw body, and the headers of fetch or of Node.js. It throws WebhookVerificationError for a request that is not genuine.
  const event = await webhooks.verify(await request.text(), request.headers, process.env.GIFTING_WEBHOOK_SECRET!);
  if (event.type === "order.status_changed") console.log(event.data.order.status);
  // end
}

const unsigned = new Request("https://partner.example.com/webhooks", { method: "POST", body: "{}" });
const refusal: unknown = await receive(unsigned).catch((error: unknown) => error);
if (!(refusal instanceof WebhookVerificationError)) throw new Error("a request without a signature was not refused");
