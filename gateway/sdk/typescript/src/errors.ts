import type { FieldError, Problem } from "./core.js";

/** What an error says about the call that failed. */
export interface CallInfo {
  /** The attempts that were made. */
  attempts: number;
  /** The `Idempotency-Key` of a POST. With it and the same body, the call can be continued later without a second effect. */
  idempotencyKey: string | undefined;
}

/** Every error of this package. */
export class GiftingError extends Error {
  override name = "GiftingError";
}

/** The API refused the call, or failed. Branch on `code`. */
export class ApiError extends GiftingError implements CallInfo {
  override name = "ApiError";
  readonly status: number;
  /** Stable name of the error. New codes may be added. Empty if something before the API answered, such as a proxy. */
  readonly code: string;
  readonly title: string;
  /** What happened, in English. Not for parsing. */
  readonly detail: string | undefined;
  /** All invalid fields. */
  readonly errors: FieldError[];
  /** The current status of the record, on `not_editable`, `not_cancellable` and `precondition_failed`. */
  readonly currentStatus: string | undefined;
  /** The existing order, on `external_order_id_conflict`, if the key can see it. */
  readonly orderId: string | undefined;
  /** Id of the request. Quote it when you ask about it. */
  readonly requestId: string | undefined;
  /** Seconds that the server asks to wait. */
  readonly retryAfter: number | undefined;
  readonly headers: Headers;
  /** The body, with members that this version does not know. `undefined` if it is no problem document. */
  readonly problem: Problem | undefined;
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;

  constructor(response: Response, body: string, call: CallInfo) {
    const problem = parsed(body);
    const hint = response.status === 404 ? ": is baseUrl complete, such as https://api.example.com/api/public/v1?" : "";
    const title = problem?.title ?? `The response is no problem document${hint}`;
    const errors = Array.isArray(problem?.errors) ? problem.errors : [];
    const summary = [`${title} (${[problem?.code, response.status].filter(Boolean).join(" ")})`, problem?.detail].filter(Boolean).join(": ");
    super([summary, ...errors.map(({ field, message, code }) => `${field}: ${message} (${code})`)].join("; "));
    this.problem = problem;
    this.title = title;
    this.status = response.status;
    this.code = problem?.code ?? "";
    this.detail = problem?.detail;
    this.errors = errors;
    this.currentStatus = problem?.currentStatus;
    this.orderId = problem?.orderId;
    this.requestId = response.headers.get("Request-Id") ?? undefined;
    this.retryAfter = seconds(response.headers.get("Retry-After"));
    this.headers = response.headers;
    this.attempts = call.attempts;
    this.idempotencyKey = call.idempotencyKey;
  }

  /** The violation of a field, such as `recipient.phone`. */
  field(path: string): FieldError | undefined {
    return this.errors.find((error) => error.field === path);
  }
}

/** A read with `ifNoneMatch`: your copy is current. */
export class NotModifiedError extends GiftingError {
  override name = "NotModifiedError";
}

/** The feed does not go on from this cursor: events after it are no longer kept. Load all records again, then follow the feed without a cursor. */
export class EventsLostError extends GiftingError {
  override name = "EventsLostError";
}

/** There was no whole answer. A POST may have taken effect: call again with the same `idempotencyKey` and body to learn its outcome. */
export class ConnectionError extends GiftingError implements CallInfo {
  override name = "ConnectionError";
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;

  constructor(cause: unknown, call: CallInfo) {
    super(`no answer: ${reason(cause)}`, { cause });
    this.attempts = call.attempts;
    this.idempotencyKey = call.idempotencyKey;
  }
}

/** The message of an error, with the code of its cause: that of fetch says only that it failed. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error.cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? `${error.message} (${code})` : error.message;
}

/** A request that is no genuine webhook. Answer it with 401. */
export class WebhookVerificationError extends GiftingError {
  override name = "WebhookVerificationError";
}

/** Whether the contract lets a client repeat the call as it was. */
export function retryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return !permanent(error);
  if (!(error instanceof ApiError)) return false;
  return error.status >= 500 || error.status === 429 || error.code === "idempotency_request_in_progress";
}

/** Of Node.js, for a certificate that is not trusted. */
const untrusted = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "CERT_REVOKED", "CERT_UNTRUSTED", "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** Whether another attempt would meet the same: an answer that is not JSON, or a certificate that is not trusted. */
function permanent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof SyntaxError || untrusted.has((error as { code?: string }).code ?? "") || permanent(error.cause);
}

function parsed(body: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && typeof (value as Problem).code === "string") return value as Problem;
  } catch {
    // A proxy may answer with a page.
  }
  return undefined;
}

/** Longer than any call lasts. A timer of more than 24 days would end at once. */
const maxRetryAfter = 24 * 60 * 60;

/** Retry-After has seconds, or a date if a proxy wrote it. */
function seconds(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value), maxRetryAfter);
  if (!/[a-z]/i.test(value)) return undefined; // It would be read as a date too: 2.5 as the 5th of February 2001.
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, (at - Date.now()) / 1000), maxRetryAfter);
}
