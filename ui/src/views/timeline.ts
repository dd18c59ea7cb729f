// Queries in time. A point leads to its hits.

import { el } from "../dom.ts";
import { type Point, type Series, timeline as picture } from "../chart/timeline.ts";
import { figure } from "../chart/figure.ts";
import { go, link } from "../place.ts";
import { count, many, percent, rate } from "../say.ts";
import { type Desk, STEPS, type View, again, formsField, meant, stepField, usualStep } from "../view.ts";

/** So many queries can be told apart in one picture. */
const MOST = 4;

interface Found {
  hits: number;
  points: Point[];
}

async function show(desk: Desk): Promise<void> {
  const { place } = desk;
  const queries = [...new Set(place.all("q"))].slice(0, MOST);
  const by = place.get("by") || usualStep(desk.corpus);
  const found = await Promise.all(queries.map((q) => desk.ask<Found>("timeline", { q: meant(place, q), by })));
  const series: Series[] = found.map((answer, at) => ({ name: queries[at]!, points: answer.points }));
  const total = found.reduce((sum, answer) => sum + answer.hits, 0);
  if (!series.some((one) => one.points.length > 0)) {
    desk.say("There are no such documents.");
    desk.put(
      el("p", { class: "empty" }, "No document fits what is chosen under “Which documents”. A longer time may help."),
    );
    return;
  }
  desk.say(
    total === 0
      ? "No hits in all this time."
      : `${found.map((answer, at) => `${queries[at]}: ${many(answer.hits, "hit")}`).join("; ")}.`,
  );
  const rows = series.flatMap((one) => one.points.map((point) => ({ query: one.name, ...point })));
  const toHits = (bin: string, number: number) =>
    link("search", place, {
      ...again(place, queries[number]),
      filter: [`date=${bin}`, place.get("filter") && `(${place.get("filter")})`].filter(Boolean).join(" "),
    });
  desk.put(
    series.length > 1 &&
      el("ul", { class: "legend" }, ...series.map((one, at) => el("li", { class: `c${at}` }, el("bdi", {}, one.name)))),
    figure(
      "timeline",
      `Hits per million tokens by ${STEPS.find(([name]) => name === by)?.[1] ?? by}, with 95 % intervals; below, all hits, and how well was collected`,
      (width, tell) => picture(width, series, (bin, number) => go(toHits(bin, number)), tell),
      [
        {
          name: "step",
          value: (row) => row.bin,
          show: (row) =>
            row.hits > 0 ? el("a", { href: toHits(row.bin, queries.indexOf(row.query)) }, row.bin) : row.bin,
        },
        ...(queries.length > 1 ? [{ name: "query", value: (row: (typeof rows)[number]) => row.query }] : []),
        { name: "hits", value: (row) => row.hits, numeric: true },
        {
          name: "per million",
          value: (row) => row.per_million,
          numeric: true,
          show: (row) => (row.per_million === null ? "nothing collected" : rate(row.per_million)),
        },
        { name: "low", value: (row) => row.band?.low, numeric: true, show: (row) => rate(row.band?.low) },
        { name: "high", value: (row) => row.band?.high, numeric: true, show: (row) => rate(row.band?.high) },
        { name: "tokens", value: (row) => row.tokens, numeric: true, show: (row) => count(row.tokens) },
        { name: "documents", value: (row) => row.documents, numeric: true },
        { name: "sources", value: (row) => row.sites, numeric: true },
        { name: "days", value: (row) => row.days, numeric: true },
        { name: "days with documents", value: (row) => row.days_with_documents, numeric: true },
        {
          name: "health",
          about: "Days with documents, or sources of those that are usual, whichever share is smaller",
          value: (row) => row.health,
          numeric: true,
          show: (row) => percent(row.health),
        },
      ],
      rows,
      "Point at the picture, or walk through it with the arrow keys; a click shows the hits.",
    ),
    el(
      "p",
      { class: "quiet" },
      "The strip at the bottom tells how well was collected: dark where no day and no source seems to be missing, light where some are, dashed where there was nothing. Nothing found there is no silence.",
    ),
  );
}

/** The view. */
export const timeline: View = {
  name: "timeline",
  title: "Timeline",
  about: "How often something is said, step by step.",
  group: "Time",
  chooses: "Which documents",
  button: "Show",
  fields: (desk) => {
    const queries = desk.place.all("q");
    const more = queries.length === 0 ? 1 : Math.min(queries.length + 1, MOST);
    return [
      ...Array.from({ length: more }, (_, at) => ({
        name: "q",
        at,
        label: at === 0 ? "Word, phrase or pattern" : "and beside it",
        kind: "query" as const,
        wide: true,
        required: at === 0,
        hint: at === 0 ? "storm" : "flood",
      })),
      ...formsField(desk),
      stepField(usualStep(desk.corpus)),
    ];
  },
  ready: (place) => place.get("q") !== "",
  meaning:
    "The line is the number of hits in a million tokens of that step, so that months with much and with little text can be compared. The band around it tells where the rate may lie by chance, with a confidence of 95 %: where two bands do not meet, the rates differ. Hits that come in bunches, many in one document, make the band wider.",
  show,
};
