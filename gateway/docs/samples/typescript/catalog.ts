import { Client, type Product } from "@partnergifting/sdk";

const client = new Client({ baseUrl: process.env.GIFTING_URL!, key: process.env.GIFTING_KEY! });
const campaignId = process.env.GIFTING_CAMPAIGN_ID!;
const productId = process.env.GIFTING_PRODUCT_ID!;
const shop = new Map<string, Product>();

// sample: listCampaigns
for await (const campaign of client.campaigns.list({ status: "ACTIVE" })) {
  console.log(campaign.id, campaign.name);
}
// end

// sample: getCampaign
const campaign = await client.campaigns.get(campaignId, { locale: "sv-SE" });
for (const { name, status, skus } of campaign.offerings) {
  console.log(name, status, skus.map((sku) => sku.stockRemaining));
}
// end

// sample: listProducts
// Loads the catalog of a country. Later calls, with the position that this one returned, read only changes.
const position = await client.catalog.sync(
  { country: "SE", locale: "sv-SE" },
  {
    put: (product) => shop.set(product.id, product),
    remove: (id) => shop.delete(id),
  },
);
console.log(shop.size, "gifts;", "next time from", position.updatedSince);
// end

// sample: getProduct
const product = await client.catalog.product(productId, { country: "SE" });
console.log(product.name, product.estimate?.amount, product.variations);
// end

// sample: listCategories
for (const category of await client.catalog.categories({ locale: "sv-SE" })) {
  console.log(category.name, category.subcategories.length);
}
// end

const fileId = product.images[0]!.url.split("/").pop()!;
// sample: getImage
const { data, contentType } = await client.catalog.image(fileId);
console.log(contentType, data.byteLength);
// end
