// Words that were on everybody’s lips for a while.

import { el } from "../dom.ts";
import { link } from "../place.ts";
import { count, many, rate } from "../say.ts";
import { table } from "../table.ts";
import { type View, asQuery, attributeField, stepField } from "../view.ts";
import { LIMIT, PANEL, nothing, wordColumn } from "./shared.ts";

interface BurstRow {
  value: string;
  bin: string;
  score: number | null;
  log_ratio: number | null;
  hits: number;
  documents: number;
  sequel: "fell" | "stayed" | "open";
}

const SEQUELS = { fell: "went again", stayed: "stayed", open: "too early to tell" } as const;

/** Words that were in the news for a while. */
export const bursts: View = {
  name: "bursts",
  title: "Bursts",
  about: "Words that were on everybody’s lips for a while.",
  group: "Time",
  chooses: "Which documents",
  button: "Show",
  fields: (desk) => [stepField("week"), attributeField(desk), PANEL, LIMIT],
  ready: () => true,
  meaning:
    "A burst is a step in which a word is much more frequent than in the steps before, in many documents and not in one. What came then tells whether it went again or stayed.",
  show: async (desk) => {
    const { place } = desk;
    const found = await desk.ask<{ values: number; rows: BurstRow[] }>("bursts", {
      by: place.get("by"),
      attribute: place.get("attribute"),
      panel: place.get("panel"),
      limit: place.get("limit"),
    });
    if (found.rows.length === 0)
      return nothing(desk, "No word stood out from the steps before it. Longer or shorter steps may show something.");
    desk.say(`${many(found.values, "burst")}.`);
    desk.put(
      table(
        "bursts",
        "Words that burst, strongest first",
        [
          wordColumn<BurstRow>(desk),
          {
            name: "when",
            value: (row) => row.bin,
            show: (row) =>
              el(
                "a",
                {
                  href: link("search", place, {
                    q: asQuery(row.value, place.get("attribute") || "lc"),
                    filter: `date=${row.bin}`,
                  }),
                },
                row.bin,
              ),
          },
          {
            name: "times as often",
            about: "How many times the rate before",
            value: (row) => (row.log_ratio === null ? null : 2 ** row.log_ratio),
            numeric: true,
            show: (row) => (row.log_ratio === null ? "new" : `× ${rate(2 ** row.log_ratio)}`),
          },
          { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          { name: "score", value: (row) => row.score, numeric: true, show: (row) => rate(row.score) },
          { name: "then it", value: (row) => row.sequel, show: (row) => SEQUELS[row.sequel] },
        ],
        found.rows,
      ),
    );
  },
};
