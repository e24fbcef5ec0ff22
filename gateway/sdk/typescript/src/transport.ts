import type { paths } from "./core.js";
import { bodyText, checkLimits, checkSecret, queryText, refuseUnknown } from "./input.js";
import { ApiError, type CallInfo, ConnectionError, GiftingError, NotModifiedError, retryable } from "./errors.js";
import { randomUUID } from "./crypto.js";
import { IgnoredNames } from "./ignored.js";
import { version } from "./version.js";

/** How to reach the API. */
export interface ClientOptions {
  /** Base address, such as `https://sandbox.example.com/api/public/v1`. Plain http only for this machine. */
  baseUrl: string;
  /** The API key, `gft_live_…` or `gft_sbx_…`. */
  key: string;
  /** Sends requests, for instance through a proxy. By default the runtime's own `fetch`. */
  fetch?: typeof fetch;
  /** Milliseconds for one attempt, 15,000 by default. A call that waits for events has its `wait` on top. */
  attemptTimeout?: number;
  /** Milliseconds for a call with all attempts and pauses, 120,000 by default. */
  timeout?: number;
  /** Attempts of a call, 5 by default. */
  maxAttempts?: number;
  /** Goes before the package's own name in `User-Agent`, such as `shop/2.1`. */
  userAgent?: string;
  /** Is told once of each member and parameter that the API ignored, by default `console.warn`. */
  onWarning?: (message: string) => void;
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
  /** Replace those of the client. */
  attemptTimeout?: number;
  timeout?: number;
  maxAttempts?: number;
  /** Further headers. */
  headers?: Record<string, string>;
  /** Forces the first answer, to see what your code does then. Only in the sandbox. */
  sandboxFault?: "429" | "500" | "503" | "timeout" | "lost" | "in-progress";
  /** Gets status and headers of the successful response. */
  onResponse?: (info: ResponseInfo) => void;
}

/** Options of a read that has an `ETag`. */
export interface ReadOptions extends CallOptions {
  /** The `etag` of your copy. If it is current, the call throws `NotModifiedError`. */
  ifNoneMatch?: string;
}

/** Options of a POST. */
export interface PostOptions extends CallOptions {
  /** Identifies the operation over all its attempts, for 30 days. A random one by default. */
  idempotencyKey?: string;
}

/** Options of an action on an order. */
export interface ActionOptions extends PostOptions {
  /** The `etag` of the order that you read. If it has changed since, the call fails with `precondition_failed`. */
  ifMatch?: string;
}

/** What a response says besides its body. */
export interface ResponseInfo {
  status: number;
  headers: Headers;
  /** Id of the request. Quote it when you ask about it. */
  requestId: string | undefined;
  /** Send it as `ifNoneMatch` or `ifMatch`. */
  etag: string | undefined;
  /** Whether this is the stored response to an earlier request with the same `Idempotency-Key`. */
  replayed: boolean;
  attempts: number;
}

/** A request without what all have in common. */
export interface Request {
  method: "GET" | "POST";
  /** The path as in the document. */
  path: keyof paths;
  params?: Record<string, string>;
  query?: object | undefined;
  body?: unknown;
  /** The condition that it obeys. */
  condition?: "ifNoneMatch" | "ifMatch";
  /** A POST that takes no `Idempotency-Key`. */
  withoutKey?: boolean;
  /** No key is sent, and the body is returned as bytes. */
  image?: boolean;
  /** Milliseconds that the server may hold the request. */
  held?: number;
}

export interface Answer<T> extends ResponseInfo {
  data: T;
}

/** The options of each kind of call together. */
export type AnyOptions = ReadOptions & ActionOptions;

/** It does not compile without an option of all calls, or of the client. */
const callOptions = Object.keys({
  signal: true, attemptTimeout: true, timeout: true, maxAttempts: true, headers: true, sandboxFault: true, onResponse: true,
} satisfies Record<keyof CallOptions, true>);
const clientOptions = Object.keys({
  baseUrl: true, key: true, fetch: true, attemptTimeout: true, timeout: true, maxAttempts: true, userAgent: true, onWarning: true,
} satisfies Record<keyof ClientOptions, true>);

const baseDelay = 500;
const maxDelay = 8_000;
/** The longest time of a timer. A longer one would end at once. */
const maxTimer = 2 ** 31 - 1;
/** More bytes than any response of the API has. */
const maxResponse = 64 * 2 ** 20;

/** Milliseconds before the next attempt: what the server asks for, or else twice as long each time, with some randomness. */
export function pause(attempts: number, retryAfter: number | undefined): number {
  if (retryAfter !== undefined) return retryAfter * 1000 + Math.random() * baseDelay;
  return Math.min(maxDelay, baseDelay * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);
}

/** Sends requests as the API asks: authenticated, with a time limit, and again when that can help. */
export class Transport {
  readonly #options: Required<Omit<ClientOptions, "userAgent" | "onWarning">>;
  readonly #ignored: IgnoredNames;
  readonly #userAgent: string;

  constructor(options: ClientOptions) {
    refuseUnknown(options, clientOptions, "option");
    if (typeof options?.baseUrl !== "string" || options.baseUrl === "") throw new TypeError("baseUrl is empty: is the variable set from which it comes?");
    checkSecret(options.key, "key");
    const base = new URL(options.baseUrl);
    const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(base.hostname);
    if (base.protocol !== "https:" && !(local && base.protocol === "http:")) throw new TypeError("baseUrl must begin with https://");
    if (/[?#]/.test(options.baseUrl) || base.username !== "" || base.password !== "") throw new TypeError("baseUrl must have no query, no fragment and no user");
    if (!/^[!-~]+$/.test(options.key)) throw new TypeError("key has characters that no key has");
    this.#options = {
      baseUrl: options.baseUrl.replace(/\/+$/, ""),
      key: options.key,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      attemptTimeout: options.attemptTimeout ?? 15_000,
      timeout: options.timeout ?? 120_000,
      maxAttempts: options.maxAttempts ?? 5,
    };
    checkLimits(options);
    this.#ignored = new IgnoredNames(options.onWarning ?? ((message) => console.warn(message)));
    this.#userAgent = [options.userAgent, `partnergifting-typescript/${version}`].filter(Boolean).join(" ");
  }

  /** Sends a request until it is answered, or until another attempt cannot help. */
  async send<T>(request: Request, options: AnyOptions = {}): Promise<Answer<T>> {
    const url = this.check(request, options);
    const headers = await this.#headers(request, options);
    const body = request.body === undefined ? undefined : bodyText(request.body);
    const held = request.held ?? 0;
    const deadline = Date.now() + (options.timeout ?? this.#options.timeout) + held;
    const maxAttempts = options.maxAttempts ?? this.#options.maxAttempts;
    for (let attempts = 1; ; attempts++) {
      const call = { attempts, idempotencyKey: headers.get("Idempotency-Key") ?? undefined };
      try {
        const left = Math.min(deadline - Date.now(), (options.attemptTimeout ?? this.#options.attemptTimeout) + held);
        const init = { method: request.method, headers, body: body ?? null };
        const answer = await this.#attempt<T>(url, init, request, left, options.signal, call);
        this.#ignored.report(`${request.method} ${request.path}`, answer.headers);
        options.onResponse?.(answer);
        return answer;
      } catch (error) {
        if (error instanceof ApiError) this.#ignored.report(`${request.method} ${request.path}`, error.headers);
        if (options.signal?.aborted || !retryable(error) || attempts >= maxAttempts) throw error;
        const wait = pause(attempts, error instanceof ApiError ? error.retryAfter : undefined);
        if (Date.now() + wait >= deadline) throw error;
        await sleep(wait, options.signal);
      }
      headers.delete("Sandbox-Fault");
    }
  }

  async #attempt<T>(
    url: string, init: RequestInit, request: Request, timeout: number, signal: AbortSignal | undefined, call: CallInfo,
  ): Promise<Answer<T>> {
    const limit = new Limit(timeout, signal);
    try {
      const response = await this.#options.fetch(url, { ...init, redirect: "manual", signal: limit.signal });
      if (response.status === 304) throw new NotModifiedError("your copy is current");
      const content = await read(response);
      if (!response.ok) throw new ApiError(response, new TextDecoder().decode(content), call);
      const data = (request.image ? content : fromJSON(content)) as T;
      return { ...info(response, call.attempts), data };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof GiftingError) throw error;
      throw new ConnectionError(limit.signal.aborted ? limit.signal.reason : error, call);
    } finally {
      limit.end();
    }
  }

  /** Refuses what the operation does not take, and returns the address. */
  check(request: Request, options: object | undefined): string {
    const known = [...callOptions];
    if (request.method === "POST" && !request.withoutKey) known.push("idempotencyKey");
    if (request.condition) known.push(request.condition);
    refuseUnknown(options, known, "option");
    checkLimits(options);
    if ((options as AnyOptions | undefined)?.idempotencyKey === "") throw new TypeError("idempotencyKey is empty: is the variable set from which it comes?");
    const path = request.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, request.params?.[name]));
    const query = queryText(request.path, request.query);
    return this.#options.baseUrl + path + (query === "" ? "" : `?${query}`);
  }

  async #headers(request: Request, options: AnyOptions): Promise<Headers> {
    const headers = new Headers(options.headers);
    if (!request.image) headers.set("Accept", "application/json");
    if (!request.image) headers.set("Authorization", `Bearer ${this.#options.key}`);
    headers.set("User-Agent", this.#userAgent);
    if (request.body !== undefined) headers.set("Content-Type", "application/json");
    if (request.method === "POST" && !request.withoutKey) {
      // One in options.headers counts too: replaced, a repeated call would take effect twice.
      headers.set("Idempotency-Key", options.idempotencyKey ?? headers.get("Idempotency-Key") ?? (await randomUUID()));
    }
    if (options.ifNoneMatch !== undefined) headers.set("If-None-Match", options.ifNoneMatch);
    if (options.ifMatch !== undefined) headers.set("If-Match", options.ifMatch);
    if (options.sandboxFault !== undefined) headers.set("Sandbox-Fault", options.sandboxFault);
    return headers;
  }
}

/** An id in a path. Without one, or with dots, the path would be that of another operation. */
function segment(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "" || value === "." || value === "..") throw new TypeError(`${name} is no id: ${JSON.stringify(value)}`);
  return encodeURIComponent(value);
}

/** Reads the body, unless it has no end. */
async function read(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
    chunks.push(next.value);
    size += next.value.length;
    if (size <= maxResponse) continue;
    reader?.cancel().catch(() => {});
    throw new GiftingError("the response is too large");
  }
  const content = new Uint8Array(size);
  for (const chunk of chunks.reverse()) content.set(chunk, (size -= chunk.length));
  return content;
}

function fromJSON(content: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(content));
  } catch (cause) {
    throw new SyntaxError("the response is not JSON: something before the API may have answered", { cause });
  }
}

function info(response: Response, attempts: number): ResponseInfo {
  return {
    status: response.status,
    headers: response.headers,
    requestId: response.headers.get("Request-Id") ?? undefined,
    etag: response.headers.get("ETag") ?? undefined,
    replayed: response.headers.get("Idempotent-Replayed") === "true",
    attempts,
  };
}

/** Ends an attempt after its time, or when its caller cancels. AbortSignal.any is too new for Node.js 18. */
class Limit {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #caller: AbortSignal | undefined;
  readonly #cancel = () => this.#controller.abort(this.#caller?.reason);

  constructor(timeout: number, caller: AbortSignal | undefined) {
    this.#caller = caller;
    caller?.throwIfAborted();
    this.#timer = setTimeout(() => this.#controller.abort(new Error(`timed out after ${timeout} ms`)), Math.min(timeout, maxTimer));
    caller?.addEventListener("abort", this.#cancel, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#cancel);
  }
}

/** Waits, unless the caller cancels. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const cancel = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", cancel);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", cancel, { once: true });
  });
}
