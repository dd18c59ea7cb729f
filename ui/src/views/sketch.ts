// One page about a word, by grammar.

import { el, foreign } from "../dom.ts";
import { link } from "../place.ts";
import { count, many, rate } from "../say.ts";
import { table } from "../table.ts";
import { type View, asQuery } from "../view.ts";
import { QUERY } from "./shared.ts";

interface Sketch {
  tag: string;
  tags: { tag: string; hits: number }[];
  hits: number;
  relations: { name: string; hits: number; values: number; query: string }[];
  rows: { relation: string; value: string; together: number; anywhere: number; score: number | null; query: string }[];
}

/** What a word does with others, by grammar. */
export const sketch: View = {
  name: "sketch",
  title: "Word sketch",
  about: "One page about a word: what it does, and what is done with it.",
  group: "Words",
  chooses: "Which documents",
  button: "Sketch",
  fields: () => [
    { ...QUERY, name: "lemma", label: "Word, as a dictionary has it" },
    { name: "min", label: "Together at least so often", kind: "number", usual: "3", rare: true },
    { name: "size", label: "Rows for each relation", kind: "number", usual: "12", rare: true },
  ],
  ready: (place) => place.get("lemma") !== "",
  show: async (desk) => {
    const { place } = desk;
    const word = place.get("lemma");
    const instead = (why: string) => {
      desk.say("There is no sketch.");
      desk.put(
        el(
          "p",
          { class: "empty" },
          `${why} `,
          el("a", { href: link("collocations", place, { q: asQuery(word) }) }, "Collocations"),
          " tell what stands beside the word.",
        ),
      );
    };
    if (!desk.attributes.includes("tag"))
      return instead("Word sketches need lemmas and parts of speech, which this corpus does not have.");
    const found = await desk.ask<Sketch>("sketch", {
      lemma: word,
      pos: place.get("pos"),
      min: place.get("min"),
      size: place.get("size"),
    });
    if (found.rows.length === 0)
      return instead(
        found.hits === 0
          ? "The word does not occur in this form: a sketch wants it as a dictionary has it, such as go and not went."
          : "No other word is in a relation with it often enough.",
      );
    desk.say(`${word} (${found.tag}): ${many(found.hits, "hit")}, ${many(found.relations.length, "relation")}.`);
    const others = found.tags.filter(({ tag }) => tag !== found.tag);
    desk.put(
      others.length > 0 &&
        el(
          "p",
          { class: "quiet" },
          "The word is also ",
          ...others.flatMap(({ tag, hits }, at) => [
            at > 0 && ", ",
            el("a", { href: place.with({ pos: tag }) }, tag),
            ` (${count(hits)})`,
          ]),
          ".",
        ),
      el(
        "div",
        { class: "sides sketch" },
        ...found.relations.map(({ name, hits, values, query }) =>
          el(
            "section",
            {},
            el(
              "h2",
              {},
              el("a", { href: link("search", place, { q: query }) }, foreign(name)),
              el("span", { class: "quiet" }, ` ${many(hits, "hit")}, ${many(values, "word")}`),
            ),
            table(
              `sketch-${name}`,
              name,
              [
                {
                  name: "word",
                  value: (row) => row.value,
                  show: (row) =>
                    el(
                      "a",
                      { href: link("sketch", place, { lemma: row.value }), title: "The sketch of this word" },
                      foreign(row.value),
                    ),
                },
                {
                  name: "together",
                  value: (row) => row.together,
                  numeric: true,
                  show: (row) =>
                    el(
                      "a",
                      {
                        href: link("search", place, { q: row.query }),
                        "aria-label": `${many(row.together, "hit")} of ${row.value}`,
                      },
                      count(row.together),
                    ),
                },
                {
                  name: "score",
                  about: "logDice",
                  value: (row) => row.score,
                  numeric: true,
                  show: (row) => rate(row.score),
                },
              ],
              found.rows.filter((row) => row.relation === name),
            ),
          ),
        ),
      ),
    );
  },
};
