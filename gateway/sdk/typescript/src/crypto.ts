/** A variable, so that bundlers for browsers do not look for the module. */
const nodeCrypto = "node:crypto";

/** WebCrypto. Node.js 18 has it, but not as a global. */
export async function webcrypto(): Promise<Crypto> {
  return globalThis.crypto ?? ((await import(nodeCrypto)) as { webcrypto: Crypto }).webcrypto;
}

/** A random UUID, also where crypto.randomUUID is missing, such as on pages without https. */
export async function randomUUID(): Promise<string> {
  const bytes = (await webcrypto()).getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
