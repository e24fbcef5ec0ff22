/**
 * The Partner Gifting API.
 *
 * @module
 */
export { Client, type ImageFile } from "./client.js";
export type * from "./core.js";
export { ApiError, type CallInfo, ConnectionError, EventsLostError, GiftingError, NotModifiedError, retryable, WebhookVerificationError } from "./errors.js";
export type { GiftingEvent, PingEvent, UnknownEvent } from "./events.js";
export { Feed, type FeedOptions, type FeedPage } from "./feed.js";
export { List, type Page } from "./pages.js";
export type { CatalogCopy, CatalogPosition } from "./sync.js";
export type { ActionOptions, CallOptions, ClientOptions, PostOptions, ReadOptions, ResponseInfo } from "./transport.js";
export { version } from "./version.js";
export * as webhooks from "./webhooks.js";
