// The list of documents: those with a hit of the query, or all.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, period } from "../format.ts";
import type { DocumentRow } from "../generated/api.ts";
import { queryOf, sameQuery } from "../cql.ts";
import { type Column, table } from "../table.ts";
import { t, tn } from "../text/index.ts";
import type { View } from "../view.ts";
import { rememberHits } from "./reading-order.ts";
import { hasQuery, showEmpty } from "./shared.ts";

const SIZE = 50;

/** A link to an external page, without referrer. */
export function externalLink(url: string, words: string): HTMLElement | string {
  return /^https?:\/\//i.test(url)
    ? el("a", { href: url, rel: "noreferrer noopener nofollow", target: "_blank" }, words)
    : "";
}

/** The documents view. */
export const documents: View = {
  name: "documents",
  title: t("Documents"),
  about: t("Documents of the corpus."),
  kind: "query",
  facets: true,
  fields: () => [
    {
      name: "order",
      label: t("Order"),
      kind: "choice",
      choices: [
        ["newest", t("newest first")],
        ["oldest", t("oldest first")],
      ],
      initial: "newest",
    },
  ],
  ready: () => true,
  show: async (context) => {
    const { route } = context;
    const isAsked = hasQuery(route);
    const found = await context.request("documents", {
      q: isAsked ? queryOf(route) : undefined,
      ...context.documents,
      order: route.get("order"),
      size: SIZE,
      fields: "site",
      cursor: route.get("cursor"),
    });
    if (found.rows.length === 0)
      return showEmpty(context, isAsked ? t("No document has a hit.") : t("No document matches the filters."));
    context.announce(
      `${tn(found.documents, "{n} document", "{n} documents")} · ${tn(found.tokens, "{n} token", "{n} tokens")}`,
    );
    rememberHits(
      found.rows.map((row) => ({ document: row.id })),
      route,
    );
    const hits: Column<DocumentRow>[] = isAsked
      ? [
          {
            name: "hits",
            label: t("hits"),
            value: (row) => row.hits,
            numeric: true,
            show: (row) => (row.hits === undefined ? "–" : count(row.hits)),
          },
        ]
      : [];
    context.append(
      table(
        "documents",
        t("Documents"),
        [
          {
            name: "title",
            label: t("title"),
            value: (row) => row.title,
            show: (row) =>
              el(
                "a",
                { href: link("document", route, { ...sameQuery(route), id: row.id }) },
                bidi(row.title || t("(no title)")),
              ),
          },
          { name: "date", label: t("date"), value: (row) => row.date, show: (row) => period(row.date) },
          { name: "site", label: t("source"), value: (row) => row.fields.site ?? "" },
          ...hits,
          {
            name: "tokens",
            label: t("tokens"),
            value: (row) => row.tokens,
            numeric: true,
            show: (row) => count(row.tokens),
          },
          {
            name: "url",
            label: t("link"),
            value: (row) => row.url,
            show: (row) => externalLink(row.url, t("original")),
          },
        ],
        found.rows,
      ),
      el(
        "nav",
        { class: "pages", "aria-label": t("Pages") },
        found.first > 0 && el("a", { href: route.with({ cursor: undefined }) }, t("First page")),
        el(
          "span",
          {},
          t("{first} to {last} of {all}", {
            first: count(found.first + 1),
            last: count(found.first + found.rows.length),
            all: count(found.documents),
          }),
        ),
        found.next &&
          found.first + found.rows.length < found.documents &&
          el("a", { href: route.with({ cursor: found.next }), rel: "next", class: "next" }, t("Next page")),
      ),
    );
  },
};
