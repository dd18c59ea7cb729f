// Query text: plain words, wildcards, several queries by comma, CQL, and the conversion of values to queries.

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

/** Divides a text at commas that are not inside brackets, parentheses or quotes. */
export function splitQueries(text: string): string[] {
  const parts: string[] = [];
  let [depth, quoted, start] = [0, false, 0];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]!;
    if (letter === "\\") at += 1;
    else if (letter === '"') quoted = !quoted;
    else if (quoted) continue;
    else if ("[({".includes(letter)) depth += 1;
    else if ("])}".includes(letter)) depth -= 1;
    else if (letter === "," && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return [...new Set(parts.map((part) => part.trim()).filter(Boolean))];
}

/** A word with wildcards as a regular expression: a star is any number of characters, a question mark one. */
const pattern = (word: string): string =>
  word
    .replace(/[\\^$.|+(){}[\]"]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");

/** The CQL of one plain query: wildcards, and all inflected forms with `lemma`. Text without either stays as it is. */
function plainQuery(text: string, lemma: boolean): string {
  const words = text.trim().split(/\s+/);
  const isWild = (word: string) => /[*?]/.test(word) && /[^*?]/.test(word);
  if (!lemma && !words.some(isWild)) return text.trim();
  return words
    .map((word) => {
      const attribute = lemma ? "lemma" : "word";
      if (isWild(word)) return `[${attribute}="${pattern(word)}"%c]`;
      // A plain word ignores case unless it has capitals.
      const flag = lemma || word === word.toLowerCase() ? "%c" : "";
      return `[${attribute}=="${word.replace(/[\\"]/g, "\\$&")}"${flag}]`;
    })
    .join(" ");
}

/** The queries of a route as the user wrote them: by comma, or as repeated parameters. */
export const queriesOf = (route: Route): string[] => [...new Set(route.all("q").flatMap(splitQueries))];

/** The CQL of one query of a route. */
export const cqlOf = (route: Route, text: string): string =>
  isCql(text) ? text : plainQuery(text, route.get("as") === "lemma");

/** The query of a route: several queries are alternatives. */
export function queryOf(route: Route): string {
  const queries = queriesOf(route).map((text) => cqlOf(route, text));
  if (queries.length < 2) return queries[0] ?? "";
  return queries.map((query) => `(${isCql(query) ? query : asWords(query)})`).join(" | ");
}

/** Plain words as CQL, for alternatives. */
const asWords = (text: string): string =>
  text
    .split(/\s+/)
    .map((word) => `[word=="${word.replace(/[\\"]/g, "\\$&")}"${word === word.toLowerCase() ? "%c" : ""}]`)
    .join(" ");

/** Route parameters that ask the same query in another view. */
export const sameQuery = (route: Route, q = queriesOf(route).join(", ")): Record<string, string> =>
  q ? { q, as: route.get("as") } : {};

/** A query for a value, or for several separated by blanks: plain words where they mean the same, otherwise CQL. */
export function asQuery(value: string, attribute = "lc"): string {
  // A plain word ignores case unless it has capitals; so do lower-cased values.
  const isPlain =
    (attribute === "lc" || (attribute === "word" && value !== value.toLowerCase())) &&
    !isCql(value) &&
    !/[,*?]/.test(value);
  return isPlain
    ? value
    : value
        .split(" ")
        .map((word) => asCql(word, attribute))
        .join(" ");
}
