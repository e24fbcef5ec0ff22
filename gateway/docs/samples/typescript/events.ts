import { Client, type GiftingEvent } from "@partnergifting/sdk";

const client = new Client({ baseUrl: process.env.GIFTING_URL!, key: process.env.GIFTING_KEY! });

{
  // sample: endOfFeed
  let cursor = (await client.events.list({ from: "end" })).nextCursor!;
  // end
  cursor = (await client.events.list({ limit: 1 })).nextCursor!;

  // sample: nextEvents
  const page = await client.events.list({ after: cursor, limit: 1, wait: 5 });
  for (const event of page.items) console.log(event.type, event.data);
  cursor = page.nextCursor!;
  // end
}

let cursor: string | undefined;

// sample: listEvents
function handle(event: GiftingEvent): void {
  if (event.type === "order.status_changed") console.log(event.data.order.id, event.data.previousStatus, event.data.order.status);
  else if (event.type === "order.created") console.log(event.data.id, event.data.status);
}

// Without follow: false, it waits for new events and never ends.
const feed = client.events.feed({ after: cursor, follow: false });
for await (const page of feed.pages()) {
  for (const event of page.items) handle(event);
  cursor = page.nextCursor; // Store it with what you have done, in one transaction.
}
// end
