// Bars: how much came on each day in each language, and where what was downloaded ended up.

import { max, sum } from "d3-array";
import { scaleLinear } from "d3-scale";
import { draw } from "../dom.ts";
import { brief } from "../say.ts";
import { binAxis, leftAxis } from "./axis.ts";

/** A day, with an amount for each kind. */
export interface Stack {
  bin: string;
  parts: readonly number[];
}

/** Bars one upon the other, a colour for each kind. */
export function stacks(width: number, all: readonly Stack[], kinds: readonly string[], unit: string, tell: (text: string) => void): SVGSVGElement {
  const height = 220;
  const [left, right, top, bottom] = [52, width - 10, 12, height - 26];
  const step = (right - left) / Math.max(all.length, 1);
  const y = scaleLinear([0, max(all, (stack) => sum(stack.parts)) || 1], [bottom, top]).nice(4);
  const x = (at: number) => left + (at + 0.5) * step;
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${unit} in each of ${all.length} steps of time from ${all[0]?.bin ?? ""} to ${all.at(-1)?.bin ?? ""}` },
    leftAxis(y.ticks(4), y, brief, left, right), binAxis(all.map((stack) => stack.bin), x, height - 6, right - left));
  all.forEach((stack, at) => {
    let below = 0;
    const words = `${stack.bin}: ${stack.parts.map((part, kind) => `${kinds[kind]} ${brief(part)}`).join(", ")}`;
    const group = draw("g", { pointerenter: () => tell(words) }, draw("title", {}, words));
    stack.parts.forEach((part, kind) => {
      if (part <= 0) return;
      group.append(draw("rect", { class: `bar c${kind % 6}`, x: left + at * step, width: Math.max(step - (step > 3 ? 1 : 0), 0.5), y: y(below + part), height: y(below) - y(below + part) }));
      below += part;
    });
    picture.append(group);
  });
  return picture;
}

/** A thing with an amount. */
export interface Amount {
  name: string;
  amount: number;
  /** The number of its colour. */
  colour: number;
}

/** Bars side by side, the name above each. */
export function amounts(width: number, all: readonly Amount[], show: (value: number) => string, label: string): SVGSVGElement {
  const row = 40;
  const x = scaleLinear([0, max(all, (one) => one.amount) || 1], [0, width - 8]);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${all.length * row + 4}`, role: "img", "aria-label": `${label}: ${all.map((one) => `${one.name} ${show(one.amount)}`).join(", ")}` });
  all.forEach((one, at) => {
    picture.append(draw("text", { class: "tick", x: 0, y: at * row + 14 }, `${one.name} · ${show(one.amount)}`),
      draw("rect", { class: `bar c${one.colour % 6}`, x: 0, y: at * row + 20, width: Math.max(x(one.amount), 1), height: 12 }));
  });
  return picture;
}
