// Calls of the API with the key of this tab. The key is in sessionStorage, which only this tab reads, and in the header of requests.

const slot = "gifting-key";

export const key = {
  read: () => sessionStorage.getItem(slot),
  keep: (value) => sessionStorage.setItem(slot, value),
  forget: () => sessionStorage.removeItem(slot),
};

const sentences = (errors) => (errors ?? []).map((e) => [e.field, e.message].filter(Boolean).join(" "));

// Refusal is an answer that is an error, in the words of its problem.
export class Refusal extends Error {
  constructor(status, problem, retryAfter) {
    super([problem.detail ?? problem.title ?? `The gateway answered ${status}.`, ...sentences(problem.errors)].join(" — "));
    Object.assign(this, { status, problem, retryAfter });
  }
}

// request prepares a call, so that it can be shown before it is sent. Each POST has an Idempotency-Key of its own.
export function request(method, path, body) {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  return method === "POST" ? { method, path, body: body ?? {}, id } : { method, path };
}

// send returns the answer and its headers, or throws a Refusal. A fault is the answer that the sandbox is asked to force.
export async function send({ method, path, body, id, fault }, signal) {
  const headers = { Authorization: `Bearer ${key.read()}`, ...(fault && { "Sandbox-Fault": fault }) };
  if (method === "POST") Object.assign(headers, { "Content-Type": "application/json", "Idempotency-Key": id });
  const init = { method, headers, body: body && JSON.stringify(body), signal, credentials: "omit", cache: "no-store" };
  const response = await fetch(document.body.dataset.api + path, init);
  const answer = await response.json().catch(() => ({}));
  signal.throwIfAborted();
  if (response.ok) return { status: response.status, answer, headers: response.headers };
  const refusal = new Refusal(response.status, answer, Number(response.headers.get("Retry-After")) || 0);
  throw Object.assign(refusal, { headers: response.headers });
}

// outcome is what an answer says, and whether that is wrong: for the test of a webhook what its receiver answered, and for a batch why
// recipients were rejected.
export function outcome({ responseStatus, error, results }) {
  const wrong = error ?? sentences(results?.flatMap(({ errors }) => errors ?? [])).join(" — ");
  if (wrong) return { says: wrong, wrong: true };
  return { says: responseStatus ? `the receiver answered ${responseStatus}.` : "done.", wrong: false };
}

// rate reads what is left of the key's limit.
export function rate(headers) {
  const left = /r=(\d+)/.exec(headers?.get("RateLimit") ?? "");
  const limit = /q=(\d+)/.exec(headers?.get("RateLimit-Policy") ?? "");
  return left && limit ? { left: Number(left[1]), limit: Number(limit[1]) } : null;
}

// curl is the command that sends the call, with the key as a variable.
export function curl({ method, path, body, id, fault }) {
  const lines = [`curl ${method === "POST" ? "-X POST " : ""}"$GIFTING_URL${path}"`, '-H "Authorization: Bearer $GIFTING_KEY"'];
  if (method === "POST") {
    lines.push(`-H "Idempotency-Key: ${id}"`, '-H "Content-Type: application/json"');
    if (fault) lines.push(`-H "Sandbox-Fault: ${fault}"`);
    lines.push(`-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n  ");
}
