/** Headers that name what the API ignored, with a word for it. */
const ignored = { "Ignored-Members": "member", "Ignored-Parameters": "parameter" };

/** More names than a program misspells. Made-up names must not fill the memory. */
const maxNames = 1000;

/** Warns of each name once that the API ignored: it is probably misspelt, and what it should do did not happen. */
export class IgnoredNames {
  readonly #warned = new Set<string>();
  readonly #warn: (message: string) => void;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Reads the headers of a response. `operation` is method and path of the request. */
  report(operation: string, headers: Headers): void {
    for (const [header, kind] of Object.entries(ignored)) {
      for (const name of names(headers.get(header) ?? "")) {
        const once = `${operation} ${kind} ${name.replace(/\[\d+\]/g, "[]")}`;
        if (this.#warned.has(once) || this.#warned.size >= maxNames) continue;
        this.#warned.add(once);
        this.#warn(`${operation}: the API ignored the ${kind} ${name}, perhaps because it is misspelt`);
      }
    }
  }
}

/** The items of a list (RFC 8941): strings, or plain words. */
function names(list: string): string[] {
  return Array.from(list.matchAll(/"((?:[^"\\]|\\.)*)"|[^",\s]+/g), ([whole, text]) => text?.replace(/\\(.)/g, "$1") ?? whole);
}
