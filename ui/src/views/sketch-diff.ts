// Sketch difference: the collocates of two lemmas by grammatical relation, side by side.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, rate } from "../format.ts";
import { table } from "../table.ts";
import { t, tn } from "../text/index.ts";
import { type View } from "../view.ts";
import { OF_LEMMA, askLemma, lemmaOf, showCollocationsInstead, withoutLemma } from "./lemma.ts";
import { showEmpty } from "./shared.ts";

/** The view of two word sketches. */
export const sketchDiff: View = {
  ...OF_LEMMA,
  name: "sketch-diff",
  title: t("Sketch difference"),
  about: t("Collocates of two words by grammatical relation, from those of the first to those of the second."),
  fields: () => [
    { name: "other", label: t("Second word"), kind: "text" },
    { name: "min", label: t("Minimum co-occurrence"), kind: "number", initial: "3", advanced: true },
    { name: "size", label: t("Rows per relation"), kind: "number", initial: "20", advanced: true },
  ],
  meaning: t(
    "The first word is the query, taken as a lemma. The difference is the logDice of a collocate with the first word minus that with the second: positive if it is more typical of the first.",
  ),
  show: async (context) => {
    const { route } = context;
    const word = lemmaOf(route);
    const other = route.get("other").trim();
    const why = withoutLemma(context, word);
    if (why) return showCollocationsInstead(context, word, why);
    if (!other) return showEmpty(context, t("Enter the second word above."), "");
    const found = await askLemma(context, word, (lemma) =>
      context.request("sketch-diff", {
        ...context.documents,
        lemma,
        other,
        pos: route.get("pos"),
        min: route.get("min"),
        size: route.get("size"),
      }),
    );
    if (found.rows.length === 0) {
      const none =
        found.hits === 0 || found.other_hits === 0
          ? t("One of the lemmas does not occur with this part of speech.")
          : t("No relation is frequent enough.");
      return showCollocationsInstead(context, word, none);
    }
    const hits = (n: number) => tn(n, "{n} hit", "{n} hits");
    context.announce(
      `${found.lemma} (${found.tag}): ${hits(found.hits)} · ${found.other} (${found.tag}): ${hits(found.other_hits)}`,
    );
    const relations = [...new Set(found.rows.map((row) => row.relation))];
    context.append(
      el(
        "div",
        { class: "sides sketch" },
        ...relations.map((relation) =>
          el(
            "section",
            { class: "card" },
            el("h2", {}, bidi(relation)),
            table(
              `sketch-diff-${relation}`,
              relation,
              [
                {
                  name: "word",
                  label: t("word"),
                  value: (row) => row.value,
                  show: (row) => el("a", { href: link("sketch", route, { q: row.value }) }, bidi(row.value)),
                },
                {
                  name: "together",
                  label: found.lemma,
                  about: t("co-occurrences"),
                  value: (row) => row.together,
                  numeric: true,
                  show: (row) => count(row.together),
                },
                {
                  name: "other_together",
                  label: found.other,
                  about: t("co-occurrences"),
                  value: (row) => row.other_together,
                  numeric: true,
                  show: (row) => count(row.other_together),
                },
                {
                  name: "difference",
                  label: t("difference"),
                  about: "logDice",
                  value: (row) => row.difference,
                  numeric: true,
                  show: (row) => el("span", { class: row.difference >= 0 ? "up" : "down" }, rate(row.difference)),
                },
              ],
              found.rows.filter((row) => row.relation === relation),
            ),
          ),
        ),
      ),
    );
  },
};
