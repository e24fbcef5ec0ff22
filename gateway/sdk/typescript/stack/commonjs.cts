// A program in CommonJS, as Jest makes one of every test by default. It gets the package by require.
import assert from "node:assert/strict";
import { types } from "node:util";

import { ApiError, Client, webhooks } from "@partnergifting/sdk";

assert.ok(!types.isModuleNamespaceObject(require("@partnergifting/sdk")), "an ES module, which Jest and Node.js before 20.19 cannot require");

async function main(): Promise<void> {
  const client = new Client({ baseUrl: process.env["GIFTING_URL"]!, key: process.env["GIFTING_KEY"]! });
  assert.equal((await client.account.me()).environment, "sandbox");
  await assert.rejects(client.orders.get("00000000-0000-4000-8000-000000000000"), (error) => error instanceof ApiError && error.code === "not_found");
  await assert.rejects(webhooks.verify("{}", { "service-signature": "t=1,v1=00" }, "secret", { now: 1 }), /no signature is right/);
}

void main();
