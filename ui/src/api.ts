// The HTTP client of the API.

import { type CorpusRow, type Endpoints, PATHS } from "./generated/api.ts";
import { t } from "./text/index.ts";

/** A corpus in the list of corpora. */
export type Corpus = CorpusRow;

/** An endpoint of the API. */
export type Endpoint = keyof Endpoints;

/** The answer of an endpoint. */
export type AnswerOf<E extends Endpoint> = Endpoints[E]["answer"];

/** Parameters of an endpoint, as the URL of the page has them; empty ones are left out. */
export type ParametersOf<E extends Endpoint> = {
  [Name in keyof Endpoints[E]["request"]]?: string | number | boolean | undefined;
};

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
export function address<E extends Endpoint>(endpoint: E, lang: string, parameters: ParametersOf<E> = {}): string {
  const params = new URLSearchParams();
  const values = new Map<string, unknown>([["lang", lang], ...Object.entries(parameters)]);
  // Braces in the path take the value of the parameter of that name.
  const path = PATHS[endpoint].slice(1).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values.get(name) ?? "");
    values.delete(name);
    return encodeURIComponent(value);
  });
  values.delete("lang");
  // The question comes first in the URL, then the document filter.
  for (const name of ["filter", "in"]) {
    const value = values.get(name);
    if (values.delete(name)) values.set(name, value);
  }
  for (const [name, value] of values) {
    if (value !== undefined && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return `${path}${text && `?${text}`}`;
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
      throw new ApiError(t("No response from the server. Is `tidings serve` still running?"), 0);
    }
    if (response.ok) return response;
    const wait = Number(response.headers.get("Retry-After") ?? Number.NaN);
    if ((response.status === 503 || response.status === 429) && wait <= 5 && tries < TRIES) {
      await pause(wait, signal);
      continue;
    }
    const body = (await response.json().catch(() => ({}))) as { error?: string; shown?: string };
    throw new ApiError(
      body.error ?? t("The server returned status {status}.", { status: response.status }),
      response.status,
      body.shown,
    );
  }
}

/** Sends a request and reads the answer. */
export async function request<E extends Endpoint>(
  endpoint: E,
  lang = "",
  parameters: ParametersOf<E> = {},
  signal?: AbortSignal,
): Promise<AnswerOf<E>> {
  return (await send(address(endpoint, lang, parameters), signal)).json() as Promise<AnswerOf<E>>;
}

/** Sends a change to the home of the corpus, which only its owner may make. */
export async function change<Answer>(path: string, body: unknown, method = "POST"): Promise<Answer> {
  const secret = token.get();
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (secret) headers.Authorization = `Bearer ${secret}`;
  const response = await fetch(path, { method, headers, body: JSON.stringify(body) });
  const answer = (await response.json().catch(() => ({}))) as Answer & { error?: string };
  if (!response.ok)
    throw new ApiError(
      answer.error ?? t("The server returned status {status}.", { status: response.status }),
      response.status,
    );
  return answer;
}
