import { Client, type GiftingEvent } from "@partnergifting/sdk";

const client = new Client({ baseUrl: process.env.GIFTING_URL!, key: process.env.GIFTING_KEY! });
let cursor: string | undefined;

async function handle(event: GiftingEvent): Promise<void> {
  if (event.type === "order.status_changed") console.log(event.data.previousStatus, event.data.order.status);
}

// sample: endOfFeed
const { nextCursor } = await client.events.list({ from: "end" });
console.log(nextCursor);
// end

// sample: listEvents
// Without follow: false, it waits for new events and never ends.
const feed = client.events.feed({ after: cursor, follow: false });
for await (const page of feed.pages()) {
  for (const event of page.items) await handle(event);
  cursor = page.nextCursor; // Store it with what you have done, in one transaction.
}
// end
