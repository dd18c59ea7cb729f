// Words with rising or falling frequency.

import { spark } from "../chart/spark.ts";
import { el } from "../dom.ts";
import { count, pValue, plural, rate } from "../format.ts";
import type { TrendRow } from "../generated/api.ts";
import { table } from "../table.ts";
import { type ViewContext, type View, attributeField, intervalField } from "../view.ts";
import { LIMIT, PANEL, showEmpty, wordColumn } from "./shared.ts";

const SHAPES = { steady: "steady", late: "late", early: "early" } as const;

/** The trends view. */
export const trends: View = {
  name: "trends",
  title: "Trends",
  about: "Words that become more or less frequent, tested one by one.",
  group: "Time",
  documentFilter: "Filter documents",
  button: "Show",
  fields: (context) => [
    {
      name: "direction",
      label: "Direction",
      kind: "choice",
      choices: [
        ["both", "rising and falling"],
        ["rising", "rising"],
        ["falling", "falling"],
      ],
      initial: "both",
    },
    intervalField(trendInterval(context)),
    attributeField(context),
    { name: "min", label: "Minimum documents", kind: "number", initial: "30", advanced: true },
    { name: "fdr", label: "False discovery rate (0 to 1)", kind: "text", initial: "0.05", advanced: true },
    PANEL,
    LIMIT,
  ],
  ready: () => true,
  meaning:
    "Growth is the slope of a Theil–Sen line over all intervals, in units of the word’s mean rate: 1 means that it rose by its own average frequency. Shape says whether the change is steady, late or early. The q-value is corrected for the number of words tested (Benjamini–Hochberg): of all words with q ≤ 0.05, about one in twenty is a false positive. New sources can also make words rise; “constant sources only” leaves them out.",
  show: async (context) => {
    const { route } = context;
    const found = await context.request("trends", {
      ...context.documents,
      by: route.get("by") || trendInterval(context),
      direction: route.get("direction"),
      attribute: route.get("attribute"),
      min: route.get("min"),
      fdr: route.get("fdr"),
      panel: route.get("panel"),
      limit: route.get("limit"),
    });
    if (found.rows.length === 0) {
      return showEmpty(
        context,
        `${plural(found.tested, "word")} tested over ${plural(found.bins.length, "interval")}; no significant change. Try shorter intervals, more documents or a lower minimum.`,
      );
    }
    context.announce(
      `${plural(found.values ?? 0, "word")} of ${count(found.tested)} tested changed significantly${(found.values ?? 0) > found.rows.length ? `; the first ${count(found.rows.length)} are shown` : ""}.`,
    );
    context.append(
      table(
        "trends",
        "Rising and falling words, most significant first",
        [
          wordColumn<TrendRow>(context),
          { name: "sparkline", picture: true, value: () => "", show: (row) => spark(row.per_million, found.bins) },
          {
            name: "growth",
            about: "Theil–Sen slope from the first to the last interval, in units of the mean rate",
            value: (row) => row.growth,
            numeric: true,
            show: (row) =>
              el(
                "span",
                { class: (row.growth ?? 0) >= 0 ? "up" : "down" },
                `${(row.growth ?? 0) >= 0 ? "▲" : "▼"} ${rate(Math.abs(row.growth ?? 0))}`,
              ),
          },
          { name: "shape", value: (row) => row.shape ?? "", show: (row) => (row.shape ? SHAPES[row.shape] : "") },
          { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          {
            name: "q-value",
            about: "False discovery rate at which the word is significant (Benjamini–Hochberg)",
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

/** The interval for trends: some dozens of points, with much text in each. */
function trendInterval(context: ViewContext): string {
  const { corpus } = context;
  if (!corpus?.first_day || !corpus.last_day) return "quarter";
  const days = (Date.parse(corpus.last_day) - Date.parse(corpus.first_day)) / 86_400_000;
  return days < 60 ? "day" : days < 150 ? "week" : days < 1100 ? "month" : days < 3700 ? "quarter" : "year";
}
