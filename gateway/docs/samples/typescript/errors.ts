import { Client } from "@partnergifting/sdk";

const client = new Client({ baseUrl: process.env.GIFTING_URL!, key: process.env.GIFTING_KEY! });

// sample: handleErrors
import { ApiError, ConnectionError, retryable } from "@partnergifting/sdk";

try {
  await client.orders.list({ limit: 101 }).first();
} catch (error) {
  if (error instanceof ApiError) console.log(error.code, error.requestId, error.field("limit")?.message);
  else if (error instanceof ConnectionError) console.log("a POST may have taken effect: repeat it with", error.idempotencyKey);
  else throw error;
  console.log("worth repeating later:", retryable(error));
}
// end
