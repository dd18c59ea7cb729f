// Hits in their context: the first thing that everybody wants to see.

import { type Corpus, address } from "../api.ts";
import { type Child, el, foreign } from "../dom.ts";
import { filterOf, link } from "../place.ts";
import { count, language, many, rate } from "../say.ts";
import { type Desk, type View, again, formsField, meant } from "../view.ts";
import { type Context, type Line, concordance } from "./kwic.ts";

const SIZE = 50;

interface Found {
  hits?: number;
  tokens: number;
  per_million?: number | null;
  first: number;
  withheld: number;
  next: string | null;
  lines: Line[];
}

const SORTS = [
  ["", "newest first"],
  ["oldest", "oldest first"],
  ["left", "words before"],
  ["node", "the hit"],
  ["right", "words behind"],
  ["site", "source"],
  ["sample", "a random sample"],
] as const;

async function show(desk: Desk): Promise<void> {
  const { place } = desk;
  const sort = place.get("sort");
  const fields = ["date", "site", "title"]
    .filter((name) => name === "site" || desk.corpus?.fields.includes(name))
    .join(",");
  const q = meant(place);
  const asked = {
    q,
    fields,
    size: SIZE,
    cursor: place.get("cursor"),
    longest: place.get("longest"),
    order: sort === "oldest" ? "oldest" : undefined,
    sort: ["left", "node", "right", "site"].includes(sort) ? sort : undefined,
    sample: sort === "sample" ? SIZE : undefined,
  };
  const found = await desk.ask<Found>("query", asked);
  const total = found.hits ?? 0;
  if (total === 0) {
    desk.say("No hits.");
    desk.put(
      el(
        "div",
        { class: "empty" },
        el("p", {}, "Nothing in these documents looks like this. Some things to try:"),
        el(
          "ul",
          {},
          el("li", {}, "small letters: ", foreign("apple"), " also finds Apple, but Apple finds only Apple;"),
          el("li", {}, "another form of the word, or a pattern such as ", el("code", {}, '[lc="appl.*"]'), ";"),
          el("li", {}, "a longer time, or all documents, under “Which documents”;"),
          el("li", {}, el("a", { href: link("help", place) }, "examples of what can be asked"), "."),
        ),
      ),
    );
    return;
  }
  const sample = found.about?.exactness.kind === "sample" ? " A sample of them is sorted." : "";
  const estimate = found.about?.exactness.kind === "estimate" ? "more than " : "";
  desk.say(`${estimate}${many(total, "hit")}, ${rate(found.per_million)} per million tokens.${sample}`);
  const widen = (line: Line, around: number) =>
    desk.askAside<Context>(`${encodeURIComponent(desk.lang)}/documents/${line.document}/context`, {
      position: line.position,
      unit: "paragraph",
      around,
    });
  const range = `Lines ${count(found.first + 1)} to ${count(found.first + found.lines.length)} of ${count(total)}`;
  if (found.withheld > 0) {
    desk.put(
      el(
        "p",
        { class: "note" },
        `The text of ${many(found.withheld, "line")} on this page is shown with a token only (see the foot of the page); the counts include them.`,
      ),
    );
  }
  desk.put(
    el(
      "nav",
      { class: "onward", "aria-label": "More about this query" },
      ...[
        ["timeline", "in time"],
        ["collocations", "what stands beside it"],
        ["frequencies", "by source or form"],
      ].map(([view, words]) => el("a", { href: link(view!, place, again(place)) }, words)),
      el(
        "a",
        {
          href: address(`${encodeURIComponent(desk.lang)}/query`, {
            q,
            fields,
            filter: filterOf(place),
            in: place.get("in"),
            format: "csv",
          }),
          download: "",
          "data-api": true,
        },
        "all lines as CSV",
      ),
    ),
    concordance(found.lines, desk.lang, place, `Concordance of ${place.get("q")}.`, widen),
    el(
      "nav",
      { class: "pages", "aria-label": "Pages" },
      found.first > 0 && el("a", { href: place.with({ cursor: undefined }) }, "First page"),
      el(
        "span",
        {},
        sort === "sample" ? `${count(found.lines.length)} of ${count(total)} hits, drawn at random` : range,
      ),
      found.next &&
        found.first + found.lines.length < total &&
        el("a", { href: place.with({ cursor: found.next }), rel: "next", class: "next" }, "Next page"),
    ),
  );
}

const described = (corpus: Corpus): string =>
  `${many(corpus.tokens, "token")} in ${many(corpus.documents, "document")}${corpus.first_day ? `, ${corpus.first_day} to ${corpus.last_day}` : ""}`;

async function welcome(desk: Desk): Promise<Child> {
  const { place, corpus } = desk;
  if (!corpus) return null;
  const ways = [
    ["timeline", "How did a word go?", "Its rate in time, with what chance may add, and with what was collected."],
    ["trends", "Which words rise or fall?", "Every word of the corpus is tested; small lines show how it went."],
    ["new-words", "Which words are new?", "Words that were not there before, on several sources and days."],
    ["compare", "What changed?", "Two periods beside each other: what is typical of each."],
    ["collocations", "What stands beside a word?", "Its company, by eight measures."],
    ["collection", "What is in here?", "Sources, volume per day, and where downloaded bytes ended up."],
  ] as const;
  const newest = await desk
    .askAside<{ rows: { id: string; date: string; title: string; fields: Record<string, string> }[] }>(
      `${desk.lang}/documents`,
      { size: 5, fields: "site" },
    )
    .catch(() => ({ rows: [] }));
  return el(
    "div",
    { class: "welcome" },
    el(
      "p",
      { class: "lead" },
      `The ${language(corpus.corpus)} corpus has ${described(corpus)}. Write a word or a phrase above; `,
      el("a", { href: link("help", place) }, "there is more that can be asked"),
      ".",
    ),
    el(
      "ul",
      { class: "ways" },
      ...ways.map(([view, title, about]) =>
        el("li", {}, el("a", { href: link(view, place) }, title), el("p", {}, about)),
      ),
    ),
    newest.rows.length > 0 &&
      el(
        "section",
        {},
        el("h2", {}, "Newest documents"),
        el(
          "ul",
          { class: "newest" },
          ...newest.rows.map((row) =>
            el(
              "li",
              {},
              el("span", { class: "quiet" }, `${row.date} `),
              el("a", { href: link("document", place, { id: row.id }) }, foreign(row.title || "without a title")),
              el("span", { class: "quiet" }, " ", foreign(row.fields.site ?? "")),
            ),
          ),
        ),
      ),
  );
}

/** The view. */
export const search: View = {
  name: "search",
  title: "Search",
  about: "Words, phrases and patterns in their context.",
  group: "Read",
  chooses: "Which documents",
  fields: (desk) => [
    {
      name: "q",
      label: "Word, phrase or pattern",
      kind: "query",
      wide: true,
      required: true,
      hint: 'storm · climate change · [lc="inter.*"]',
    },
    ...formsField(desk),
    { name: "sort", label: "Order", kind: "choice", choices: SORTS, usual: "" },
    { name: "longest", label: "Longest match of a pattern instead of the shortest", kind: "flag", rare: true },
  ],
  ready: (place) => place.get("q") !== "",
  show,
  welcome,
};
