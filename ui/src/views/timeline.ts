// Frequency over time. Each point links to its hits.

import { el } from "../dom.ts";
import { type Series, coarser } from "../chart/series.ts";
import {
  DOCUMENT_SHARE,
  HITS,
  MOST_LINES,
  type Measure,
  PER_MILLION,
  QUERY_SHARE,
  timeline as picture,
} from "../chart/timeline.ts";
import { figure } from "../chart/figure.ts";
import { daysOf } from "../chart/period.ts";
import { go, link } from "../route.ts";
import { count, percent, period, rate } from "../format.ts";
import type { Step } from "../generated/api.ts";
import { cqlOf, queriesOf, sameQuery } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type View, INTERVAL, type ViewContext, intervalName } from "../view.ts";
import { askForQuery, hasQuery, showEmpty } from "./shared.ts";

/** Queries of one timeline. */
const MAX_QUERIES = 12;
const SMOOTHING = ["", "3", "5", "7", "13"] as const;

/** The measures of the axis. */
const MEASURES: Readonly<Record<string, Measure>> = {
  "": PER_MILLION,
  hits: HITS,
  documents: DOCUMENT_SHARE,
  share: QUERY_SHARE,
};

/** Asks for all queries; without a chosen interval, sparse words get a coarser one. */
async function ask(
  context: ViewContext,
  queries: readonly string[],
): Promise<{ series: Series[]; hits: number[]; total: number; by: Step; finer: Step | null }> {
  const { route } = context;
  const load = async (by: string) => {
    const found = await context.request("timeline", {
      ...context.documents,
      q: queries.map((q) => cqlOf(route, q)).join(","),
      by,
      panel: route.get("panel"),
      documents: route.get("measure") === "documents" ? true : undefined,
    });
    const steps = found.points.length / queries.length;
    const series = queries.map((name, at) => ({ name, points: found.points.slice(at * steps, (at + 1) * steps) }));
    const hits = series.map((one) => one.points.reduce((sum, point) => sum + (point.hits ?? 0), 0));
    return { by: found.step, series, hits, total: found.hits };
  };
  let found = await load(route.get("by"));
  const wanted = found.by;
  for (let step = coarser(found.by, found.series); step && !route.get("by"); step = coarser(found.by, found.series)) {
    context.requests.length = 0;
    found = await load(step);
  }
  return { ...found, finer: !route.get("by") && found.by !== wanted ? wanted : null };
}

async function show(context: ViewContext): Promise<void> {
  const { route } = context;
  const queries = queriesOf(route).slice(0, MAX_QUERIES);
  const { series, hits, total, by, finer } = await ask(context, queries);
  if (!series.some((one) => one.points.length > 0))
    return showEmpty(context, t("No document matches the filters. Try a longer period."), t("No documents."));
  context.announce(
    total === 0 && !context.isCutOff
      ? t("No hits in this period.")
      : `${context.isCutOff ? `${t("at least")} ` : ""}${tn(total, "{n} hit", "{n} hits")}`,
  );
  const rows = series.flatMap((one) => one.points.map((point) => ({ ...point, query: one.name })));
  const toHits = (bin: string, number: number) => {
    const { first, last } = daysOf(bin);
    return link("search", route, { ...sameQuery(route, queries[number]), from: first, to: last });
  };
  const smooth = Number(route.get("smooth") || 0);
  const chosen = MEASURES[route.get("measure")] ?? PER_MILLION;
  // One query has no share among others.
  const measure = chosen === QUERY_SHARE && queries.length === 1 ? PER_MILLION : chosen;
  const isRate = measure === PER_MILLION;
  const window = isRate ? smooth : 0;
  const caption = [
    t("{measure}, by {interval}", { measure: measure.title, interval: intervalName(by) }),
    window > 1 && t("centred mean over {n} periods", { n: window }),
    queries.length > MOST_LINES && t("same scale in all charts"),
  ]
    .filter(Boolean)
    .join(", ");
  context.append(
    finer &&
      el(
        "p",
        { class: "quiet" },
        t("By {interval}, because most shorter periods have too few hits to tell. ", { interval: intervalName(by) }),
        el("a", { href: route.with({ by: finer }) }, t("Show by {interval}", { interval: intervalName(finer) })),
      ),
    series.length > 1 &&
      series.length <= MOST_LINES &&
      el(
        "ul",
        { class: "chips" },
        ...series.map((one, at) =>
          el("li", { class: `c${at} d${at}` }, el("i"), el("bdi", {}, one.name), ` ${count(hits[at]!)}`),
        ),
      ),
    figure(
      "timeline",
      caption,
      (width, tip) =>
        picture(width, series, {
          measure,
          smooth: window,
          choose: (bin, number) => go(toHits(bin, number)),
          zoom: (first, last) => go(route.with({ from: daysOf(first).first, to: daysOf(last).last, by: undefined })),
          show: tip,
        }),
      [
        {
          name: "period",
          label: t("period"),
          value: (row) => row.bin,
          show: (row) =>
            (row.hits ?? 0) > 0
              ? el("a", { href: toHits(row.bin, queries.indexOf(row.query)) }, period(row.bin))
              : period(row.bin),
        },
        ...(queries.length > 1
          ? [{ name: "query", label: t("query"), value: (row: (typeof rows)[number]) => row.query }]
          : []),
        {
          name: "hits",
          label: t("hits"),
          value: (row) => row.hits,
          numeric: true,
          show: (row) => (row.hits === null ? t("not searched") : count(row.hits)),
        },
        ...(queries.length > 1
          ? [
              {
                name: "query_share",
                label: t("share among the queries"),
                value: (row: (typeof rows)[number]) => row.query_share,
                numeric: true,
                show: (row: (typeof rows)[number]) => QUERY_SHARE.show(row.query_share ?? null),
              },
            ]
          : []),
        {
          name: "per_million",
          label: t("per million"),
          value: (row) => row.per_million,
          numeric: true,
          show: (row) =>
            row.hits === null
              ? t("not searched")
              : row.per_million === null
                ? t("nothing collected")
                : rate(row.per_million),
        },
        {
          name: "low",
          label: t("low"),
          value: (row) => row.band?.low,
          numeric: true,
          show: (row) => rate(row.band?.low),
        },
        {
          name: "high",
          label: t("high"),
          value: (row) => row.band?.high,
          numeric: true,
          show: (row) => rate(row.band?.high),
        },
        {
          name: "tokens",
          label: t("tokens"),
          value: (row) => row.tokens,
          numeric: true,
          show: (row) => count(row.tokens),
        },
        { name: "documents", label: t("documents"), value: (row) => row.documents, numeric: true },
        ...(measure === DOCUMENT_SHARE
          ? [
              {
                name: "hit_documents",
                label: t("documents with a hit"),
                value: (row: (typeof rows)[number]) => row.hit_documents,
                numeric: true,
              },
              {
                name: "document_share",
                label: t("share of documents"),
                value: (row: (typeof rows)[number]) => row.document_share,
                numeric: true,
                show: (row: (typeof rows)[number]) => measure.show(row.document_share ?? null),
              },
            ]
          : []),
        { name: "sites", label: t("sources"), value: (row) => row.sites, numeric: true },
        { name: "days", label: t("days"), value: (row) => row.days, numeric: true },
        {
          name: "days_with_documents",
          label: t("days with documents"),
          value: (row) => row.days_with_documents,
          numeric: true,
        },
        {
          name: "coverage",
          label: t("coverage"),
          about: t("Share of days with documents, or of the usual number of sources, whichever is smaller"),
          value: (row) => row.health,
          numeric: true,
          show: (row) => percent(row.health),
        },
      ],
      rows,
      t("Drag to zoom · click a point to read its hits · shaded: 95 % interval · thin line: little text"),
    ),
    el(
      "p",
      { class: "quiet" },
      (route.get("from") || route.get("to")) &&
        el("a", { href: route.with({ from: undefined, to: undefined }) }, t("Show the whole time")),
    ),
  );
}

/** The timeline view. */
export const timeline: View = {
  name: "timeline",
  title: t("Timeline"),
  about: t("Frequency of words, phrases and patterns over time."),
  kind: "query",
  facets: true,
  fields: () => [
    {
      name: "measure",
      label: t("Measure"),
      kind: "choice",
      choices: [
        ["", t("per million tokens")],
        ["hits", t("hits")],
        ["documents", t("share of documents")],
        ["share", t("share among the queries")],
      ],
      initial: "",
    },
    INTERVAL,
    {
      name: "smooth",
      label: t("Smoothing"),
      kind: "choice",
      choices: SMOOTHING.map((n) => [n, n ? t("mean of {n} periods", { n }) : t("none")] as const),
      initial: "",
    },
    { name: "panel", label: t("Constant sources only (panel)"), kind: "flag", advanced: true },
  ],
  ready: hasQuery,
  welcome: askForQuery,
  meaning: t(
    "The line shows hits per million tokens, so that periods with much and with little text can be compared. The band is a 95 % confidence interval: where two bands do not overlap, the rates differ. It is wider if hits cluster in few documents; with several queries it is shown for the line under the pointer. The strip below shows coverage: filled where no day or source is missing, pale where some are, dashed where nothing was collected. No hits in those periods does not mean that the word was not used.",
  ),
  show,
};
