// The company that a word keeps.

import { el, foreign } from "../dom.ts";
import { link } from "../place.ts";
import { count, many, rate } from "../say.ts";
import { table } from "../table.ts";
import { type View, asCql, attributeField, formsField, isCql, meant } from "../view.ts";
import { LIMIT, PUNCTUATION, QUERY, nothing } from "./shared.ts";

interface Collocate {
  value: string;
  together: number;
  hits: number;
  scores: Record<string, number | null>;
}

const MEASURES = [
  ["logdice", "logDice", "log_dice"],
  ["mi", "MI", "mi"],
  ["mi3", "MI³", "mi3"],
  ["t-score", "t-score", "t_score"],
  ["ll", "log-likelihood", "log_likelihood"],
  ["dice", "Dice", "dice"],
  ["min-sensitivity", "minimum sensitivity", "min_sensitivity"],
  ["mi.log-f", "MI log f", "mi_log_f"],
] as const;

/** What stands beside hits. */
export const collocations: View = {
  name: "collocations",
  title: "Collocations",
  about: "The company that a word keeps.",
  group: "Words",
  chooses: "Which documents",
  button: "Show",
  fields: (desk) => [
    QUERY,
    ...formsField(desk),
    {
      name: "measure",
      label: "Order by",
      kind: "choice",
      choices: MEASURES.map(([key, name]) => [key, name] as const),
      usual: "logdice",
    },
    attributeField(desk),
    { name: "left", label: "Tokens before", kind: "number", usual: "5", rare: true },
    { name: "right", label: "Tokens behind", kind: "number", usual: "5", rare: true },
    { name: "sentence", label: "The whole sentence instead", kind: "flag", rare: true },
    { name: "min", label: "Together at least so often", kind: "number", usual: "3", rare: true },
    PUNCTUATION,
    LIMIT,
  ],
  ready: (place) => place.get("q") !== "",
  meaning:
    "“Together” counts how often a word stands within the window around a hit. LogDice is at most 14 and can be compared between corpora of different size; MI favours rare words that hardly occur elsewhere; t-score and log-likelihood favour frequent ones.",
  show: async (desk) => {
    const { place } = desk;
    const names = ["measure", "attribute", "left", "right", "sentence", "min", "punctuation", "limit"];
    const q = meant(place);
    const found = await desk.ask<{ hits: number; collocates: number; rows: Collocate[] }>("colloc", {
      q,
      ...Object.fromEntries(names.map((name) => [name, place.get(name)])),
    });
    if (found.rows.length === 0)
      return nothing(
        desk,
        found.hits === 0
          ? "There are no hits, so that nothing stands beside them."
          : "Nothing stands beside these hits often enough. A smaller least number may help.",
      );
    desk.say(`${many(found.collocates, "collocate")} of ${many(found.hits, "hit")}.`);
    const chosen = MEASURES.find(([key]) => key === (place.get("measure") || "logdice"))!;
    const shown = [
      chosen,
      ...MEASURES.filter(([key]) => key !== chosen[0] && ["logdice", "mi", "t-score", "ll"].includes(key)),
    ];
    // Both together, whichever comes first, as far apart as the window reaches.
    const gap = (name: string) => `[]{0,${Math.max(Number(place.get(name) || 5) - 1, 0)}}`;
    const both = (row: Collocate) => {
      const other = asCql(row.value, place.get("attribute") || "lc");
      const node = isCql(q)
        ? `(${q})`
        : q
            .split(/\s+/)
            .map((word) => asCql(word.toLowerCase(), "lc"))
            .join(" ");
      return `${node} ${gap("right")} ${other} | ${other} ${gap("left")} ${node}`;
    };
    desk.put(
      table(
        "collocations",
        `Collocates of ${place.get("q")}`,
        [
          {
            name: "word",
            value: (row) => row.value,
            show: (row) =>
              el(
                "a",
                { href: link("search", place, { q: both(row) }), title: "Show both together" },
                foreign(row.value),
              ),
          },
          { name: "together", value: (row) => row.together, numeric: true, show: (row) => count(row.together) },
          { name: "anywhere", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          ...shown.map(([, name, key]) => ({
            name,
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
