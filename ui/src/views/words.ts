// The vocabulary: lists, keywords, company, frequencies, and the sketch of a word.

import { el, foreign } from "../dom.ts";
import { exactly, link } from "../place.ts";
import { count, many, rate } from "../say.ts";
import { table } from "../table.ts";
import { type View, again, asCql, asQuery, attributeField, formsField, isCql, meant } from "../view.ts";
import { keywordColumns, nothing, wordColumn } from "./time.ts";

const LIMIT = { name: "limit", label: "Rows", kind: "number", usual: "50", rare: true } as const;
const NGRAM = { name: "ngram", label: "Words in a row", kind: "choice", choices: [["1", "one"], ["2", "two"], ["3", "three"], ["4", "four"], ["5", "five"]], usual: "1" } as const;
const PUNCTUATION = { name: "punctuation", label: "Punctuation too", kind: "flag", rare: true } as const;
const QUERY = { name: "q", label: "Word, phrase or pattern", kind: "query", wide: true, required: true, hint: "storm" } as const;

interface WordRow {
  value: string;
  hits: number;
  documents: number;
  per_million: number | null;
}

/** The words of the corpus. */
export const words: View = {
  name: "words",
  title: "Word list",
  about: "The words of the corpus and how often they occur.",
  group: "Words",
  chooses: true,
  button: "List",
  fields: (desk) => [
    { name: "regex", label: "Only words like", kind: "text", hint: "un.*able", wide: true },
    NGRAM, attributeField(desk),
    { name: "min", label: "At least so often", kind: "number", usual: "1", rare: true }, PUNCTUATION, { ...LIMIT, usual: "100" },
  ],
  ready: () => true,
  show: async (desk) => {
    const { place } = desk;
    const found = await desk.ask<{ values: number; tokens: number; rows: WordRow[] }>("words", {
      regex: place.get("regex"), ngram: place.get("ngram"), attribute: place.get("attribute"), min: place.get("min"), punctuation: place.get("punctuation"), limit: place.get("limit") || 100,
    });
    if (found.rows.length === 0) return nothing(desk, "No word is like this. A pattern means the whole word: un.* finds words that begin with un.");
    desk.say(`${many(found.values, "different one")} in ${many(found.tokens, "token")}${found.values > found.rows.length ? `; the ${count(found.rows.length)} most frequent are shown` : ""}.`);
    desk.put(table("words", "Words, most frequent first", [
      wordColumn<WordRow>(desk, "search"),
      { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
      { name: "per million", value: (row) => row.per_million, numeric: true, show: (row) => rate(row.per_million) },
      { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
      { name: "look further", picture: true, value: () => "", show: (row) => el("a", { href: link("timeline", place, { q: asQuery(row.value, place.get("attribute") || "lc") }), "aria-label": `${row.value} in time` }, "in time") },
    ], found.rows));
  },
};

/** What is typical of some documents. */
export const keywords: View = {
  name: "keywords",
  title: "Keywords",
  about: "What is typical of some documents against all others.",
  group: "Words",
  chooses: false,
  button: "Show",
  fields: (desk) => [
    { name: "focus", label: "Documents in focus", kind: "text", wide: true, required: true, hint: "date>=2026-06 · site=gazette.example · topic=sport" },
    { name: "against", label: "Compared with (all others if empty)", kind: "text", wide: true, hint: "date<2026-06" },
    NGRAM, attributeField(desk),
    { name: "measure", label: "Order by", kind: "choice", choices: [["simple", "simple maths"], ["ll", "log-likelihood"], ["log-ratio", "log ratio"], ["din", "DIN"], ["chi2", "chi square"]], usual: "simple", rare: true },
    { name: "add", label: "Simple maths adds (more: commoner words)", kind: "text", usual: "1", rare: true },
    { name: "min", label: "At least so often", kind: "number", usual: "5", rare: true }, PUNCTUATION, LIMIT,
  ],
  ready: (place) => place.get("focus") !== "",
  welcome: (desk) => {
    const last = desk.corpus?.last_day?.slice(0, 7);
    return el("div", { class: "empty" }, el("p", {}, "Say which documents are in focus by conditions on their fields, such as:"),
      el("ul", {}, last && el("li", {}, el("a", { href: link("keywords", desk.place, { focus: `date>=${last}` }) }, `date>=${last}`), ": the latest month"),
        el("li", {}, el("code", {}, "site=gazette.example"), ": one source"), el("li", {}, el("code", {}, "date=2026-Q1"), ": a quarter")),
      desk.corpus && el("p", {}, "This corpus has the fields ", ...desk.corpus.fields.flatMap((name, at) => [at > 0 && ", ", el("code", {}, name)]), "."));
  },
  meaning: "Simple maths divides the rate in focus by the rate elsewhere, after adding a number (1) to both: a larger number favours common words. Log ratio tells how many times as often, as a power of two; log-likelihood, how sure it is that there is a difference at all.",
  show: async (desk) => {
    const { place } = desk;
    const names = ["focus", "against", "ngram", "attribute", "measure", "add", "min", "punctuation", "limit"];
    const found = await desk.ask<{ focus_tokens: number; reference_tokens: number; values: number; rows: Parameters<ReturnType<typeof keywordColumns>[0]["value"]>[0][] }>("keywords", Object.fromEntries(names.map((name) => [name, place.get(name)])));
    if (found.rows.length === 0) return nothing(desk, found.focus_tokens === 0 ? "No document is in focus: is the condition too narrow?" : "No word is frequent enough in focus.");
    desk.say(`${many(found.focus_tokens, "token")} in focus against ${count(found.reference_tokens)}.`);
    desk.put(table("keywords", "Words that are typical of the documents in focus", keywordColumns(desk, "in focus", "elsewhere", "search"), found.rows));
  },
};

interface Collocate {
  value: string;
  together: number;
  hits: number;
  scores: Record<string, number | null>;
}

const MEASURES = [["logdice", "logDice", "log_dice"], ["mi", "MI", "mi"], ["mi3", "MI³", "mi3"], ["t-score", "t-score", "t_score"], ["ll", "log-likelihood", "log_likelihood"], ["dice", "Dice", "dice"], ["min-sensitivity", "minimum sensitivity", "min_sensitivity"], ["mi.log-f", "MI log f", "mi_log_f"]] as const;

/** What stands beside hits. */
export const collocations: View = {
  name: "collocations",
  title: "Collocations",
  about: "The company that a word keeps.",
  group: "Words",
  chooses: true,
  button: "Show",
  fields: (desk) => [
    QUERY, ...formsField(desk),
    { name: "measure", label: "Order by", kind: "choice", choices: MEASURES.map(([key, name]) => [key, name] as const), usual: "logdice" },
    attributeField(desk),
    { name: "left", label: "Tokens before", kind: "number", usual: "5", rare: true },
    { name: "right", label: "Tokens behind", kind: "number", usual: "5", rare: true },
    { name: "sentence", label: "The whole sentence instead", kind: "flag", rare: true },
    { name: "min", label: "Together at least so often", kind: "number", usual: "3", rare: true }, PUNCTUATION, LIMIT,
  ],
  ready: (place) => place.get("q") !== "",
  meaning: "“Together” counts how often a word stands within the window around a hit. LogDice is at most 14 and can be compared between corpora of different size; MI favours rare words that hardly occur elsewhere; t-score and log-likelihood favour frequent ones.",
  show: async (desk) => {
    const { place } = desk;
    const names = ["measure", "attribute", "left", "right", "sentence", "min", "punctuation", "limit"];
    const q = meant(place);
    const found = await desk.ask<{ hits: number; collocates: number; rows: Collocate[] }>("colloc", { q, ...Object.fromEntries(names.map((name) => [name, place.get(name)])) });
    if (found.rows.length === 0) return nothing(desk, found.hits === 0 ? "There are no hits, so that nothing stands beside them." : "Nothing stands beside these hits often enough. A smaller least number may help.");
    desk.say(`${many(found.collocates, "collocate")} of ${many(found.hits, "hit")}.`);
    const chosen = MEASURES.find(([key]) => key === (place.get("measure") || "logdice"))!;
    const shown = [chosen, ...MEASURES.filter(([key]) => key !== chosen[0] && ["logdice", "mi", "t-score", "ll"].includes(key))];
    // Both together, whichever comes first, as far apart as the window reaches.
    const gap = (name: string) => `[]{0,${Math.max(Number(place.get(name) || 5) - 1, 0)}}`;
    const both = (row: Collocate) => {
      const other = asCql(row.value, place.get("attribute") || "lc");
      const node = isCql(q) ? `(${q})` : q.split(/\s+/).map((word) => asCql(word.toLowerCase(), "lc")).join(" ");
      return `${node} ${gap("right")} ${other} | ${other} ${gap("left")} ${node}`;
    };
    desk.put(table("collocations", `Collocates of ${place.get("q")}`, [
      { name: "word", value: (row) => row.value, show: (row) => el("a", { href: link("search", place, { q: both(row) }), title: "Show both together" }, foreign(row.value)) },
      { name: "together", value: (row) => row.together, numeric: true, show: (row) => count(row.together) },
      { name: "anywhere", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
      ...shown.map(([, name, key]) => ({ name, value: (row: Collocate) => row.scores[key] ?? null, numeric: true, show: (row: Collocate) => rate(row.scores[key]) })),
    ], found.rows));
  },
};

/** How often hits have each value. */
export const frequencies: View = {
  name: "frequencies",
  title: "Frequencies",
  about: "Hits by source, by form, by month or whatever is known about documents.",
  group: "Words",
  chooses: true,
  button: "Count",
  fields: (desk) => {
    const fields = (desk.corpus?.fields ?? []).filter((name) => !["url", "title"].includes(name));
    const attributes = desk.attributes.filter((name) => name !== "word").map((name) => [name, { lc: "form", lemma: "lemma", tag: "part of speech" }[name] ?? name] as const);
    return [QUERY, ...formsField(desk), { name: "by", label: "By", kind: "choice", choices: [["word", "exact form"], ...attributes, ...fields.map((name) => [name, name === "site" ? "source" : name] as const)], usual: fields.includes("site") ? "site" : "lc" }, LIMIT];
  },
  ready: (place) => place.get("q") !== "",
  show: async (desk) => {
    const { place } = desk;
    const by = place.get("by") || (desk.corpus?.fields.includes("site") ? "site" : "lc");
    const found = await desk.ask<{ hits: number; values: number; rows: { value: string; hits: number; tokens?: number; per_million?: number | null }[] }>("freq", { q: meant(place), by, limit: place.get("limit") });
    if (found.rows.length === 0) return nothing(desk, "There are no hits.");
    desk.say(`${many(found.hits, "hit")}, ${many(found.values, "value")}.`);
    const isField = desk.corpus?.fields.includes(by);
    const hitsOf = (value: string) => (isField ? link("search", place, { ...again(place), filter: [exactly(by, value), place.get("filter") && `(${place.get("filter")})`].filter(Boolean).join(" ") }) : link("search", place, { q: asQuery(value, by) }));
    desk.put(table("frequencies", `Hits by ${by}`, [
      { name: by, value: (row) => row.value, show: (row) => (row.value ? el("a", { href: hitsOf(row.value) }, foreign(row.value)) : "(not known)") },
      { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
      { name: "per million", value: (row) => row.per_million, numeric: true, show: (row) => rate(row.per_million) },
      { name: "tokens", value: (row) => row.tokens, numeric: true, show: (row) => (row.tokens === undefined ? "" : count(row.tokens)) },
    ], found.rows));
  },
};

interface Sketch {
  tag: string;
  tags: { tag: string; hits: number }[];
  hits: number;
  relations: { name: string; hits: number; values: number; query: string }[];
  rows: { relation: string; value: string; together: number; anywhere: number; score: number | null; query: string }[];
}

/** What a word does with others, by grammar. */
export const sketch: View = {
  name: "sketch",
  title: "Word sketch",
  about: "One page about a word: what it does, and what is done with it.",
  group: "Words",
  chooses: true,
  button: "Sketch",
  fields: () => [
    { ...QUERY, name: "lemma", label: "Word, as a dictionary has it" },
    { name: "min", label: "Together at least so often", kind: "number", usual: "3", rare: true },
    { name: "size", label: "Rows for each relation", kind: "number", usual: "12", rare: true },
  ],
  ready: (place) => place.get("lemma") !== "",
  show: async (desk) => {
    const { place } = desk;
    const word = place.get("lemma");
    const instead = (why: string) => {
      desk.say("There is no sketch.");
      desk.put(el("p", { class: "empty" }, `${why} `, el("a", { href: link("collocations", place, { q: asQuery(word) }) }, "Collocations"), " tell what stands beside the word."));
    };
    if (!desk.attributes.includes("tag")) return instead("Word sketches need lemmas and parts of speech, which this corpus does not have.");
    const found = await desk.ask<Sketch>("sketch", { lemma: word, pos: place.get("pos"), min: place.get("min"), size: place.get("size") });
    if (found.rows.length === 0) return instead(found.hits === 0 ? "The word does not occur in this form: a sketch wants it as a dictionary has it, such as go and not went." : "No other word is in a relation with it often enough.");
    desk.say(`${word} (${found.tag}): ${many(found.hits, "hit")}, ${many(found.relations.length, "relation")}.`);
    const others = found.tags.filter(({ tag }) => tag !== found.tag);
    desk.put(
      others.length > 0 && el("p", { class: "quiet" }, "The word is also ", ...others.flatMap(({ tag, hits }, at) => [at > 0 && ", ", el("a", { href: place.with({ pos: tag }) }, tag), ` (${count(hits)})`]), "."),
      el("div", { class: "sides sketch" }, ...found.relations.map(({ name, hits, values, query }) => el("section", {},
        el("h2", {}, el("a", { href: link("search", place, { q: query }) }, foreign(name)), el("span", { class: "quiet" }, ` ${many(hits, "hit")}, ${many(values, "word")}`)),
        table(`sketch-${name}`, name, [
          { name: "word", value: (row) => row.value, show: (row) => el("a", { href: link("sketch", place, { lemma: row.value }), title: "The sketch of this word" }, foreign(row.value)) },
          { name: "together", value: (row) => row.together, numeric: true, show: (row) => el("a", { href: link("search", place, { q: row.query }), "aria-label": `${many(row.together, "hit")} of ${row.value}` }, count(row.together)) },
          { name: "score", about: "logDice", value: (row) => row.score, numeric: true, show: (row) => rate(row.score) },
        ], found.rows.filter((row) => row.relation === name))))));
  },
};
