import type { CatalogCopy, CatalogPosition } from "./sync.js";
import { apply } from "./sync.js";
import type { EventPage } from "./core.js";
import { type GiftingEvent, toEvent } from "./events.js";
import { Feed, type FeedOptions } from "./feed.js";
import type { Filter } from "./input.js";
import type { Page } from "./pages.js";
import * as resources from "./resources.js";
import { type CallOptions, type ClientOptions, type ReadOptions, type ResponseInfo, Transport } from "./transport.js";

/** An image. */
export interface ImageFile {
  data: Uint8Array;
  contentType: string;
}

class Catalog extends resources.Catalog {
  readonly #http: Transport;

  constructor(http: Transport) {
    super(http);
    this.#http = http;
  }

  /** An image, by the id in its address. No key is sent. */
  async image(fileId: string, options?: ReadOptions): Promise<ImageFile> {
    const request = { method: "GET", condition: "ifNoneMatch", path: "/catalog/images/{fileId}", params: { fileId }, image: true } as const;
    const { data, headers } = await this.#http.send<Uint8Array>(request, options);
    return { data, contentType: headers.get("Content-Type") ?? "" };
  }

  /**
   * Brings a copy of the catalog up to date. The first time, pass a country and perhaps a locale, and an empty copy. Store what it
   * returns with the copy, and pass that the next time. After an error pass the old position again: changes may be applied twice.
   */
  sync(position: CatalogPosition, copy: CatalogCopy, options?: CallOptions): Promise<CatalogPosition> {
    const { country, locale, updatedSince } = position;
    let began = NaN;
    const onResponse = (info: ResponseInfo) => {
      if (Number.isNaN(began)) began = Date.parse(info.headers.get("Date") ?? "");
      options?.onResponse?.(info);
    };
    const query = { country, ...(locale && { locale }), ...(updatedSince && { updatedSince }), limit: 100 };
    return apply(this.products(query, { ...options, onResponse }), position, copy, () => began);
  }
}

class Events {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** Reads one page of the feed. */
  async list(query: Filter<"listEvents"> & { from?: "start" | "end" } = {}, options?: CallOptions): Promise<Page<GiftingEvent>> {
    if (query.from === "end" && query.wait && !query.after) {
      // The end is a cursor first, without a wait: if that call were held and lost, the next would begin after what it waited for.
      const { from, wait, ...others } = query;
      const { onResponse, ...call } = options ?? {};
      const { nextCursor } = await this.list({ from, ...others }, call);
      query = { ...others, after: nextCursor!, wait };
    }
    const { data } = await this.#http.send<EventPage>({ method: "GET", path: "/events", query, held: (query.wait ?? 0) * 1000 }, options);
    return { ...data, items: data.items.map(toEvent) };
  }

  /** Follows the feed. */
  feed(options: FeedOptions = {}): Feed {
    const { after, from, limit, follow, wait, onDisconnect, ...call } = options;
    return new Feed(
      (query) => this.#http.send({ method: "GET", path: "/events", query, held: (query.wait ?? 0) * 1000 }, { ...call, maxAttempts: 1 }),
      options,
    );
  }
}

/** Calls the API with one key. */
export class Client {
  readonly account: resources.Account;
  readonly brands: resources.Brands;
  readonly campaigns: resources.Campaigns;
  readonly catalog: Catalog;
  readonly events: Events;
  readonly orders: resources.Orders;
  readonly personalLinks: resources.PersonalLinks;
  readonly sandbox: resources.Sandbox;
  readonly webhooks: resources.Webhooks;

  constructor(options: ClientOptions) {
    const http = new Transport(options);
    this.account = new resources.Account(http);
    this.brands = new resources.Brands(http);
    this.campaigns = new resources.Campaigns(http);
    this.catalog = new Catalog(http);
    this.events = new Events(http);
    this.orders = new resources.Orders(http);
    this.personalLinks = new resources.PersonalLinks(http);
    this.sandbox = new resources.Sandbox(http);
    this.webhooks = new resources.Webhooks(http);
  }
}
