// Formats numbers, sizes, probabilities and language names for display.

import type { Exactness } from "./generated/api.ts";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** A count: 12,345. */
export const count = (value: number): string => whole.format(value);

/** A large count, shortened: 12.3K, 4M. */
export const brief = (value: number): string => short.format(value);

function digits(value: number | null | undefined, fixed: boolean): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  const most = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString("en", { maximumFractionDigits: most, minimumFractionDigits: fixed ? most : 0 });
}

/** A rate or a score, with about three significant digits. */
export const rate = (value: number | null | undefined): string => digits(value, true);

/** A round number, for axes. */
export const round = (value: number): string => digits(value, false);

/** A p-value or q-value. */
export const pValue = (value: number | null): string =>
  value === null ? "–" : value < 0.001 ? "< 0.001" : value.toFixed(3);

/** A share in per cent. */
export const percent = (value: number): string =>
  `${(100 * value).toLocaleString("en", { maximumFractionDigits: value < 0.1 ? 1 : 0 })} %`;

/** Bytes: 1.2 MB. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const step = value < 1 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), units.length - 1);
  return `${round(value / 1000 ** step)} ${units[step]}`;
}

/** A count with its noun: 1 hit, 2 hits. */
export const plural = (value: number, one: string, more = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : more}`;

/** The caution about an answer that a limit cut off. */
export function caution({
  limit,
  seen_tokens,
  of_tokens,
  time_limit_s,
}: Extract<Exactness, { kind: "cut-off" }>): string {
  const reason =
    limit === "time"
      ? `The search was cut off after ${round(time_limit_s ?? 0)} s`
      : limit === "values"
        ? "The search was cut off because there are too many distinct values"
        : "The search was cut off";
  const share = of_tokens > 0 ? ` (${percent(seen_tokens / of_tokens)})` : "";
  return `${reason}: ${count(seen_tokens)} of ${count(of_tokens)} tokens${share} were searched. Counts are minimums; rates, scores and tests are left out. Choose a shorter period or a narrower filter.`;
}

/** The name of a language in English, if its code is known. */
export function language(code: string): string {
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

const RIGHT_TO_LEFT = new Set(["ar", "arc", "ckb", "dv", "fa", "he", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"]);

/** The writing direction of a language. */
export const direction = (code: string): "ltr" | "rtl" => (RIGHT_TO_LEFT.has(code.split("-")[0] ?? "") ? "rtl" : "ltr");
