// Days of the periods that the API names, and labels of a time axis.

import { regional } from "../text/index.ts";

const DAY_MS = 86_400_000;
const utc = (year: number, month: number, day = 1): number => Date.UTC(year, month, day);
const iso = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The first and the last day of a period such as 2026, 2026-H1, 2026-Q1, 2026-03, 2026-W09 or 2026-03-01, or of a range. */
export function daysOf(bin: string): { first: string; last: string } {
  const [from, to] = bin.split("..");
  if (to) return { first: daysOf(from!).first, last: daysOf(to).last };
  const parts = /^(\d{4})(?:-(?:([QHW])(\d+)|(\d\d)(?:-(\d\d))?))?$/.exec(bin);
  if (!parts) return { first: bin, last: bin };
  const year = Number(parts[1]);
  const number = Number(parts[3]);
  const span = (first: number, next: number) => ({ first: iso(first), last: iso(next - DAY_MS) });
  if (parts[5]) return { first: bin, last: bin };
  if (parts[4]) return span(utc(year, Number(parts[4]) - 1), utc(year, Number(parts[4])));
  if (parts[2] === "Q") return span(utc(year, 3 * number - 3), utc(year, 3 * number));
  if (parts[2] === "H") return span(utc(year, 6 * number - 6), utc(year, 6 * number));
  if (parts[2] === "W") {
    // ISO 8601: week 1 has the fourth of January, and weeks begin on Monday.
    const fourth = new Date(utc(year, 0, 4));
    const monday = fourth.getTime() - ((fourth.getUTCDay() + 6) % 7) * DAY_MS + (number - 1) * 7 * DAY_MS;
    return span(monday, monday + 7 * DAY_MS);
  }
  return span(utc(year, 0), utc(year + 1, 0));
}

/** Labels of an axis: the bins at which a year, month or day begins, as many as fit. */
export function timeTicks(bins: readonly string[], room: number): { at: number; label: string }[] {
  if (bins.length === 0) return [];
  const starts = bins.map((bin) => daysOf(bin).first);
  const months = starts.map((day) => day.slice(0, 7));
  const years = starts.map((day) => day.slice(0, 4));
  const changes = (keys: readonly string[]) =>
    keys.flatMap((key, at) => (at === 0 || key !== keys[at - 1] ? [at] : []));
  const format = (options: Intl.DateTimeFormatOptions) => {
    const known = new Intl.DateTimeFormat(regional, { ...options, timeZone: "UTC" });
    return (at: number) => known.format(Date.parse(`${starts[at]}T00:00Z`));
  };
  const yearly = changes(years);
  const monthly = changes(months);
  const [places, label, width] =
    yearly.length > 3
      ? [yearly, format({ year: "numeric" }), 44]
      : monthly.length > 3
        ? [monthly, format({ month: "short", year: "2-digit" }), 62]
        : [bins.map((_, at) => at), format({ day: "numeric", month: "short" }), 62];
  // A year that begins in the middle is labelled only if it has room.
  const step = Math.max(1, Math.ceil((places.length * width) / Math.max(room, 1)));
  return places.filter((_, number) => number % step === 0).map((at) => ({ at, label: label(at) }));
}
