// What several views have in common: fields of their forms, and how tables begin.

import { el } from "../dom.ts";
import { link } from "../place.ts";
import { type Column } from "../table.ts";
import { type Desk, asQuery } from "../view.ts";

/** How many rows are shown. */
export const LIMIT = { name: "limit", label: "Rows", kind: "number", usual: "50", rare: true } as const;
/** How many words are counted as one. */
export const NGRAM = {
  name: "ngram",
  label: "Words in a row",
  kind: "choice",
  choices: [
    ["1", "one"],
    ["2", "two"],
    ["3", "three"],
    ["4", "four"],
    ["5", "five"],
  ],
  usual: "1",
} as const;
/** Whether punctuation counts as a word. */
export const PUNCTUATION = { name: "punctuation", label: "Punctuation too", kind: "flag", rare: true } as const;
/** What is looked for. */
export const QUERY = {
  name: "q",
  label: "Word, phrase or pattern",
  kind: "query",
  wide: true,
  required: true,
  hint: "storm",
} as const;
/** Whether sources that came or went are left out. */
export const PANEL = {
  name: "panel",
  label: "Only sources that were there all the time",
  kind: "flag",
  rare: true,
} as const;

/** A word that leads to its timeline. */
export function wordColumn<Row extends { value: string }>(
  desk: Desk,
  view = "timeline",
  attribute?: string,
): Column<Row> {
  const kind = attribute ?? (desk.place.get("attribute") || "lc");
  return {
    name: "word",
    value: (row) => row.value,
    show: (row) => el("a", { href: link(view, desk.place, { q: asQuery(row.value, kind) }) }, el("bdi", {}, row.value)),
  };
}

/** Says that a table is empty, and what to do. */
export function nothing(desk: Desk, advice: string): void {
  desk.say("Nothing was found.");
  desk.put(el("p", { class: "empty" }, advice));
}
