// The event feed, followed without polling: each call waits at the server until there is an event.

import { request, send } from "./api.js";

const page = 100;

export const sleep = (seconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });

// follow calls received with the events of each page, and failed with each error, until the signal is aborted or the key is refused.
export async function follow(signal, received, failed) {
  let after = null;
  let failures = 0;
  while (!signal.aborted) {
    const query = new URLSearchParams({ limit: page, wait: 25 });
    if (after) query.set("after", after);
    const began = Date.now();
    try {
      const { answer, headers } = await send(request("GET", `/events?${query}`), signal);
      failures = 0;
      after = answer.nextCursor ?? after;
      received(answer.items, headers);
      if (answer.items.length === page) await sleep(0.5, signal); // Old events must not use up the limit of the key.
      else if (answer.items.length === 0 && Date.now() - began < 1000) await sleep(5, signal); // It was not held.
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      if (error.status === 401) return;
      if (error.status === 400) after = null; // The events after the cursor are gone.
      failures += 1;
      await sleep(Math.max(error.retryAfter ?? 0, Math.min(2 ** failures, 30)), signal);
    }
  }
}
