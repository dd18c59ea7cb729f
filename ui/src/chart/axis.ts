// Axes: grid lines, ticks and labels.

import { draw } from "../dom.ts";
import { timeTicks } from "./period.ts";

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
      draw("line", { class: tick === 0 ? "grid zero" : "grid", x1: from, x2: to, y1: y(tick), y2: y(tick) }),
      draw("text", { x: from - 6, y: y(tick), dy: "0.32em", "text-anchor": "end" }, name(tick)),
    );
  }
  return group;
}

/** Labels of periods below a chart, as many as fit between its left edge and `edge`. */
export function binAxis(bins: readonly string[], x: (at: number) => number, y: number, edge: number): SVGGElement {
  const group = draw("g", { class: "axis", "aria-hidden": "true" });
  const room = Math.abs(x(bins.length - 1) - x(0)) + 50;
  let last = Number.NEGATIVE_INFINITY;
  for (const { at, label } of timeTicks(bins, room)) {
    const wide = label.length * 6.6;
    // A label that would leave the chart stays at its edge.
    const middle = Math.min(Math.max(x(at), wide / 2), edge - wide / 2);
    if (middle - wide / 2 < last + 6) continue;
    last = middle + wide / 2;
    group.append(draw("text", { x: middle, y, "text-anchor": "middle" }, label));
  }
  return group;
}
