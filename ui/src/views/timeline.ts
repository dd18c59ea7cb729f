// Frequency over time. Each point links to its hits.

import { el } from "../dom.ts";
import { type Series, timeline as picture } from "../chart/timeline.ts";
import { figure } from "../chart/figure.ts";
import { go, link } from "../route.ts";
import { count, plural, percent, rate } from "../format.ts";
import { queryOf, sameQuery } from "../cql.ts";
import { showEmpty } from "./shared.ts";
import { type ViewContext, INTERVALS, type View, formsField, intervalField, defaultInterval } from "../view.ts";

/** Queries in one chart. */
const MAX_QUERIES = 4;

async function show(context: ViewContext): Promise<void> {
  const { route } = context;
  const queries = [...new Set(route.all("q"))].slice(0, MAX_QUERIES);
  const by = route.get("by") || defaultInterval(context.corpus);
  const found = await Promise.all(
    queries.map((q) => context.request("timeline", { ...context.documents, q: queryOf(route, q), by })),
  );
  const series: Series[] = found.map((answer, at) => ({ name: queries[at]!, points: answer.points }));
  const total = found.reduce((sum, answer) => sum + answer.hits, 0);
  if (!series.some((one) => one.points.length > 0)) {
    const advice = "No document matches the filter under “Filter documents”. Try a longer period.";
    return showEmpty(context, advice, "No documents.");
  }
  context.announce(
    total === 0 && !context.isCutOff
      ? "No hits in this period."
      : `${found.map((answer, at) => `${queries[at]}: ${context.isCutOff ? "at least " : ""}${plural(answer.hits, "hit")}`).join("; ")}.`,
  );
  const rows = series.flatMap((one) => one.points.map((point) => ({ query: one.name, ...point })));
  const toHits = (bin: string, number: number) =>
    link("search", route, {
      ...sameQuery(route, queries[number]),
      filter: [`date=${bin}`, route.get("filter") && `(${route.get("filter")})`].filter(Boolean).join(" "),
    });
  context.append(
    series.length > 1 &&
      el("ul", { class: "legend" }, ...series.map((one, at) => el("li", { class: `c${at}` }, el("bdi", {}, one.name)))),
    figure(
      "timeline",
      `Hits per million tokens by ${INTERVALS.find(([name]) => name === by)?.[1] ?? by}, with 95 % confidence intervals; below: hits, and coverage`,
      (width, tell) => picture(width, series, (bin, number) => go(toHits(bin, number)), tell),
      [
        {
          name: "period",
          value: (row) => row.bin,
          show: (row) =>
            (row.hits ?? 0) > 0 ? el("a", { href: toHits(row.bin, queries.indexOf(row.query)) }, row.bin) : row.bin,
        },
        ...(queries.length > 1 ? [{ name: "query", value: (row: (typeof rows)[number]) => row.query }] : []),
        {
          name: "hits",
          value: (row) => row.hits,
          numeric: true,
          show: (row) => (row.hits === null ? "not searched" : count(row.hits)),
        },
        {
          name: "per million",
          value: (row) => row.per_million,
          numeric: true,
          show: (row) =>
            row.hits === null ? "not searched" : row.per_million === null ? "nothing collected" : rate(row.per_million),
        },
        { name: "low", value: (row) => row.band?.low, numeric: true, show: (row) => rate(row.band?.low) },
        { name: "high", value: (row) => row.band?.high, numeric: true, show: (row) => rate(row.band?.high) },
        { name: "tokens", value: (row) => row.tokens, numeric: true, show: (row) => count(row.tokens) },
        { name: "documents", value: (row) => row.documents, numeric: true },
        { name: "sources", value: (row) => row.sites, numeric: true },
        { name: "days", value: (row) => row.days, numeric: true },
        { name: "days with documents", value: (row) => row.days_with_documents, numeric: true },
        {
          name: "coverage",
          about: "Share of days with documents, or of the usual number of sources, whichever is smaller",
          value: (row) => row.health,
          numeric: true,
          show: (row) => percent(row.health),
        },
      ],
      rows,
      "Hover or use the arrow keys to read values; click to see the hits.",
    ),
    el(
      "p",
      { class: "quiet" },
      "The strip at the bottom shows coverage: dark where no day or source is missing, light where some are, dashed where nothing was collected. No hits in those periods does not mean that the word was not used.",
    ),
  );
}

/** The timeline view. */
export const timeline: View = {
  name: "timeline",
  title: "Timeline",
  about: "Frequency of words, phrases and patterns over time.",
  group: "Time",
  documentFilter: "Filter documents",
  button: "Show",
  fields: (context) => {
    const queries = context.route.all("q");
    const more = queries.length === 0 ? 1 : Math.min(queries.length + 1, MAX_QUERIES);
    return [
      ...Array.from({ length: more }, (_, at) => ({
        name: "q",
        at,
        label: at === 0 ? "Word, phrase or pattern" : "Compare with",
        kind: "query" as const,
        wide: true,
        required: at === 0,
        hint: at === 0 ? "storm" : "flood",
      })),
      ...formsField(context),
      intervalField(defaultInterval(context.corpus)),
    ];
  },
  ready: (route) => route.get("q") !== "",
  meaning:
    "The line shows hits per million tokens, so that periods with much and with little text can be compared. The band is a 95 % confidence interval: where two bands do not overlap, the rates differ. It is wider if hits cluster in few documents.",
  show,
};
