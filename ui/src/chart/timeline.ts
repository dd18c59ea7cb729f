// Timeline chart: rate with confidence band, hits as bars, and a strip of coverage, because a rate means little for days on which
// nothing was collected.

import { max } from "d3-array";
import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import { draw } from "../dom.ts";
import type { TimelinePoint } from "../generated/api.ts";
import { brief, count, plural, percent, rate, round } from "../format.ts";
import { binAxis, leftAxis } from "./axis.ts";

/** The points of one query. */
export interface Series {
  name: string;
  points: readonly TimelinePoint[];
}

/** A text description of an interval. */
function describe(all: readonly Series[], at: number): string {
  const point = all[0]?.points[at];
  if (!point) return "";
  if (point.tokens === 0) return `${point.bin}: nothing collected`;
  const found = all.map((series) => {
    const { per_million: value, band, hits } = series.points[at]!;
    if (hits === null) return `${all.length > 1 ? `${series.name} ` : ""}not searched`;
    const interval = band ? ` (95 % between ${rate(band.low)} and ${rate(band.high)})` : "";
    return `${all.length > 1 ? `${series.name} ` : ""}${rate(value)} per million${interval}, ${plural(hits, "hit")}`;
  });
  const missing =
    point.health < 0.995
      ? `; documents on ${count(point.days_with_documents)} of ${plural(point.days, "day")}, coverage ${percent(point.health)}`
      : "";
  return `${point.bin}: ${found.join("; ")}. In ${plural(point.tokens, "token")} of ${plural(point.documents, "document")} from ${plural(point.sites, "source")}${missing}.`;
}

/** Draws series over the same bins. `choose` is called with the bin and the series that the user selects. */
export function timeline(
  width: number,
  all: readonly Series[],
  choose: (bin: string, series: number) => void,
  tell: (text: string) => void,
): SVGSVGElement {
  const margin = { top: 12, right: 12, left: 48 };
  const [lineHeight, gap, barHeight, stripHeight] = [width < 500 ? 180 : 240, 26, 70, 12];
  const bars = margin.top + lineHeight + gap;
  const strip = bars + barHeight + 10;
  const height = strip + stripHeight + 22;
  const bins = all[0]?.points.map((point) => point.bin) ?? [];
  const inner = width - margin.left - margin.right;
  const step = inner / Math.max(bins.length, 1);
  const x = (at: number) => margin.left + (at + 0.5) * step;
  const points = all.flatMap((series) => series.points);

  // Rates set the scale: the band of an interval with little text may exceed it.
  const highest = max(points, (point) => point.per_million ?? 0) || 1;
  const most = Math.max(highest, Math.min(max(points, (point) => point.band?.high ?? 0) ?? 0, 1.6 * highest));
  const y = scaleLinear([0, most], [margin.top + lineHeight, margin.top])
    .nice(5)
    .clamp(true);
  const hits = scaleLinear([0, max(points, (point) => point.hits ?? 0) || 1], [bars + barHeight, bars]).nice(2);

  const picture = draw("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": `Timeline with ${bins.length} intervals from ${bins[0] ?? ""} to ${bins.at(-1) ?? ""}. Arrow keys move along it, Enter shows the hits.`,
  });
  picture.append(
    leftAxis(y.ticks(5), y, round, margin.left, width - margin.right),
    leftAxis(hits.ticks(2).filter(Number.isInteger), hits, brief, margin.left, width - margin.right),
    draw("text", { class: "name", x: margin.left, y: bars - 9 }, "hits"),
    binAxis(bins, x, height - 5, width),
  );

  // Coverage strip: darker is better, dashed where nothing was collected.
  all[0]?.points.forEach((point, at) => {
    const level = point.tokens === 0 ? "none" : String(Math.min(4, Math.floor(point.health * 4.999)));
    picture.append(
      draw(
        "rect",
        {
          class: `health level-${level}`,
          x: margin.left + at * step,
          y: strip,
          width: Math.max(step - (step > 4 ? 1 : 0), 0.5),
          height: stripHeight,
        },
        draw(
          "title",
          {},
          point.tokens === 0
            ? `${point.bin}: nothing collected`
            : `${point.bin}: ${count(point.tokens)} tokens collected, coverage ${percent(point.health)}`,
        ),
      ),
    );
  });

  all.forEach((series, number) => {
    const colour = `c${number % 6}`;
    const at = (_: TimelinePoint, index: number) => x(index);
    const hasRate = (point: TimelinePoint) => point.per_million !== null;
    const band = area<TimelinePoint>()
      .defined((point) => point.band !== null)
      .x(at)
      .y0((point) => y(point.band!.low ?? 0))
      .y1((point) => y(point.band!.high ?? most));
    const rates = line<TimelinePoint>()
      .defined(hasRate)
      .x(at)
      .y((point) => y(point.per_million!));
    picture.append(
      draw("path", { class: `band ${colour}`, d: band([...series.points]) ?? "" }),
      draw("path", { class: `line ${colour}${step < 3 ? " dense" : ""}`, d: rates([...series.points]) ?? "" }),
    );
    const wide = Math.max((step * 0.8) / all.length, 0.5);
    series.points.forEach((point, index) => {
      const found = point.hits ?? 0;
      // An interval that was not searched is a gap, not a zero.
      if (found > 0) {
        picture.append(
          draw("rect", {
            class: `bar ${colour}`,
            x: x(index) - (wide * all.length) / 2 + number * wide,
            y: hits(found),
            width: wide,
            height: bars + barHeight - hits(found),
          }),
        );
      }
      if (
        hasRate(point) &&
        (bins.length <= 80 ||
          (series.points[index - 1]?.per_million == null && series.points[index + 1]?.per_million == null))
      ) {
        picture.append(
          draw("circle", { class: `dot ${colour}`, cx: x(index), cy: y(point.per_million!), r: step < 8 ? 1.6 : 3 }),
        );
      }
    });
  });

  // Each bin is a button over its whole height; together they are one tab stop.
  const cursor = draw("line", {
    class: "cursor",
    y1: margin.top,
    y2: strip + stripHeight,
    visibility: "hidden",
    "data-screen-only": true,
  });
  picture.append(cursor);
  const targets = bins.map((bin, at) => {
    const text = describe(all, at);
    const show = () => {
      for (const [name, value] of [
        ["x1", x(at)],
        ["x2", x(at)],
        ["visibility", "visible"],
      ] as const)
        cursor.setAttribute(name, String(value));
      tell(text);
    };
    const pick = () => {
      const found = all.findIndex((series) => (series.points[at]?.hits ?? 0) > 0);
      if (found >= 0) choose(bin, found);
      else tell(all.some((series) => series.points[at]?.hits === null) ? text : `${bin}: no hits`);
    };
    return draw("rect", {
      class: "target",
      x: margin.left + at * step,
      y: margin.top,
      width: Math.max(step, 0.5),
      height: strip + stripHeight - margin.top,
      role: "button",
      tabindex: at === 0 ? 0 : -1,
      "aria-label": text,
      "data-bin": bin,
      "data-screen-only": true,
      pointerenter: show,
      focus: show,
      click: pick,
      keydown: (event: KeyboardEvent) => {
        const move: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bins.length - 1 };
        const to = targets[move[event.key] ?? -1];
        if (event.key === "Enter" || event.key === " ") pick();
        else if (to) {
          targets[at]!.setAttribute("tabindex", "-1");
          to.setAttribute("tabindex", "0");
          to.focus();
        } else return;
        event.preventDefault();
      },
    });
  });
  picture.append(...targets);
  return picture;
}
