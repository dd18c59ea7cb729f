// Comparison of two periods.

import { change } from "../chart/spark.ts";
import { el } from "../dom.ts";
import { link } from "../route.ts";
import { brief, count, factor, pValue, percent, rate } from "../format.ts";
import type { Change, CompareAnswer } from "../generated/api.ts";
import { type Column, table } from "../table.ts";
import { asQuery } from "../cql.ts";
import { type ViewContext, type View, attributeField } from "../view.ts";
import { ALL_WORDS, leftOut, showEmpty, wordColumn } from "./shared.ts";
import { t, tn } from "../text/index.ts";

/** The first and second half of the period of the corpus. */
export function halves(context: ViewContext): { before: string; after: string } {
  const { first_day: first, last_day: last } = context.corpus ?? {};
  if (!first || !last) return { before: "", after: "" };
  const middle = new Date((Date.parse(first) + Date.parse(last)) / 2);
  const day = (date: Date) => date.toISOString().slice(0, 10);
  return { before: `${first}..${day(middle)}`, after: `${day(new Date(middle.getTime() + 86_400_000))}..${last}` };
}

/** The comparison view. */
export const compare: View = {
  name: "compare",
  title: t("Compare"),
  about: t("Words that became more or less frequent between two periods."),
  kind: "discover",
  fields: (context) => {
    const { before, after } = halves(context);
    return [
      {
        name: "before",
        label: t("Before"),
        kind: "text",
        wide: true,
        initial: before,
        hint: "2025 · 2026-Q1 · 2026-03..2026-05",
      },
      { name: "after", label: t("After"), kind: "text", wide: true, initial: after, hint: "2026 · 2026-Q2 · 2026-W30" },
      attributeField(context),
      {
        name: "measure",
        label: t("Measure"),
        kind: "choice",
        choices: [
          ["", t("per million tokens")],
          ["documents", t("share of documents")],
        ],
        initial: "",
        advanced: true,
      },
      { name: "panel", label: t("Sources in both periods only (panel)"), kind: "flag", advanced: true },
      { name: "min", label: t("Minimum documents"), kind: "number", initial: "10", advanced: true },
      { name: "fdr", label: t("False discovery rate (0 to 1)"), kind: "text", initial: "0.05", advanced: true },
      { ...ALL_WORDS, advanced: true },
      { name: "limit", label: t("Maximum rows"), kind: "number", initial: "30", advanced: true },
    ];
  },
  ready: () => true,
  meaning: t(
    "× 2 means twice as frequent as before, ÷ 2 half as frequent. The small chart shows the log ratio with its 95 % confidence interval; the line in the middle means no change. Words are ordered by the smallest change that the interval allows, so that rare words need a larger change. The q-value is corrected for the number of words tested.",
  ),
  show: async (context) => {
    const { route } = context;
    const usual = halves(context);
    const [before, after] = [route.get("before") || usual.before, route.get("after") || usual.after];
    if (!before || !after) return showEmpty(context, t("Choose two periods."));
    const ask = (direction: string) =>
      context.request("compare", {
        ...context.documents,
        before: `date=${before}`,
        after: `date=${after}`,
        direction,
        attribute: route.get("attribute"),
        panel: route.get("panel"),
        min: route.get("min"),
        fdr: route.get("fdr"),
        all_words: route.get("all_words"),
        limit: route.get("limit") || 30,
      });
    const [rose, fell] = await Promise.all([ask("rising"), ask("falling")]);
    if (rose.before_tokens === 0 || rose.after_tokens === 0) {
      return showEmpty(
        context,
        t(
          "No documents in {period}. Write a period as 2026, 2026-Q1, 2026-03, 2026-W09, 2026-03-01, or as a range with .. between two of these.",
          { period: rose.before_tokens === 0 ? before : after },
        ),
      );
    }
    if (context.isCutOff) return showEmpty(context, "");
    context.announce(
      t("{rose} of {tested} words tested rose, {fell} fell · {before} and {after} tokens", {
        rose: count(rose.values ?? 0),
        tested: count(rose.tested),
        fell: count(fell.values ?? 0),
        before: brief(rose.before_tokens),
        after: brief(rose.after_tokens),
      }),
    );
    // The scale ends at a factor of 32.
    const widest = Math.min(
      5,
      Math.max(
        1,
        ...[...rose.rows, ...fell.rows].flatMap((row) => [row.band.low ?? 0, row.band.high ?? 0].map(Math.abs)),
      ),
    );
    const kind = rose.attribute;
    const hitsOf = (row: Change, period: string) =>
      link("search", route, {
        q: asQuery(row.value, kind),
        filter: [`date=${period}`, route.get("filter") && `(${route.get("filter")})`].filter(Boolean).join(" "),
      });
    const amount = (row: Change, hits: number, perMillion: number, period: string) =>
      hits > 0
        ? el(
            "a",
            {
              href: hitsOf(row, period),
              "aria-label": `${row.value}, ${period}: ${rate(perMillion)}, ${tn(hits, "{n} hit", "{n} hits")}`,
            },
            rate(perMillion),
          )
        : "0";
    const byDocuments = route.get("measure") === "documents";
    const rates: Column<Change>[] = [
      {
        name: "before_per_million",
        label: t("per million before"),
        value: (row) => row.before_per_million,
        numeric: true,
        show: (row) => amount(row, row.before, row.before_per_million, before),
      },
      {
        name: "after_per_million",
        label: t("per million after"),
        value: (row) => row.after_per_million,
        numeric: true,
        show: (row) => amount(row, row.after, row.after_per_million, after),
      },
    ];
    const shares: Column<Change>[] = [
      {
        name: "before_document_share",
        label: t("share of documents before"),
        value: (row) => row.before_document_share,
        numeric: true,
        show: (row) => percent(row.before_document_share),
      },
      {
        name: "after_document_share",
        label: t("share of documents after"),
        value: (row) => row.after_document_share,
        numeric: true,
        show: (row) => percent(row.after_document_share),
      },
    ];
    const half = (title: string, name: string, { rows }: CompareAnswer) =>
      el(
        "section",
        { class: "card" },
        el("h2", {}, title),
        rows.length === 0
          ? el("p", { class: "empty" }, t("No significant change."))
          : table(
              name,
              title,
              [
                wordColumn<Change>(context, "timeline", kind),
                {
                  name: "change",
                  label: t("change"),
                  picture: true,
                  value: () => "",
                  show: (row) => change(row.log_ratio ?? 0, row.band.low, row.band.high, widest),
                },
                {
                  name: "factor",
                  label: t("factor"),
                  about: t("Rate after divided by rate before"),
                  value: (row) => row.log_ratio,
                  numeric: true,
                  show: (row) => factor(row.log_ratio),
                },
                ...(byDocuments ? shares : rates),
                {
                  name: "q",
                  label: t("q-value"),
                  about: t("False discovery rate at which the word is significant (Benjamini–Hochberg)"),
                  value: (row) => row.q,
                  numeric: true,
                  show: (row) => pValue(row.q),
                },
              ],
              rows,
            ),
      );
    context.append(
      leftOut(context, rose.left_out + fell.left_out),
      el("div", { class: "sides" }, half(t("Rising words"), "risen", rose), half(t("Falling words"), "fallen", fell)),
    );
  },
};
