import type { Product, ProductEntry } from "./core.js";

/** Where a copy of the catalog is, to store with it. The next sync continues there. */
export interface CatalogPosition {
  country: string;
  locale?: string | undefined;
  /** Absent before the first sync. */
  updatedSince?: string | undefined;
}

/** Your copy of the catalog of one country and locale. A promise is awaited. */
export interface CatalogCopy {
  /** Stores a gift, or replaces it. Show it only while `available`. */
  put(product: Product): unknown;
  /** Removes a gift that left the catalog. It may be unknown. */
  remove(productId: string): unknown;
}

/** The overlap with the last sync, so that a change that was just being saved then is not missed. */
const overlap = 5 * 60 * 1000;

/**
 * Applies entries of the catalog to a copy, and returns where the next sync continues. That is not after the server's time of the first
 * response, if it said so: while a long sync goes on, a gift may change on a page already read, and later pages may have newer changes.
 */
export async function apply(
  entries: AsyncIterable<ProductEntry>, position: CatalogPosition, copy: CatalogCopy, began: () => number,
): Promise<CatalogPosition> {
  const before = position.updatedSince ? Date.parse(position.updatedSince) + overlap : -Infinity; // A database may return null.
  let newest = before;
  for await (const entry of entries) {
    await (entry.listed ? copy.put(entry) : copy.remove(entry.id));
    newest = Math.max(newest, Date.parse(entry.updatedAt));
  }
  if (began() < newest) newest = Math.max(before, began());
  return newest === -Infinity ? position : { ...position, updatedSince: new Date(newest - overlap).toISOString() };
}
