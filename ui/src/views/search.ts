// Concordance search.

import { type Corpus, address } from "../api.ts";
import type { ConcordanceLine } from "../generated/api.ts";
import { type Child, el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, language, plural, rate } from "../format.ts";
import { queryOf, sameQuery } from "../cql.ts";
import { type ViewContext, type View, formsField } from "../view.ts";
import { concordance } from "./kwic.ts";
import { showEmpty } from "./shared.ts";

const SIZE = 50;

const SORTS = [
  ["", "newest first"],
  ["oldest", "oldest first"],
  ["left", "left context"],
  ["node", "hit"],
  ["right", "right context"],
  ["site", "source"],
  ["sample", "random sample"],
] as const;

async function show(context: ViewContext): Promise<void> {
  const { route } = context;
  const sort = route.get("sort");
  const fields = ["date", "site", "title"]
    .filter((name) => name === "site" || context.corpus?.fields.includes(name))
    .join(",");
  const q = queryOf(route);
  const asked = {
    ...context.documents,
    q,
    fields,
    size: SIZE,
    cursor: route.get("cursor"),
    longest: route.get("longest"),
    order: sort === "oldest" ? "oldest" : undefined,
    sort: ["left", "node", "right", "site"].includes(sort) ? sort : undefined,
    sample: sort === "sample" ? SIZE : undefined,
  };
  const found = await context.request("query", asked);
  const total = found.hits ?? 0;
  if (total === 0) {
    return showEmpty(
      context,
      el(
        "div",
        { class: "empty" },
        el("p", {}, "No hits in these documents. Suggestions:"),
        el(
          "ul",
          {},
          el("li", {}, "use lower case: ", bidi("apple"), " also finds Apple, but Apple finds Apple only;"),
          el("li", {}, "try another form of the word, or a pattern such as ", el("code", {}, '[lc="appl.*"]'), ";"),
          el("li", {}, "choose a longer period or all documents under “Filter documents”;"),
          el("li", {}, el("a", { href: link("help", route) }, "see the query syntax"), "."),
        ),
      ),
      "No hits.",
    );
  }
  const sample = found.about?.exactness.kind === "sample" ? " Sorted: a random sample of them." : "";
  const rates = found.per_million === undefined ? "" : `, ${rate(found.per_million)} per million tokens`;
  context.announce(`${context.isCutOff ? "At least " : ""}${plural(total, "hit")}${rates}.${sample}`);
  const widen = (line: ConcordanceLine, around: number) =>
    context.requestUnlisted("context", { id: line.document, position: line.position, unit: "paragraph", around });
  const ofTotal = `${context.isCutOff ? "at least " : ""}${count(total)}`;
  const range = found.lines.length
    ? `Lines ${count(found.first + 1)} to ${count(found.first + found.lines.length)} of ${ofTotal}`
    : `No lines of ${ofTotal}`;
  if (found.withheld) {
    context.append(
      el(
        "p",
        { class: "note" },
        `${plural(found.withheld, "hit")} without a line: their documents can be read with an access token only (see the footer).`,
      ),
    );
  }
  context.append(
    el(
      "nav",
      { class: "onward", "aria-label": "More about this query" },
      ...[
        ["timeline", "frequency over time"],
        ["collocations", "collocations"],
        ["frequencies", "frequency by source or form"],
      ].map(([view, words]) => el("a", { href: link(view!, route, sameQuery(route)) }, words)),
      el(
        "a",
        {
          href: `${address("query", context.lang, { ...context.documents, q, fields })}&format=csv`,
          download: "",
          "data-api": true,
        },
        "all lines (CSV)",
      ),
    ),
    concordance(found.lines, context.lang, route, `Concordance of ${route.get("q")}.`, widen),
    el(
      "nav",
      { class: "pages", "aria-label": "Pages" },
      found.first > 0 && el("a", { href: route.with({ cursor: undefined }) }, "First page"),
      el("span", {}, sort === "sample" ? `${count(found.lines.length)} of ${ofTotal} hits, random sample` : range),
      found.next &&
        (context.isCutOff || found.first + found.lines.length < total) &&
        el("a", { href: route.with({ cursor: found.next }), rel: "next", class: "next" }, "Next page"),
    ),
  );
}

const described = (corpus: Corpus): string =>
  `${plural(corpus.tokens, "token")} in ${plural(corpus.documents, "document")}${corpus.first_day ? `, ${corpus.first_day} to ${corpus.last_day}` : ""}`;

async function welcome(context: ViewContext): Promise<Child> {
  const { route, corpus } = context;
  if (!corpus) return null;
  const ways = [
    ["timeline", "Frequency over time", "With confidence intervals and coverage."],
    ["trends", "Trends", "Words that become more or less frequent, tested over the whole vocabulary."],
    ["new-words", "New words", "Words first used in a period, on several sources and days."],
    ["names", "Names", "Who and what is in the news, and which names are new."],
    ["quotes", "Quotations", "Who is quoted, with which verbs, and how much each source quotes."],
    ["compare", "Compare periods", "Words that rose or fell between two periods."],
    ["collocations", "Collocations", "Words that occur together, by eight association measures."],
    ["collection", "Collection", "Sources, volume over time, and what each stage kept."],
  ] as const;
  const newest = await context.requestUnlisted("documents", { size: 5, fields: "site" }).catch(() => ({ rows: [] }));
  return el(
    "div",
    { class: "welcome" },
    el(
      "p",
      { class: "lead" },
      `The ${language(corpus.corpus)} corpus has ${described(corpus)}. Enter a word or a phrase above, or see the `,
      el("a", { href: link("help", route) }, "query syntax"),
      ".",
    ),
    el(
      "ul",
      { class: "ways" },
      ...ways.map(([view, title, about]) =>
        el("li", {}, el("a", { href: link(view, route) }, title), el("p", {}, about)),
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
              el("a", { href: link("document", route, { id: row.id }) }, bidi(row.title || "(no title)")),
              el("span", { class: "quiet" }, " ", bidi(row.fields.site ?? "")),
            ),
          ),
        ),
      ),
  );
}

/** The search view. */
export const search: View = {
  name: "search",
  title: "Search",
  about: "Words, phrases and patterns in their context.",
  group: "Read",
  documentFilter: "Filter documents",
  fields: (context) => [
    {
      name: "q",
      label: "Word, phrase or pattern",
      kind: "query",
      wide: true,
      required: true,
      hint: 'storm · climate change · [lc="inter.*"]',
    },
    ...formsField(context),
    { name: "sort", label: "Order", kind: "choice", choices: SORTS, initial: "" },
    { name: "longest", label: "Longest match instead of the shortest", kind: "flag", advanced: true },
  ],
  ready: (route) => route.get("q") !== "",
  show,
  welcome,
};
