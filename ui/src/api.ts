// The HTTP client of the API.

/** Corpus, state, query and exactness of an answer. */
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

/** Properties of every answer. */
export interface Answer {
  link: string;
  about?: About;
  rewrites?: string[];
}

/** A corpus in the list of corpora. */
export interface Corpus {
  corpus: string;
  generation: number;
  tokens: number;
  documents: number;
  first_day: string | null;
  last_day: string | null;
  fields: string[];
  /** Token attributes that have values. */
  attributes: string[];
  /** Morphological features with their values. */
  features: Record<string, string[]>;
  /** Annotators, with the number of tokens each has annotated. */
  layers: { by: string; tokens: number }[];
}

/** Parameters of a request; empty ones are left out. */
export type Parameters = Record<string, string | number | boolean | undefined>;

/** An error response of the API. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly shown?: string,
  ) {
    super(message);
  }
}

const TOKEN = "tidings-token";
/** Attempts at a busy server. */
const TRIES = 3;

/** The access token, kept for the session of the tab. */
export const token = {
  get: (): string | null => sessionStorage.getItem(TOKEN),
  set: (value: string): void => (value ? sessionStorage.setItem(TOKEN, value) : sessionStorage.removeItem(TOKEN)),
};

/** The URL of a request, relative to the page, so that the page also works below a path prefix. */
export function address(path: string, parameters: Parameters = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
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
      throw new ApiError("No response from the server. Is `tidings serve` still running?", 0);
    }
    if (response.ok) return response;
    const wait = Number(response.headers.get("Retry-After") ?? Number.NaN);
    if ((response.status === 503 || response.status === 429) && wait <= 5 && tries < TRIES) {
      await pause(wait, signal);
      continue;
    }
    const body = (await response.json().catch(() => ({}))) as { error?: string; shown?: string };
    throw new ApiError(body.error ?? `The server returned status ${response.status}.`, response.status, body.shown);
  }
}

/** Sends a request and reads the answer. */
export async function request<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T & Answer> {
  return (await send(address(path, parameters), signal)).json() as Promise<T & Answer>;
}
