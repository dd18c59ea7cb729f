// Word list.

import { el } from "../dom.ts";
import { link } from "../route.ts";
import { count, rate } from "../format.ts";
import type { WordRow } from "../generated/api.ts";
import { table } from "../table.ts";
import { asQuery } from "../cql.ts";
import { type View, attributeField } from "../view.ts";
import { LIMIT, NGRAM, PUNCTUATION, showEmpty, wordColumn } from "./shared.ts";
import { t, tn } from "../text/index.ts";

/** The word list view. */
export const words: View = {
  name: "words",
  title: t("Word list"),
  about: t("Words and n-grams of the corpus with their frequency."),
  kind: "discover",
  fields: (context) => [
    { name: "regex", label: t("Regular expression"), kind: "text", hint: "un.*able", wide: true },
    NGRAM,
    attributeField(context, undefined, "lc"),
    { name: "min", label: t("Minimum frequency"), kind: "number", initial: "1", advanced: true },
    PUNCTUATION,
    { ...LIMIT, initial: "100" },
  ],
  ready: () => true,
  show: async (context) => {
    const { route } = context;
    const found = await context.request("words", {
      ...context.documents,
      regex: route.get("regex"),
      ngram: route.get("ngram"),
      attribute: route.get("attribute"),
      min: route.get("min"),
      punctuation: route.get("punctuation"),
      limit: route.get("limit") || 100,
    });
    if (found.rows.length === 0)
      return showEmpty(
        context,
        t("No word matches. The expression must match the whole word: un.* finds words that begin with un."),
      );
    context.announce(
      `${tn(found.values, "{n} distinct value", "{n} distinct values")} · ${tn(found.tokens, "{n} token", "{n} tokens")}${found.values > found.rows.length ? ` · ${t("the {n} most frequent are shown", { n: count(found.rows.length) })}` : ""}`,
    );
    context.append(
      table(
        "words",
        t("Words, most frequent first"),
        [
          wordColumn<WordRow>(context, "search", found.attribute),
          { name: "hits", label: t("hits"), value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          {
            name: "per_million",
            label: t("per million"),
            value: (row) => row.per_million,
            numeric: true,
            show: (row) => rate(row.per_million),
          },
          {
            name: "documents",
            label: t("documents"),
            value: (row) => row.documents,
            numeric: true,
            show: (row) => count(row.documents),
          },
          {
            name: "more",
            label: t("more"),
            picture: true,
            value: () => "",
            show: (row) =>
              el(
                "a",
                { href: link("timeline", route, { q: asQuery(row.value, found.attribute) }) },
                t("timeline"),
                el("span", { class: "unseen" }, ` ${row.value}`),
              ),
          },
        ],
        found.rows,
      ),
    );
  },
};
