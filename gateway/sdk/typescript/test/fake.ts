import { Client, type ClientOptions } from "../src/index.js";

/** A request that a fake fetch got. */
export interface Sent {
  method: string;
  url: URL;
  headers: Headers;
  body: string | null;
}

export type Reply = Response | Error | ((sent: Sent, signal: AbortSignal) => Response | Promise<Response>);

export const json = (data: unknown, init: ResponseInit = {}) => new Response(JSON.stringify(data), init);

export const problem = (status: number, code: string, headers: Record<string, string> = {}, more: object = {}) =>
  new Response(JSON.stringify({ type: `https://docs/errors#${code}`, title: code, status, code, ...more }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });

/** A client whose requests are answered in order. */
export function client(replies: Reply[], options: Partial<ClientOptions> = {}): { client: Client; sent: Sent[] } {
  const sent: Sent[] = [];
  const fake = async (input: unknown, init: RequestInit = {}) => {
    const request = { method: init.method ?? "GET", url: new URL(String(input)), headers: new Headers(init.headers), body: init.body as string | null };
    const reply = replies[sent.length];
    sent.push(request);
    if (reply === undefined) throw new Error(`unexpected request ${sent.length}: ${request.url}`);
    if (reply instanceof Error) throw reply;
    return typeof reply === "function" ? reply(request, init.signal as AbortSignal) : reply;
  };
  return { client: new Client({ baseUrl: "https://api.example.com/v1/", key: "gft_sbx_test", fetch: fake as typeof fetch, ...options }), sent };
}
