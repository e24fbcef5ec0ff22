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
for (const { index, link, errors } of results) {
  console.log(index, link?.claimUrl ?? errors);
}
// end

const linkId = results[0]!.link!.id;
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
