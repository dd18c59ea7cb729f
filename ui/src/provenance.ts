// Where an answer comes from: the state of the corpus, permanent link, API requests, full results, citation.

import { copyButton, el } from "./dom.ts";
import { type Citation, apa, bibtex, plain } from "./citation.ts";
import { language } from "./format.ts";
import { t } from "./text/index.ts";
import type { View, ViewContext } from "./view.ts";

/** Endpoints whose rows are limited by `limit`. */
const LIMITED = /\/(bursts|colloc|compare|freq|keywords|names|new-words|quotes|trends|words)(\?|$)/;
/** The most rows that an endpoint gives. */
const MOST_ROWS = "10000";

/** The address of all rows of a request in a format. */
export function fullResult(request: string, format: "csv" | "jsonl"): string {
  const [path, query = ""] = request.split("?");
  const params = new URLSearchParams(query);
  for (const name of ["size", "cursor", "sample"]) params.delete(name);
  if (LIMITED.test(request)) params.set("limit", MOST_ROWS);
  params.set("format", format);
  return `${path}?${params}`;
}

/** Whether the rows of a request can be sent as a table. */
const isTable = (request: string): boolean =>
  !/\/documents\/|\/api\/v1\/(server|collection|searches)(\?|$)/.test(`/${request}`);

/** Links to all rows of the first request of a view, as CSV and JSON lines. */
export function downloads(context: ViewContext, view: View): HTMLElement[] {
  if (view.kind === "other" || view.name === "document") return [];
  const request = context.requests.find(isTable);
  if (!request) return [];
  return (["csv", "jsonl"] as const).map((format) =>
    el(
      "a",
      {
        class: "button",
        href: fullResult(request, format),
        download: "",
        "data-api": true,
        title: format === "csv" ? t("All results as CSV") : t("All results as JSON lines"),
      },
      format === "csv" ? "CSV" : "JSON",
    ),
  );
}

/** The address of this view for others, with the state of the corpus; nothing if only this machine can open it. */
export function permanentLink(context: ViewContext): string | null {
  const { server, route, corpus } = context;
  const isLocal = /^(localhost|127\.|\[::1\])/.test(location.hostname);
  const base = server.address ?? (isLocal ? null : `${location.origin}${location.pathname}`);
  if (!base) return null;
  const digest = context.about?.frozen ? context.about.frozen.digest : corpus?.digest;
  const query = route.with({ corpus: digest?.slice(0, 16), cursor: undefined });
  return `${base.replace(/\/$/, "")}/${query}`;
}

/** The citation of a view. */
export function citationOf(context: ViewContext, view: View): Citation | null {
  const { about, corpus, server } = context;
  if (!corpus) return null;
  return {
    title: view.title,
    query: about?.query ?? "",
    filter: about?.filter ?? "",
    corpus: language(corpus.corpus),
    digest: (about?.frozen ? about.frozen.digest : corpus.digest) ?? null,
    generation: about?.frozen?.generation ?? about?.generation ?? corpus.generation,
    version: server.version,
    tokens: about?.frozen?.tokens ?? corpus.tokens,
    first: corpus.first_day ?? "",
    last: corpus.last_day ?? "",
    link: permanentLink(context),
    accessed: new Date().toISOString().slice(0, 10),
  };
}

/** The line below the results. */
export function provenance(context: ViewContext, view: View): HTMLElement[] {
  if (context.requests.length === 0) return [];
  const { corpus, server } = context;
  const absolute = (part: string) => new URL(part, document.baseURI).href;
  const requests = [...new Set(context.requests)];
  const meaning = view.meaning
    ? [el("details", { class: "meaning" }, el("summary", {}, t("How to read this")), el("p", {}, view.meaning))]
    : [];
  const cited = citationOf(context, view);
  const address = permanentLink(context);
  const digest = context.about?.frozen ? context.about.frozen.digest : corpus?.digest;
  const generation = context.about?.frozen?.generation ?? corpus?.generation;
  const state = digest ? `${digest.slice(0, 8)}…` : String(generation ?? "");
  const formats = cited
    ? ([
        [t("Plain text"), plain(cited)],
        ["APA", apa(cited)],
        ["BibTeX", bibtex(cited)],
      ] as const)
    : [];
  return [
    ...meaning,
    el(
      "details",
      { class: "provenance" },
      el(
        "summary",
        {},
        state && el("span", { class: "state-of-corpus", title: digest ?? "" }, t("corpus {state}", { state })),
        ` · Tidings ${server.version} · `,
        t("link, API, cite"),
      ),
      el(
        "dl",
        {},
        el("dt", {}, t("Permanent link")),
        el(
          "dd",
          {},
          address
            ? el(
                "span",
                {},
                el("a", { href: address }, address),
                " ",
                copyButton(t("Copy"), () => address),
              )
            : t("None: this server has no public address (setting serve.address)."),
        ),
        el("dt", {}, t("API requests")),
        el(
          "dd",
          {},
          el(
            "ul",
            {},
            ...requests
              .slice(0, 8)
              .map((request) =>
                el(
                  "li",
                  {},
                  el("a", { href: request, "data-api": true }, absolute(request)),
                  isTable(request) &&
                    el(
                      "span",
                      {},
                      " · ",
                      el("a", { href: fullResult(request, "csv"), "data-api": true, download: "" }, "CSV"),
                    ),
                ),
              ),
          ),
        ),
        ...formats.flatMap(([name, text]) => [
          el("dt", {}, t("Cite: {format}", { format: name })),
          el(
            "dd",
            { class: "cite" },
            el("pre", {}, text),
            copyButton(t("Copy"), () => text),
          ),
        ]),
      ),
    ),
  ];
}
