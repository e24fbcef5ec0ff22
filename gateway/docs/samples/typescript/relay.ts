// sample: relayEvents
import { createHmac, type BinaryToTextEncoding } from "node:crypto";
import { Client } from "@partnergifting/sdk";

const receiver = "http://localhost:3000/webhooks";
const client = new Client({ baseUrl: process.env.GIFTING_URL!, key: process.env.GIFTING_KEY! });
const sign = (content: string, encoding: BinaryToTextEncoding) =>
  createHmac("sha256", process.env.GIFTING_LOCAL_SECRET!).update(content).digest(encoding);

for await (const event of client.events.feed({ from: "end" })) {
  const type = event.type === "unknown" ? event.originalType : event.type;
  const body = JSON.stringify({ ...event, type, originalType: undefined });
  const time = Math.floor(Date.now() / 1000);
  const headers = {
    "Content-Type": "application/json",
    "Service-Event-Id": event.id,
    "Service-Signature": `t=${time},v1=${sign(`${time}.${body}`, "hex")}`,
    "Webhook-Id": event.id,
    "Webhook-Timestamp": `${time}`,
    "Webhook-Signature": `v1,${sign(`${event.id}.${time}.${body}`, "base64")}`,
  };
  const answer = await fetch(receiver, { method: "POST", headers, body });
  console.log(type, answer.status);
}
// end
