// Parts of the views of words over time that a test selects: seasons and level shifts.

import { spark } from "../chart/spark.ts";
import { el } from "../dom.ts";
import type { Field } from "../form.ts";
import { count, pValue, percent } from "../format.ts";
import { type Column } from "../table.ts";
import { t } from "../text/index.ts";
import { type ViewContext, attributeField, usualAttribute } from "../view.ts";
import { ALL_WORDS, LIMIT, PANEL, showEmpty } from "./shared.ts";

/** A word that a test selected. */
interface TestedRow {
  hits: number;
  documents: number;
  q: number | null;
  per_million: number[];
}

/** An answer with such words. */
interface Tested {
  bins: string[];
  tested: number;
  false_discovery_rate: number;
  values: number | null;
}

/** The fields of such a view. */
export const testFields = (context: ViewContext): Field[] => [
  attributeField(context),
  { name: "min", label: t("Minimum documents"), kind: "number", initial: "30", advanced: true },
  { name: "effect", label: t("Minimum change (factor)"), kind: "text", initial: "1.25", advanced: true },
  { name: "fdr", label: t("False discovery rate (0 to 1)"), kind: "text", initial: "0.05", advanced: true },
  ALL_WORDS,
  PANEL,
  LIMIT,
];

/** The parameters of a request from these fields. */
export function testParameters(context: ViewContext) {
  const { route } = context;
  return {
    ...context.documents,
    attribute: route.get("attribute") || usualAttribute(context),
    by: route.get("by"),
    min: route.get("min"),
    effect: route.get("effect"),
    fdr: route.get("fdr"),
    all_words: route.get("all_words"),
    panel: route.get("panel"),
    limit: route.get("limit"),
  };
}

/** Says that no word passed the test. */
export const showNone = (context: ViewContext, found: Tested): void =>
  showEmpty(
    context,
    t("{tested} words tested over {n} periods; none passed the test.", {
      tested: count(found.tested),
      n: count(found.bins.length),
    }),
  );

/** How many words passed a test, and how many of them by chance. */
export const passedTest = (found: Pick<Tested, "tested" | "values" | "false_discovery_rate">): string =>
  t("{changed} of {tested} words passed the test; about {chance} of them by chance.", {
    changed: count(found.values ?? 0),
    tested: count(found.tested),
    chance: percent(found.false_discovery_rate),
  });

/** What the list rests on, in a sentence above it. */
export const basisOf = (found: Tested): HTMLElement =>
  el(
    "p",
    { class: "honest" },
    t("Tested within each source, so that sources that joined later do not count as change."),
    " ",
    passedTest(found),
  );

/** The course of each word as a sparkline. */
export const courseColumn = <Row extends TestedRow>(bins: string[], colour: (row: Row) => string): Column<Row> => ({
  name: "sparkline",
  label: `${bins[0]?.slice(0, 4) ?? ""} – ${bins.at(-1)?.slice(0, 4) ?? ""}`,
  picture: true,
  value: () => "",
  show: (row) => spark(row.per_million, bins, colour(row)),
});

/** Hits, documents and q-value. */
export const testColumns = <Row extends TestedRow>(): Column<Row>[] => [
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
];
