// Help by example: every example runs.

import { el } from "../dom.ts";
import { link } from "../place.ts";
import type { View } from "../view.ts";

/** A query, what it finds, and which attribute it needs. */
const EXAMPLES: readonly {
  title: string;
  rows: readonly (readonly [query: string, about: string, needs?: string])[];
}[] = [
  {
    title: "Words and phrases",
    rows: [
      ["market", "a word, in small or capital letters"],
      ["March", "with a capital: exactly so, the month and not the walk"],
      ["climate change", "two words beside each other"],
      ['"market"', "in quotes: exactly these letters"],
    ],
  },
  {
    title: "Patterns of letters",
    rows: [
      ['[lc="inter.*"]', "words that begin with inter; a dot is any letter, a star means any number of it"],
      ['[lc=".*ness"]', "words that end in ness"],
      ['[lc="colou?r"]', "color and colour: the question mark makes a letter optional"],
      ['[lc="cat|dog"]', "one or the other"],
      ['[word="zoe"%cd]', "without regard to case (c) and marks (d): Zoë, too"],
    ],
  },
  {
    title: "Several words",
    rows: [
      ['"as" [] "as"', "any word between"],
      ['[lc="strong"] []{0,3} [lc="wind"]', "up to three words between"],
      ['[lc="the"] [lc="new"]? [lc="government"]', "with or without “new”"],
      ['([lc="very"]){2,}', "one word twice or more"],
    ],
  },
  {
    title: "Lemmas and parts of speech",
    rows: [
      ['[lemma="go"]', "go, goes, went, gone", "lemma"],
      ['[tag="ADJ"] [lemma="government"]', "adjectives before government", "tag"],
      ['[lemma="have"] []{0,2} [tag="VERB"]', "a verb soon after have", "tag"],
    ],
  },
  {
    title: "Features of words",
    rows: [
      ['[tag="NOUN" & Number="Plur"]', "nouns in the plural; names of features begin with a capital", "feats"],
      ['[Case="Gen|Dat"]', "words in the genitive or dative", "feats"],
      [
        '[tag="VERB" & Tense!="Past"]',
        "verbs but for those in the past; a word without the feature counts, too",
        "feats",
      ],
      ['a:[tag="ADJ"] b:[tag="NOUN"] :: a.Case = b.Case', "an adjective and a noun in the same case", "feats"],
      ['[feats=".*Mood=Imp.*"]', "in all features of a word, as the tagger writes them", "feats"],
    ],
  },
  {
    title: "Sentences and documents",
    rows: [
      ['"but" []* "though" within <s/>', "both in one sentence"],
      ['<s> [lc="however"]', "at the beginning of a sentence"],
      ['<s/> containing [lc="storm"]', "whole sentences with the word"],
      ['"market" within <doc date>=2026-03/>', "only in documents since March 2026"],
    ],
  },
];

/** The view. */
export const help: View = {
  name: "help",
  title: "Help",
  about: "What can be asked, by example. Every example is a link that runs.",
  group: "Corpus",
  chooses: false,
  fields: () => [],
  ready: () => true,
  show: async (desk) => {
    const { place } = desk;
    const known = (needs?: string) => !needs || desk.attributes.includes(needs);
    desk.say("");
    for (const { title, rows } of EXAMPLES) {
      const missing = rows.find(([, , needs]) => !known(needs))?.[2];
      desk.put(
        el(
          "section",
          { class: "examples" },
          el("h2", {}, title),
          missing &&
            el(
              "p",
              { class: "note" },
              `This corpus has no ${missing === "feats" ? "features" : "lemmas or parts of speech"}, so that these would find nothing here.`,
            ),
          el(
            "dl",
            {},
            ...rows.flatMap(([query, about, needs]) => [
              el(
                "dt",
                {},
                known(needs)
                  ? el("a", { href: link("search", place, { q: query }) }, el("code", {}, query))
                  : el("code", {}, query),
              ),
              el("dd", {}, about),
            ]),
          ),
        ),
      );
    }
    desk.put(
      el(
        "section",
        {},
        el("h2", {}, "Which documents"),
        el(
          "p",
          {},
          "Every view can be kept to some documents: a time, a source, or conditions on what is known about them, such as ",
          el("code", {}, "topic=sport"),
          " or ",
          el("code", {}, "!site=gazette.example"),
          ". Days are written 2026, 2026-Q1, 2026-03, 2026-W09 or 2026-03-01.",
        ),
        desk.corpus &&
          el(
            "p",
            {},
            "This corpus knows ",
            ...desk.corpus.fields.flatMap((name, at) => [at > 0 && ", ", el("code", {}, name)]),
            ".",
          ),
      ),
      el(
        "section",
        {},
        el("h2", {}, "Keys"),
        el(
          "dl",
          { class: "keys" },
          ...(
            [
              ["/", "goes to the query"],
              ["Up, Down", "from hit to hit in a concordance"],
              ["Enter", "shows more of the text, or the hits of a step of time"],
              ["Escape", "closes it"],
              ["Left, Right", "from step to step in a timeline"],
            ] as const
          ).flatMap(([key, about]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, about)]),
        ),
      ),
      el(
        "section",
        {},
        el("h2", {}, "Numbers you can quote"),
        el(
          "p",
          {},
          "Below every answer stand the address that shows it again, the question that was sent to the server, and a line to cite. The state of the corpus is part of it: equal states give equal answers. ",
          "Rates are hits per million tokens of the documents that were asked; a step of time in which nothing was collected has no rate, which is not a rate of zero.",
        ),
      ),
    );
  },
};
