// Collocations.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, rate } from "../format.ts";
import { ASSOCIATION_CHOICES, type Association, type Collocate, type Scores } from "../generated/api.ts";
import { table } from "../table.ts";
import { asCql, isCql, queryOf } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type View, attributeField, usualAttribute } from "../view.ts";
import { ALL_WORDS, LIMIT, PUNCTUATION, askForQuery, hasQuery, leftOut, showEmpty } from "./shared.ts";

/** Labels of measures that are not their names. */
const LABELS: Partial<Record<Association, string>> = {
  "log-dice": "logDice",
  mi: "MI",
  mi3: "MI³",
  dice: "Dice",
  "min-sensitivity": t("minimum sensitivity"),
  "mi-log-f": "MI log f",
};

/** Measures with their labels, explanations and the keys of their scores. */
const MEASURES = ASSOCIATION_CHOICES.map(
  ([name, about]) => [name, LABELS[name] ?? name, name.replaceAll("-", "_") as keyof Scores, about] as const,
);

/** The collocations view. */
export const collocations: View = {
  name: "collocations",
  title: t("Collocations"),
  about: t("Words that occur near a word more often than expected."),
  kind: "query",
  facets: true,
  fields: (context) => [
    {
      name: "measure",
      label: t("Order by"),
      kind: "choice",
      choices: MEASURES.map(([key, name]) => [key, name] as const),
      initial: "log-dice",
    },
    attributeField(context),
    { name: "left", label: t("Left window (tokens)"), kind: "number", initial: "5", advanced: true },
    { name: "right", label: t("Right window (tokens)"), kind: "number", initial: "5", advanced: true },
    { name: "sentence", label: t("Whole sentence as window"), kind: "flag", advanced: true },
    { name: "min", label: t("Minimum co-occurrence"), kind: "number", initial: "3", advanced: true },
    { ...ALL_WORDS, advanced: true },
    PUNCTUATION,
    LIMIT,
  ],
  ready: hasQuery,
  welcome: askForQuery,
  meaning: t(
    "Co-occurrences are counted within the window around each hit. logDice has a maximum of 14 and is comparable between corpora of different size; MI favours rare words; t-score and log-likelihood favour frequent ones.",
  ),
  show: async (context) => {
    const { route } = context;
    const names = ["measure", "left", "right", "sentence", "min", "all_words", "punctuation", "limit"];
    const q = queryOf(route);
    const attribute = route.get("attribute") || usualAttribute(context);
    const found = await context.request("colloc", {
      ...context.documents,
      q,
      attribute,
      ...Object.fromEntries(names.map((name) => [name, route.get(name)])),
    });
    if (found.rows.length === 0)
      return showEmpty(
        context,
        found.hits === 0 ? t("No hits.") : t("No word co-occurs often enough. Try a lower minimum."),
      );
    context.announce(
      `${tn(found.hits, "{n} hit", "{n} hits")} · ${tn(found.collocates, "{n} collocate", "{n} collocates")}`,
    );
    const chosen = MEASURES.find(([key]) => key === (route.get("measure") || "log-dice"))!;
    const shown = [
      chosen,
      ...MEASURES.filter(([key]) => key !== chosen[0] && ["log-dice", "mi", "t-score", "log-likelihood"].includes(key)),
    ];
    // Both words in either order, as far apart as the window allows.
    const gap = (name: string) => `[]{0,${Math.max(Number(route.get(name) || 5) - 1, 0)}}`;
    const both = (row: Collocate) => {
      const other = asCql(row.value, attribute);
      const node = isCql(q)
        ? `(${q})`
        : q
            .split(/\s+/)
            .map((word) => asCql(word.toLowerCase(), "lc"))
            .join(" ");
      return `${node} ${gap("right")} ${other} | ${other} ${gap("left")} ${node}`;
    };
    context.append(
      leftOut(context, found.left_out),
      table(
        "collocations",
        t("Collocates of {query}", { query: route.get("q") }),
        [
          {
            name: "word",
            label: attribute === "lemma" ? t("lemma") : t("word"),
            value: (row) => row.value,
            show: (row) =>
              el(
                "a",
                { href: link("search", route, { q: both(row) }), title: t("Show both words in context") },
                bidi(row.value),
              ),
          },
          {
            name: "together",
            label: t("co-occurrences"),
            value: (row) => row.together,
            numeric: true,
            show: (row) => count(row.together),
          },
          {
            name: "hits",
            label: t("frequency"),
            value: (row) => row.hits,
            numeric: true,
            show: (row) => count(row.hits),
          },
          ...shown.map(([, name, key, about]) => ({
            name: key,
            label: name,
            about,
            value: (row: Collocate) => row.scores[key] ?? null,
            numeric: true,
            show: (row: Collocate) => rate(row.scores[key]),
          })),
        ],
        found.rows,
      ),
    );
  },
};
