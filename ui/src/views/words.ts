// The words of the corpus.

import { el } from "../dom.ts";
import { link } from "../place.ts";
import { count, many, rate } from "../say.ts";
import { table } from "../table.ts";
import { type View, asQuery, attributeField } from "../view.ts";
import { LIMIT, NGRAM, PUNCTUATION, nothing, wordColumn } from "./shared.ts";

interface WordRow {
  value: string;
  hits: number;
  documents: number;
  per_million: number | null;
}

/** The words of the corpus. */
export const words: View = {
  name: "words",
  title: "Word list",
  about: "The words of the corpus and how often they occur.",
  group: "Words",
  chooses: "Which documents",
  button: "List",
  fields: (desk) => [
    { name: "regex", label: "Only words like", kind: "text", hint: "un.*able", wide: true },
    NGRAM,
    attributeField(desk),
    { name: "min", label: "At least so often", kind: "number", usual: "1", rare: true },
    PUNCTUATION,
    { ...LIMIT, usual: "100" },
  ],
  ready: () => true,
  show: async (desk) => {
    const { place } = desk;
    const found = await desk.ask<{ values: number; tokens: number; rows: WordRow[] }>("words", {
      regex: place.get("regex"),
      ngram: place.get("ngram"),
      attribute: place.get("attribute"),
      min: place.get("min"),
      punctuation: place.get("punctuation"),
      limit: place.get("limit") || 100,
    });
    if (found.rows.length === 0)
      return nothing(
        desk,
        "No word is like this. A pattern means the whole word: un.* finds words that begin with un.",
      );
    desk.say(
      `${many(found.values, "different one")} in ${many(found.tokens, "token")}${found.values > found.rows.length ? `; the ${count(found.rows.length)} most frequent are shown` : ""}.`,
    );
    desk.put(
      table(
        "words",
        "Words, most frequent first",
        [
          wordColumn<WordRow>(desk, "search"),
          { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          { name: "per million", value: (row) => row.per_million, numeric: true, show: (row) => rate(row.per_million) },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          {
            name: "look further",
            picture: true,
            value: () => "",
            show: (row) =>
              el(
                "a",
                {
                  href: link("timeline", place, { q: asQuery(row.value, place.get("attribute") || "lc") }),
                  "aria-label": `${row.value} in time`,
                },
                "in time",
              ),
          },
        ],
        found.rows,
      ),
    );
  },
};
