// The one place that asks the server.

/** What an answer about a corpus says about itself. */
export interface About {
  corpus: string;
  generation: number;
  query?: string;
  filter?: string;
  rule: string;
  exactness:
    | { kind: "exact" }
    | { kind: "estimate"; seen_tokens: number; of_tokens: number }
    | { kind: "sample"; hits: number; of_hits: number };
}

/** What every answer has. */
export interface Answer {
  link: string;
  about?: About;
  rewrites?: string[];
}

/** A corpus, as the list of corpora describes it. */
export interface Corpus {
  corpus: string;
  generation: number;
  tokens: number;
  documents: number;
  first_day: string | null;
  last_day: string | null;
  fields: string[];
  /** Which attributes of tokens have values. */
  attributes: string[];
  /** The morphological features of tokens, each with its values. */
  features: Record<string, string[]>;
  /** By whom the text was annotated, and how much of it. */
  layers: { by: string; tokens: number }[];
}

/** The parameters of a question; what is empty is left out. */
export type Parameters = Record<string, string | number | boolean | undefined>;

/** Why a question got no answer, for people. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly shown?: string,
  ) {
    super(message);
  }
}

const TOKEN = "tidings-token";
/** A busy server is asked again so often. */
const TRIES = 3;

/** The token for texts that not everybody may read; it is forgotten with the tab. */
export const token = {
  get: (): string | null => sessionStorage.getItem(TOKEN),
  set: (value: string): void => (value ? sessionStorage.setItem(TOKEN, value) : sessionStorage.removeItem(TOKEN)),
};

/** The address of a question, relative to the page, so that it also works below another address. */
export function address(path: string, parameters: Parameters = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") given.set(name, String(value));
  }
  const text = given.toString();
  return `api/v1/${path}${text && `?${text}`}`;
}

const pause = (seconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });

/** Sends a question; a server that has no time is asked again a little later. */
export async function send(link: string, signal?: AbortSignal): Promise<Response> {
  const secret = token.get();
  const headers: HeadersInit = secret ? { Authorization: `Bearer ${secret}` } : {};
  for (let tries = 1; ; tries += 1) {
    let response: Response;
    try {
      response = await fetch(link, { signal: signal ?? null, headers });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Refused("The server does not answer. Is `tidings serve` still running?", 0);
    }
    if (response.ok) return response;
    const wait = Number(response.headers.get("Retry-After") ?? Number.NaN);
    if ((response.status === 503 || response.status === 429) && wait <= 5 && tries < TRIES) {
      await pause(wait, signal);
      continue;
    }
    const body = (await response.json().catch(() => ({}))) as { error?: string; shown?: string };
    throw new Refused(body.error ?? `The server answered ${response.status}.`, response.status, body.shown);
  }
}

/** Asks, and reads the answer. */
export async function ask<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T & Answer> {
  return (await send(address(path, parameters), signal)).json() as Promise<T & Answer>;
}
