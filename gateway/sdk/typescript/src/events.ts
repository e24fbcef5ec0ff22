import type * as core from "./core.js";

/** An event of a type that this version does not know. `originalType` is its type. */
export interface UnknownEvent {
  id: string;
  type: "unknown";
  originalType: string;
  occurredAt: string;
  environment: string;
  data: Record<string, unknown>;
}

/** A test was requested. It is sent only to the webhook of the key that requested it. */
export interface PingEvent {
  id: string;
  type: "ping";
  occurredAt: string;
  environment: core.Environment;
  data: Record<string, never>;
}

/** An event. Its `type` says what `data` is. Give your `switch` a default: later versions of the API have more types. */
export type GiftingEvent =
  | core.OrderCreatedEvent
  | core.OrderStatusChangedEvent
  | core.OrderUpdatedEvent
  | core.OrderMessagePostedEvent
  | core.PersonalLinkCreatedEvent
  | core.PersonalLinkApprovedEvent
  | core.PersonalLinkClaimedEvent
  | core.PersonalLinkCancelledEvent
  | PingEvent
  | UnknownEvent;

const known: Record<Exclude<GiftingEvent["type"], "unknown">, true> = {
  "order.created": true,
  "order.status_changed": true,
  "order.updated": true,
  "order.message_posted": true,
  "personal_link.created": true,
  "personal_link.approved": true,
  "personal_link.claimed": true,
  "personal_link.cancelled": true,
  ping: true,
};

/** Marks an event whose type is unknown. */
export function toEvent(event: { type: string }): GiftingEvent {
  if (Object.hasOwn(known, event.type)) return event as GiftingEvent;
  return { ...event, type: "unknown", originalType: event.type } as UnknownEvent;
}
