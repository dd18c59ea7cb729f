// Words with rising or falling frequency.

import { spark } from "../chart/spark.ts";
import { el } from "../dom.ts";
import { count, pValue, percent, rate } from "../format.ts";
import type { TrendRow, TrendsAnswer } from "../generated/api.ts";
import { table } from "../table.ts";
import { t, tn } from "../text/index.ts";
import { type View, INTERVAL, attributeField, intervalName, usualAttribute } from "../view.ts";
import { ALL_WORDS, LIMIT, PANEL, leftOut, nameColumn, showEmpty, wordColumn } from "./shared.ts";

const SHAPES = { steady: t("steady"), late: t("late"), early: t("early") } as const;

/** What the test rests on, in a sentence above the list. */
export function basis(found: TrendsAnswer): string {
  const { mixture } = found;
  const kept = mixture && t("Tested within each source, so that sources that joined later do not count as change.");
  const list = t("{changed} of {tested} words tested changed; about {chance} of them by chance.", {
    changed: count(found.values ?? 0),
    tested: count(found.tested),
    chance: percent(found.false_discovery_rate),
  });
  return [kept, list].filter(Boolean).join(" ");
}

/** The largest factor that is told: beyond, one of the rates is nearly zero, and its size says nothing. */
const MOST_TIMES = 100;

const times = (logRatio: number): string => {
  const factor = 2 ** Math.abs(logRatio);
  return factor > MOST_TIMES ? `> ${MOST_TIMES}×` : `${rate(factor)}×`;
};

/** The change of a word with an arrow. */
export const arrow = (logRatio: number | null): HTMLElement =>
  el(
    "span",
    { class: (logRatio ?? 0) >= 0 ? "up" : "down" },
    `${(logRatio ?? 0) >= 0 ? "▲" : "▼"} ${logRatio === null ? "–" : times(logRatio)}`,
  );

/** The direction of changes that are listed. */
export const DIRECTION = {
  name: "direction",
  label: t("Direction"),
  kind: "choice",
  choices: [
    ["both", t("rising and falling")],
    ["rising", t("rising")],
    ["falling", t("falling")],
  ],
  initial: "both",
} as const;

/** The trends view. */
export const trends: View = {
  name: "trends",
  title: t("Trends"),
  about: t("Words that become more or less frequent, tested one by one."),
  kind: "discover",
  fields: (context) => [
    DIRECTION,
    INTERVAL,
    attributeField(context),
    { name: "min", label: t("Minimum documents"), kind: "number", initial: "30", advanced: true },
    { name: "effect", label: t("Minimum change (factor)"), kind: "text", initial: "1.25", advanced: true },
    { name: "fdr", label: t("False discovery rate (0 to 1)"), kind: "text", initial: "0.05", advanced: true },
    ALL_WORDS,
    PANEL,
    LIMIT,
  ],
  ready: () => true,
  meaning: t(
    "Change is the rate at the end by the rate at the beginning, fitted within the sources. Shape says whether the change is steady, late or early. The q-value is corrected for the number of words tested (Benjamini–Hochberg): of all words with q ≤ 0.05, about one in twenty is a false positive.",
  ),
  show: async (context) => {
    const { route } = context;
    const attribute = route.get("attribute") || usualAttribute(context);
    const found = await context.request("trends", {
      ...context.documents,
      by: route.get("by"),
      direction: route.get("direction"),
      attribute,
      min: route.get("min"),
      effect: route.get("effect"),
      fdr: route.get("fdr"),
      all_words: route.get("all_words"),
      panel: route.get("panel"),
      limit: route.get("limit"),
    });
    if (found.rows.length === 0) {
      return showEmpty(
        context,
        el(
          "div",
          { class: "empty" },
          el(
            "p",
            {},
            t("{tested} words tested over {n} periods; none changed significantly.", {
              tested: count(found.tested),
              n: count(found.bins.length),
            }),
          ),
          found.tested === 0 &&
            el("p", {}, el("a", { href: route.with({ min: "5" }) }, t("Test words of at least 5 documents"))),
          found.tested > 0 &&
            el("p", {}, el("a", { href: route.with({ fdr: "0.5" }) }, t("Show the surest words all the same"))),
        ),
      );
    }
    context.announce(tn(found.values ?? 0, "{n} word changed", "{n} words changed"));
    context.append(
      el("p", { class: "honest" }, basis(found)),
      leftOut(context, found.left_out),
      table(
        "trends",
        t("Rising and falling words by {interval}, surest first", { interval: intervalName(found.step) }),
        [
          wordColumn<TrendRow>(context, "timeline", attribute),
          nameColumn<TrendRow>(),
          {
            name: "sparkline",
            label: `${found.bins[0]?.slice(0, 4) ?? ""} – ${found.bins.at(-1)?.slice(0, 4) ?? ""}`,
            picture: true,
            value: () => "",
            show: (row) => spark(row.per_million, found.bins, (row.log_ratio ?? row.growth ?? 0) >= 0 ? "c2" : "c1"),
          },
          {
            name: "log_ratio",
            label: t("change"),
            about: t("Rate at the end by the rate at the beginning"),
            value: (row) => row.log_ratio,
            numeric: true,
            show: (row) => arrow(row.log_ratio),
          },
          {
            name: "shape",
            label: t("shape"),
            value: (row) => row.shape ?? "",
            show: (row) => (row.shape ? SHAPES[row.shape] : ""),
          },
          { name: "hits", label: t("hits"), value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          {
            name: "documents",
            label: t("documents"),
            value: (row) => row.documents,
            numeric: true,
            show: (row) => count(row.documents),
          },
          {
            name: "q",
            label: t("q-value"),
            about: t("False discovery rate at which the word is significant (Benjamini–Hochberg)"),
            value: (row) => row.q,
            numeric: true,
            show: (row) => pValue(row.q),
          },
        ],
        found.rows,
      ),
    );
  },
};
