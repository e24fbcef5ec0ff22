import { type GiftingEvent, toEvent } from "./events.js";
import { ApiError, EventsLostError, retryable } from "./errors.js";
import { checkLimits, refuseUnknown } from "./input.js";
import { Cursors, type Page } from "./pages.js";
import { type Answer, type CallOptions, pause, sleep } from "./transport.js";

/** Where to begin, and how to go on. */
export interface FeedOptions extends Omit<CallOptions, "onResponse" | "maxAttempts" | "sandboxFault"> {
  /** Continues after this cursor. */
  after?: string | undefined;
  /** Where to begin without a cursor: `start`, with the oldest event that is kept, of 30 days, or `end`, with events of later changes. */
  from?: "start" | "end";
  /** Events of a page, at most 100. */
  limit?: number;
  /** Whether to go on at the end of the feed and wait for new events. By default it does. */
  follow?: boolean;
  /** Whole seconds for which the server holds a call until there is an event, 1 to 30. */
  wait?: number;
  /** Is told of each failure. The feed goes on where it was, after a pause. */
  onDisconnect?: (error: unknown) => void;
}

const feedOptions = Object.keys({
  after: true, from: true, limit: true, follow: true, wait: true, onDisconnect: true,
  signal: true, attemptTimeout: true, timeout: true, headers: true,
} satisfies Record<keyof FeedOptions, true>);

/** A page of the feed. It always has a cursor. */
export interface FeedPage extends Page<GiftingEvent> {
  nextCursor: string;
}

type Read = (query: { after?: string; from?: "end"; limit?: number; wait?: number }) => Promise<Answer<Page<{ type: string }>>>;

/**
 * The event feed, without gaps. It survives disconnects, limits and restarts of the server. It ends when `signal` aborts or, without
 * `follow`, at the end of the feed. It throws what another attempt cannot mend, and `EventsLostError`.
 */
export class Feed implements AsyncIterable<GiftingEvent> {
  /** Everything up to this cursor was processed. It moves on when the page after it is requested. */
  cursor: string | undefined;
  readonly #read: Read;
  readonly #options: FeedOptions;

  constructor(read: Read, options: FeedOptions) {
    refuseUnknown(options, feedOptions, "option");
    checkLimits(options);
    const wait = options.wait ?? 30;
    if (!Number.isInteger(wait) || wait < 1 || wait > 30) throw new RangeError("wait must be a whole number from 1 to 30");
    // Nothing else may begin with the oldest event.
    if (options.from !== undefined && options.from !== "start" && options.from !== "end") throw new RangeError('from must be "start" or "end"');
    this.#read = read;
    this.#options = { ...options, wait };
    this.cursor = options.after ?? undefined; // null, as of a database, is no cursor.
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<GiftingEvent, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Pages, to store the events and `nextCursor` of a page in one transaction. A page without events only moves the cursor. */
  async *pages(): AsyncGenerator<FeedPage, void, undefined> {
    const { follow = true, signal } = this.#options;
    const seen = new Cursors(undefined);
    while (!signal?.aborted) {
      const answer = await this.#next(follow);
      if (answer === undefined) return;
      const { items, nextCursor } = answer.data;
      const moved = nextCursor !== null && nextCursor !== this.cursor;
      if (moved) {
        if (!follow) seen.add(nextCursor);
        yield { items: items.map(toEvent), nextCursor };
        this.cursor = nextCursor;
      }
      if (!follow && (answer.headers.get("Feed-Position") === "end" || !moved)) return;
      if ((!moved || answer.headers.get("Wait") === "0") && !(await this.#pause(1000))) return;
    }
  }

  /** Reads a page, however often that fails. Nothing if the caller cancels. */
  async #next(follow: boolean): Promise<Answer<Page<{ type: string }>> | undefined> {
    const { from, limit, wait, signal, onDisconnect } = this.#options;
    // The end is a cursor first, without a wait: if that call were held and lost, the next would begin after what it waited for.
    const atEnd = from === "end" && this.cursor === undefined;
    for (let failures = 1; ; failures++) {
      try {
        return await this.#read({
          ...(this.cursor !== undefined && { after: this.cursor }),
          ...(limit !== undefined && { limit }),
          ...(atEnd ? { from } : follow && wait !== undefined && { wait }),
        });
      } catch (error) {
        if (signal?.aborted) return undefined;
        if (error instanceof ApiError && error.field("after")?.code === "events_lost") throw new EventsLostError(error.message, { cause: error });
        if (!retryable(error)) throw error;
        onDisconnect?.(error);
        if (!(await this.#pause(pause(failures, error instanceof ApiError ? error.retryAfter : undefined)))) return undefined;
      }
    }
  }

  /** Reports whether the caller still wants more after the pause. */
  async #pause(milliseconds: number): Promise<boolean> {
    const { signal } = this.#options;
    try {
      await sleep(milliseconds, signal);
    } catch {
      return false;
    }
    return true;
  }
}
