// Word list.

import { el } from "../dom.ts";
import { link } from "../route.ts";
import { count, plural, rate } from "../format.ts";
import type { WordRow } from "../generated/api.ts";
import { table } from "../table.ts";
import { asQuery } from "../cql.ts";
import { type View, attributeField } from "../view.ts";
import { LIMIT, NGRAM, PUNCTUATION, showEmpty, wordColumn } from "./shared.ts";

/** The word list view. */
export const words: View = {
  name: "words",
  title: "Word list",
  about: "Words and n-grams of the corpus with their frequency.",
  group: "Words",
  documentFilter: "Filter documents",
  button: "List",
  fields: (context) => [
    { name: "regex", label: "Regular expression", kind: "text", hint: "un.*able", wide: true },
    NGRAM,
    attributeField(context),
    { name: "min", label: "Minimum frequency", kind: "number", initial: "1", advanced: true },
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
        "No word matches. The expression must match the whole word: un.* finds words that begin with un.",
      );
    context.announce(
      `${plural(found.values, "distinct value")} in ${plural(found.tokens, "token")}${found.values > found.rows.length ? `; the ${count(found.rows.length)} most frequent are shown` : ""}.`,
    );
    context.append(
      table(
        "words",
        "Words, most frequent first",
        [
          wordColumn<WordRow>(context, "search"),
          { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          { name: "per million", value: (row) => row.per_million, numeric: true, show: (row) => rate(row.per_million) },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          {
            name: "more",
            picture: true,
            value: () => "",
            show: (row) =>
              el(
                "a",
                {
                  href: link("timeline", route, { q: asQuery(row.value, route.get("attribute") || "lc") }),
                  "aria-label": `${row.value} over time`,
                },
                "timeline",
              ),
          },
        ],
        found.rows,
      ),
    );
  },
};
