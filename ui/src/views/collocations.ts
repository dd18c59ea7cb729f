// Collocations: a list, by part of speech, by place, and as a network.

import { figure } from "../chart/figure.ts";
import { type NetworkEdge, network } from "../chart/network.ts";
import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, rate } from "../format.ts";
import { ASSOCIATION_CHOICES, type Association, type Collocate, type Scores } from "../generated/api.ts";
import { type Column, table } from "../table.ts";
import { asCql, asQuery, isCql, queryOf } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type View, type ViewContext, attributeField, usualAttribute } from "../view.ts";
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

/** Parts of speech that collocates are asked for, by universal tag. */
const PARTS_OF_SPEECH = [
  ["", t("all parts of speech")],
  ["ADJ", t("adjectives")],
  ["NOUN", t("nouns")],
  ["PROPN", t("proper nouns")],
  ["VERB", t("verbs")],
  ["ADV", t("adverbs")],
] as const;

/** The collocates of a network, and those of each of them that are looked at for links. */
const [NODES, LOOKED_AT] = [14, 60];

/** Appends the network of the first collocates: links are between those that are collocates of each other. */
async function showNetwork(
  context: ViewContext,
  attribute: string,
  rows: readonly Collocate[],
  key: keyof Scores,
  linkTo: (row: Collocate) => string,
): Promise<void> {
  const nodes = rows.slice(0, NODES);
  const { route } = context;
  const names = ["left", "right", "sentence", "measure", "min", "all_words", "pos"];
  const lists = await Promise.all(
    nodes.map((row) =>
      context.requestUnlisted("colloc", {
        ...context.documents,
        q: asQuery(row.value, attribute),
        attribute,
        limit: LOOKED_AT,
        ...Object.fromEntries(names.map((name) => [name, route.get(name)])),
      }),
    ),
  );
  const edges: NetworkEdge[] = [];
  lists.forEach((list, one) =>
    nodes.forEach((node, other) => {
      const found = other > one ? list.rows.find((row) => row.value === node.value) : undefined;
      if (found) edges.push({ one, other, score: found.scores[key] ?? 0 });
    }),
  );
  const shown = nodes.map((row) => ({ name: row.value, score: row.scores[key] ?? 0 }));
  context.append(
    figure<NetworkEdge>(
      "network",
      t("Network of the collocates of {query}", { query: route.get("q") }),
      (width) => network(width, route.get("q"), shown, edges, (at) => linkTo(nodes[at]!)),
      [
        { name: "one", label: t("collocate"), value: (edge) => nodes[edge.one]!.value },
        { name: "other", label: t("collocate of it"), value: (edge) => nodes[edge.other]!.value },
        {
          name: "score",
          label: t("score"),
          value: (edge) => edge.score,
          numeric: true,
          show: (edge) => rate(edge.score),
        },
      ],
      edges,
      t(
        "Near the middle: strongly associated with the query. Lines join collocates that are collocates of each other.",
      ),
    ),
  );
}

/** The columns of the places of a window: -2, -1, +1, +2. */
function placeColumns(left: number, right: number): Column<Collocate>[] {
  const places = [
    ...Array.from({ length: left }, (_, at) => `-${left - at}`),
    ...Array.from({ length: right }, (_, at) => `+${at + 1}`),
  ];
  return places.map((place, at) => ({
    name: place.replace("-", "before_").replace("+", "behind_"),
    label: place.replace("-", "−"),
    about: t("Co-occurrences at this place"),
    value: (row) => row.positions?.[at] ?? null,
    numeric: true,
    show: (row) => (row.positions?.[at] ? count(row.positions[at]) : el("span", { class: "quiet" }, "–")),
  }));
}

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
    ...(context.attributes.includes("tag")
      ? [{ name: "pos", label: t("Part of speech"), kind: "choice", choices: PARTS_OF_SPEECH, initial: "" } as const]
      : []),
    { name: "positions", label: t("By place in the window"), kind: "flag", advanced: true },
    { name: "network", label: t("Network"), kind: "flag", advanced: true },
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
    const names = ["measure", "left", "right", "sentence", "min", "all_words", "punctuation", "limit", "pos"];
    const withPlaces = route.get("positions") === "true" && route.get("sentence") !== "true";
    const q = queryOf(route);
    const attribute = route.get("attribute") || usualAttribute(context);
    const found = await context.request("colloc", {
      ...context.documents,
      q,
      attribute,
      positions: withPlaces || undefined,
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
    const linkTo = (row: Collocate) => link("search", route, { q: both(row) });
    if (route.get("network") === "true") await showNetwork(context, attribute, found.rows, chosen[2], linkTo);
    const side = (name: string) => Number(route.get(name) || 5);
    const hasPlaces = found.rows.some((row) => row.positions);
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
            show: (row) => el("a", { href: linkTo(row), title: t("Show both words in context") }, bidi(row.value)),
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
          ...(hasPlaces ? placeColumns(side("left"), side("right")) : []),
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
