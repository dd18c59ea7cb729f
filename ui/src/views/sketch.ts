// Word sketch: collocates by grammatical relation.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, language, rate } from "../format.ts";
import { table } from "../table.ts";
import { asQuery, isCql, queriesOf } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import type { Route } from "../route.ts";
import { type View } from "../view.ts";
import { askForQuery, showEmpty } from "./shared.ts";

/** The lemma of a route: that of the query in the box, or of an earlier link. */
function lemmaOf(route: Route): string {
  const query = queriesOf(route)[0] ?? "";
  const quoted = /^\[lemma==?"([^"]+)"(?:%c)?\]$/.exec(query)?.[1];
  return quoted ?? (query || route.get("lemma"));
}

/** The word sketch view. */
export const sketch: View = {
  name: "sketch",
  title: t("Word sketch"),
  about: t("Collocates of a word by grammatical relation."),
  kind: "query",
  fields: () => [
    { name: "min", label: t("Minimum co-occurrence"), kind: "number", initial: "3", advanced: true },
    { name: "size", label: t("Rows per relation"), kind: "number", initial: "12", advanced: true },
  ],
  ready: (route) => lemmaOf(route) !== "",
  welcome: askForQuery,
  meaning: t(
    "The query is taken as a lemma, the base form of a word. Relations are found by patterns of parts of speech; the score is logDice within the relation.",
  ),
  show: async (context) => {
    const { route } = context;
    const word = lemmaOf(route);
    const instead = (why: string) => {
      showEmpty(
        context,
        el(
          "p",
          { class: "empty" },
          `${why} `,
          el(
            "a",
            { href: link("collocations", route, { q: asQuery(word) }) },
            t("Collocations work without annotation."),
          ),
        ),
        t("No sketch."),
      );
    };
    if (isCql(word) || /\s/.test(word)) return instead(t("A word sketch is made of a single word."));
    if (!context.attributes.includes("tag"))
      return instead(
        t("Word sketches need lemmas and parts of speech, and there is no model for {language}.", {
          language: language(context.lang),
        }),
      );
    const ask = (lemma: string) =>
      context.request("sketch", {
        ...context.documents,
        lemma,
        pos: route.get("pos"),
        min: route.get("min"),
        size: route.get("size"),
      });
    let found = await ask(word);
    if (found.hits === 0) {
      // A word form: its most frequent lemma is meant.
      const forms = await context.requestUnlisted("freq", {
        ...context.documents,
        q: asQuery(word),
        by: "lemma",
        limit: 1,
      });
      const lemma = forms.rows[0]?.value;
      if (lemma && lemma !== word) found = await ask(lemma);
    }
    if (found.rows.length === 0)
      return instead(found.hits === 0 ? t("This lemma does not occur.") : t("No relation is frequent enough."));
    const others = found.tags.filter(({ tag }) => tag !== found.tag);
    context.announce(`${found.lemma} (${found.tag}) · ${tn(found.hits, "{n} hit", "{n} hits")}`);
    context.append(
      others.length > 0 &&
        el(
          "p",
          { class: "quiet" },
          t("Other parts of speech: "),
          ...others.flatMap(({ tag, hits }, at) => [
            at > 0 && ", ",
            el("a", { href: route.with({ pos: tag }) }, tag),
            ` (${count(hits)})`,
          ]),
        ),
      el(
        "div",
        { class: "sides sketch" },
        ...found.relations.map(({ name, hits, values, query }) =>
          el(
            "section",
            { class: "card" },
            el(
              "h2",
              {},
              el("a", { href: link("search", route, { q: query }) }, bidi(name)),
              el(
                "span",
                { class: "quiet" },
                ` ${tn(hits, "{n} hit", "{n} hits")}, ${tn(values, "{n} word", "{n} words")}`,
              ),
            ),
            table(
              `sketch-${name}`,
              name,
              [
                {
                  name: "word",
                  label: t("word"),
                  value: (row) => row.value,
                  show: (row) =>
                    el(
                      "a",
                      { href: link("sketch", route, { q: row.value }), title: t("Word sketch of this word") },
                      bidi(row.value),
                    ),
                },
                {
                  name: "together",
                  label: t("co-occurrences"),
                  value: (row) => row.together,
                  numeric: true,
                  show: (row) =>
                    el(
                      "a",
                      {
                        href: link("search", route, { q: row.query }),
                        "aria-label": `${row.value}: ${tn(row.together, "{n} hit", "{n} hits")}`,
                      },
                      count(row.together),
                    ),
                },
                {
                  name: "score",
                  label: t("score"),
                  about: "logDice",
                  value: (row) => row.score,
                  numeric: true,
                  show: (row) => rate(row.score),
                },
              ],
              found.rows.filter((row) => row.relation === name),
            ),
          ),
        ),
      ),
    );
  },
};
