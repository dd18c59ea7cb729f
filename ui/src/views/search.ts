// The concordance: hits in their context.

import type { ConcordanceLine } from "../generated/api.ts";
import { el, bidi } from "../dom.ts";
import { link, withHit } from "../route.ts";
import { count, rate } from "../format.ts";
import { queryOf } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type ViewContext, type View } from "../view.ts";
import { concordance } from "./kwic.ts";
import { rememberHits } from "./reading-order.ts";
import { askForQuery, hasQuery, showEmpty } from "./shared.ts";

const SIZE = 50;

const SORTS = [
  ["", t("newest first")],
  ["oldest", t("oldest first")],
  ["left", t("by left context")],
  ["node", t("by hit")],
  ["right", t("by right context")],
  ["site", t("by source")],
  ["good", t("good examples first")],
  ["sample", t("random sample")],
] as const;

async function show(context: ViewContext): Promise<void> {
  const { route } = context;
  const sort = route.get("sort");
  const fields = ["date", "site", "title"]
    .filter((name) => name === "site" || context.corpus?.fields.includes(name))
    .join(",");
  const q = queryOf(route);
  const found = await context.request("query", {
    ...context.documents,
    q,
    fields,
    size: SIZE,
    cursor: route.get("cursor"),
    longest: route.get("longest"),
    order: sort === "oldest" ? "oldest" : undefined,
    sort: ["left", "node", "right", "site", "good"].includes(sort) ? sort : undefined,
    with: route.get("with"),
    without: route.get("without"),
    window: route.get("window"),
    sample: sort === "sample" ? SIZE : undefined,
  });
  const total = found.hits ?? 0;
  if (total === 0) {
    const hasFilter = Boolean(context.documents.filter || context.documents.in);
    return showEmpty(
      context,
      el(
        "div",
        { class: "empty" },
        el("p", {}, t("No hits in these documents. Suggestions:")),
        el(
          "ul",
          {},
          hasFilter &&
            el(
              "li",
              {},
              el(
                "a",
                {
                  href: route.with({
                    from: undefined,
                    to: undefined,
                    site: undefined,
                    filter: undefined,
                    in: undefined,
                  }),
                },
                t("search all documents"),
              ),
            ),
          context.attributes.includes("lemma") &&
            route.get("as") !== "lemma" &&
            el("li", {}, el("a", { href: route.with({ as: "lemma" }) }, t("search all inflected forms"))),
          el("li", {}, t("use lower case: "), bidi("apple"), t(" also finds Apple, but Apple finds Apple only")),
          el("li", {}, t("use a wildcard: "), el("code", {}, "appl*")),
          el("li", {}, el("a", { href: link("help", route) }, t("see the query syntax"))),
        ),
      ),
      t("No hits."),
    );
  }
  const hits = `${context.isCutOff ? `${t("at least")} ` : ""}${tn(total, "{n} hit", "{n} hits")}`;
  const rates =
    found.per_million === undefined ? "" : ` · ${t("{rate} per million", { rate: rate(found.per_million) })}`;
  const sample = found.about?.exactness.kind === "sample" ? ` · ${t("sorted: a random sample")}` : "";
  context.announce(`${hits}${rates}${sample}`);
  const widen = (line: ConcordanceLine, around: number) =>
    context.requestUnlisted("context", { id: line.document, position: line.position, unit: "paragraph", around });
  const first = found.first + 1;
  const range = found.lines.length
    ? t("Lines {first} to {last} of {all}", {
        first: count(first),
        last: count(found.first + found.lines.length),
        all: count(total),
      })
    : t("No lines of {all}", { all: count(total) });
  rememberHits(found.lines, route);
  // The refined query is CQL, so that all views and further conditions can start from these hits.
  if ((route.get("with") || route.get("without")) && found.about.query) {
    context.append(
      el(
        "p",
        { class: "quiet" },
        el("a", { href: link("search", route, { q: found.about.query }) }, t("Use these hits as the query")),
      ),
    );
  }
  if (found.withheld) {
    context.append(
      el(
        "p",
        { class: "note" },
        tn(
          found.withheld,
          "{n} hit without a line: its document can be read with an access token only (see the footer).",
          "{n} hits without a line: their documents can be read with an access token only (see the footer).",
        ),
      ),
    );
  }
  context.append(
    el(
      "p",
      { class: "quiet" },
      el(
        "a",
        {
          class: "subcorpus",
          href: link("documents", route, { filter: withHit(found.about.query ?? q, route.get("filter")) }),
          title: t("Ask every question about the documents with a hit, and save them as a corpus"),
        },
        t("Documents with these hits as a subcorpus"),
      ),
    ),
    concordance(found.lines, context.lang, route, t("Concordance of {query}.", { query: route.get("q") }), widen),
    el(
      "nav",
      { class: "pages", "aria-label": t("Pages") },
      found.first > 0 && el("a", { href: route.with({ cursor: undefined }) }, t("First page")),
      el(
        "span",
        {},
        sort === "sample" ? t("{n} of {all} hits, random sample", { n: found.lines.length, all: count(total) }) : range,
      ),
      found.next &&
        (context.isCutOff || found.first + found.lines.length < total) &&
        el("a", { href: route.with({ cursor: found.next }), rel: "next", class: "next" }, t("Next page")),
    ),
  );
}

/** The concordance view. */
export const search: View = {
  name: "search",
  title: t("Concordance"),
  about: t("Words, phrases and patterns in their context."),
  kind: "query",
  facets: true,
  fields: () => [
    { name: "sort", label: t("Order"), kind: "choice", choices: SORTS, initial: "" },
    { name: "with", label: t("Only with this near the hit"), kind: "text", advanced: true },
    { name: "without", label: t("Only without this near the hit"), kind: "text", advanced: true },
    { name: "window", label: t("Words on each side"), kind: "number", initial: "5", advanced: true },
    { name: "longest", label: t("Longest match instead of the shortest"), kind: "flag", advanced: true },
  ],
  ready: hasQuery,
  show,
  welcome: askForQuery,
};
