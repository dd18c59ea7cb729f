// Which words rise or fall.

import { spark } from "../chart/spark.ts";
import { el } from "../dom.ts";
import { chance, count, many, rate } from "../say.ts";
import { table } from "../table.ts";
import { type Desk, type View, attributeField, stepField } from "../view.ts";
import { LIMIT, PANEL, nothing, wordColumn } from "./shared.ts";

interface TrendRow {
  value: string;
  hits: number;
  documents: number;
  shape?: "steady" | "late" | "early";
  growth: number | null;
  q: number | null;
  kendall_z: number | null;
  per_million: number[];
}

const SHAPES = { steady: "all the time", late: "of late", early: "at first" } as const;

/** Which words rise or fall. */
export const trends: View = {
  name: "trends",
  title: "Trends",
  about: "Words that become more or less frequent, tested one by one.",
  group: "Time",
  chooses: "Which documents",
  button: "Show",
  fields: (desk) => [
    {
      name: "direction",
      label: "Direction",
      kind: "choice",
      choices: [
        ["both", "rising and falling"],
        ["rising", "rising"],
        ["falling", "falling"],
      ],
      usual: "both",
    },
    stepField(trendStep(desk)),
    attributeField(desk),
    { name: "min", label: "In at least so many documents", kind: "number", usual: "30", rare: true },
    { name: "fdr", label: "Share of false alarms that is fine (0 to 1)", kind: "text", usual: "0.05", rare: true },
    PANEL,
    LIMIT,
  ],
  ready: () => true,
  meaning:
    "Growth is the rise of a straight line through all steps, measured in mean rates of the word: 1 means that it rose by as much as it is frequent on average. “When” tells whether it changed all the time, of late, or at first. “By chance” is corrected for the number of words tested: among all words with at most 0.05, one in twenty may be a false alarm. New sources can make words rise, too: “only sources that were there all the time” leaves them out.",
  show: async (desk) => {
    const { place } = desk;
    const found = await desk.ask<{ bins: string[]; tested: number; values: number; rows: TrendRow[] }>("trends", {
      by: place.get("by") || trendStep(desk),
      direction: place.get("direction"),
      attribute: place.get("attribute"),
      min: place.get("min"),
      fdr: place.get("fdr"),
      panel: place.get("panel"),
      limit: place.get("limit"),
    });
    if (found.rows.length === 0) {
      return nothing(
        desk,
        `${many(found.tested, "word")} were tested over ${many(found.bins.length, "step")} of time, and none changed more than chance allows. Shorter steps, more documents or a smaller least number may help.`,
      );
    }
    desk.say(
      `${many(found.values, "word")} of ${count(found.tested)} tested changed${found.values > found.rows.length ? `; the surest ${count(found.rows.length)} are shown` : ""}.`,
    );
    desk.put(
      table(
        "trends",
        "Words that rise or fall, surest first",
        [
          wordColumn<TrendRow>(desk),
          { name: "how it went", picture: true, value: () => "", show: (row) => spark(row.per_million, found.bins) },
          {
            name: "growth",
            about: "By how many times its own mean rate the word grows from the first step to the last",
            value: (row) => row.growth,
            numeric: true,
            show: (row) =>
              el(
                "span",
                { class: (row.growth ?? 0) >= 0 ? "up" : "down" },
                `${(row.growth ?? 0) >= 0 ? "▲" : "▼"} ${rate(Math.abs(row.growth ?? 0))}`,
              ),
          },
          { name: "when", value: (row) => row.shape ?? "", show: (row) => (row.shape ? SHAPES[row.shape] : "") },
          { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          {
            name: "by chance",
            about: "How likely this is by chance, given how many words were tested (q)",
            value: (row) => row.q,
            numeric: true,
            show: (row) => chance(row.q),
          },
        ],
        found.rows,
      ),
    );
  },
};

/** Trends want some steps, and much text in each. */
function trendStep(desk: Desk): string {
  const { corpus } = desk;
  if (!corpus?.first_day || !corpus.last_day) return "quarter";
  const days = (Date.parse(corpus.last_day) - Date.parse(corpus.first_day)) / 86_400_000;
  return days < 60 ? "day" : days < 150 ? "week" : days < 1100 ? "month" : days < 3700 ? "quarter" : "year";
}
