// Words with a burst of frequency.

import { el } from "../dom.ts";
import { link } from "../route.ts";
import { count, plural, rate } from "../format.ts";
import type { BurstRow } from "../generated/api.ts";
import { table } from "../table.ts";
import { asQuery } from "../cql.ts";
import { type View, attributeField, intervalField } from "../view.ts";
import { LIMIT, PANEL, showEmpty, wordColumn } from "./shared.ts";

const SEQUELS = { fell: "faded", stayed: "lasted", open: "too recent to tell" } as const;

/** The bursts view. */
export const bursts: View = {
  name: "bursts",
  title: "Bursts",
  about: "Words that were much more frequent than usual for a short time.",
  group: "Time",
  documentFilter: "Filter documents",
  button: "Show",
  fields: (context) => [intervalField("week"), attributeField(context), PANEL, LIMIT],
  ready: () => true,
  meaning:
    "A burst is an interval in which a word is much more frequent than before, in several documents. “Afterwards” says whether it faded or lasted.",
  show: async (context) => {
    const { route } = context;
    const found = await context.request("bursts", {
      ...context.documents,
      by: route.get("by"),
      attribute: route.get("attribute"),
      panel: route.get("panel"),
      limit: route.get("limit"),
    });
    if (found.rows.length === 0)
      return showEmpty(
        context,
        "No word stood out from the steps before it. Longer or shorter steps may show something.",
      );
    context.announce(`${plural(found.values ?? 0, "burst")}.`);
    context.append(
      table(
        "bursts",
        "Bursts, strongest first",
        [
          wordColumn<BurstRow>(context),
          {
            name: "when",
            value: (row) => row.bin,
            show: (row) =>
              el(
                "a",
                {
                  href: link("search", route, {
                    q: asQuery(row.value, route.get("attribute") || "lc"),
                    filter: `date=${row.bin}`,
                  }),
                },
                row.bin,
              ),
          },
          {
            name: "factor",
            about: "Rate divided by the rate before",
            value: (row) => (row.log_ratio === null ? null : 2 ** row.log_ratio),
            numeric: true,
            show: (row) => (row.log_ratio === null ? "new" : `× ${rate(2 ** row.log_ratio)}`),
          },
          { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          { name: "score", value: (row) => row.score, numeric: true, show: (row) => rate(row.score) },
          { name: "afterwards", value: (row) => row.sequel, show: (row) => SEQUELS[row.sequel] },
        ],
        found.rows,
      ),
    );
  },
};
