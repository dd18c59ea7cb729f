// Terms: noun phrases that are typical of a focus subcorpus.

import { bidi, el } from "../dom.ts";
import { filterOf, link } from "../route.ts";
import { count, language, rate } from "../format.ts";
import { KEYNESS_MEASURE_CHOICES } from "../generated/api.ts";
import { asQuery } from "../cql.ts";
import { table } from "../table.ts";
import { t } from "../text/index.ts";
import { type View } from "../view.ts";
import { lastYear, usualFocus, whyEmpty } from "./focus.ts";
import { LIMIT, showEmpty } from "./shared.ts";

/** The terms view. */
export const terms: View = {
  name: "terms",
  title: t("Terms"),
  about: t("Terms of several words that are typical of the filtered documents, compared with all others."),
  kind: "discover",
  fields: () => [
    {
      name: "against",
      label: t("Reference subcorpus (all other documents if empty)"),
      kind: "text",
      wide: true,
      hint: "date<2026-06",
    },
    { name: "names", label: t("Include names"), kind: "flag" },
    {
      name: "measure",
      label: t("Order by"),
      kind: "choice",
      choices: KEYNESS_MEASURE_CHOICES.map(([name]) => [name, name.replace("-", " ")] as const),
      initial: "simple-maths",
      advanced: true,
    },
    { name: "min", label: t("Minimum frequency"), kind: "number", initial: "5", advanced: true },
    { name: "min_documents", label: t("Minimum documents"), kind: "number", initial: "3", advanced: true },
    LIMIT,
  ],
  ready: () => true,
  meaning: t(
    "Terms are nouns with what belongs to them, found by patterns of parts of speech; terms inside of longer terms count as well. Simple maths divides the rate in the focus subcorpus by the rate in the reference, after adding a constant to both; the log ratio is the binary logarithm of the ratio of rates.",
  ),
  show: async (context) => {
    const { route } = context;
    if (!context.attributes.includes("tag"))
      return showEmpty(
        context,
        t("This view needs lemmas and parts of speech, and there is no model for {language}.", {
          language: language(context.lang),
        }),
      );
    const focus = filterOf(route) || lastYear(context);
    if (!filterOf(route)) context.append(usualFocus(context, "terms", focus));
    const names = ["against", "names", "measure", "min", "min_documents", "limit"];
    const found = await context.request("terms", {
      ...context.documents,
      focus,
      filter: "",
      ...Object.fromEntries(names.map((name) => [name, route.get(name)])),
    });
    if (found.rows.length === 0)
      return showEmpty(context, whyEmpty(found, t("No term is frequent enough in the focus subcorpus.")));
    context.announce(
      t("{focus} tokens in focus, {reference} in the reference", {
        focus: count(found.focus_tokens),
        reference: count(found.reference_tokens),
      }),
    );
    context.append(
      table(
        "terms",
        t("Terms of the focus subcorpus"),
        [
          {
            name: "term",
            label: t("term"),
            value: (row) => row.form,
            show: (row) =>
              el("a", { href: link("search", route, { q: asQuery(row.value, found.attribute) }) }, bidi(row.form)),
          },
          {
            name: "focus_per_million",
            label: t("per million in focus"),
            value: (row) => row.focus_per_million,
            numeric: true,
            show: (row) => rate(row.focus_per_million),
          },
          {
            name: "reference_per_million",
            label: t("per million in reference"),
            value: (row) => row.reference_per_million,
            numeric: true,
            show: (row) => rate(row.reference_per_million),
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
            name: "log_likelihood",
            label: t("log-likelihood"),
            value: (row) => row.log_likelihood,
            numeric: true,
            show: (row) => rate(row.log_likelihood),
          },
          {
            name: "focus",
            label: t("hits in focus"),
            value: (row) => row.focus,
            numeric: true,
            show: (row) => count(row.focus),
          },
          {
            name: "focus_documents",
            label: t("documents in focus"),
            value: (row) => row.focus_documents,
            numeric: true,
            show: (row) => count(row.focus_documents),
          },
          {
            name: "reference",
            label: t("hits in reference"),
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
