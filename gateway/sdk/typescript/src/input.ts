import type { operations, paths } from "./core.js";

type Query<Operation extends keyof operations> = NonNullable<operations[Operation]["parameters"]["query"]>;
type Times = "updatedSince" | "since" | "from" | "to";

/** The same members, with times that may also be a Date. */
export type WithDates<T> = { [Name in keyof T]: Name extends Times ? T[Name] | Date : T[Name] };

/** What chooses and filters the records of an operation. */
export type Filter<Operation extends keyof operations> = WithDates<Query<Operation>>;

/** The names of a path's parameters of the query. */
type Names<Found> = [NonNullable<Found>] extends [never] ? never : keyof NonNullable<Found>;
type Parameters<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Found } } }
  ? Names<Found> | (Path extends "/events" ? "from" : never)
  : never;

/** The parameters of the query of each path that has any. It does not compile without one of the document. */
const parameters: { [Path in keyof paths as [Parameters<Path>] extends [never] ? never : Path]: Record<Parameters<Path>, true> } = {
  "/campaigns": { brandId: true, status: true, after: true, limit: true },
  "/campaigns/{campaignId}": { locale: true },
  "/catalog/products": { country: true, locale: true, updatedSince: true, after: true, limit: true },
  "/catalog/products/{productId}": { country: true, locale: true },
  "/catalog/categories": { locale: true },
  "/orders": { externalOrderId: true, externalRecipientId: true, status: true, brandId: true, updatedSince: true, after: true, limit: true },
  "/personal-links": { externalRecipientId: true, campaignId: true, status: true, updatedSince: true, after: true, limit: true },
  "/events": { after: true, from: true, limit: true, wait: true },
  "/webhooks/deliveries": { state: true, type: true, eventId: true, since: true, after: true, limit: true },
};

/** Writes the query. A name that is none of the path's would otherwise be a filter that is silently not applied. */
export function queryText(path: keyof paths, query: object | undefined): string {
  const known = Object.hasOwn(parameters, path) ? parameters[path as keyof typeof parameters] : {};
  refuseUnknown(query, Object.keys(known), "parameter");
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    const written = member(value, name);
    if (written === undefined || written === null) continue;
    if (typeof written === "object") throw new TypeError(`${name} must be one value, not ${kindOf(value)}`);
    text.set(name, String(written));
  }
  return text.toString();
}

/** Refuses names that mean nothing, so that a misspelt one does not silently have no effect. */
export function refuseUnknown(given: object | undefined, known: readonly string[], what: string): void {
  if (given !== undefined && (typeof given !== "object" || given === null)) throw new TypeError(`${what}s must be an object, not ${kindOf(given)}`);
  for (const name of Object.keys(given ?? {})) {
    if (!known.includes(name)) throw new TypeError(`${JSON.stringify(name)} is no ${what} of this call; it takes ${known.join(", ") || "none"}`);
  }
}

/** What JSON writes, but a value that it would drop, change or refuse without a name is refused by its path. */
export function bodyText(body: unknown): string {
  return JSON.stringify(member(body, ""));
}

function member(value: unknown, path: string): unknown {
  switch (typeof value) {
    case "bigint":
    case "function":
    case "symbol":
      break;
    case "number":
      if (Number.isFinite(value)) return value;
      break;
    case "object":
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((item, index) => element(item, `${path}[${index}]`));
      if (value instanceof Date && Number.isNaN(value.getTime())) throw new TypeError(`${path || "the body"} is an invalid Date`);
      if ("toJSON" in value && typeof value.toJSON === "function") return (value.toJSON as () => unknown)();
      if (value instanceof Map || value instanceof Set) break;
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, member(one, path === "" ? name : `${path}.${name}`)]));
    default:
      return value;
  }
  throw new TypeError(`${path || "the body"} has a value that JSON does not have: ${kindOf(value)}`);
}

/** An item of an array, where JSON would write undefined as null. */
function element(item: unknown, path: string): unknown {
  if (item === undefined) throw new TypeError(`${path} is undefined`);
  return member(item, path);
}

function kindOf(value: unknown): string {
  if (typeof value === "object" && value !== null) return value.constructor?.name ?? "Object";
  return typeof value === "number" ? String(value) : typeof value;
}

/** Refuses a key or secret that cannot be one, by its name: most often a variable that is not set, or a line break that was pasted. */
export function checkSecret(value: unknown, name: string): void {
  if (typeof value !== "string" || value === "") throw new TypeError(`${name} is empty: is the variable set from which it comes?`);
  if (/\s/.test(value)) throw new TypeError(`${name} has a line break or a space, perhaps pasted with it`);
}

/** Refuses limits that are none. Above all a text, as of a variable of the environment: added to a number, it would become a longer text. */
export function checkLimits(limits: { attemptTimeout?: unknown; timeout?: unknown; maxAttempts?: unknown } = {}): void {
  for (const name of ["attemptTimeout", "timeout", "maxAttempts"] as const) {
    const limit = limits[name] ?? 1;
    if (typeof limit !== "number" || !(limit > 0)) throw new RangeError(`${name} must be a positive number`);
  }
}
