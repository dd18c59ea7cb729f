// Keywords of a focus subcorpus.

import { pValue, percent } from "../format.ts";
import type { Keyword } from "../generated/api.ts";
import { table } from "../table.ts";
import { type View, attributeField } from "../view.ts";
import { AGAINST, HITS_IN_FOCUS, KEYNESS, focusColumns, ofFocus, whyEmpty } from "./focus.ts";
import { ALL_WORDS, LIMIT, NGRAM, PUNCTUATION, leftOut, showEmpty, wordColumn } from "./shared.ts";
import { t } from "../text/index.ts";

/** The keywords view. */
export const keywords: View = {
  name: "keywords",
  title: t("Keywords"),
  about: t("Words typical of the filtered documents, compared with all others or with a reference subcorpus."),
  kind: "discover",
  fields: (context) => [
    AGAINST,
    NGRAM,
    attributeField(context),
    KEYNESS,
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
    const found = await ofFocus(context, "keywords", names);
    if (found.rows.length === 0)
      return showEmpty(context, whyEmpty(found, t("No word is frequent enough in the focus subcorpus.")));
    const byDocuments = found.unit === "documents";
    // Documents per million documents are shown as a share.
    const columns = focusColumns<Keyword>(
      byDocuments
        ? {
            rate: [t("share of documents in focus"), t("share of documents in reference")],
            count: [t("documents in focus"), t("documents in reference")],
            showRate: (value) => percent((value ?? 0) / 1e6),
          }
        : HITS_IN_FOCUS,
    );
    context.append(
      leftOut(context, found.left_out),
      table(
        "keywords",
        t("Keywords of the focus subcorpus"),
        [
          wordColumn<Keyword>(context, "search", found.attribute),
          columns.focus_per_million,
          columns.reference_per_million,
          columns.score,
          columns.log_ratio,
          {
            name: "q",
            label: t("q-value"),
            about: t("False discovery rate at which the difference is significant within sites (Benjamini–Hochberg)"),
            value: (row) => row.q,
            numeric: true,
            show: (row) => pValue(row.q),
          },
          columns.log_likelihood,
          columns.focus,
          columns.reference,
        ],
        found.rows,
      ),
    );
  },
};
