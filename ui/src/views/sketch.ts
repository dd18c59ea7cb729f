// Word sketch: collocates by grammatical relation.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, rate } from "../format.ts";
import { table } from "../table.ts";
import { t, tn } from "../text/index.ts";
import { type View } from "../view.ts";
import { OF_LEMMA, askLemma, formsPanel, lemmaOf, showCollocationsInstead, withoutLemma } from "./lemma.ts";

/** The word sketch view. */
export const sketch: View = {
  ...OF_LEMMA,
  name: "sketch",
  title: t("Word sketch"),
  about: t("Collocates of a word by grammatical relation."),
  fields: () => [
    { name: "min", label: t("Minimum co-occurrence"), kind: "number", initial: "3", advanced: true },
    { name: "size", label: t("Rows per relation"), kind: "number", initial: "12", advanced: true },
  ],
  meaning: t(
    "The query is taken as a lemma, the base form of a word. Relations are found by patterns of parts of speech; the score is logDice within the relation.",
  ),
  show: async (context) => {
    const { route } = context;
    const word = lemmaOf(route);
    const why = withoutLemma(context, word);
    if (why) return showCollocationsInstead(context, word, why);
    const found = await askLemma(context, word, (lemma) =>
      context.request("sketch", {
        ...context.documents,
        lemma,
        pos: route.get("pos"),
        min: route.get("min"),
        size: route.get("size"),
      }),
    );
    if (found.rows.length === 0) {
      const none = found.hits === 0 ? t("This lemma does not occur.") : t("No relation is frequent enough.");
      return showCollocationsInstead(context, word, none);
    }
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
      formsPanel(context, found.lemma, found.tag),
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
