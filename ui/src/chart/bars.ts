// Stacked bars per interval, and the funnel of the pipeline.

import { max, sum } from "d3-array";
import { scaleLinear } from "d3-scale";
import { draw } from "../dom.ts";
import { brief, count, percent } from "../format.ts";
import { binAxis, leftAxis } from "./axis.ts";

/** The amounts of one interval. */
export interface Stack {
  bin: string;
  parts: readonly number[];
}

/** A stacked bar chart, one colour per kind. */
export function stacks(
  width: number,
  all: readonly Stack[],
  kinds: readonly string[],
  unit: string,
  tell: (text: string) => void,
): SVGSVGElement {
  const height = 220;
  const [left, right, top, bottom] = [52, width - 10, 12, height - 26];
  const step = (right - left) / Math.max(all.length, 1);
  const wide = Math.min(Math.max(step - (step > 3 ? 1 : 0), 0.5), 60);
  const y = scaleLinear([0, max(all, (stack) => sum(stack.parts)) || 1], [bottom, top]).nice(4);
  const x = (at: number) => left + (at + 0.5) * step;
  const picture = draw(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `${unit} in ${all.length} intervals from ${all[0]?.bin ?? ""} to ${all.at(-1)?.bin ?? ""}`,
    },
    leftAxis(y.ticks(4), y, brief, left, right),
    binAxis(
      all.map((stack) => stack.bin),
      x,
      height - 6,
      width,
    ),
  );
  all.forEach((stack, at) => {
    let below = 0;
    const words = `${stack.bin}: ${stack.parts.flatMap((part, kind) => (part > 0 ? [`${kinds[kind]} ${count(part)}`] : [])).join(", ") || "nothing"}`;
    const group = draw("g", { pointerenter: () => tell(words) }, draw("title", {}, words));
    stack.parts.forEach((part, kind) => {
      if (part <= 0) return;
      group.append(
        draw("rect", {
          class: `bar c${kind % 6}`,
          x: x(at) - wide / 2,
          width: wide,
          y: y(below + part),
          height: y(below) - y(below + part),
        }),
      );
      below += part;
    });
    picture.append(group);
  });
  return picture;
}

/** A stage: items kept, and items dropped by reason. */
export interface FunnelStage {
  name: string;
  unit: string;
  parts: readonly { reason: string; items: number; kept: boolean }[];
}

/** A bar per stage, as long as its input, with kept items first. */
export function funnel(width: number, steps: readonly FunnelStage[], tell: (text: string) => void): SVGSVGElement {
  const row = 54;
  const total = (step: FunnelStage) => sum(step.parts, (part) => part.items);
  const x = scaleLinear([0, max(steps, total) || 1], [0, width - 4]);
  const picture = draw("svg", {
    viewBox: `0 0 ${width} ${steps.length * row + 4}`,
    role: "img",
    "aria-label": steps
      .map(
        (step) =>
          `${step.name}: ${step.parts.map((part) => `${part.kept ? "kept" : part.reason} ${count(part.items)}`).join(", ")}`,
      )
      .join("; "),
  });
  steps.forEach((step, at) => {
    const kept = sum(step.parts, (part) => (part.kept ? part.items : 0));
    picture.append(
      draw(
        "text",
        { class: "tick", x: 0, y: at * row + 16 },
        `${step.name}: ${count(kept)} of ${count(total(step))}${width > 600 ? ` ${step.unit} kept, ${percent(kept / (total(step) || 1))}` : ""}`,
      ),
    );
    let from = 0;
    let colour = 0;
    for (const part of step.parts) {
      const words = `${step.name}: ${part.kept ? "kept" : part.reason}, ${count(part.items)} ${step.unit}, ${percent(part.items / (total(step) || 1))}`;
      const paint = part.kept ? "c4" : ["c1", "c2", "c3", "c5"][colour++ % 4];
      picture.append(
        draw(
          "rect",
          {
            class: `bar ${paint}`,
            x: x(from),
            y: at * row + 24,
            width: Math.max(x(from + part.items) - x(from) - 0.5, 0.5),
            height: 18,
            pointerenter: () => tell(words),
          },
          draw("title", {}, words),
        ),
      );
      from += part.items;
    }
  });
  return picture;
}
