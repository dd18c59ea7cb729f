// Timeline chart: a line for each query with its label at the end, its confidence band where that informs, and a strip of
// coverage, because a rate means little for days on which nothing was collected.
//
// The marks are few paths, however many periods there are: ten years by day draw as fast as ten years by month. One
// element takes pointer and keys for the whole chart; for screen readers it is a slider whose value is the period.

import { max } from "d3-array";
import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import { draw } from "../dom.ts";
import type { TimelinePoint } from "../generated/api.ts";
import { count, percent, period, rate, round } from "../format.ts";
import { t, tn } from "../text/index.ts";
import { binAxis, leftAxis } from "./axis.ts";
import type { Tip } from "./figure.ts";
import { type Series, bandsInform, runs, smoothed, thin } from "./series.ts";

/** A measure of the vertical axis. */
export interface Measure {
  /** The title of the axis. */
  title: string;
  value: (point: TimelinePoint) => number | null;
  band?: (point: TimelinePoint) => { low: number | null; high: number | null } | null;
  show: (value: number | null) => string;
}

/** How a timeline is drawn, and what it calls. */
export interface TimelineOptions {
  measure: Measure;
  /** Periods of the moving mean; 0 for none. */
  smooth: number;
  /** Called with the period and the series that the user selects. */
  choose: (bin: string, series: number) => void;
  /** Called with the first and last period that the user drags over. */
  zoom: (first: string, last: string) => void;
  show: (tip: Tip | null) => void;
}

/** Series in one chart; more are drawn as small multiples. */
export const MOST_LINES = 4;
/** Pixels of a drag below which it is a click. */
const DRAG = 6;
/** Coverage below which a period counts as incomplete. */
const COMPLETE = 0.75;

/** The numbers of a period for readers. */
export function tipOf(
  all: readonly Series[],
  at: number,
  { measure, smooth }: Pick<TimelineOptions, "measure" | "smooth">,
): Omit<Tip, "x" | "y"> {
  const point = all[0]!.points[at]!;
  const title = [
    period(point.bin),
    tn(point.tokens, "{n} token", "{n} tokens"),
    tn(point.sites, "{n} source", "{n} sources"),
  ].join(" · ");
  if (point.tokens === 0) return { title: period(point.bin), rows: [], note: t("nothing collected") };
  const rows = all.map((series, number) => {
    const here = series.points[at]!;
    const band = smooth > 1 ? null : measure.band?.(here);
    const interval = band ? ` (${measure.show(band.low)} – ${measure.show(band.high)})` : "";
    const value = smooth > 1 ? (smoothed(series.points, smooth)[at] ?? null) : measure.value(here);
    return {
      name: series.name,
      colour: number,
      text: here.hits === null ? t("not searched") : `${measure.show(value)}${interval}`,
      more: here.hits === null ? "" : tn(here.hits, "{n} hit", "{n} hits"),
    };
  });
  const notes = [
    point.health < 0.995 &&
      t("documents on {days} of {all} days, coverage {share}", {
        days: count(point.days_with_documents),
        all: count(point.days),
        share: percent(point.health),
      }),
    all.length === 1 && thin(all[0]!.points)[at] && t("little text: a missing hit means little here"),
  ];
  return { title, rows, note: notes.filter(Boolean).join("; ") };
}

/** The text of a tip, for screen readers. */
const spoken = ({ title, rows, note }: Omit<Tip, "x" | "y">): string =>
  [title, ...(rows ?? []).map(({ name, text, more }) => `${name}: ${text}${more ? `, ${more}` : ""}`), note]
    .filter(Boolean)
    .join("; ");

/** Places of labels that do not overlap: at least `gap` apart, as near as possible to where they belong. */
export function spread(wanted: readonly number[], gap: number, top: number, bottom: number): number[] {
  const order = wanted.map((place, number) => ({ place, number })).sort((one, other) => one.place - other.place);
  let last = Number.NEGATIVE_INFINITY;
  for (const label of order) last = label.place = Math.max(label.place, last + gap, top);
  let next = bottom + gap;
  for (const label of order.toReversed()) next = label.place = Math.min(label.place, next - gap);
  const placed = [...wanted];
  for (const { place, number } of order) placed[number] = place;
  return placed;
}

/** Draws the series: in one chart, or as small multiples if there are many. */
export function timeline(width: number, all: readonly Series[], options: TimelineOptions): SVGSVGElement {
  const highest = top(all, options);
  if (all.length <= MOST_LINES)
    return panel(width, all, options, highest, { first: 0, height: width < 500 ? 250 : 330 });
  const columns = width < 620 ? 1 : width < 1000 ? 2 : 3;
  const [gap, height] = [16, 170];
  const wide = Math.floor((width - gap * (columns - 1)) / columns);
  const rows = Math.ceil(all.length / columns);
  const picture = draw("svg", {
    viewBox: `0 0 ${width} ${rows * (height + gap)}`,
    role: "group",
    "aria-label": t("{n} small charts with the same scale", { n: all.length }),
  });
  all.forEach((series, number) => {
    const [x, y] = [(number % columns) * (wide + gap), Math.floor(number / columns) * (height + gap)];
    const small = panel(wide, [series], shifted(options, x, y), highest, { first: number, height, title: series.name });
    for (const [name, value] of Object.entries({ x, y, width: wide, height })) small.setAttribute(name, String(value));
    picture.append(small);
  });
  return picture;
}

/** The options of a small chart at a place of a larger one. */
const shifted = (options: TimelineOptions, x: number, y: number): TimelineOptions => ({
  ...options,
  show: (tip) => options.show(tip && { ...tip, x: tip.x + x, y: tip.y + y }),
});

const valuesOf = (series: Series, { measure, smooth }: TimelineOptions): (number | null)[] =>
  smooth > 1 ? smoothed(series.points, smooth) : series.points.map(measure.value);

/** The highest value that must fit: bands of thin periods may exceed it. */
function top(all: readonly Series[], options: TimelineOptions): number {
  const flags = all.map((series) => thin(series.points));
  const solid = max(
    all.flatMap((series, number) => valuesOf(series, options).filter((_, at) => !flags[number]![at])),
    (value) => value ?? 0,
  );
  return (
    solid ||
    max(
      all.flatMap((series) => valuesOf(series, options)),
      (value) => value ?? 0,
    ) ||
    1
  );
}

interface Frame {
  /** The colour of the first series. */
  first: number;
  height: number;
  title?: string;
}

function panel(
  width: number,
  all: readonly Series[],
  options: TimelineOptions,
  highest: number,
  frame: Frame,
): SVGSVGElement {
  const { measure, smooth } = options;
  const { first, height, title } = frame;
  const isSmall = title !== undefined;
  const longest = Math.max(...all.map((series) => Math.min(series.name.length, 18)));
  const labels = isSmall || all.length === 1 || width < 560 ? 12 : Math.min(14 + longest * 8.4, 166);
  const [left, right, upper] = [isSmall ? 48 : 74, width - labels, isSmall ? 22 : 26];
  const strip = height - (isSmall ? 30 : 46);
  const lower = strip - (isSmall ? 6 : 20);
  const bins = all[0]?.points.map((point) => point.bin) ?? [];
  const step = (right - left) / Math.max(bins.length, 1);
  const x = (at: number) => left + (at + 0.5) * step;
  const y = scaleLinear([0, highest * 1.06], [lower, upper])
    .nice(5)
    .clamp(true);
  const picture = draw("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": title ?? t("Timeline"),
  });
  picture.append(
    leftAxis(y.ticks(isSmall ? 3 : 5), y, round, left, right),
    draw("text", { class: "axis-title", x: isSmall ? left : 4, y: 13 }, title ?? measure.title),
    binAxis(bins, x, height - (isSmall ? 4 : 20), right),
  );
  coverage(picture, all[0]?.points ?? [], { x: (at) => left + at * step, y: strip, height: isSmall ? 6 : 10, isSmall });

  const bands: SVGElement[] = [];
  const lines: SVGElement[] = [];
  all.forEach((series, number) => {
    const colour = `c${(first + number) % 6}`;
    const shape = `${colour} d${(first + number) % 6}`;
    const values = valuesOf(series, options);
    const isThin = thin(series.points);
    const index = series.points.map((_, at) => at);
    if (measure.band && smooth <= 1) {
      const band = area<number>()
        .defined((at) => Boolean(measure.band!(series.points[at]!)))
        .x(x)
        .y0((at) => y(measure.band!(series.points[at]!)!.low ?? 0))
        .y1((at) => y(measure.band!(series.points[at]!)!.high ?? y.domain()[1]!));
      const isShown = all.length === 1 && bandsInform(series.points);
      const path = draw("path", { class: `band ${colour}${isShown ? " shown" : ""}`, d: band(index) ?? "" });
      bands.push(path);
      picture.append(path);
    }
    const path = (keep: (at: number) => boolean) =>
      line<number>()
        .defined((at) => values[at] !== null && keep(at))
        .x(x)
        .y((at) => y(values[at]!))(index) ?? "";
    // Thin periods are drawn thin, with the points beside them, so that the line does not break.
    const solid = path((at) => !isThin[at]);
    const faint = path((at) => Boolean(isThin[at] || isThin[at - 1] || isThin[at + 1]));
    const group = draw(
      "g",
      { class: "series" },
      isThin.some(Boolean) && draw("path", { class: `line thin ${colour}`, d: faint }),
      draw("path", { class: `line ${shape}${step < 3 ? " dense" : ""}`, d: solid }),
    );
    if (bins.length <= 80) {
      values.forEach((value, at) => {
        if (value === null) return;
        const radius = isThin[at] ? 1.6 : step < 8 || isSmall ? 2 : 3;
        group.append(
          draw("circle", { class: `dot ${colour}${isThin[at] ? " hollow" : ""}`, cx: x(at), cy: y(value), r: radius }),
        );
      });
    }
    lines.push(group);
    picture.append(group);
  });
  if (labels > 12) endLabels(picture, all, options, { x: right + 8, y, first, top: upper, bottom: lower });
  interact(picture, all, options, { x, y, left, right, upper, lower: strip + 12, step, bands, lines, first });
  return picture;
}

/** Names of the series at the ends of their lines, in the colour of the line. */
function endLabels(
  picture: SVGSVGElement,
  all: readonly Series[],
  options: TimelineOptions,
  place: { x: number; y: (value: number) => number; first: number; top: number; bottom: number },
): void {
  const ends = all.map((series) => place.y(valuesOf(series, options).findLast((value) => value !== null) ?? 0));
  spread(ends, 16, place.top, place.bottom).forEach((y, number) => {
    const name = all[number]!.name;
    const short = name.length > 18 ? `${name.slice(0, 17)}…` : name;
    picture.append(draw("text", { class: `label c${(place.first + number) % 6}`, x: place.x, y, dy: "0.32em" }, short));
  });
}

/** The strip of coverage: filled where the collection is complete, pale where parts are missing, dashed where nothing is. */
function coverage(
  picture: SVGSVGElement,
  points: readonly TimelinePoint[],
  place: { x: (at: number) => number; y: number; height: number; isSmall: boolean },
): void {
  const level = (point: TimelinePoint) =>
    point.tokens === 0 ? "none" : point.health >= 0.9 ? "full" : point.health >= COMPLETE ? "good" : "poor";
  if (!place.isSmall)
    picture.append(
      draw(
        "text",
        { class: "axis", x: place.x(0) - 6, y: place.y + place.height / 2, dy: "0.32em", "text-anchor": "end" },
        t("coverage"),
      ),
    );
  const usual = Math.max(...points.map((point) => point.sites), 0);
  const most = (from: number, to: number) => Math.max(...points.slice(from, to + 1).map((point) => point.sites));
  for (const { value, from, to } of runs(points.map(level))) {
    picture.append(
      draw("rect", {
        class: `coverage level-${value}`,
        x: place.x(from),
        y: place.y,
        width: Math.max(place.x(to + 1) - place.x(from), 0.5),
        height: place.height,
      }),
    );
    const wide = place.x(to + 1) - place.x(from);
    const words =
      value === "none"
        ? t("nothing collected")
        : value === "poor" && most(from, to) < usual / 2
          ? t("{n} of {all} sources", { n: most(from, to), all: usual })
          : "";
    // Words stand at gaps with room for them.
    if (words && !place.isSmall && wide > words.length * 6.2)
      picture.append(
        draw(
          "text",
          { class: "gap-label", x: place.x(from) + wide / 2, y: place.y - 4, "text-anchor": "middle" },
          words,
        ),
      );
  }
}

interface Surface {
  x: (at: number) => number;
  y: (value: number) => number;
  left: number;
  right: number;
  upper: number;
  lower: number;
  step: number;
  bands: readonly SVGElement[];
  lines: readonly SVGElement[];
  first: number;
}

/** Where the reader of a chart is: the period that is read, the fixed end of a selection by keys, the start of a drag as a share of the width. */
interface Reading {
  at: number;
  anchor: number | null;
  dragFrom: number | null;
}

/** A chart is drawn again when its width changes, which must not lose the place of its reader. */
const readings = new WeakMap<readonly Series[], Reading>();

/** Pointer and keys: reading values, opening the hits of the line that is nearest, and dragging over a period. */
function interact(picture: SVGSVGElement, all: readonly Series[], options: TimelineOptions, place: Surface): void {
  const bins = all[0]?.points.map((point) => point.bin) ?? [];
  const screen = { "data-screen-only": true };
  const cursor = draw("line", { class: "cursor", y1: place.upper, y2: place.lower, visibility: "hidden", ...screen });
  const selection = draw("rect", {
    class: "selection",
    y: place.upper,
    height: place.lower - place.upper,
    width: 0,
    x: 0,
    ...screen,
  });
  const last = bins.length - 1;
  const reading: Reading = readings.get(all) ?? { at: Math.max(last, 0), anchor: null, dragFrom: null };
  readings.set(all, reading);
  const target = draw("rect", {
    class: "target",
    x: place.left,
    y: place.upper,
    width: Math.max(place.right - place.left, 1),
    height: place.lower - place.upper,
    role: "slider",
    tabindex: 0,
    "aria-label": t("Period. Arrow keys move, Enter shows the hits, Shift with arrows selects a range to zoom into."),
    "aria-valuemin": 0,
    "aria-valuemax": Math.max(last, 0),
    "aria-valuenow": reading.at,
    "aria-valuetext": bins.length > 0 ? spoken(tipOf(all, reading.at, options)) : "",
    ...screen,
  });
  /** The series whose line is nearest to a height, among those with hits. */
  const nearest = (height: number | null): number => {
    let [best, distance] = [-1, Number.POSITIVE_INFINITY];
    all.forEach((series, number) => {
      const value = valuesOf(series, options)[reading.at] ?? null;
      if (value === null || (series.points[reading.at]?.hits ?? 0) === 0) return;
      const far = height === null ? number : Math.abs(place.y(value) - height);
      if (far < distance) [best, distance] = [number, far];
    });
    return best;
  };
  const emphasise = (number: number) => {
    place.bands.forEach((band, each) => band.classList.toggle("hovered", each === number));
    if (all.length > 1)
      place.lines.forEach((each, other) => each.classList.toggle("faded", number >= 0 && other !== number));
  };
  const read = (height: number | null) => {
    for (const [name, value] of Object.entries({
      x1: place.x(reading.at),
      x2: place.x(reading.at),
      visibility: "visible",
    }))
      cursor.setAttribute(name, String(value));
    const tip = tipOf(all, reading.at, options);
    target.setAttribute("aria-valuenow", String(reading.at));
    target.setAttribute("aria-valuetext", spoken(tip));
    target.setAttribute("data-bin", bins[reading.at] ?? "");
    const number = nearest(height);
    emphasise(number);
    const rows = tip.rows?.map((row) => ({
      ...row,
      colour: row.colour + place.first,
      isNearest: all.length > 1 && row.colour === number,
    }));
    options.show({ ...tip, rows: rows ?? [], x: place.x(reading.at), y: height ?? place.upper });
  };
  const leave = () => {
    cursor.setAttribute("visibility", "hidden");
    emphasise(-1);
    options.show(null);
  };
  const place_of = (event: PointerEvent | MouseEvent) => {
    const box = picture.getBoundingClientRect();
    const scale = picture.viewBox.baseVal.width / (box.width || 1);
    return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
  };
  const binAt = (where: number) => Math.max(0, Math.min(last, Math.floor((where - place.left) / place.step)));
  const dragStart = () =>
    reading.dragFrom === null ? null : place.left + reading.dragFrom * (place.right - place.left);
  const select = (from: number, to: number) => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    selection.setAttribute("x", String(place.x(low) - place.step / 2));
    selection.setAttribute("width", String((high - low + 1) * place.step));
  };
  const open = (height: number | null) => {
    const number = nearest(height);
    if (number >= 0) options.choose(bins[reading.at]!, number);
  };
  const zoom = (from: number, to: number) => {
    selection.setAttribute("width", "0");
    if (from !== to) options.zoom(bins[Math.min(from, to)]!, bins[Math.max(from, to)]!);
  };
  target.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    reading.dragFrom = (place_of(event).x - place.left) / (place.right - place.left);
    target.setPointerCapture(event.pointerId);
  });
  target.addEventListener("pointermove", (event) => {
    const where = place_of(event);
    reading.at = binAt(where.x);
    const from = dragStart();
    if (from !== null && Math.abs(where.x - from) > DRAG) select(binAt(from), reading.at);
    read(where.y);
  });
  target.addEventListener("pointerup", (event) => {
    const where = place_of(event);
    reading.at = binAt(where.x);
    const from = dragStart();
    reading.dragFrom = null;
    if (from !== null && Math.abs(where.x - from) > DRAG) zoom(binAt(from), reading.at);
    else if (from !== null) open(where.y);
  });
  target.addEventListener("pointercancel", () => {
    reading.dragFrom = null;
    selection.setAttribute("width", "0");
  });
  target.addEventListener("pointerleave", leave);
  target.addEventListener("focus", () => read(null));
  target.addEventListener("blur", leave);
  target.addEventListener("keydown", (event) => {
    const move: Record<string, number> = {
      ArrowLeft: reading.at - 1,
      ArrowRight: reading.at + 1,
      PageUp: reading.at - 10,
      PageDown: reading.at + 10,
      Home: 0,
      End: last,
    };
    const to = move[event.key];
    if (to !== undefined) {
      if (event.shiftKey) reading.anchor ??= reading.at;
      else reading.anchor = null;
      reading.at = Math.max(0, Math.min(last, to));
      if (reading.anchor === null) selection.setAttribute("width", "0");
      else select(reading.anchor, reading.at);
      read(null);
    } else if (event.key === "Enter" || event.key === " ") {
      if (reading.anchor !== null && reading.anchor !== reading.at) zoom(reading.anchor, reading.at);
      else open(null);
    } else if (event.key === "Escape") {
      reading.anchor = null;
      selection.setAttribute("width", "0");
    } else return;
    event.preventDefault();
  });
  if (bins.length > 0) picture.append(selection, cursor, target);
}

/** Hits per million tokens. */
export const PER_MILLION: Measure = {
  title: t("hits per million tokens"),
  value: (point) => point.per_million,
  band: (point) => point.band,
  show: rate,
};

/** Absolute numbers of hits. */
export const HITS: Measure = {
  title: t("hits"),
  value: (point) => point.hits,
  show: (value) => (value === null ? "–" : count(value)),
};

/** The share of documents with a hit, of answers that count documents. */
export const DOCUMENT_SHARE: Measure = {
  title: t("share of documents with a hit"),
  value: (point) => point.document_share ?? null,
  show: (value) => (value === null ? "–" : percent(value)),
};

/** The share of a query among the hits of all queries of the chart. */
export const QUERY_SHARE: Measure = {
  title: t("share among the queries"),
  value: (point) => point.query_share ?? null,
  show: DOCUMENT_SHARE.show,
};
