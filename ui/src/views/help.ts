// Query syntax by example. Every example is a link.

import { el } from "../dom.ts";
import { link } from "../route.ts";
import type { View } from "../view.ts";

/** A query, its meaning, and the attribute it needs. */
const EXAMPLES: readonly {
  title: string;
  rows: readonly (readonly [query: string, about: string, needs?: string])[];
}[] = [
  {
    title: "Words and phrases",
    rows: [
      ["market", "a word, upper or lower case"],
      ["March", "with a capital: this spelling only (the month, not the verb)"],
      ["climate change", "two adjacent words"],
      ['"market"', "in quotes: exactly this form"],
    ],
  },
  {
    title: "Regular expressions",
    rows: [
      ['[lc="inter.*"]', "words that begin with inter; a dot is any character, a star repeats it"],
      ['[lc=".*ness"]', "words that end in ness"],
      ['[lc="colou?r"]', "color and colour; the question mark makes a character optional"],
      ['[lc="cat|dog"]', "one or the other"],
      ['[word="zoe"%cd]', "ignoring case (c) and diacritics (d): also Zoë"],
    ],
  },
  {
    title: "Several words",
    rows: [
      ['"as" [] "as"', "any word in between"],
      ['[lc="strong"] []{0,3} [lc="wind"]', "up to three words in between"],
      ['[lc="the"] [lc="new"]? [lc="government"]', "with or without “new”"],
      ['([lc="very"]){2,}', "a word twice or more"],
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
    title: "Morphological features",
    rows: [
      ['[tag="NOUN" & Number="Plur"]', "plural nouns; names of features begin with a capital", "feats"],
      ['[Case="Gen|Dat"]', "genitive or dative forms", "feats"],
      ['[tag="VERB" & Tense!="Past"]', "verbs not in the past tense; includes words without the feature", "feats"],
      ['a:[tag="ADJ"] b:[tag="NOUN"] :: a.Case = b.Case', "an adjective and a noun in the same case", "feats"],
      ['[feats=".*Mood=Imp.*"]', "in the whole feature string", "feats"],
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

/** The help view. */
export const help: View = {
  name: "help",
  title: "Help",
  about: "Query syntax by example. Click an example to run it.",
  group: "Corpus",
  documentFilter: false,
  fields: () => [],
  ready: () => true,
  show: async (context) => {
    const { route } = context;
    const known = (needs?: string) => !needs || context.attributes.includes(needs);
    context.announce("");
    for (const { title, rows } of EXAMPLES) {
      const missing = rows.find(([, , needs]) => !known(needs))?.[2];
      context.append(
        el(
          "section",
          { class: "examples" },
          el("h2", {}, title),
          missing &&
            el(
              "p",
              { class: "note" },
              `This corpus has no ${missing === "feats" ? "morphological features" : "lemmas or parts of speech"}; these queries find nothing here.`,
            ),
          el(
            "dl",
            {},
            ...rows.flatMap(([query, about, needs]) => [
              el(
                "dt",
                {},
                known(needs)
                  ? el("a", { href: link("search", route, { q: query }) }, el("code", {}, query))
                  : el("code", {}, query),
              ),
              el("dd", {}, about),
            ]),
          ),
        ),
      );
    }
    context.append(
      el(
        "section",
        {},
        el("h2", {}, "Filter documents"),
        el(
          "p",
          {},
          "Every view can be restricted to a period, a source, or metadata conditions such as ",
          el("code", {}, "topic=sport"),
          " or ",
          el("code", {}, "!site=gazette.example"),
          ". Periods are written 2026, 2026-Q1, 2026-03, 2026-W09 or 2026-03-01.",
        ),
        context.corpus &&
          el(
            "p",
            {},
            "Available metadata fields: ",
            ...context.corpus.fields.flatMap((name, at) => [at > 0 && ", ", el("code", {}, name)]),
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
              ["/", "focus the query field"],
              ["Up, Down", "previous or next hit in a concordance"],
              ["Enter", "show the paragraph of a hit, or the hits of a period"],
              ["Escape", "close it"],
              ["Left, Right", "previous or next period in a timeline"],
            ] as const
          ).flatMap(([key, about]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, about)]),
        ),
      ),
      el(
        "section",
        {},
        el("h2", {}, "Citing results"),
        el(
          "p",
          {},
          "Below every result are its URL, the API request and a citation. The citation names the state of the corpus: equal states give equal results. ",
          "Rates are hits per million tokens of the selected documents; a period in which nothing was collected has no rate, which is not a rate of zero.",
        ),
      ),
    );
  },
};
