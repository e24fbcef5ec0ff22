import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import type { Client, operations } from "../src/index.js";
import { client, json } from "./fake.js";

/** Calls each operation of the document. It does not compile without one of them. Webhooks are operations that you receive. */
const calls: Record<Exclude<keyof operations, `on${string}`>, (client: Client) => PromiseLike<unknown>> = {
  getMe: ({ account }) => account.me(),
  listBrands: ({ brands }) => brands.list(),
  listCampaigns: ({ campaigns }) => campaigns.list().first(),
  getCampaign: ({ campaigns }) => campaigns.get("1"),
  getImage: ({ catalog }) => catalog.image("1"),
  listProducts: ({ catalog }) => catalog.products({ country: "SE" }).first(),
  getProduct: ({ catalog }) => catalog.product("1", { country: "SE" }),
  listCategories: ({ catalog }) => catalog.categories(),
  placeOrder: ({ orders }) => orders.place({} as never),
  validateOrder: ({ orders }) => orders.validate({} as never),
  listOrders: ({ orders }) => orders.list().first(),
  getOrder: ({ orders }) => orders.get("1"),
  updateDelivery: ({ orders }) => orders.updateDelivery("1", { expectedVersion: 0 }),
  cancelOrder: ({ orders }) => orders.cancel("1", { reason: "" }),
  listOrderMessages: ({ orders }) => orders.messages("1"),
  postOrderMessage: ({ orders }) => orders.postMessage("1", { body: "" }),
  createPersonalLinks: ({ personalLinks }) => personalLinks.create({} as never),
  listPersonalLinks: ({ personalLinks }) => personalLinks.list().first(),
  getPersonalLink: ({ personalLinks }) => personalLinks.get("1"),
  cancelPersonalLink: ({ personalLinks }) => personalLinks.cancel("1", { reason: "" }),
  listEvents: ({ events }) => events.list(),
  testWebhook: ({ webhooks }) => webhooks.test(),
  listWebhookDeliveries: ({ webhooks }) => webhooks.deliveries().first(),
  getWebhookHealth: ({ webhooks }) => webhooks.health(),
  resendWebhookDelivery: ({ webhooks }) => webhooks.resend("1"),
  replayWebhooks: ({ webhooks }) => webhooks.replay({ from: "", to: "" }),
  rotateOwnWebhookSecret: ({ webhooks }) => webhooks.rotateSecret(),
  approveSandboxOrder: ({ sandbox }) => sandbox.approveOrder("1"),
  dispatchSandboxOrder: ({ sandbox }) => sandbox.dispatchOrder("1"),
  deliverSandboxOrder: ({ sandbox }) => sandbox.deliverOrder("1"),
  correctSandboxTracking: ({ sandbox }) => sandbox.correctTracking("1"),
  correctSandboxStatus: ({ sandbox }) => sandbox.correctStatus("1", { status: "SENT" }),
  postSandboxMessage: ({ sandbox }) => sandbox.postMessage("1", { body: "" }),
  approveSandboxPersonalLink: ({ sandbox }) => sandbox.approveLink("1"),
  claimSandboxPersonalLink: ({ sandbox }) => sandbox.claimLink("1"),
  setSandboxStock: ({ sandbox }) => sandbox.setStock("1", {} as never),
  unlistSandboxProduct: ({ sandbox }) => sandbox.unlistProduct("1"),
  relistSandboxProduct: ({ sandbox }) => sandbox.relistProduct("1"),
  setSandboxProductAvailable: ({ sandbox }) => sandbox.setProductAvailable("1", {} as never),
};

/** Method and path of each operation, from the generated types. */
function documented(): Map<string, string> {
  const found = new Map<string, string>();
  let path = "";
  for (const line of readFileSync("src/core.ts", "utf8").split("\n")) {
    path = /^ {4}"(\/.*)": \{$/.exec(line)?.[1] ?? path;
    const [, method, operation] = /^ {8}(\w+): operations\["(\w+)"\];$/.exec(line) ?? [];
    if (method && operation) found.set(operation, `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, "1")}`);
  }
  return found;
}

const inDocument = documented();

test("the document has these operations", () => {
  const called = [...inDocument.keys()].filter((name) => !/^on[A-Z]/.test(name));
  assert.deepEqual(called.sort(), Object.keys(calls).sort());
});

for (const [operation, call] of Object.entries(calls)) {
  test(`${operation} is sent as the document says`, async () => {
    const { client: one, sent } = client([json({ items: [], nextCursor: null })]);
    await call(one);
    const { method, url, headers } = sent[0]!;
    assert.equal(`${method} ${url.pathname.replace(/^\/v1/, "")}`, inDocument.get(operation));
    assert.equal(headers.has("Idempotency-Key"), method === "POST" && operation !== "validateOrder");
  });
}

test("a gift is listed again for a country", async () => {
  const { client: one, sent } = client([json({})]);
  await one.sandbox.relistProduct("1", { country: "SE" });
  assert.equal(sent[0]!.body, '{"country":"SE"}');
});
