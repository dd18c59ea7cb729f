// Thesaurus: words that occur in the same contexts.

import { bar } from "../chart/bars.ts";
import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, rate } from "../format.ts";
import { table } from "../table.ts";
import { t, tn } from "../text/index.ts";
import { type View } from "../view.ts";
import { OF_LEMMA, askLemma, lemmaOf, showCollocationsInstead, withoutLemma } from "./lemma.ts";
import { LIMIT } from "./shared.ts";

/** The thesaurus view. */
export const thesaurus: View = {
  ...OF_LEMMA,
  name: "thesaurus",
  title: t("Thesaurus"),
  about: t("Words that occur in the same contexts."),
  fields: () => [
    { name: "min", label: t("Minimum hits"), kind: "number", initial: "20", advanced: true },
    { ...LIMIT, initial: "30" },
  ],
  meaning: t(
    "A word is described by its strongest collocates (positive mutual information). Similarity is the cosine of two descriptions: 1 if they are the same, 0 if they share nothing. Similar words need not mean the same: opposites occur in the same contexts, too.",
  ),
  show: async (context) => {
    const { route } = context;
    const word = lemmaOf(route);
    const why = withoutLemma(context, word);
    if (why) return showCollocationsInstead(context, word, why);
    const found = await askLemma(context, word, (lemma) =>
      context.request("thesaurus", {
        ...context.documents,
        lemma,
        pos: route.get("pos"),
        min: route.get("min"),
        limit: route.get("limit") || 30,
      }),
    );
    if (found.rows.length === 0) {
      const none = found.hits === 0 ? t("This lemma does not occur.") : t("No word has enough contexts in common.");
      return showCollocationsInstead(context, word, none);
    }
    context.announce(`${found.lemma} (${found.tag}) · ${tn(found.hits, "{n} hit", "{n} hits")}`);
    const largest = Math.max(...found.rows.map((row) => row.similarity));
    context.append(
      table(
        "thesaurus",
        t("Words like {word}, the most similar first", { word: found.lemma }),
        [
          {
            name: "word",
            label: t("lemma"),
            value: (row) => row.value,
            show: (row) => el("a", { href: link("thesaurus", route, { q: row.value }) }, bidi(row.value)),
          },
          { name: "bar", label: "", picture: true, value: () => "", show: (row) => bar(row.similarity, largest) },
          {
            name: "similarity",
            label: t("similarity"),
            about: t("Cosine of the vectors of contexts"),
            value: (row) => row.similarity,
            numeric: true,
            show: (row) => rate(row.similarity),
          },
          { name: "hits", label: t("hits"), value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          { name: "shared", label: t("shared contexts"), value: (row) => row.shared.join(", ") },
          {
            name: "compare",
            label: t("compare"),
            picture: true,
            value: () => "",
            show: (row) =>
              el(
                "a",
                { href: link("sketch-diff", route, { q: found.lemma, other: row.value }) },
                t("difference to {word}", { word: row.value }),
              ),
          },
        ],
        found.rows,
      ),
    );
  },
};
