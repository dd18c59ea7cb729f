// Keywords of a focus subcorpus.

import { filterOf } from "../route.ts";
import { count, pValue, percent, rate } from "../format.ts";
import { KEYNESS_MEASURE_CHOICES, type Keyword } from "../generated/api.ts";
import { table } from "../table.ts";
import { type View, attributeField } from "../view.ts";
import { lastYear, usualFocus, whyEmpty } from "./focus.ts";
import { ALL_WORDS, LIMIT, NGRAM, PUNCTUATION, leftOut, showEmpty, wordColumn } from "./shared.ts";
import { t } from "../text/index.ts";

/** The keywords view. */
export const keywords: View = {
  name: "keywords",
  title: t("Keywords"),
  about: t("Words typical of the filtered documents, compared with all others or with a reference subcorpus."),
  kind: "discover",
  fields: (context) => [
    {
      name: "against",
      label: t("Reference subcorpus (all other documents if empty)"),
      kind: "text",
      wide: true,
      hint: "date<2026-06",
    },
    NGRAM,
    attributeField(context),
    {
      name: "measure",
      label: t("Order by"),
      kind: "choice",
      choices: KEYNESS_MEASURE_CHOICES.map(([name]) => [name, name.replace("-", " ")] as const),
      initial: "simple-maths",
      advanced: true,
    },
    {
      name: "unit",
      label: t("Unit"),
      kind: "choice",
      choices: [
        ["", t("hits")],
        ["documents", t("documents with the word (share of documents)")],
      ],
      initial: "",
      advanced: true,
    },
    {
      name: "add",
      label: t("Simple maths: added constant (higher favours common words)"),
      kind: "text",
      initial: "1",
      advanced: true,
    },
    { name: "min", label: t("Minimum frequency"), kind: "number", initial: "5", advanced: true },
    { ...ALL_WORDS, advanced: true },
    PUNCTUATION,
    LIMIT,
  ],
  ready: () => true,
  meaning: t(
    "Simple maths divides the rate in the focus subcorpus by the rate in the reference, after adding a constant (1) to both; a higher constant favours common words. The log ratio is the binary logarithm of the ratio of rates; log-likelihood compares the counts as if hits were independent. Words that differ significantly come first: the q-value compares rates within sites that are in both subcorpora, and measures chance by how much the word varies from period to period.",
  ),
  show: async (context) => {
    const { route } = context;
    const names = [
      "against",
      "ngram",
      "attribute",
      "measure",
      "unit",
      "add",
      "min",
      "all_words",
      "punctuation",
      "limit",
    ];
    const focus = filterOf(route) || lastYear(context);
    if (!filterOf(route)) context.append(usualFocus(context, "keywords", focus));
    const found = await context.request("keywords", {
      ...context.documents,
      focus,
      filter: "",
      ...Object.fromEntries(names.map((name) => [name, route.get(name)])),
    });
    if (found.rows.length === 0)
      return showEmpty(context, whyEmpty(found, t("No word is frequent enough in the focus subcorpus.")));
    context.announce(
      t("{focus} tokens in focus, {reference} in the reference", {
        focus: count(found.focus_tokens),
        reference: count(found.reference_tokens),
      }),
    );
    const byDocuments = found.unit === "documents";
    // Documents per million documents are shown as a share.
    const rated = (number: number | null) => (byDocuments ? percent((number ?? 0) / 1e6) : rate(number));
    context.append(
      leftOut(context, found.left_out),
      table(
        "keywords",
        t("Keywords of the focus subcorpus"),
        [
          wordColumn<Keyword>(context, "search", found.attribute),
          {
            name: "focus_per_million",
            label: byDocuments ? t("share of documents in focus") : t("per million in focus"),
            value: (row) => row.focus_per_million,
            numeric: true,
            show: (row) => rated(row.focus_per_million),
          },
          {
            name: "reference_per_million",
            label: byDocuments ? t("share of documents in reference") : t("per million in reference"),
            value: (row) => row.reference_per_million,
            numeric: true,
            show: (row) => rated(row.reference_per_million),
          },
          {
            name: "score",
            label: t("score"),
            value: (row) => row.score,
            numeric: true,
            show: (row) => rate(row.score),
          },
          {
            name: "log_ratio",
            label: t("log ratio"),
            about: t("Binary logarithm of the ratio of rates"),
            value: (row) => row.log_ratio,
            numeric: true,
            show: (row) => rate(row.log_ratio),
          },
          {
            name: "q",
            label: t("q-value"),
            about: t("False discovery rate at which the difference is significant within sites (Benjamini–Hochberg)"),
            value: (row) => row.q,
            numeric: true,
            show: (row) => pValue(row.q),
          },
          {
            name: "log_likelihood",
            label: t("log-likelihood"),
            value: (row) => row.log_likelihood,
            numeric: true,
            show: (row) => rate(row.log_likelihood),
          },
          {
            name: "focus",
            label: byDocuments ? t("documents in focus") : t("hits in focus"),
            value: (row) => row.focus,
            numeric: true,
            show: (row) => count(row.focus),
          },
          {
            name: "reference",
            label: byDocuments ? t("documents in reference") : t("hits in reference"),
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
