import { Client } from "@partnergifting/sdk";

const client = new Client({ baseUrl: process.env.GIFTING_URL!, key: process.env.GIFTING_KEY! });
const campaignId = process.env.GIFTING_CAMPAIGN_ID!;

// sample: createPersonalLinks
const { results } = await client.personalLinks.create({
  campaignId,
  recipients: [
    { label: "Ann", externalRecipientId: "player-42" },
    { label: "Bo", externalRecipientId: "player-43", locale: "sv-SE" },
  ],
});
for (const result of results) {
  if (result.outcome === "CREATED") console.log(result.index, result.link.claimUrl);
  else console.log(result.index, result.errors);
}
// end

const [ann] = results;
if (ann?.outcome !== "CREATED") throw new Error("Ann has no link");
const linkId = ann.link.id;
// sample: listPersonalLinks
for await (const link of client.personalLinks.list({ externalRecipientId: "player-42" })) {
  console.log(link.claimUrl, link.status);
}
// end

// sample: getPersonalLink
const { status, orderId } = await client.personalLinks.get(linkId);
console.log(status, orderId);
// end

// sample: cancelPersonalLink
await client.personalLinks.cancel(linkId, { reason: "The player has left." });
// end
