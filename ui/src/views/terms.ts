// Terms: noun phrases that are typical of a focus subcorpus.

import { bidi, el } from "../dom.ts";
import { link } from "../route.ts";
import { count, language } from "../format.ts";
import type { TermRow } from "../generated/api.ts";
import { asQuery } from "../cql.ts";
import { table } from "../table.ts";
import { t } from "../text/index.ts";
import { type View } from "../view.ts";
import { AGAINST, HITS_IN_FOCUS, KEYNESS, focusColumns, ofFocus, whyEmpty } from "./focus.ts";
import { LIMIT, showEmpty } from "./shared.ts";

/** The terms view. */
export const terms: View = {
  name: "terms",
  title: t("Terms"),
  about: t("Terms of several words that are typical of the filtered documents, compared with all others."),
  kind: "discover",
  fields: () => [
    AGAINST,
    { name: "names", label: t("Include names"), kind: "flag" },
    KEYNESS,
    { name: "min", label: t("Minimum frequency"), kind: "number", initial: "5", advanced: true },
    { name: "min_documents", label: t("Minimum documents"), kind: "number", initial: "3", advanced: true },
    LIMIT,
  ],
  ready: () => true,
  meaning: t(
    "Terms are nouns with what belongs to them, found by patterns of parts of speech; terms inside of longer terms count as well. Simple maths divides the rate in the focus subcorpus by the rate in the reference, after adding a constant to both; the log ratio is the binary logarithm of the ratio of rates.",
  ),
  show: async (context) => {
    if (!context.attributes.includes("tag"))
      return showEmpty(
        context,
        t("This view needs lemmas and parts of speech, and there is no model for {language}.", {
          language: language(context.lang),
        }),
      );
    const names = ["against", "names", "measure", "min", "min_documents", "limit"];
    const found = await ofFocus(context, "terms", names);
    if (found.rows.length === 0)
      return showEmpty(context, whyEmpty(found, t("No term is frequent enough in the focus subcorpus.")));
    const columns = focusColumns<TermRow>(HITS_IN_FOCUS);
    const toHits = (row: TermRow) => link("search", context.route, { q: asQuery(row.value, found.attribute) });
    context.append(
      table(
        "terms",
        t("Terms of the focus subcorpus"),
        [
          {
            name: "term",
            label: t("term"),
            value: (row) => row.form,
            show: (row) => el("a", { href: toHits(row) }, bidi(row.form)),
          },
          columns.focus_per_million,
          columns.reference_per_million,
          columns.score,
          columns.log_ratio,
          columns.log_likelihood,
          columns.focus,
          {
            name: "focus_documents",
            label: t("documents in focus"),
            value: (row) => row.focus_documents,
            numeric: true,
            show: (row) => count(row.focus_documents),
          },
          columns.reference,
        ],
        found.rows,
      ),
    );
  },
};
