// Axes: grid lines, ticks and labels.

import { draw } from "../dom.ts";

/** Margins of a chart. */
export interface Margin {
  top: number;
  right: number;
  bottom: number;
  left: number;
}

/** Horizontal grid lines with values at the left. */
export function leftAxis(
  ticks: readonly number[],
  y: (value: number) => number,
  name: (value: number) => string,
  from: number,
  to: number,
): SVGGElement {
  const group = draw("g", { class: "axis", "aria-hidden": "true" });
  for (const tick of ticks) {
    group.append(
      draw("line", { class: "grid", x1: from, x2: to, y1: y(tick), y2: y(tick) }),
      draw("text", { x: from - 6, y: y(tick), dy: "0.32em", "text-anchor": "end" }, name(tick)),
    );
  }
  return group;
}

/** Labels of bins below a chart, as many as fit between its left edge and `edge`. */
export function binAxis(bins: readonly string[], x: (at: number) => number, y: number, edge: number): SVGGElement {
  const group = draw("g", { class: "axis", "aria-hidden": "true" });
  const wide = Math.max(...bins.map((bin) => short(bin).length), 1) * 7;
  const span = Math.abs(x(bins.length - 1) - x(0)) + wide;
  const step = Math.max(1, Math.ceil(bins.length / Math.max(1, Math.floor(span / (wide + 16)))));
  bins.forEach((bin, at) => {
    if (at % step !== 0) return;
    // A label that would leave the chart stays at its edge.
    const middle = Math.min(Math.max(x(at), wide / 2), edge - wide / 2);
    group.append(draw("text", { x: middle, y, "text-anchor": "middle" }, short(bin)));
  });
  return group;
}

/** The first part of the name of a bin. */
export const short = (bin: string): string => bin.split("..")[0] ?? bin;
