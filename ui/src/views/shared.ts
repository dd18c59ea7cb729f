// Form fields and table columns that several views share.

import { type Child, bidi, el } from "../dom.ts";
import { count } from "../format.ts";
import { link } from "../route.ts";
import { type Column } from "../table.ts";
import { asQuery, queriesOf } from "../cql.ts";
import { t } from "../text/index.ts";
import type { Route } from "../route.ts";
import { type ViewContext } from "../view.ts";

/** Maximum number of rows. */
export const LIMIT = {
  name: "limit",
  label: t("Maximum rows"),
  kind: "number",
  initial: "50",
  advanced: true,
} as const;
/** Length of n-grams. */
export const NGRAM = {
  name: "ngram",
  label: t("N-gram length"),
  kind: "choice",
  choices: [
    ["1", t("1 (single words)")],
    ["2", "2"],
    ["3", "3"],
    ["4", "4"],
    ["5", "5"],
  ],
  initial: "1",
} as const;
/** Includes punctuation. */
export const PUNCTUATION = {
  name: "punctuation",
  label: t("Include punctuation"),
  kind: "flag",
  advanced: true,
} as const;
/** Restricts to sources with documents in every interval. */
export const PANEL = {
  name: "panel",
  label: t("Constant sources only (panel)"),
  kind: "flag",
  advanced: true,
} as const;

/** Includes words that say nothing about the news. */
export const ALL_WORDS = {
  name: "all_words",
  label: t("Include punctuation, numbers, dates and function words"),
  kind: "flag",
} as const;

/** How many words a test leaves out, with the link that brings them back. */
export const leftOut = (context: ViewContext, words: number): Child =>
  words > 0 &&
  el(
    "p",
    { class: "quiet" },
    t("{n} punctuation marks, numbers, dates and function words are left out.", { n: count(words) }),
    " ",
    el("a", { href: context.route.with({ all_words: "true" }) }, t("Include them")),
  );

/** A column that marks names. */
export const nameColumn = <Row extends { name: boolean }>(): Column<Row> => ({
  name: "kind",
  label: t("kind"),
  value: (row) => (row.name ? "name" : "word"),
  show: (row) => (row.name ? t("name") : ""),
});

/** Whether a route has a query. */
export const hasQuery = (route: Route): boolean => queriesOf(route).length > 0;

/** Words that an empty view offers. */
const OFFERED = 6;

/** What a view of the query shows without one: words that changed, as examples. */
export function askForQuery(context: ViewContext): HTMLElement {
  const examples = el("span");
  const offer = async () => {
    const found = await context.requestUnlisted("trends", { ...context.documents, limit: OFFERED });
    if (found.rows.length === 0) return;
    const links = found.rows.map((row) =>
      el("a", { href: context.route.with({ q: asQuery(row.value, found.attribute) }) }, bidi(row.value)),
    );
    examples.append(` ${t("For example:")} `, ...links.flatMap((link, at) => (at > 0 ? [", ", link] : [link])));
  };
  void offer().catch(() => undefined);
  return el("p", { class: "empty" }, t("Enter a word, a phrase or a pattern above."), examples);
}

/** A column of words that link to another view. */
export function wordColumn<Row extends { value: string }>(
  context: ViewContext,
  view: string,
  attribute: string,
): Column<Row> {
  return {
    name: "word",
    label: attribute === "lemma" ? t("lemma") : t("word"),
    value: (row) => row.value,
    show: (row) =>
      el(
        "a",
        { href: link(view, context.route, { q: asQuery(row.value, attribute) }) },
        el("bdi", { lang: context.lang }, row.value),
      ),
  };
}

/** Shows that there are no results, with advice. If the answer was cut off, nothing is said about what was not searched. */
export function showEmpty(context: ViewContext, advice: Child, announced = t("No results.")): void {
  context.announce(context.isCutOff ? t("Nothing found so far.") : announced);
  if (!context.isCutOff) context.append(typeof advice === "string" ? el("p", { class: "empty" }, advice) : advice);
}
