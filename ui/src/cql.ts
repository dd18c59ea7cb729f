// Query text: plain words, CQL, and the conversion of values to queries.

import type { Route } from "./route.ts";

/** Returns true if a query is CQL: plain words contain none of these characters. */
export const isCql = (text: string): boolean => /[[\](){}<>"|]/.test(text);

/** Returns true if an attribute is a single morphological feature, such as Case. */
const isFeature = (attribute: string): boolean => /^[A-Z]/.test(attribute);

/** CQL for one exact value of an attribute. The empty value of a feature matches tokens without that feature. */
export const asCql = (value: string, attribute: string): string =>
  value === "" && isFeature(attribute)
    ? `[${attribute}!=".*"]`
    : `[${attribute}=="${value.replace(/[\\"]/g, "\\$&")}"]`;

/** The query of a route: with `as=lemma`, plain words match all their inflected forms. */
export function queryOf(route: Route, text = route.get("q")): string {
  if (route.get("as") !== "lemma" || isCql(text)) return text;
  return text
    .trim()
    .split(/\s+/)
    .map((word) => `[lemma=="${word.replace(/\\/g, "\\\\")}"%c]`)
    .join(" ");
}

/** Route parameters that ask the same query in another view. */
export const sameQuery = (route: Route, q = route.all("q")[0] ?? ""): Record<string, string> =>
  q ? { q, as: route.get("as") } : {};

/** A query for a value, or for several separated by blanks: plain words where they mean the same, otherwise CQL. */
export function asQuery(value: string, attribute = "lc"): string {
  // A plain word ignores case unless it has capitals; so do lower-cased values.
  const isPlain = (attribute === "lc" || (attribute === "word" && value !== value.toLowerCase())) && !isCql(value);
  return isPlain
    ? value
    : value
        .split(" ")
        .map((word) => asCql(word, attribute))
        .join(" ");
}
