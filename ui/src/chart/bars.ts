// Stacked bars per period, bars of a table, and the funnel of the pipeline.

import { max, sum } from "d3-array";
import { scaleLinear } from "d3-scale";
import { draw } from "../dom.ts";
import { brief, count, percent, period } from "../format.ts";
import { t } from "../text/index.ts";
import { binAxis, leftAxis } from "./axis.ts";
import type { ShowTip } from "./figure.ts";
import { runs } from "./series.ts";

/** The amounts of one period. */
export interface Stack {
  bin: string;
  parts: readonly number[];
  /** What is missing in this period. */
  gap?: string;
}

/** A stacked bar chart, one colour per kind; a click on a period calls `choose`. */
export function stacks(
  width: number,
  all: readonly Stack[],
  kinds: readonly string[],
  unit: string,
  show: ShowTip,
  choose?: (bin: string) => void,
): SVGSVGElement {
  const height = 220;
  const [left, right, top, bottom] = [52, width - 10, 26, height - 26];
  const step = (right - left) / Math.max(all.length, 1);
  const wide = Math.min(Math.max(step - (step > 3 ? 1 : 0), 0.5), 60);
  const y = scaleLinear([0, max(all, (stack) => sum(stack.parts)) || 1], [bottom, top]).nice(4);
  const x = (at: number) => left + (at + 0.5) * step;
  const picture = draw(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": t("{unit} in {n} periods from {first} to {last}", {
        unit,
        n: all.length,
        first: period(all[0]?.bin ?? ""),
        last: period(all.at(-1)?.bin ?? ""),
      }),
    },
    leftAxis(y.ticks(4), y, brief, left, right),
    draw("text", { class: "axis-title", x: 4, y: 13 }, unit),
    binAxis(
      all.map((stack) => stack.bin),
      x,
      height - 6,
      width,
    ),
  );
  // One path for each kind: charts of thousands of days stay small.
  kinds.forEach((_, kind) => {
    const d = all
      .map((stack, at) => {
        const part = stack.parts[kind] ?? 0;
        if (part <= 0) return "";
        const below = sum(stack.parts.slice(0, kind));
        const [from, to] = [y(below), y(below + part)];
        return `M${(x(at) - wide / 2).toFixed(2)},${from.toFixed(2)}h${wide.toFixed(2)}V${to.toFixed(2)}h${(-wide).toFixed(2)}Z`;
      })
      .join("");
    if (d) picture.append(draw("path", { class: `bar c${kind % 6}`, d }));
  });
  for (const { value, from, to } of runs(all.map((stack) => stack.gap ?? ""))) {
    if (!value) continue;
    const [start, end] = [left + from * step, left + (to + 1) * step];
    picture.append(
      draw("rect", { class: "gap", x: start, y: top, width: Math.max(end - start, 1), height: bottom - top }),
    );
    if (end - start > value.length * 6.2)
      picture.append(
        draw("text", { class: "gap-label", x: (start + end) / 2, y: top - 4, "text-anchor": "middle" }, value),
      );
  }
  const box = draw("rect", {
    class: "target",
    x: left,
    y: top,
    width: Math.max(right - left, 1),
    height: bottom - top,
    "data-screen-only": true,
  });
  const placeOf = (event: PointerEvent) => {
    const bounds = picture.getBoundingClientRect();
    const where = ((event.clientX - bounds.left) * width) / (bounds.width || 1);
    return {
      at: Math.max(0, Math.min(all.length - 1, Math.floor((where - left) / step))),
      y: event.clientY - bounds.top,
    };
  };
  box.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    const stack = all[place.at];
    if (!stack) return;
    const rows = stack.parts.flatMap((part, kind) =>
      part > 0 ? [{ name: kinds[kind] ?? "", colour: kind, text: count(part) }] : [],
    );
    show({
      x: x(place.at),
      y: place.y,
      title: period(stack.bin),
      rows,
      note: rows.length === 0 ? t("nothing") : (stack.gap ?? ""),
    });
  });
  box.addEventListener("pointerleave", () => show(null));
  if (choose) box.addEventListener("click", (event) => choose(all[placeOf(event as PointerEvent).at]?.bin ?? ""));
  picture.append(box);
  return picture;
}

/** A bar inside a table, as long as its share of the largest value. */
export function bar(value: number, largest: number): SVGSVGElement {
  const [width, height] = [140, 12];
  const long = largest > 0 ? Math.max((width * value) / largest, value > 0 ? 1 : 0) : 0;
  return draw(
    "svg",
    { class: "bar-cell", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    draw("rect", { class: "bar c0", x: 0, y: 0, width: long, height, rx: 2 }),
  );
}

/** A stage: items kept, and items dropped by reason. */
export interface FunnelStage {
  name: string;
  unit: string;
  parts: readonly { reason: string; items: number; kept: boolean }[];
}

/** A bar per stage, as long as its input, with kept items first. */
export function funnel(width: number, steps: readonly FunnelStage[], show: ShowTip): SVGSVGElement {
  const row = 54;
  const total = (step: FunnelStage) => sum(step.parts, (part) => part.items);
  const x = scaleLinear([0, max(steps, total) || 1], [0, width - 4]);
  const reason = (part: FunnelStage["parts"][number]) => (part.kept ? t("kept") : part.reason);
  const picture = draw("svg", {
    viewBox: `0 0 ${width} ${steps.length * row + 4}`,
    role: "img",
    "aria-label": steps
      .map((step) => `${step.name}: ${step.parts.map((part) => `${reason(part)} ${count(part.items)}`).join(", ")}`)
      .join("; "),
  });
  steps.forEach((step, at) => {
    const kept = sum(step.parts, (part) => (part.kept ? part.items : 0));
    const words = t("{kept} of {all} {unit} kept", { kept: count(kept), all: count(total(step)), unit: step.unit });
    picture.append(
      draw(
        "text",
        { class: "tick", x: 0, y: at * row + 16 },
        `${step.name}${width > 600 ? `: ${words}, ${percent(kept / (total(step) || 1))}` : ""}`,
      ),
    );
    let from = 0;
    let colour = 0;
    for (const part of step.parts) {
      const paint = part.kept ? "c2" : ["c1", "c4", "c3", "c5"][colour++ % 4];
      const text = `${count(part.items)} ${step.unit}, ${percent(part.items / (total(step) || 1))}`;
      const tip = {
        x: x(from),
        y: at * row + 40,
        title: step.name,
        rows: [{ name: reason(part), colour: Number(paint!.slice(1)), text }],
      };
      picture.append(
        draw(
          "rect",
          {
            class: `bar ${paint}`,
            x: x(from),
            y: at * row + 24,
            width: Math.max(x(from + part.items) - x(from) - 0.5, 0.5),
            height: 18,
            pointerenter: () => show(tip),
            pointerleave: () => show(null),
          },
          draw("title", {}, `${reason(part)}: ${text}`),
        ),
      );
      from += part.items;
    }
  });
  return picture;
}
