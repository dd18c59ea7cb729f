// Words that were not there before.

import { el } from "../dom.ts";
import { count, many } from "../say.ts";
import { table } from "../table.ts";
import { type View, attributeField } from "../view.ts";
import { LIMIT, nothing, wordColumn } from "./shared.ts";

interface NewRow {
  value: string;
  first_seen: string;
  hits: number;
  documents: number;
  sites: number;
  days: number;
  fate: "burst" | "lasting" | "open";
}

const FATES = { burst: "went again", lasting: "stays", open: "too early to tell" } as const;

/** Words that were not there before. */
export const newWords: View = {
  name: "new-words",
  title: "New words",
  about: "Words that were not there before, on several sources and days.",
  group: "Time",
  chooses: "Which documents",
  button: "Show",
  fields: (desk) => [
    { name: "since", label: "New since", kind: "date" },
    attributeField(desk, ["word", "lemma"], "word"),
    { name: "names", label: "Names too", kind: "flag" },
    { name: "min_sites", label: "On at least so many sources", kind: "number", usual: "3", rare: true },
    { name: "min_days", label: "On at least so many days", kind: "number", usual: "3", rare: true },
    { name: "min_documents", label: "In at least so many documents", kind: "number", usual: "5", rare: true },
    LIMIT,
  ],
  ready: () => true,
  meaning:
    "A word is new if no document before that day has it, and if it was used on several sources of different owners, on several days and in several documents: a single author’s misspelling is none. The longer the time before, the surer.",
  show: async (desk) => {
    const { place } = desk;
    const names = ["since", "attribute", "names", "min_sites", "min_days", "min_documents", "limit"];
    const found = await desk.ask<{ since: string; dropped: Record<string, number>; values: number; rows: NewRow[] }>(
      "new-words",
      Object.fromEntries(names.map((name) => [name, place.get(name)])),
    );
    const dropped = Object.entries(found.dropped)
      .map(([rule, words]) => `${rule} ${count(words)}`)
      .join(", ");
    if (found.rows.length === 0)
      return nothing(
        desk,
        `No word since ${found.since} was on enough sources and days.${dropped ? ` Left out: ${dropped}.` : ""} An earlier day, or smaller least numbers, may show some.`,
      );
    desk.say(`${many(found.values, "word")} new since ${found.since}.`);
    desk.put(
      table(
        "new-words",
        `Words that were not there before ${found.since}, most widely spread first`,
        [
          wordColumn<NewRow>(desk, "search", place.get("attribute") || "word"),
          { name: "first seen", value: (row) => row.first_seen },
          { name: "sources", value: (row) => row.sites, numeric: true, show: (row) => count(row.sites) },
          { name: "days", value: (row) => row.days, numeric: true, show: (row) => count(row.days) },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          { name: "and now", value: (row) => row.fate, show: (row) => FATES[row.fate] },
        ],
        found.rows,
      ),
      dropped && el("p", { class: "quiet" }, `Left out, by rule: ${dropped}.`),
    );
  },
};
