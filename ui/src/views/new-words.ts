// Words first used in a period.

import { el } from "../dom.ts";
import { count, pValue, plural } from "../format.ts";
import type { NewWordRow } from "../generated/api.ts";
import { table } from "../table.ts";
import { type View, attributeField } from "../view.ts";
import { LIMIT, showEmpty, wordColumn } from "./shared.ts";

const OUTCOMES = { burst: "faded", lasting: "lasted", open: "too recent to tell" } as const;

/** The new words view. */
export const newWords: View = {
  name: "new-words",
  title: "New words",
  about: "Words first used in a period, on several sources and days.",
  group: "Time",
  documentFilter: "Filter documents",
  button: "Show",
  fields: (context) => [
    { name: "since", label: "First used since", kind: "date" },
    attributeField(context, ["word", "lemma"], "word"),
    { name: "names", label: "Include names", kind: "flag" },
    { name: "min_sites", label: "Minimum sources", kind: "number", initial: "3", advanced: true },
    { name: "min_days", label: "Minimum days", kind: "number", initial: "3", advanced: true },
    { name: "min_documents", label: "Minimum documents", kind: "number", initial: "5", advanced: true },
    {
      name: "fdr",
      label: "Accepted share of chance finds (1 lists all)",
      kind: "text",
      initial: "0.05",
      advanced: true,
    },
    LIMIT,
  ],
  ready: () => true,
  meaning:
    "A word is new if no earlier document contains it, and if it occurs on several sources of different owners, on several days and in several documents, so that a single author’s misspelling does not count. The longer the period before, the more reliable the list.",
  show: async (context) => {
    const { route } = context;
    const names = ["since", "attribute", "names", "min_sites", "min_days", "min_documents", "fdr", "limit"];
    const found = await context.request("new-words", {
      ...context.documents,
      ...Object.fromEntries(names.map((name) => [name, route.get(name)])),
    });
    const dropped = Object.entries(found.dropped)
      .map(([rule, words]) => `${rule} ${count(words)}`)
      .join(", ");
    if (found.rows.length === 0)
      return showEmpty(
        context,
        `No new word since ${found.since} occurs on enough sources and days.${dropped ? ` Excluded: ${dropped}.` : ""} Try an earlier date or lower thresholds.`,
      );
    context.announce(`${plural(found.values ?? 0, "new word")} since ${found.since}.`);
    context.append(
      table(
        "new-words",
        `Words first used since ${found.since}, by number of sources`,
        [
          wordColumn<NewWordRow>(context, "search", route.get("attribute") || "word"),
          { name: "first seen", value: (row) => row.first_seen },
          { name: "sources", value: (row) => row.sites, numeric: true, show: (row) => count(row.sites) },
          { name: "days", value: (row) => row.days, numeric: true, show: (row) => count(row.days) },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          {
            name: "q-value",
            about: "Share of words with as much evidence that are first seen in the period by chance",
            value: (row) => row.q,
            numeric: true,
            show: (row) => pValue(row.q),
          },
          { name: "afterwards", value: (row) => row.fate, show: (row) => OUTCOMES[row.fate] },
        ],
        found.rows,
      ),
      dropped && el("p", { class: "quiet" }, `Excluded, by rule: ${dropped}.`),
    );
  },
};
