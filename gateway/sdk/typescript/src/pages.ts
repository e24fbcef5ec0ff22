import { GiftingError } from "./errors.js";

/** A page of a list. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
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
    let after = this.#after;
    for (;;) {
      const page = await this.#read(after);
      yield page;
      if (page.nextCursor === null) return;
      if (page.nextCursor === after) throw new GiftingError("a page has its own cursor as that of the next");
      after = page.nextCursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }
}
