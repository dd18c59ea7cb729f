// Formats numbers, sizes, probabilities, dates and language names in the language of the interface.

import type { Exactness } from "./generated/api.ts";
import { locale, regional, t } from "./text/index.ts";

const whole = new Intl.NumberFormat(regional, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(regional, { notation: "compact", maximumFractionDigits: 1 });

/** A count: 12,345. */
export const count = (value: number): string => whole.format(value);

/** A large count, shortened: 12.3K, 4M. */
export const brief = (value: number): string => short.format(value);

function digits(value: number | null | undefined, fixed: boolean): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  const most = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString(regional, { maximumFractionDigits: most, minimumFractionDigits: fixed ? most : 0 });
}

/** A rate or a score, with about three significant digits. */
export const rate = (value: number | null | undefined): string => digits(value, true);

/** A round number, for axes. */
export const round = (value: number): string => digits(value, false);

/** A p-value or q-value. */
export const pValue = (value: number | null): string =>
  value === null
    ? "–"
    : value < 0.001
      ? `< ${(0.001).toLocaleString(regional)}`
      : value.toLocaleString(regional, { minimumFractionDigits: 3, maximumFractionDigits: 3 });

/** A share in per cent. */
export const percent = (value: number): string =>
  `${(100 * value).toLocaleString(regional, { maximumFractionDigits: value < 0.1 ? 1 : 0 })} %`;

/** Bytes: 1.2 MB. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const step = value < 1 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), units.length - 1);
  return `${round(value / 1000 ** step)} ${units[step]}`;
}

/** A factor of change: × 2 or ÷ 2. */
export const factor = (logRatio: number | null): string =>
  logRatio === null ? "–" : `${logRatio >= 0 ? "×" : "÷"} ${rate(2 ** Math.abs(logRatio))}`;

/** The caution about an answer that a limit cut off. */
export function caution({
  limit,
  seen_tokens,
  of_tokens,
  time_limit_s,
}: Extract<Exactness, { kind: "cut-off" }>): string {
  const reason =
    limit === "time"
      ? t("The search was cut off after {seconds} s", { seconds: round(time_limit_s ?? 0) })
      : limit === "values"
        ? t("The search was cut off because there are too many distinct values")
        : t("The search was cut off");
  const share = of_tokens > 0 ? ` (${percent(seen_tokens / of_tokens)})` : "";
  return t(
    "{reason}: {seen} of {all} tokens{share} were searched. Counts are minimums; rates, scores and tests are left out. Choose a shorter period or a narrower filter.",
    { reason, seen: count(seen_tokens), all: count(of_tokens), share },
  );
}

/** The name of a language, if its code is known. */
export function language(code: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

const RIGHT_TO_LEFT = new Set(["ar", "arc", "ckb", "dv", "fa", "he", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"]);

/** The writing direction of a language. */
export const direction = (code: string): "ltr" | "rtl" => (RIGHT_TO_LEFT.has(code.split("-")[0] ?? "") ? "rtl" : "ltr");

const formats = new Map<string, Intl.DateTimeFormat>();

function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options);
  let known = formats.get(key);
  if (!known) formats.set(key, (known = new Intl.DateTimeFormat(regional, { ...options, timeZone: "UTC" })));
  return known;
}

/** A day or a period of the API (2026-03-01, 2026-03, 2026-Q1, 2026-W09, 2026-H1, 2026) for readers. */
export function period(bin: string): string {
  const [first, last] = bin.split("..");
  if (last) return `${period(first ?? "")} – ${period(last)}`;
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(bin);
  if (day) return dateFormat({ day: "numeric", month: "short", year: "numeric" }).format(Date.parse(`${bin}T00:00Z`));
  if (/^\d{4}-\d\d$/.test(bin))
    return dateFormat({ month: "short", year: "numeric" }).format(Date.parse(`${bin}-01T00:00Z`));
  const part = /^(\d{4})-([QWH])0?(\d+)$/.exec(bin);
  if (part?.[2] === "Q") return t("Q{n} {year}", { n: part[3]!, year: part[1]! });
  if (part?.[2] === "H") return t("half {n}, {year}", { n: part[3]!, year: part[1]! });
  if (part?.[2] === "W") return t("week {n}, {year}", { n: part[3]!, year: part[1]! });
  return bin;
}

/** The last whole words of a text, of at most so many letters. */
export const lastWords = (text: string, most: number): string =>
  text.length <= most ? text : `… ${text.slice(-most).replace(/^\S*\s+/, "")}`;

/** The first whole words of a text, of at most so many letters. */
export const firstWords = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/\s+\S+$/, "")} …`;
