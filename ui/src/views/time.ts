// Words that change: trends, bursts, new words, and two periods beside each other.

import { change, spark } from "../chart/spark.ts";
import { el } from "../dom.ts";
import { link } from "../place.ts";
import { chance, count, many, rate } from "../say.ts";
import { type Column, table } from "../table.ts";
import { type Desk, type View, asQuery, attributeField, stepField } from "../view.ts";

/** A word that leads to its timeline. */
export function wordColumn<Row extends { value: string }>(desk: Desk, view = "timeline", attribute?: string): Column<Row> {
  const kind = attribute ?? (desk.place.get("attribute") || "lc");
  return { name: "word", value: (row) => row.value, show: (row) => el("a", { href: link(view, desk.place, { q: asQuery(row.value, kind) }) }, el("bdi", {}, row.value)) };
}

/** Says that a table is empty, and what to do. */
export function nothing(desk: Desk, advice: string): void {
  desk.say("Nothing was found.");
  desk.put(el("p", { class: "empty" }, advice));
}

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
  chooses: true,
  button: "Show",
  fields: (desk) => [
    { name: "direction", label: "Direction", kind: "choice", choices: [["both", "rising and falling"], ["rising", "rising"], ["falling", "falling"]], usual: "both" },
    stepField(trendStep(desk)),
    attributeField(desk),
    { name: "min", label: "In at least so many documents", kind: "number", usual: "30", rare: true },
    { name: "fdr", label: "Share of false alarms that is fine (0 to 1)", kind: "text", usual: "0.05", rare: true },
    { name: "panel", label: "Only sources that were there all the time", kind: "flag", rare: true },
    { name: "limit", label: "Rows", kind: "number", usual: "50", rare: true },
  ],
  ready: () => true,
  meaning: "Growth is the rise of a straight line through all steps, measured in mean rates of the word: 1 means that it rose by as much as it is frequent on average. “When” tells whether it changed all the time, of late, or at first. “By chance” is corrected for the number of words tested: among all words with at most 0.05, one in twenty may be a false alarm. New sources can make words rise, too: “only sources that were there all the time” leaves them out.",
  show: async (desk) => {
    const { place } = desk;
    const found = await desk.ask<{ bins: string[]; tested: number; values: number; rows: TrendRow[] }>("trends", {
      by: place.get("by") || trendStep(desk), direction: place.get("direction"), attribute: place.get("attribute"), min: place.get("min"), fdr: place.get("fdr"), panel: place.get("panel"), limit: place.get("limit"),
    });
    if (found.rows.length === 0) {
      return nothing(desk, `${many(found.tested, "word")} were tested over ${many(found.bins.length, "step")} of time, and none changed more than chance allows. Shorter steps, more documents or a smaller least number may help.`);
    }
    desk.say(`${many(found.values, "word")} of ${count(found.tested)} tested changed${found.values > found.rows.length ? `; the surest ${count(found.rows.length)} are shown` : ""}.`);
    desk.put(table("trends", "Words that rise or fall, surest first", [
      wordColumn<TrendRow>(desk),
      { name: "how it went", picture: true, value: () => "", show: (row) => spark(row.per_million, found.bins) },
      { name: "growth", about: "By how many times its own mean rate the word grows from the first step to the last", value: (row) => row.growth, numeric: true, show: (row) => el("span", { class: (row.growth ?? 0) >= 0 ? "up" : "down" }, `${(row.growth ?? 0) >= 0 ? "▲" : "▼"} ${rate(Math.abs(row.growth ?? 0))}`) },
      { name: "when", value: (row) => row.shape ?? "", show: (row) => (row.shape ? SHAPES[row.shape] : "") },
      { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
      { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
      { name: "by chance", about: "How likely this is by chance, given how many words were tested (q)", value: (row) => row.q, numeric: true, show: (row) => chance(row.q) },
    ], found.rows));
  },
};

/** Trends want some steps, and much text in each. */
function trendStep(desk: Desk): string {
  const { corpus } = desk;
  if (!corpus?.first_day || !corpus.last_day) return "quarter";
  const days = (Date.parse(corpus.last_day) - Date.parse(corpus.first_day)) / 86_400_000;
  return days < 60 ? "day" : days < 150 ? "week" : days < 1100 ? "month" : days < 3700 ? "quarter" : "year";
}

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
  chooses: true,
  button: "Show",
  fields: (desk) => [stepField("week"), attributeField(desk), { name: "panel", label: "Only sources that were there all the time", kind: "flag", rare: true }, { name: "limit", label: "Rows", kind: "number", usual: "50", rare: true }],
  ready: () => true,
  meaning: "A burst is a step in which a word is much more frequent than in the steps before, in many documents and not in one. What came then tells whether it went again or stayed.",
  show: async (desk) => {
    const { place } = desk;
    const found = await desk.ask<{ values: number; rows: BurstRow[] }>("bursts", { by: place.get("by"), attribute: place.get("attribute"), panel: place.get("panel"), limit: place.get("limit") });
    if (found.rows.length === 0) return nothing(desk, "No word stood out from the steps before it. Longer or shorter steps may show something.");
    desk.say(`${many(found.values, "burst")}.`);
    desk.put(table("bursts", "Words that burst, strongest first", [
      wordColumn<BurstRow>(desk),
      { name: "when", value: (row) => row.bin, show: (row) => el("a", { href: link("search", place, { q: asQuery(row.value, place.get("attribute") || "lc"), filter: `date=${row.bin}` }) }, row.bin) },
      { name: "times as often", about: "How many times the rate before", value: (row) => (row.log_ratio === null ? null : 2 ** row.log_ratio), numeric: true, show: (row) => (row.log_ratio === null ? "new" : `× ${rate(2 ** row.log_ratio)}`) },
      { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
      { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
      { name: "score", value: (row) => row.score, numeric: true, show: (row) => rate(row.score) },
      { name: "then it", value: (row) => row.sequel, show: (row) => SEQUELS[row.sequel] },
    ], found.rows));
  },
};

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
  chooses: true,
  button: "Show",
  fields: (desk) => [
    { name: "since", label: "New since", kind: "date" },
    attributeField(desk, ["word", "lemma"], "word"),
    { name: "names", label: "Names too", kind: "flag" },
    { name: "min_sites", label: "On at least so many sources", kind: "number", usual: "3", rare: true },
    { name: "min_days", label: "On at least so many days", kind: "number", usual: "3", rare: true },
    { name: "min_documents", label: "In at least so many documents", kind: "number", usual: "5", rare: true },
    { name: "limit", label: "Rows", kind: "number", usual: "50", rare: true },
  ],
  ready: () => true,
  meaning: "A word is new if no document before that day has it, and if it was used on several sources of different owners, on several days and in several documents: a single author’s misspelling is none. The longer the time before, the surer.",
  show: async (desk) => {
    const { place } = desk;
    const names = ["since", "attribute", "names", "min_sites", "min_days", "min_documents", "limit"];
    const found = await desk.ask<{ since: string; dropped: Record<string, number>; values: number; rows: NewRow[] }>("new-words", Object.fromEntries(names.map((name) => [name, place.get(name)])));
    const dropped = Object.entries(found.dropped).map(([rule, words]) => `${rule} ${count(words)}`).join(", ");
    if (found.rows.length === 0) return nothing(desk, `No word since ${found.since} was on enough sources and days.${dropped ? ` Left out: ${dropped}.` : ""} An earlier day, or smaller least numbers, may show some.`);
    desk.say(`${many(found.values, "word")} new since ${found.since}.`);
    desk.put(table("new-words", `Words that were not there before ${found.since}, most widely spread first`, [
      wordColumn<NewRow>(desk, "search", place.get("attribute") || "word"),
      { name: "first seen", value: (row) => row.first_seen },
      { name: "sources", value: (row) => row.sites, numeric: true, show: (row) => count(row.sites) },
      { name: "days", value: (row) => row.days, numeric: true, show: (row) => count(row.days) },
      { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
      { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
      { name: "and now", value: (row) => row.fate, show: (row) => FATES[row.fate] },
    ], found.rows), dropped && el("p", { class: "quiet" }, `Left out, by rule: ${dropped}.`));
  },
};

interface Keyword {
  value: string;
  score: number | null;
  focus: number;
  reference: number;
  focus_per_million: number | null;
  reference_per_million: number | null;
  log_ratio: number | null;
  log_likelihood: number | null;
  p: number | null;
}

/** The columns of words in two parts. */
export function keywordColumns(desk: Desk, here: string, there: string, view = "timeline"): Column<Keyword>[] {
  return [
    wordColumn<Keyword>(desk, view),
    { name: `per million ${here}`, value: (row) => row.focus_per_million, numeric: true, show: (row) => rate(row.focus_per_million) },
    { name: `per million ${there}`, value: (row) => row.reference_per_million, numeric: true, show: (row) => rate(row.reference_per_million) },
    { name: "score", value: (row) => row.score, numeric: true, show: (row) => rate(row.score) },
    { name: "log ratio", about: "How many times as often, as a power of two", value: (row) => row.log_ratio, numeric: true, show: (row) => rate(row.log_ratio) },
    { name: "log-likelihood", value: (row) => row.log_likelihood, numeric: true, show: (row) => rate(row.log_likelihood) },
    { name: `hits ${here}`, value: (row) => row.focus, numeric: true, show: (row) => count(row.focus) },
    { name: `hits ${there}`, value: (row) => row.reference, numeric: true, show: (row) => count(row.reference) },
  ];
}

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
const times = (logRatio: number | null): string => (logRatio === null ? "–" : `${logRatio >= 0 ? "×" : "÷"} ${rate(2 ** Math.abs(logRatio))}`);

/** Two periods beside each other. */
export const compare: View = {
  name: "compare",
  title: "Compare periods",
  about: "Which words became more or less frequent from one time to another.",
  group: "Time",
  chooses: true,
  button: "Compare",
  fields: (desk) => {
    const { before, after } = halves(desk);
    return [
      { name: "before", label: "Before", kind: "text", usual: before, hint: "2025 · 2026-Q1 · 2026-03..2026-05" },
      { name: "after", label: "After", kind: "text", usual: after, hint: "2026 · 2026-Q2 · 2026-W30" },
      attributeField(desk),
      { name: "panel", label: "Only sources that are in both", kind: "flag" },
      { name: "min", label: "In at least so many documents", kind: "number", usual: "10", rare: true },
      { name: "fdr", label: "Share of false alarms that is fine (0 to 1)", kind: "text", usual: "0.05", rare: true },
      { name: "limit", label: "Rows", kind: "number", usual: "30", rare: true },
    ];
  },
  ready: () => true,
  meaning: "× 2 is twice as often as before, ÷ 2 half as often. The small picture shows the same with the range in which it lies with a confidence of 95 %; the line in its middle means no change. Words that surely changed most come first: a word that was seen rarely needs a larger change to be sure. “By chance” is corrected for the number of words tested.",
  show: async (desk) => {
    const { place } = desk;
    const usual = halves(desk);
    const [before, after] = [place.get("before") || usual.before, place.get("after") || usual.after];
    if (!before || !after) return nothing(desk, "Say which two periods are to be compared.");
    const ask = (direction: string) => desk.ask<Changes>("compare", {
      before: `date=${before}`, after: `date=${after}`, direction, attribute: place.get("attribute"), panel: place.get("panel"), min: place.get("min"), fdr: place.get("fdr"), limit: place.get("limit") || 30,
    });
    const [rose, fell] = await Promise.all([ask("rising"), ask("falling")]);
    if (rose.before_tokens === 0 || rose.after_tokens === 0) {
      return nothing(desk, `There are no documents of ${rose.before_tokens === 0 ? before : after}. A period is written 2026, 2026-Q1, 2026-03, 2026-W09, 2026-03-01, or two of these with .. between.`);
    }
    desk.say(`${before}: ${many(rose.before_tokens, "token")}; ${after}: ${many(rose.after_tokens, "token")}. ${many(rose.values, "word")} of ${count(rose.tested)} tested rose, ${count(fell.values)} fell.`);
    // Beyond 32 times as often nobody needs to see how much more.
    const widest = Math.min(5, Math.max(1, ...[...rose.rows, ...fell.rows].flatMap((row) => [row.band.low ?? 0, row.band.high ?? 0].map(Math.abs))));
    const kind = place.get("attribute") || "lc";
    const hitsOf = (row: Change, period: string) => link("search", place, { q: asQuery(row.value, kind), filter: [`date=${period}`, place.get("filter") && `(${place.get("filter")})`].filter(Boolean).join(" ") });
    const amount = (row: Change, hits: number, perMillion: number, period: string) => (hits > 0 ? el("a", { href: hitsOf(row, period), "aria-label": `${row.value}: ${rate(perMillion)} per million, ${many(hits, "hit")} in ${period}` }, rate(perMillion)) : "0");
    const half = (title: string, name: string, { rows }: Changes) => el("section", {}, el("h2", {}, title),
      rows.length === 0 ? el("p", { class: "empty" }, "No word did so more than chance allows.") : table(name, `${title}, surest first`, [
        wordColumn<Change>(desk),
        { name: "how much", picture: true, value: () => "", show: (row) => change(row.log_ratio ?? 0, row.band.low, row.band.high, widest) },
        { name: "times", about: "How many times as often as before", value: (row) => row.log_ratio, numeric: true, show: (row) => times(row.log_ratio) },
        { name: "per million before", value: (row) => row.before_per_million, numeric: true, show: (row) => amount(row, row.before, row.before_per_million, before) },
        { name: "per million after", value: (row) => row.after_per_million, numeric: true, show: (row) => amount(row, row.after, row.after_per_million, after) },
        { name: "by chance", about: "How likely this is by chance, given how many words were tested (q)", value: (row) => row.q, numeric: true, show: (row) => chance(row.q) },
      ], rows));
    desk.put(el("div", { class: "sides" }, half("Words that rose", "risen", rose), half("Words that fell", "fallen", fell)));
  },
};
