// Word sketch: collocates by grammatical relation.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, plural, rate } from "../format.ts";
import { table } from "../table.ts";
import { asQuery } from "../cql.ts";
import { type View } from "../view.ts";
import { QUERY, showEmpty } from "./shared.ts";

/** The word sketch view. */
export const sketch: View = {
  name: "sketch",
  title: "Word sketch",
  about: "Collocates of a word by grammatical relation.",
  group: "Words",
  documentFilter: "Filter documents",
  button: "Sketch",
  fields: () => [
    { ...QUERY, name: "lemma", label: "Lemma" },
    { name: "min", label: "Minimum co-occurrence", kind: "number", initial: "3", advanced: true },
    { name: "size", label: "Rows per relation", kind: "number", initial: "12", advanced: true },
  ],
  ready: (route) => route.get("lemma") !== "",
  show: async (context) => {
    const { route } = context;
    const word = route.get("lemma");
    const instead = (why: string) => {
      showEmpty(
        context,
        el(
          "p",
          { class: "empty" },
          `${why} `,
          el("a", { href: link("collocations", route, { q: asQuery(word) }) }, "Collocations"),
          " work without annotation.",
        ),
        "No sketch.",
      );
    };
    if (!context.attributes.includes("tag"))
      return instead("Word sketches need lemmas and parts of speech, which this corpus does not have.");
    const found = await context.request("sketch", {
      ...context.documents,
      lemma: word,
      pos: route.get("pos"),
      min: route.get("min"),
      size: route.get("size"),
    });
    if (found.rows.length === 0)
      return instead(
        found.hits === 0
          ? "This lemma does not occur. Enter the base form, such as go instead of went."
          : "No relation is frequent enough.",
      );
    context.announce(
      `${word} (${found.tag}): ${plural(found.hits, "hit")}, ${plural(found.relations.length, "relation")}.`,
    );
    const others = found.tags.filter(({ tag }) => tag !== found.tag);
    context.append(
      others.length > 0 &&
        el(
          "p",
          { class: "quiet" },
          "Other parts of speech: ",
          ...others.flatMap(({ tag, hits }, at) => [
            at > 0 && ", ",
            el("a", { href: route.with({ pos: tag }) }, tag),
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
              el("a", { href: link("search", route, { q: query }) }, bidi(name)),
              el("span", { class: "quiet" }, ` ${plural(hits, "hit")}, ${plural(values, "word")}`),
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
                      { href: link("sketch", route, { lemma: row.value }), title: "Word sketch of this word" },
                      bidi(row.value),
                    ),
                },
                {
                  name: "co-occurrences",
                  value: (row) => row.together,
                  numeric: true,
                  show: (row) =>
                    el(
                      "a",
                      {
                        href: link("search", route, { q: row.query }),
                        "aria-label": `${plural(row.together, "hit")} of ${row.value}`,
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
