// The start page: what changed, what is new, who is in the news, what was collected and what is missing.

import { stacks } from "../chart/bars.ts";
import { figure } from "../chart/figure.ts";
import { daysOf } from "../chart/period.ts";
import { spark } from "../chart/spark.ts";
import { address } from "../api.ts";
import { type Child, bidi, el } from "../dom.ts";
import { count, percent, period } from "../format.ts";
import type { TimelinePoint } from "../generated/api.ts";
import { asQuery } from "../cql.ts";
import { go, link } from "../route.ts";
import { before } from "../querybar.ts";
import { t, tn } from "../text/index.ts";
import { type View, type ViewContext, usualAttribute } from "../view.ts";
import { firstStart } from "./first-start.ts";
import { NAME_TYPES } from "./names.ts";
import { arrow, basis } from "./trends.ts";

/** Rows of a card. */
const ROWS = 7;
/** Days of "this week" and of the month of names. */
const [WEEK, MONTH] = [7, 30];
/** A query that no token matches: its timeline is the collection alone. */
export const NOTHING = '[word==""]';
/** Share of the usual sources below which a period is marked as incomplete. */
const COMPLETE = 0.5;

/** A card; its content is put in when it arrives. */
function card(title: string, about: string, content: Promise<Child[]>, signal: AbortSignal): HTMLElement {
  const body = el("div", { class: "card-body", "aria-busy": "true" }, el("p", { class: "quiet" }, t("Loading …")));
  content
    .catch((error: unknown) => [el("p", { class: "quiet" }, error instanceof Error ? error.message : String(error))])
    .then((children) => {
      if (signal.aborted) return;
      body.replaceChildren();
      for (const child of children) if (child) body.append(child instanceof Node ? child : String(child));
      body.removeAttribute("aria-busy");
    });
  return el("section", { class: "card" }, el("h2", {}, title), about ? el("p", { class: "sub" }, about) : "", body);
}

const list = (...rows: HTMLElement[]): HTMLElement => el("table", { class: "list" }, el("tbody", {}, ...rows));
/** A list whose first cells are long. */
const titles = (...rows: HTMLElement[]): HTMLElement => el("table", { class: "list titles" }, el("tbody", {}, ...rows));
const line = (...cells: Child[]): HTMLElement =>
  el("tr", {}, ...cells.map((cell, at) => (at === 0 ? el("th", { scope: "row" }, cell) : el("td", {}, cell))));

async function rising(context: ViewContext): Promise<Child[]> {
  const attribute = usualAttribute(context);
  const found = await context.request("trends", { ...context.documents, attribute, limit: ROWS }, false);
  if (found.rows.length === 0)
    return [
      el("p", {}, t("No word changed significantly.")),
      el("p", {}, more(context, "trends", t("Other settings"))),
    ];
  return [
    list(
      ...found.rows.map((row) =>
        line(
          el("a", { href: link("timeline", context.route, { q: asQuery(row.value, attribute) }) }, bidi(row.value)),
          spark(row.per_million, found.bins, (row.log_ratio ?? 0) >= 0 ? "c2" : "c1"),
          arrow(row.log_ratio),
        ),
      ),
    ),
    el("p", { class: "sub" }, basis(found)),
    more(context, "trends", t("All trends")),
  ];
}

async function fresh(context: ViewContext): Promise<Child[]> {
  const found = await context.request("new-words", { ...context.documents, limit: ROWS });
  const feed = `${address("new-words", context.lang)}?format=rss`;
  if (found.rows.length === 0)
    return [
      el("p", {}, t("No new word since {day} occurs on enough sources and days.", { day: period(found.since) })),
      more(context, "new-words", t("Other settings")),
    ];
  return [
    list(
      ...found.rows.map((row) =>
        line(
          el("a", { href: link("search", context.route, { q: asQuery(row.value, found.attribute) }) }, bidi(row.value)),
          tn(row.sites, "{n} source", "{n} sources"),
          t("first {day}", { day: period(row.first_seen) }),
        ),
      ),
    ),
    el(
      "p",
      { class: "links" },
      more(context, "new-words", t("All new words")),
      " · ",
      el("a", { href: feed, "data-api": true }, t("As a feed (RSS)")),
    ),
  ];
}

async function inTheNews(context: ViewContext): Promise<Child[]> {
  const last = context.corpus?.last_day;
  if (!last) return [];
  const [now, earlier] = await Promise.all([
    context.request("names", { filter: `date>=${before(last, MONTH - 1)}`, limit: ROWS }),
    context.request("names", {
      filter: `date>=${before(last, 2 * MONTH - 1)} date<${before(last, MONTH - 1)}`,
      limit: 2000,
    }),
  ]);
  if (now.rows.length === 0) return [el("p", {}, t("No names in the last 30 days."))];
  const known = new Map(earlier.rows.map((row) => [row.name, row.documents]));
  return [
    list(
      ...now.rows.map((row) => {
        const past = known.get(row.name) ?? 0;
        const change =
          past === 0
            ? el("span", { class: "up" }, t("new"))
            : el(
                "span",
                { class: row.documents >= past ? "up" : "down" },
                `${row.documents >= past ? "▲" : "▼"} ${t("before: {n}", { n: count(past) })}`,
              );
        return line(
          el("a", { href: link("search", context.route, { q: row.query }) }, bidi(row.name)),
          row.type ? (NAME_TYPES[row.type] ?? "") : "",
          tn(row.documents, "{n} document", "{n} documents"),
          change,
        );
      }),
    ),
    more(context, "names", t("All names")),
  ];
}

/** What is missing in a period, in words; empty if it is complete. */
export function gapOf(point: TimelinePoint, usual: number): string {
  if (point.tokens === 0) return t("nothing collected");
  return point.sites < COMPLETE * usual ? t("{n} of {all} sources", { n: count(point.sites), all: count(usual) }) : "";
}

async function collected(context: ViewContext, points: Promise<readonly TimelinePoint[]>): Promise<Child[]> {
  const all = await points;
  const usual = Math.max(...all.map((point) => point.sites), 0);
  const incomplete = all.filter((point) => gapOf(point, usual));
  return [
    figure(
      "collected",
      t("Documents by date of publication"),
      (width, tip) =>
        stacks(
          width,
          all.map((point) => ({ bin: point.bin, parts: [point.documents], gap: gapOf(point, usual) })),
          [t("documents")],
          t("documents"),
          tip,
          (bin) => go(link("documents", context.route, { from: daysOf(bin).first, to: daysOf(bin).last })),
        ),
      [
        { name: "period", label: t("period"), value: (row) => row.bin },
        { name: "documents", label: t("documents"), value: (row) => row.documents, numeric: true },
        {
          name: "tokens",
          label: t("tokens"),
          value: (row) => row.tokens,
          numeric: true,
          show: (row) => count(row.tokens),
        },
        { name: "sites", label: t("sources"), value: (row) => row.sites, numeric: true },
        {
          name: "coverage",
          label: t("coverage"),
          value: (row) => row.health,
          numeric: true,
          show: (row) => percent(row.health),
        },
      ],
      all,
      incomplete.length > 0
        ? t("Dashed periods are incomplete: gaps of the collection, not silence.")
        : t("No gaps: every period has documents of most sources."),
    ),
    more(context, "collection", t("The collection in detail")),
  ];
}

async function newest(context: ViewContext): Promise<Child[]> {
  const { rows } = await context.request("documents", { ...context.documents, size: ROWS, fields: "site" });
  return [
    titles(
      ...rows.map((row) =>
        line(
          el("a", { href: link("document", context.route, { id: row.id }) }, bidi(row.title || t("(no title)"))),
          bidi(row.fields.site ?? ""),
          period(row.date),
        ),
      ),
    ),
    more(context, "documents", t("All documents")),
  ];
}

const more = (context: ViewContext, view: string, words: string): HTMLElement =>
  el("a", { class: "more", href: link(view, context.route) }, words);

/** The start page. */
export const start: View = {
  name: "start",
  title: t("What changed"),
  about: "",
  kind: "other",
  fields: () => [],
  ready: () => true,
  show: async (context) => {
    const { corpus, route, signal } = context;
    if (!corpus) return firstStart(context);
    const [first, last] = [corpus.first_day, corpus.last_day];
    const points = context.request("timeline", { ...context.documents, q: NOTHING }).then((answer) => answer.points);
    const week = last
      ? context.requestUnlisted("timeline", { q: NOTHING, by: "day", filter: `date>=${before(last, WEEK - 1)}` })
      : null;
    // Tests over the whole vocabulary are expensive: one after the other.
    const trends = rising(context);
    const lead = el("p", { class: "lead" });
    context.append(
      lead,
      el(
        "div",
        { class: "cards" },
        card(
          t("Rising and falling"),
          t("surest changes, {first} to {last}", { first: period(first ?? ""), last: period(last ?? "") }),
          rising(context),
          signal,
        ),
        card(
          t("New words"),
          t("not used before, on several sources and days"),
          trends.catch(() => []).then(() => fresh(context)),
          signal,
        ),
        card(
          t("In the news"),
          t("names of the last 30 days, against the 30 days before"),
          points.catch(() => []).then(() => inTheNews(context)),
          signal,
        ),
      ),
      card(t("Collected"), "", collected(context, points), signal),
      card(t("Latest documents"), "", newest(context), signal),
    );
    const recent = await week;
    if (signal.aborted || !recent) return;
    const documents = recent.points.reduce((sum, point) => sum + point.documents, 0);
    const sources = Math.max(0, ...recent.points.map((point) => point.sites));
    lead.append(
      t("{documents} from up to {sources} a day in the week to {day}.", {
        documents: tn(documents, "{n} document", "{n} documents"),
        sources: tn(sources, "{n} source", "{n} sources"),
        day: period(last!),
      }),
      " ",
      el("a", { href: link("help", route) }, t("How to search")),
    );
  },
};
