// Sparklines and change intervals inside tables.

import { max } from "d3-array";
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { draw } from "../dom.ts";
import { period, rate } from "../format.ts";
import { t } from "../text/index.ts";

const [WIDTH, HEIGHT] = [120, 26];

/** A sparkline of rates. */
export function spark(rates: readonly number[], bins: readonly string[], colour = "c0"): SVGSVGElement {
  const x = scaleLinear([0, Math.max(rates.length - 1, 1)], [3, WIDTH - 3]);
  const y = scaleLinear([0, max(rates) || 1], [HEIGHT - 3, 3]);
  const path = line<number>()
    .x((_, at) => x(at))
    .y((value) => y(value));
  const last = rates.at(-1) ?? 0;
  const told = t("from {first} per million in {start} to {last} in {end}, at most {most}", {
    first: rate(rates[0]),
    start: period(bins[0] ?? ""),
    last: rate(last),
    end: period(bins.at(-1) ?? ""),
    most: rate(max(rates)),
  });
  return draw(
    "svg",
    {
      class: "spark",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      width: WIDTH,
      height: HEIGHT,
      role: "img",
      "aria-label": told,
    },
    draw("title", {}, told),
    draw("path", {
      class: `band shown ${colour}`,
      d: `${path([...rates]) ?? ""}L${x(rates.length - 1)},${HEIGHT - 3}L${x(0)},${HEIGHT - 3}Z`,
    }),
    draw("path", { class: `line ${colour}`, d: path([...rates]) ?? "" }),
    draw("circle", { class: `dot ${colour}`, cx: x(rates.length - 1), cy: y(last), r: 2.5 }),
  );
}

/** A log ratio with its confidence interval; right of the middle is an increase. */
export function change(logRatio: number, low: number | null, high: number | null, widest: number): SVGSVGElement {
  const x = scaleLinear([-widest, widest], [3, WIDTH - 3]).clamp(true);
  const middle = HEIGHT / 2;
  const told = t("log ratio {value}, 95 % between {low} and {high}", {
    value: rate(logRatio),
    low: rate(low),
    high: rate(high),
  });
  return draw(
    "svg",
    {
      class: "change",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      width: WIDTH,
      height: HEIGHT,
      role: "img",
      "aria-label": told,
    },
    draw("title", {}, told),
    draw("line", { class: "zero", x1: x(0), x2: x(0), y1: 2, y2: HEIGHT - 2 }),
    draw("line", { class: "range", x1: x(low ?? -widest), x2: x(high ?? widest), y1: middle, y2: middle }),
    draw("circle", { class: `dot ${logRatio >= 0 ? "c2" : "c1"}`, cx: x(logRatio), cy: middle, r: 4 }),
  );
}
