// Collocations.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, plural, rate } from "../format.ts";
import { ASSOCIATION_CHOICES, type Association, type Collocate, type Scores } from "../generated/api.ts";
import { table } from "../table.ts";
import { asCql, isCql, queryOf } from "../cql.ts";
import { type View, attributeField, formsField } from "../view.ts";
import { LIMIT, PUNCTUATION, QUERY, showEmpty } from "./shared.ts";

/** Labels of measures that are not their names. */
const LABELS: Partial<Record<Association, string>> = {
  "log-dice": "logDice",
  mi: "MI",
  mi3: "MI³",
  dice: "Dice",
  "min-sensitivity": "minimum sensitivity",
  "mi-log-f": "MI log f",
};

/** Measures with their labels, explanations and the keys of their scores. */
const MEASURES = ASSOCIATION_CHOICES.map(
  ([name, about]) => [name, LABELS[name] ?? name, name.replaceAll("-", "_") as keyof Scores, about] as const,
);

/** The collocations view. */
export const collocations: View = {
  name: "collocations",
  title: "Collocations",
  about: "Words that occur near a word more often than expected.",
  group: "Words",
  documentFilter: "Filter documents",
  button: "Show",
  fields: (context) => [
    QUERY,
    ...formsField(context),
    {
      name: "measure",
      label: "Order by",
      kind: "choice",
      choices: MEASURES.map(([key, name]) => [key, name] as const),
      initial: "log-dice",
    },
    attributeField(context),
    { name: "left", label: "Left window (tokens)", kind: "number", initial: "5", advanced: true },
    { name: "right", label: "Right window (tokens)", kind: "number", initial: "5", advanced: true },
    { name: "sentence", label: "Whole sentence as window", kind: "flag", advanced: true },
    { name: "min", label: "Minimum co-occurrence", kind: "number", initial: "3", advanced: true },
    PUNCTUATION,
    LIMIT,
  ],
  ready: (route) => route.get("q") !== "",
  meaning:
    "Co-occurrences are counted within the window around each hit. logDice has a maximum of 14 and is comparable between corpora of different size; MI favours rare words; t-score and log-likelihood favour frequent ones.",
  show: async (context) => {
    const { route } = context;
    const names = ["measure", "attribute", "left", "right", "sentence", "min", "punctuation", "limit"];
    const q = queryOf(route);
    const found = await context.request("colloc", {
      ...context.documents,
      q,
      ...Object.fromEntries(names.map((name) => [name, route.get(name)])),
    });
    if (found.rows.length === 0)
      return showEmpty(context, found.hits === 0 ? "No hits." : "No word co-occurs often enough. Try a lower minimum.");
    context.announce(`${plural(found.collocates, "collocate")} of ${plural(found.hits, "hit")}.`);
    const chosen = MEASURES.find(([key]) => key === (route.get("measure") || "log-dice"))!;
    const shown = [
      chosen,
      ...MEASURES.filter(([key]) => key !== chosen[0] && ["log-dice", "mi", "t-score", "log-likelihood"].includes(key)),
    ];
    // Both words in either order, as far apart as the window allows.
    const gap = (name: string) => `[]{0,${Math.max(Number(route.get(name) || 5) - 1, 0)}}`;
    const both = (row: Collocate) => {
      const other = asCql(row.value, route.get("attribute") || "lc");
      const node = isCql(q)
        ? `(${q})`
        : q
            .split(/\s+/)
            .map((word) => asCql(word.toLowerCase(), "lc"))
            .join(" ");
      return `${node} ${gap("right")} ${other} | ${other} ${gap("left")} ${node}`;
    };
    context.append(
      table(
        "collocations",
        `Collocates of ${route.get("q")}`,
        [
          {
            name: "word",
            value: (row) => row.value,
            show: (row) =>
              el(
                "a",
                { href: link("search", route, { q: both(row) }), title: "Show both words in context" },
                bidi(row.value),
              ),
          },
          { name: "co-occurrences", value: (row) => row.together, numeric: true, show: (row) => count(row.together) },
          { name: "frequency", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          ...shown.map(([, name, key, about]) => ({
            name,
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
