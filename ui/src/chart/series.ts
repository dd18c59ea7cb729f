// The numbers behind a timeline: measures, smoothing, thin data, and the choice of a coarser interval.

import type { Step, TimelinePoint } from "../generated/api.ts";

/** The points of one query. */
export interface Series {
  name: string;
  points: readonly TimelinePoint[];
}

/** Expected hits of a period below which none is no evidence of a change. */
export const THIN_HITS = 3;
/** Intervals from fine to coarse, for sparse words. */
const COARSER: Partial<Record<Step, Step>> = {
  day: "week",
  week: "month",
  "ten-days": "month",
  month: "quarter",
  quarter: "year",
  "half-year": "year",
};

/** For each point, whether it has so little text that its rate says little: the mean rate would give few hits. */
export function thin(points: readonly TimelinePoint[]): boolean[] {
  const hits = points.reduce((sum, point) => sum + (point.hits ?? 0), 0);
  const tokens = points.reduce((sum, point) => sum + (point.hits === null ? 0 : point.tokens), 0);
  return points.map((point) => tokens === 0 || (hits / tokens) * point.tokens < THIN_HITS);
}

/** A coarser interval, if most points of all series are thin; nothing if the interval will do. */
export function coarser(step: Step, all: readonly Series[]): Step | null {
  const judged = all.filter((series) => series.points.some((point) => (point.hits ?? 0) > 0));
  if (judged.length === 0) return null;
  const sparse = judged.filter((series) => {
    const flags = thin(series.points).filter((_, at) => (series.points[at]?.tokens ?? 0) > 0);
    return flags.filter(Boolean).length > flags.length / 2;
  });
  // Fewer than eight points are no line.
  const isLong = (judged[0]?.points.length ?? 0) >= 16;
  return sparse.length > judged.length / 2 && isLong ? (COARSER[step] ?? null) : null;
}

/** Centred moving mean: hits by tokens of `window` periods around each, in the unit of the rate. */
export function smoothed(points: readonly TimelinePoint[], window: number): (number | null)[] {
  const half = Math.floor(window / 2);
  return points.map((point, at) => {
    if (point.per_million === null) return null;
    let [hits, tokens] = [0, 0];
    for (const near of points.slice(Math.max(0, at - half), at + half + 1)) {
      if (near.hits === null) continue;
      hits += near.hits;
      tokens += near.tokens;
    }
    return tokens > 0 ? (1e6 * hits) / tokens : null;
  });
}

/** Whether bands of a series carry information: most are narrower than twice their rate. */
export function bandsInform(points: readonly TimelinePoint[]): boolean {
  const known = points.filter((point) => point.band && (point.per_million ?? 0) > 0);
  const narrow = known.filter(
    (point) => (point.band!.high ?? Infinity) - (point.band!.low ?? 0) < 2 * point.per_million!,
  );
  return known.length > points.length / 2 && narrow.length > known.length * 0.6;
}

/** Runs of neighbouring equal values: the first and the last place of each. */
export function runs<T>(values: readonly T[]): { value: T; from: number; to: number }[] {
  const found: { value: T; from: number; to: number }[] = [];
  values.forEach((value, at) => {
    const last = found.at(-1);
    if (last && last.value === value) last.to = at;
    else found.push({ value, from: at, to: at });
  });
  return found;
}
