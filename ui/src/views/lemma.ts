// Parts of the views of a lemma: word sketch, sketch difference and thesaurus.

import { bidi, el } from "../dom.ts";
import { type Route, link } from "../route.ts";
import { count, language, percent } from "../format.ts";
import { asCql, asQuery, isCql, queriesOf } from "../cql.ts";
import { t } from "../text/index.ts";
import { type View, type ViewContext } from "../view.ts";
import { askForQuery, showEmpty } from "./shared.ts";

/** The lemma of a route: that of the query in the box, or of an earlier link. */
export function lemmaOf(route: Route): string {
  const query = queriesOf(route)[0] ?? "";
  const quoted = /^\[lemma==?"([^"]+)"(?:%c)?\]$/.exec(query)?.[1];
  return quoted ?? (query || route.get("lemma"));
}

/** What all views of a lemma have in common. */
export const OF_LEMMA = {
  kind: "query",
  ready: (route: Route): boolean => lemmaOf(route) !== "",
  welcome: askForQuery,
} satisfies Partial<View>;

/** Forms that the panel of forms lists. */
const MOST_FORMS = 24;

/** The forms in which a lemma is written, with their hits: one panel, filled when its answer arrives. */
export function formsPanel(context: ViewContext, lemma: string, tag: string): HTMLElement {
  const panel = el("section", { class: "card forms", hidden: true });
  const fillPanel = async () => {
    const q = `[lemma=="${lemma.replace(/[\\"]/g, "\\$&")}" & tag=="${tag}"]`;
    const found = await context.requestUnlisted("freq", { ...context.documents, q, by: "word", limit: MOST_FORMS });
    if (found.rows.length === 0) return;
    panel.append(
      el("h2", {}, t("Forms of {word}", { word: lemma })),
      el(
        "ul",
        {},
        ...found.rows.map(({ value, hits }) =>
          el(
            "li",
            {},
            el("a", { href: link("search", context.route, { q: asCql(value, "word") }) }, bidi(value)),
            el("span", { class: "quiet" }, ` ${count(hits)} (${percent(hits / Math.max(found.hits, 1))})`),
          ),
        ),
      ),
    );
    panel.hidden = false;
  };
  void fillPanel().catch(() => undefined);
  return panel;
}

/** Says why there is nothing to show, and offers collocations, which any query has. */
export function showCollocationsInstead(context: ViewContext, word: string, why: string): void {
  const href = link("collocations", context.route, { q: asQuery(word) });
  const advice = el("a", { href }, t("Collocations work without annotation."));
  showEmpty(context, el("p", { class: "empty" }, `${why} `, advice));
}

/** The reason why a query has no lemma; undefined if it has one. */
export function withoutLemma(context: ViewContext, word: string): string | undefined {
  if (isCql(word) || /\s/.test(word)) return t("This view is made of a single word.");
  if (context.attributes.includes("tag")) return undefined;
  return t("This view needs lemmas and parts of speech, and there is no model for {language}.", {
    language: language(context.lang),
  });
}

/** The answer about a lemma. If there is none, a word form was given, and its most frequent lemma is meant. */
export async function askLemma<A extends { hits: number }>(
  context: ViewContext,
  word: string,
  ask: (lemma: string) => Promise<A>,
): Promise<A> {
  const found = await ask(word);
  if (found.hits > 0) return found;
  const forms = await context.requestUnlisted("freq", {
    ...context.documents,
    q: asQuery(word),
    by: "lemma",
    limit: 1,
  });
  const lemma = forms.rows[0]?.value;
  return lemma && lemma !== word ? ask(lemma) : found;
}
