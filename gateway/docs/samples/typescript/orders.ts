import { Client, type PlaceOrderRequest } from "@partnergifting/sdk";

const client = new Client({ baseUrl: process.env.GIFTING_URL!, key: process.env.GIFTING_KEY! });
const brandId = process.env.GIFTING_BRAND_ID!;
const productId = process.env.GIFTING_PRODUCT_ID!;
const product = await client.catalog.product(productId, { country: "SE" });
const variations = Object.fromEntries(product.variations.map(({ dimension, values }) => [dimension, values[0]!]));
const externalOrderId = `sample-typescript-${Date.now()}`;
const request: PlaceOrderRequest = {
  externalOrderId,
  brandId,
  items: [{ productId, variations }],
  client: { name: "Ann Berg" },
  recipient: {
    name: "Ann Berg",
    phone: "+46 70 123 45 67",
    address: { street: "Storgatan 1", city: "Stockholm", postalCode: "111 22", country: "SE" },
  },
};

// sample: validateOrder
const validation = await client.orders.validate(request);
for (const { code, detail } of validation.problems) {
  console.log(code, detail);
}
// end

// sample: placeOrder
const order = await client.orders.place({
  externalOrderId, // your id of the order
  brandId,
  items: [{ productId, variations }],
  client: { name: "Ann Berg" },
  recipient: {
    name: "Ann Berg",
    phone: "+46 70 123 45 67",
    address: { street: "Storgatan 1", city: "Stockholm", postalCode: "111 22", country: "SE" },
  },
}, { idempotencyKey: externalOrderId }); // Stored before the call, it makes the call safe to repeat after a crash.
console.log(order.reference, order.status);
// end

const { tenant } = await client.account.me();
// sample: placeCustomOrder
const custom = await client.orders.place({
  externalOrderId: `custom-${externalOrderId}`,
  externalActionRef: "sandbox:auto",
  brandId,
  items: [{ customProductName: "A football signed by the whole team", budget: { amount: "150.00", currency: tenant.currency } }],
  client: { name: "Ann Berg" },
  recipient: {
    name: "Ann Berg",
    phone: "+46 70 123 45 67",
    address: { street: "Storgatan 1", city: "Stockholm", postalCode: "111 22", country: "SE" },
  },
}, { idempotencyKey: `custom-${externalOrderId}` });
console.log(custom.id, custom.reference);
// end

// sample: forcedAnswer
// The order is placed, but the answer is lost: the client sends it again with the same Idempotency-Key.
await client.orders.place({ ...request, externalOrderId: `forced-${externalOrderId}` }, {
  sandboxFault: "lost",
  onResponse: ({ attempts, replayed }) => console.log(attempts, replayed), // 2 true
});
// end

const orderId = order.id;
// sample: listOrders
for await (const { reference, status } of client.orders.list({ status: "PROCESSING" })) {
  console.log(reference, status);
}
// end

// sample: getOrder
const { status, shipments } = await client.orders.get(orderId);
console.log(status, shipments[0]?.trackingUrl);
// end

// sample: updateDelivery
const corrected = await client.orders.updateDelivery(orderId, {
  expectedVersion: order.version,
  recipient: { address: { street: "Storgatan 2" } },
});
console.log(corrected.version);
// end

// sample: postOrderMessage
await client.orders.postMessage(orderId, { body: "Please wrap it in blue." });
// end

// sample: listOrderMessages
for (const { author, body } of await client.orders.messages(orderId)) {
  console.log(author.name, body);
}
// end

// sample: cancelOrder
import { ApiError } from "@partnergifting/sdk";

try {
  await client.orders.cancel(orderId, { reason: "Another reward." });
} catch (error) {
  if (!(error instanceof ApiError && error.code === "not_cancellable")) throw error;
  console.log("too late:", error.currentStatus);
}
// end
