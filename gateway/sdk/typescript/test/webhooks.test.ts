import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { WebhookVerificationError, webhooks } from "../src/index.js";

interface Vector {
  name: string;
  headers: Record<string, string>;
  body: string;
  secrets: string[];
  now: number;
  valid: boolean;
}

// The platform's own signer wrote them.
const vectors = JSON.parse(readFileSync("../testdata/webhooks.json", "utf8")) as Vector[];
const genuine = vectors[0]!;

for (const { name, headers, body, secrets, now, valid } of vectors) {
  test(`${valid ? "accepts" : "refuses"}: ${name}`, async () => {
    const verified = webhooks.verify(body, headers, secrets, { now });
    if (!valid) return assert.rejects(verified, WebhookVerificationError);
    assert.deepEqual(await verified, JSON.parse(body));
  });
}

test("takes bytes, and headers of fetch and of Node.js", async () => {
  const { body, secrets, now } = genuine;
  const bytes = new TextEncoder().encode(body);
  const lower = Object.fromEntries(Object.entries(genuine.headers).map(([name, value]) => [name.toLowerCase(), value]));
  for (const payload of [bytes, Buffer.from(bytes), bytes.buffer]) {
    for (const headers of [new Headers(genuine.headers), lower, { ...lower, "service-signature": [lower["service-signature"]!] }]) {
      assert.equal((await webhooks.verify(payload, headers, secrets[0]!, { now })).type, "order.message_posted");
    }
  }
});

test("uses the clock, and a tolerance", async () => {
  await assert.rejects(webhooks.verify(genuine.body, genuine.headers, genuine.secrets), WebhookVerificationError);
  await webhooks.verify(genuine.body, genuine.headers, genuine.secrets, { tolerance: Date.now() / 1000 });
});

test("refuses what is used wrongly, without calling it a forgery", async () => {
  await assert.rejects(webhooks.verify(JSON.parse(genuine.body) as string, genuine.headers, genuine.secrets), /raw body/);
  for (const secret of ["", undefined, null, [], [""], [null], [undefined]] as string[][]) await assert.rejects(webhooks.verify(genuine.body, genuine.headers, secret), /secret is empty/);
  for (const options of [{ tolerance: NaN }, { now: NaN }, { tolerance: -1 }, { tolerance: Infinity }, { tolerance: "1" as unknown as number }]) {
    await assert.rejects(webhooks.verify(genuine.body, genuine.headers, genuine.secrets, options), RangeError);
  }
  for (const secret of [`${genuine.secrets[0]}\n`, [genuine.secrets[0]!, ` ${genuine.secrets[0]}`]]) await assert.rejects(webhooks.verify(genuine.body, genuine.headers, secret), /secret has a line break/);
});
