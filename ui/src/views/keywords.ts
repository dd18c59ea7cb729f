// Keywords of a focus subcorpus.

import { el } from "../dom.ts";
import { filterOf, link } from "../route.ts";
import { count, pValue, plural, rate } from "../format.ts";
import { KEYNESS_MEASURE_CHOICES, type Keyword } from "../generated/api.ts";
import { table } from "../table.ts";
import { type View, attributeField } from "../view.ts";
import { LIMIT, NGRAM, PUNCTUATION, showEmpty, wordColumn } from "./shared.ts";

/** The keywords view. */
export const keywords: View = {
  name: "keywords",
  title: "Keywords",
  about: "Words typical of a focus subcorpus compared with a reference subcorpus.",
  group: "Words",
  documentFilter: "Focus subcorpus",
  button: "Show",
  fields: (context) => [
    {
      name: "against",
      label: "Reference subcorpus (all other documents if empty)",
      kind: "text",
      wide: true,
      hint: "date<2026-06",
    },
    NGRAM,
    attributeField(context),
    {
      name: "measure",
      label: "Order by",
      kind: "choice",
      choices: KEYNESS_MEASURE_CHOICES.map(([name]) => [name, name.replace("-", " ")] as const),
      initial: "simple-maths",
      advanced: true,
    },
    {
      name: "add",
      label: "Simple maths: added constant (higher favours common words)",
      kind: "text",
      initial: "1",
      advanced: true,
    },
    { name: "min", label: "Minimum frequency", kind: "number", initial: "5", advanced: true },
    PUNCTUATION,
    LIMIT,
  ],
  ready: (route) => filterOf(route) !== "",
  welcome: (context) => {
    const { corpus, route } = context;
    const [month, year] = [corpus?.last_day?.slice(0, 7), corpus?.last_day?.slice(0, 4)];
    return el(
      "div",
      { class: "empty" },
      el(
        "p",
        {},
        "Choose a focus subcorpus above: a period, a source, or conditions on metadata. Its words are compared with all other documents. Examples:",
      ),
      el(
        "ul",
        {},
        ...[month && `date=${month}`, year && `date=${year}`].flatMap((filter) =>
          filter ? [el("li", {}, el("a", { href: link("keywords", route, { filter }) }, filter))] : [],
        ),
      ),
      corpus &&
        el(
          "p",
          {},
          "Available metadata fields: ",
          ...corpus.fields.flatMap((name, at) => [at > 0 && ", ", el("code", {}, name)]),
          ".",
        ),
    );
  },
  meaning:
    "Simple maths divides the rate in the focus subcorpus by the rate in the reference, after adding a constant (1) to both; a higher constant favours common words. The log ratio is the binary logarithm of the ratio of rates; log-likelihood compares the counts as if hits were independent. Words that differ significantly come first: the q-value compares rates within sites that are in both subcorpora, and measures chance by how much the word varies from period to period.",
  show: async (context) => {
    const { route } = context;
    const names = ["against", "ngram", "attribute", "measure", "add", "min", "punctuation", "limit"];
    const found = await context.request("keywords", {
      ...context.documents,
      focus: filterOf(route),
      filter: "",
      ...Object.fromEntries(names.map((name) => [name, route.get(name)])),
    });
    if (found.rows.length === 0)
      return showEmpty(
        context,
        found.focus_tokens === 0
          ? "The focus subcorpus has no documents; the filter may be too narrow."
          : "No word is frequent enough in the focus subcorpus.",
      );
    context.announce(
      `${plural(found.focus_tokens, "token")} in focus, ${count(found.reference_tokens)} in the reference.`,
    );
    context.append(
      table(
        "keywords",
        "Keywords of the focus subcorpus",
        [
          wordColumn<Keyword>(context, "search"),
          {
            name: "per million in focus",
            value: (row) => row.focus_per_million,
            numeric: true,
            show: (row) => rate(row.focus_per_million),
          },
          {
            name: "per million in reference",
            value: (row) => row.reference_per_million,
            numeric: true,
            show: (row) => rate(row.reference_per_million),
          },
          { name: "score", value: (row) => row.score, numeric: true, show: (row) => rate(row.score) },
          {
            name: "log ratio",
            about: "Binary logarithm of the ratio of rates",
            value: (row) => row.log_ratio,
            numeric: true,
            show: (row) => rate(row.log_ratio),
          },
          {
            name: "q-value",
            about: "False discovery rate at which the difference is significant within sites (Benjamini–Hochberg)",
            value: (row) => row.q,
            numeric: true,
            show: (row) => pValue(row.q),
          },
          {
            name: "log-likelihood",
            value: (row) => row.log_likelihood,
            numeric: true,
            show: (row) => rate(row.log_likelihood),
          },
          { name: "hits in focus", value: (row) => row.focus, numeric: true, show: (row) => count(row.focus) },
          {
            name: "hits in reference",
            value: (row) => row.reference,
            numeric: true,
            show: (row) => count(row.reference),
          },
        ],
        found.rows,
      ),
    );
  },
};
