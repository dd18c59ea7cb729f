// Two periods beside each other.

import { change } from "../chart/spark.ts";
import { el } from "../dom.ts";
import { link } from "../place.ts";
import { chance, count, many, rate } from "../say.ts";
import { table } from "../table.ts";
import { type Desk, type View, asQuery, attributeField } from "../view.ts";
import { nothing, wordColumn } from "./shared.ts";

/** Two halves of the time that there is. */
function halves(desk: Desk): { before: string; after: string } {
  const { first_day: first, last_day: last } = desk.corpus ?? {};
  if (!first || !last) return { before: "", after: "" };
  const middle = new Date((Date.parse(first) + Date.parse(last)) / 2);
  const day = (date: Date) => date.toISOString().slice(0, 10);
  return { before: `${first}..${day(middle)}`, after: `${day(new Date(middle.getTime() + 86_400_000))}..${last}` };
}

interface Change {
  value: string;
  before: number;
  after: number;
  before_documents: number;
  after_documents: number;
  before_per_million: number;
  after_per_million: number;
  log_ratio: number | null;
  band: { low: number | null; high: number | null };
  q: number | null;
}

interface Changes {
  before_tokens: number;
  after_tokens: number;
  tested: number;
  values: number;
  rows: Change[];
}

/** How many times as often, either way. */
const times = (logRatio: number | null): string =>
  logRatio === null ? "–" : `${logRatio >= 0 ? "×" : "÷"} ${rate(2 ** Math.abs(logRatio))}`;

/** Two periods beside each other. */
export const compare: View = {
  name: "compare",
  title: "Compare periods",
  about: "Which words became more or less frequent from one time to another.",
  group: "Time",
  chooses: "Which documents",
  button: "Compare",
  fields: (desk) => {
    const { before, after } = halves(desk);
    return [
      {
        name: "before",
        label: "Before",
        kind: "text",
        wide: true,
        usual: before,
        hint: "2025 · 2026-Q1 · 2026-03..2026-05",
      },
      { name: "after", label: "After", kind: "text", wide: true, usual: after, hint: "2026 · 2026-Q2 · 2026-W30" },
      attributeField(desk),
      { name: "panel", label: "Only sources that are in both", kind: "flag", rare: true },
      { name: "min", label: "In at least so many documents", kind: "number", usual: "10", rare: true },
      { name: "fdr", label: "Share of false alarms that is fine (0 to 1)", kind: "text", usual: "0.05", rare: true },
      { name: "limit", label: "Rows", kind: "number", usual: "30", rare: true },
    ];
  },
  ready: () => true,
  meaning:
    "× 2 is twice as often as before, ÷ 2 half as often. The small picture shows the same with the range in which it lies with a confidence of 95 %; the line in its middle means no change. Words that surely changed most come first: a word that was seen rarely needs a larger change to be sure. “By chance” is corrected for the number of words tested.",
  show: async (desk) => {
    const { place } = desk;
    const usual = halves(desk);
    const [before, after] = [place.get("before") || usual.before, place.get("after") || usual.after];
    if (!before || !after) return nothing(desk, "Say which two periods are to be compared.");
    const ask = (direction: string) =>
      desk.ask<Changes>("compare", {
        before: `date=${before}`,
        after: `date=${after}`,
        direction,
        attribute: place.get("attribute"),
        panel: place.get("panel"),
        min: place.get("min"),
        fdr: place.get("fdr"),
        limit: place.get("limit") || 30,
      });
    const [rose, fell] = await Promise.all([ask("rising"), ask("falling")]);
    if (rose.before_tokens === 0 || rose.after_tokens === 0) {
      return nothing(
        desk,
        `There are no documents of ${rose.before_tokens === 0 ? before : after}. A period is written 2026, 2026-Q1, 2026-03, 2026-W09, 2026-03-01, or two of these with .. between.`,
      );
    }
    desk.say(
      `${before}: ${many(rose.before_tokens, "token")}; ${after}: ${many(rose.after_tokens, "token")}. ${many(rose.values, "word")} of ${count(rose.tested)} tested rose, ${count(fell.values)} fell.`,
    );
    // Beyond 32 times as often nobody needs to see how much more.
    const widest = Math.min(
      5,
      Math.max(
        1,
        ...[...rose.rows, ...fell.rows].flatMap((row) => [row.band.low ?? 0, row.band.high ?? 0].map(Math.abs)),
      ),
    );
    const kind = place.get("attribute") || "lc";
    const hitsOf = (row: Change, period: string) =>
      link("search", place, {
        q: asQuery(row.value, kind),
        filter: [`date=${period}`, place.get("filter") && `(${place.get("filter")})`].filter(Boolean).join(" "),
      });
    const amount = (row: Change, hits: number, perMillion: number, period: string) =>
      hits > 0
        ? el(
            "a",
            {
              href: hitsOf(row, period),
              "aria-label": `${row.value}: ${rate(perMillion)} per million, ${many(hits, "hit")} in ${period}`,
            },
            rate(perMillion),
          )
        : "0";
    const half = (title: string, name: string, { rows }: Changes) =>
      el(
        "section",
        {},
        el("h2", {}, title),
        rows.length === 0
          ? el("p", { class: "empty" }, "No word did so more than chance allows.")
          : table(
              name,
              `${title}, surest first`,
              [
                wordColumn<Change>(desk),
                {
                  name: "how much",
                  picture: true,
                  value: () => "",
                  show: (row) => change(row.log_ratio ?? 0, row.band.low, row.band.high, widest),
                },
                {
                  name: "times",
                  about: "How many times as often as before",
                  value: (row) => row.log_ratio,
                  numeric: true,
                  show: (row) => times(row.log_ratio),
                },
                {
                  name: "per million before",
                  value: (row) => row.before_per_million,
                  numeric: true,
                  show: (row) => amount(row, row.before, row.before_per_million, before),
                },
                {
                  name: "per million after",
                  value: (row) => row.after_per_million,
                  numeric: true,
                  show: (row) => amount(row, row.after, row.after_per_million, after),
                },
                {
                  name: "by chance",
                  about: "How likely this is by chance, given how many words were tested (q)",
                  value: (row) => row.q,
                  numeric: true,
                  show: (row) => chance(row.q),
                },
              ],
              rows,
            ),
      );
    desk.put(
      el("div", { class: "sides" }, half("Words that rose", "risen", rose), half("Words that fell", "fallen", fell)),
    );
  },
};
