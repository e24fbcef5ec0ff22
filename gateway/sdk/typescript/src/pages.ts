import { GiftingError } from "./errors.js";

/** A page of a list. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** The cursors that a reader has used, so that a wrong answer is not read without an end. */
export class Cursors {
  readonly #seen: Set<string | undefined>;

  constructor(first: string | undefined) {
    this.#seen = new Set([first]);
  }

  /** Returns a new cursor. One that was used before would read the same pages again. */
  add(cursor: string): string {
    if (this.#seen.has(cursor)) throw new GiftingError("a page has a cursor that was already used");
    this.#seen.add(cursor);
    return cursor;
  }
}

/** A list of the API. Iterate over its items, or over its pages. Nothing is read before. */
export class List<T> implements AsyncIterable<T> {
  readonly #read: (after: string | undefined) => Promise<Page<T>>;
  readonly #after: string | undefined;

  constructor(read: (after: string | undefined) => Promise<Page<T>>, after: string | undefined) {
    this.#read = read;
    this.#after = after;
  }

  /** Reads only the first page. Pass its `nextCursor` as `after` to a later call. */
  first(): Promise<Page<T>> {
    return this.#read(this.#after);
  }

  /** Reads page after page. A page may be empty although others follow. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    const seen = new Cursors(this.#after);
    for (let after = this.#after; ; ) {
      const page = await this.#read(after);
      yield page;
      if (page.nextCursor === null) return;
      after = seen.add(page.nextCursor);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }
}
