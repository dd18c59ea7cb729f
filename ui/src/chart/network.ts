// A word with its collocates around it, and lines between collocates that are collocates of each other.

import { max } from "d3-array";
import { scaleSqrt } from "d3-scale";
import { draw } from "../dom.ts";
import { t } from "../text/index.ts";

/** A collocate of the word in the middle. */
export interface NetworkNode {
  name: string;
  /** Association with the word in the middle. */
  score: number;
}

/** Two collocates, by their places in the list, that are collocates of each other. */
export interface NetworkEdge {
  one: number;
  other: number;
  score: number;
}

/** Orders nodes around a circle so that neighbours belong together: each time the strongest link of the last one. */
export function around(nodes: number, edges: readonly NetworkEdge[]): number[] {
  const link = (one: number, other: number) =>
    edges.find((edge) => (edge.one === one && edge.other === other) || (edge.one === other && edge.other === one))
      ?.score ?? Number.NEGATIVE_INFINITY;
  const left = Array.from({ length: nodes }, (_, at) => at);
  const order = left.splice(0, 1);
  while (left.length > 0) {
    const last = order.at(-1)!;
    const best = left.reduce((best, at) => (link(last, at) > link(last, best) ? at : best), left[0]!);
    order.push(...left.splice(left.indexOf(best), 1));
  }
  return order;
}

/** Draws the network. The nearer and the larger, the stronger the association with the word in the middle. */
export function network(
  width: number,
  centre: string,
  nodes: readonly NetworkNode[],
  edges: readonly NetworkEdge[],
  hrefOf: (at: number) => string,
): SVGSVGElement {
  const height = Math.max(320, Math.min(width * 0.7, 560));
  const [middleX, middleY] = [width / 2, height / 2];
  const strongest = max(nodes, (node) => node.score) || 1;
  const size = scaleSqrt([0, strongest], [3, 9]);
  const order = around(nodes.length, edges);
  const places = nodes.map((node, at) => {
    const angle = (order.indexOf(at) / Math.max(nodes.length, 1)) * 2 * Math.PI - Math.PI / 2;
    // Weak collocates stand at the rim, and every second one further inside, so that labels have room.
    const far = 0.94 - 0.3 * Math.max(0, node.score / strongest) - (order.indexOf(at) % 2) * 0.16;
    return {
      x: middleX + Math.cos(angle) * far * (width / 2 - 70),
      y: middleY + Math.sin(angle) * far * (height / 2 - 20),
    };
  });
  const strongestEdge = max(edges, (edge) => edge.score) || 1;
  return draw(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": t("{n} collocates of {word}, and {links} links between them", {
        n: nodes.length,
        word: centre,
        links: edges.length,
      }),
    },
    ...places.map(({ x, y }) => draw("line", { class: "grid", x1: middleX, y1: middleY, x2: x, y2: y })),
    ...edges.map(({ one, other, score }) => {
      const [from, to] = [places[one]!, places[other]!];
      // Bent towards the middle, so that lines between neighbours do not hide labels at the rim.
      const [bendX, bendY] = [(from.x + to.x + middleX) / 3, (from.y + to.y + middleY) / 3];
      return draw("path", {
        class: "line c0",
        d: `M${from.x.toFixed(1)},${from.y.toFixed(1)}Q${bendX.toFixed(1)},${bendY.toFixed(1)} ${to.x.toFixed(1)},${to.y.toFixed(1)}`,
        fill: "none",
        "stroke-width": (0.5 + (2 * score) / strongestEdge).toFixed(2),
        "stroke-opacity": 0.5,
      });
    }),
    draw("text", { class: "network-centre", x: middleX, y: middleY, dy: "0.35em", "text-anchor": "middle" }, centre),
    ...nodes.map(({ name, score }, at) => {
      const { x, y } = places[at]!;
      const isLeft = x < middleX;
      return draw(
        "a",
        { href: hrefOf(at) },
        draw("circle", { class: "dot c0", cx: x, cy: y, r: size(Math.max(0, score)).toFixed(1) }),
        draw(
          "text",
          {
            class: "network-label",
            x: x + (isLeft ? -11 : 11),
            y,
            dy: "0.35em",
            "text-anchor": isLeft ? "end" : "start",
          },
          name,
        ),
      );
    }),
  );
}
