// Yield of hosts: downloaded against kept bytes, log-log, as crawlers are evaluated.

import { extent } from "d3-array";
import { scaleLog } from "d3-scale";
import { draw } from "../dom.ts";
import { bytes, percent } from "../format.ts";
import { t } from "../text/index.ts";
import type { ShowTip } from "./figure.ts";

/** A host with its bytes. */
export interface Host {
  name: string;
  downloaded: number;
  kept: number;
}

/** Yields with a guide line. */
const SHARES = [0.1, 0.01, 0.001];

/** Draws the hosts with kept text. */
export function scatter(width: number, hosts: readonly Host[], show: ShowTip): SVGSVGElement {
  const height = Math.max(280, Math.min(width * 0.62, 460));
  const [left, right, top, bottom] = [62, width - 14, 14, height - 42];
  const seen = hosts.filter((host) => host.downloaded > 0 && host.kept > 0);
  const domain = (values: [number, number] | [undefined, undefined]): [number, number] => {
    const [low, high] = [values[0] ?? 1, values[1] ?? 10];
    return low === high ? [low / 3, high * 3] : [low / 1.5, high * 1.5];
  };
  const x = scaleLog(domain(extent(seen, (host) => host.downloaded)), [left, right]);
  const y = scaleLog(domain(extent(seen, (host) => host.kept)), [bottom, top]);
  // Powers of ten, with steps between them if there are few.
  const ticks = (scale: typeof x) => {
    const [from, to] = scale.domain() as [number, number];
    const steps = to / from > 1000 ? [1] : [1, 2, 5];
    const all: number[] = [];
    for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power += 1)
      all.push(...steps.map((step) => step * 10 ** power));
    return all.filter((tick) => tick >= from && tick <= to);
  };
  const picture = draw("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": t("{n} hosts: bytes downloaded against bytes of text kept", { n: seen.length }),
  });
  for (const tick of ticks(x)) {
    picture.append(
      draw("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }),
      draw("text", { class: "tick", x: x(tick), y: bottom + 16, "text-anchor": "middle" }, bytes(tick)),
    );
  }
  for (const tick of ticks(y)) {
    picture.append(
      draw("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      draw("text", { class: "tick", x: left - 6, y: y(tick), dy: "0.32em", "text-anchor": "end" }, bytes(tick)),
    );
  }
  const [most, least] = [x.domain()[1]!, y.domain()[0]!];
  for (const share of SHARES) {
    // Guide line, clipped to the chart.
    const from = Math.max(x.domain()[0]!, least / share);
    const to = Math.min(most, y.domain()[1]! / share);
    if (from >= to || x(to) - x(from) < 40) continue;
    picture.append(
      draw("line", { class: "share", x1: x(from), y1: y(from * share), x2: x(to), y2: y(to * share) }),
      draw("text", { class: "tick", x: x(to) - 4, y: y(to * share) + 12, "text-anchor": "end" }, percent(share)),
    );
  }
  for (const host of seen) {
    const words = t("{downloaded} downloaded, {kept} kept, {share}", {
      downloaded: bytes(host.downloaded),
      kept: bytes(host.kept),
      share: percent(host.kept / host.downloaded),
    });
    const [cx, cy] = [x(host.downloaded), y(host.kept)];
    const tip = { x: cx, y: cy, title: host.name, note: words };
    picture.append(
      draw(
        "circle",
        { class: "point c0", cx, cy, r: 4, pointerenter: () => show(tip), pointerleave: () => show(null) },
        draw("title", {}, `${host.name}: ${words}`),
      ),
    );
  }
  picture.append(
    draw("text", { class: "name", x: right, y: height - 8, "text-anchor": "end" }, t("downloaded")),
    draw("text", { class: "name", x: 4, y: top + 2 }, t("kept")),
  );
  return picture;
}
