import { Client } from "@partnergifting/sdk";

const client = new Client({ baseUrl: process.env.GIFTING_URL!, key: process.env.GIFTING_KEY! });

// sample: getMe
const { tenant, key, environment } = await client.account.me();
console.log(tenant.name, key.scopes, environment);
// end

// sample: listBrands
for (const brand of await client.brands.list()) {
  console.log(brand.id, brand.name);
}
// end
