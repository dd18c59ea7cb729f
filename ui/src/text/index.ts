// Interface language: messages are written in English in the source and looked up in the catalogue of the language.
//
// `t("…")` and `tn(…)` take literal texts only; a test extracts them from the sources and checks that every catalogue has
// each of them, with the same placeholders, and nothing else.

import { cs } from "./cs.ts";
import { de } from "./de.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { pt } from "./pt.ts";

/** Translations by English text; messages with a count have a text for each plural category of the language. */
export type Catalogue = Readonly<Record<string, string | Partial<Record<Intl.LDMLPluralRule, string>>>>;

/** Values of placeholders such as {name}. */
export type Values = Readonly<Record<string, string | number>>;

/** Interface languages with their own names. */
export const LANGUAGES = [
  ["en", "English"],
  ["de", "Deutsch"],
  ["fr", "Français"],
  ["es", "Español"],
  ["pt", "Português"],
  ["cs", "Čeština"],
] as const;

/** An interface language. */
export type Language = (typeof LANGUAGES)[number][0];

/** Catalogues by language; English needs none. */
export const CATALOGUES: Readonly<Partial<Record<Language, Catalogue>>> = { cs, de, es, fr, pt };
const KEY = "tidings-language";

/** The first language of a list that has a catalogue; English otherwise. */
export function firstKnown(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const known = LANGUAGES.find(([code]) => code === tag.toLowerCase().split("-")[0]);
    if (known) return known[0];
  }
  return "en";
}

function chosen(): Language {
  const stored = typeof localStorage === "undefined" ? null : localStorage.getItem(KEY);
  const wanted = typeof navigator === "undefined" ? [] : (navigator.languages ?? []);
  return firstKnown(stored ? [stored, ...wanted] : wanted);
}

/** The language of the interface. */
export const locale: Language = chosen();

/** The same with the region of the reader, where the browser names one: dates are written differently in one language. */
export const regional: string =
  (typeof navigator === "undefined" ? [] : (navigator.languages ?? [])).find((tag) => tag.split("-")[0] === locale) ??
  locale;

/** Stores the choice of the user; it takes effect when the page loads again. */
export const choose = (code: string): void => localStorage.setItem(KEY, code);

const plurals = new Intl.PluralRules(locale);
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });

/** Replaces placeholders by their values. */
export const filled = (text: string, values: Values = {}): string =>
  text.replace(/\{(\w+)\}/g, (all, name: string) => (name in values ? String(values[name]) : all));

/** A message in the language of the interface. */
export function t(message: string, values?: Values): string {
  const found = CATALOGUES[locale]?.[message];
  return filled((typeof found === "object" ? found.other : found) ?? message, values);
}

/** A message about a number, which replaces {n}; `more` is its English plural and the key of the catalogue. */
export function tn(number: number, one: string, more: string, values: Values = {}): string {
  const found = CATALOGUES[locale]?.[more];
  const category = plurals.select(number);
  const text =
    typeof found === "object" ? (found[category] ?? found.other ?? more) : number === 1 && locale === "en" ? one : more;
  return filled(text, { n: whole.format(number), ...values });
}
