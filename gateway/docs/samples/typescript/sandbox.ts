import { Client } from "@partnergifting/sdk";

const baseUrl = process.env.GIFTING_URL!;
// Orders and links of this key's tenant wait for approval.
const client = new Client({ baseUrl, key: process.env.GIFTING_KEY_APPROVAL! });
const { tenant } = await client.account.me();
const [brand] = await client.brands.list();
const brandId = brand!.id;
const { id: orderId } = await client.orders.place({
  externalOrderId: `sandbox-typescript-${Date.now()}`,
  brandId,
  items: [{ customProductName: "A signed football", budget: { amount: "1500.00", currency: tenant.currency } }],
  client: { name: "Ann Berg" },
  recipient: { name: "Ann Berg", phone: "+353 1 234 5678", address: { street: "1 Main Street", city: "Dublin", country: "IE" } },
});

// sample: approveSandboxOrder
await client.sandbox.approveOrder(orderId);
// end

// sample: dispatchSandboxOrder
const { shipments } = await client.sandbox.dispatchOrder(orderId, { carrier: "PostNord" });
console.log(shipments[0]?.trackingReference);
// end

// sample: correctSandboxTracking
await client.sandbox.correctTracking(orderId, { trackingReference: "RR123456789SE" });
// end

// sample: deliverSandboxOrder
const delivered = await client.sandbox.deliverOrder(orderId);
console.log(delivered.status);
// end

// sample: correctSandboxStatus
await client.sandbox.correctStatus(orderId, { status: "PROCESSING" });
// end

// sample: postSandboxMessage
await client.sandbox.postMessage(orderId, { body: "We send it on Monday." });
// end

const productIds: string[] = [];
for await (const product of client.catalog.products({ country: "DE" })) {
  if (product.listed && product.available) productIds.push(product.id);
  if (productIds.length === 2) break;
}
const { results } = await client.personalLinks.create({ brandId, productIds, recipients: [{ label: "Ann" }] });
const [ann] = results;
if (ann?.outcome !== "CREATED") throw new Error("Ann has no link");
const linkId = ann.link.id;

// sample: approveSandboxPersonalLink
await client.sandbox.approveLink(linkId);
// end

// sample: claimSandboxPersonalLink
const claimed = await client.sandbox.claimLink(linkId);
console.log(claimed.status, claimed.orderId);
// end

await stock(new Client({ baseUrl, key: process.env.GIFTING_KEY! }), process.env.GIFTING_CAMPAIGN_ID!, process.env.GIFTING_PRODUCT_ID!);

async function stock(client: Client, campaignId: string, productId: string): Promise<void> {
  const campaign = await client.campaigns.get(campaignId);
  const skuId = campaign.offerings.find((offering) => offering.supplyType === "STOCKED")!.skus[0]!.id;

  // sample: setSandboxStock
  await client.sandbox.setStock(campaignId, { skuId, stockRemaining: 1 });
  // end

  // sample: unlistSandboxProduct
  await client.sandbox.unlistProduct(productId);
  // end

  // sample: relistSandboxProduct
  await client.sandbox.relistProduct(productId);
  // end

  // sample: setSandboxProductAvailable
  await client.sandbox.setProductAvailable(productId, { country: "SE", available: true });
  // end
}
