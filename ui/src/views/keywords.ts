// What is typical of some documents.

import { el } from "../dom.ts";
import { filterOf, link } from "../place.ts";
import { count, many, rate } from "../say.ts";
import { table } from "../table.ts";
import { type View, attributeField } from "../view.ts";
import { LIMIT, NGRAM, PUNCTUATION, nothing, wordColumn } from "./shared.ts";

interface Keyword {
  value: string;
  score: number | null;
  focus: number;
  reference: number;
  focus_per_million: number | null;
  reference_per_million: number | null;
  log_ratio: number | null;
  log_likelihood: number | null;
}

/** What is typical of some documents. */
export const keywords: View = {
  name: "keywords",
  title: "Keywords",
  about: "What is typical of some documents against all others.",
  group: "Words",
  chooses: "Documents in focus",
  button: "Show",
  fields: (desk) => [
    { name: "against", label: "Compared with (all others if empty)", kind: "text", wide: true, hint: "date<2026-06" },
    NGRAM,
    attributeField(desk),
    {
      name: "measure",
      label: "Order by",
      kind: "choice",
      choices: [
        ["simple", "simple maths"],
        ["ll", "log-likelihood"],
        ["log-ratio", "log ratio"],
        ["din", "DIN"],
        ["chi2", "chi square"],
      ],
      usual: "simple",
      rare: true,
    },
    { name: "add", label: "Simple maths adds (more: commoner words)", kind: "text", usual: "1", rare: true },
    { name: "min", label: "At least so often", kind: "number", usual: "5", rare: true },
    PUNCTUATION,
    LIMIT,
  ],
  ready: (place) => filterOf(place) !== "",
  welcome: (desk) => {
    const { corpus, place } = desk;
    const [month, year] = [corpus?.last_day?.slice(0, 7), corpus?.last_day?.slice(0, 4)];
    return el(
      "div",
      { class: "empty" },
      el(
        "p",
        {},
        "Say above which documents are in focus: a time, a source, or conditions on what is known about them. Their words are compared with those of all others. For example:",
      ),
      el(
        "ul",
        {},
        ...[month && `date=${month}`, year && `date=${year}`].flatMap((filter) =>
          filter ? [el("li", {}, el("a", { href: link("keywords", place, { filter }) }, filter))] : [],
        ),
      ),
      corpus &&
        el(
          "p",
          {},
          "This corpus knows ",
          ...corpus.fields.flatMap((name, at) => [at > 0 && ", ", el("code", {}, name)]),
          ".",
        ),
    );
  },
  meaning:
    "Simple maths divides the rate in focus by the rate elsewhere, after adding a number (1) to both: a larger number favours common words. Log ratio tells how many times as often, as a power of two; log-likelihood, how sure it is that there is a difference at all.",
  show: async (desk) => {
    const { place } = desk;
    const names = ["against", "ngram", "attribute", "measure", "add", "min", "punctuation", "limit"];
    const found = await desk.ask<{ focus_tokens: number; reference_tokens: number; values: number; rows: Keyword[] }>(
      "keywords",
      { focus: filterOf(place), filter: "", ...Object.fromEntries(names.map((name) => [name, place.get(name)])) },
    );
    if (found.rows.length === 0)
      return nothing(
        desk,
        found.focus_tokens === 0
          ? "No document is in focus: is the condition too narrow?"
          : "No word is frequent enough in focus.",
      );
    desk.say(`${many(found.focus_tokens, "token")} in focus against ${count(found.reference_tokens)}.`);
    desk.put(
      table(
        "keywords",
        "Words that are typical of the documents in focus",
        [
          wordColumn<Keyword>(desk, "search"),
          {
            name: "per million in focus",
            value: (row) => row.focus_per_million,
            numeric: true,
            show: (row) => rate(row.focus_per_million),
          },
          {
            name: "per million elsewhere",
            value: (row) => row.reference_per_million,
            numeric: true,
            show: (row) => rate(row.reference_per_million),
          },
          { name: "score", value: (row) => row.score, numeric: true, show: (row) => rate(row.score) },
          {
            name: "log ratio",
            about: "How many times as often, as a power of two",
            value: (row) => row.log_ratio,
            numeric: true,
            show: (row) => rate(row.log_ratio),
          },
          {
            name: "log-likelihood",
            value: (row) => row.log_likelihood,
            numeric: true,
            show: (row) => rate(row.log_likelihood),
          },
          { name: "hits in focus", value: (row) => row.focus, numeric: true, show: (row) => count(row.focus) },
          { name: "hits elsewhere", value: (row) => row.reference, numeric: true, show: (row) => count(row.reference) },
        ],
        found.rows,
      ),
    );
  },
};
