import { webcrypto } from "./crypto.js";
import { checkSecret, refuseUnknown } from "./input.js";
import { WebhookVerificationError } from "./errors.js";
import { type GiftingEvent, toEvent } from "./events.js";

/** Headers of a request: those of fetch, or those of Node.js. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

export interface VerifyOptions {
  /** Seconds that the signature's time may be from the clock, 300 by default. */
  tolerance?: number;
  /** The clock, in seconds since 1970. */
  now?: number;
}

/**
 * Verifies a webhook and returns its event. It accepts both forms of signature: `Service-Signature`, and without it the headers of
 * Standard Webhooks.
 *
 * @param payload The raw body, as it arrived. A body that was parsed and written again has another signature.
 * @param secret The signing secret as text, 64 characters. While you rotate it, all that you accept.
 * @throws WebhookVerificationError if the request is not genuine.
 */
export async function verify(
  payload: string | Uint8Array | ArrayBuffer, headers: WebhookHeaders, secret: string | readonly string[], options: VerifyOptions = {},
): Promise<GiftingEvent> {
  const body = bytes(payload);
  refuseUnknown(options, ["tolerance", "now"], "option");
  for (const name of ["tolerance", "now"] as const) {
    const value = options[name] ?? 0;
    if (!Number.isFinite(value) || value < 0) throw new RangeError(`${name} must be a number of seconds`);
  }
  const secrets = Array.isArray(secret) && secret.length > 0 ? (secret as readonly string[]) : [secret as string];
  for (const one of secrets) checkSecret(one, "secret");
  const { time, prefix, signatures } = signed(headers);
  const now = options.now ?? Date.now() / 1000;
  if (!/^\d{1,15}$/.test(time)) throw new WebhookVerificationError("the signature has no time");
  if (Math.abs(Math.floor(now) - Number(time)) > (options.tolerance ?? 300)) throw new WebhookVerificationError("the signature is too old, or the clock is wrong");
  const { subtle } = await webcrypto();
  const content = joined(new TextEncoder().encode(`${prefix}.`), body);
  for (const one of secrets) {
    const key = await subtle.importKey("raw", new TextEncoder().encode(one), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of signatures) {
      // It compares in constant time.
      if (await subtle.verify("HMAC", key, signature, content)) return toEvent(JSON.parse(new TextDecoder().decode(body)) as { type: string });
    }
  }
  throw new WebhookVerificationError("no signature is right");
}

/** What the headers claim: the time, what was signed before the body, and the signatures. */
interface Claim {
  time: string;
  prefix: string;
  signatures: Uint8Array<ArrayBuffer>[];
}

function signed(headers: WebhookHeaders): Claim {
  const service = header(headers, "service-signature");
  if (service !== undefined) {
    const parts = service.split(",").map((part) => part.trim().split("=", 2));
    const time = parts.find(([name]) => name === "t")?.[1] ?? "";
    const signatures = parts.flatMap(([name, value]) => (name === "v1" && value !== undefined ? fromHex(value) : []));
    return { time, prefix: time, signatures };
  }
  const [id, time, standard] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => header(headers, name));
  if (id === undefined || time === undefined || standard === undefined) throw new WebhookVerificationError("the request has no signature");
  const signatures = standard.split(" ").flatMap((part) => (part.startsWith("v1,") ? fromBase64(part.slice(3)) : []));
  return { time, prefix: `${id}.${time}`, signatures };
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  // Not instanceof, because some servers have a Headers of their own.
  if (typeof headers.get === "function") return (headers as Headers).get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] as string | readonly string[] | undefined;
  return value === undefined || typeof value === "string" ? value : value.join(",");
}

function bytes(payload: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof payload === "string") return new TextEncoder().encode(payload);
  if (payload instanceof ArrayBuffer) return new Uint8Array(payload);
  if (payload instanceof Uint8Array) return new Uint8Array(payload);
  throw new TypeError("payload must be the raw body, a string or bytes, not what was parsed from it");
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

function fromHex(text: string): Uint8Array<ArrayBuffer>[] {
  if (!/^([0-9a-f]{2})+$/i.test(text)) return [];
  return [Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16))];
}

function fromBase64(text: string): Uint8Array<ArrayBuffer>[] {
  try {
    return [Uint8Array.from(atob(text), (character) => character.charCodeAt(0))];
  } catch {
    return [];
  }
}
