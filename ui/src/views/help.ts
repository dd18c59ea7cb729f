// Query syntax by example. The examples are made of frequent words of the corpus at hand and counted before they are shown,
// so that each of them finds something.

import { el } from "../dom.ts";
import { link } from "../route.ts";
import { cqlOf } from "../cql.ts";
import { count } from "../format.ts";
import { t, tn } from "../text/index.ts";
import type { View, ViewContext } from "../view.ts";

/** A query and its meaning. */
type Example = readonly [query: string, about: string];

interface Chapter {
  title: string;
  rows: readonly Example[];
}

/** Frequent words of the corpus, as far as it has annotation. */
interface Words {
  noun: string;
  other: string;
  verb: string | undefined;
  adjective: string | undefined;
  pair: string | undefined;
}

/** Words of plain letters can be written without quoting. */
const isPlain = (word: string): boolean => /^\p{L}{4,}$/u.test(word);

async function frequentWords(context: ViewContext): Promise<Words> {
  const has = (attribute: string) => context.attributes.includes(attribute);
  const top = async (tag: string) => {
    if (!has("tag") || !has("lemma")) return [];
    const found = await context.requestUnlisted("freq", { q: `[tag="${tag}"]`, by: "lemma", limit: 40 });
    return found.rows.map((row) => row.value).filter(isPlain);
  };
  const list = async (ngram: number) => {
    const found = await context.requestUnlisted("words", { ngram, limit: 400 });
    return found.rows.map((row) => row.value);
  };
  const [nouns, verbs, adjectives, words, pairs] = await Promise.all([
    top("NOUN"),
    top("VERB"),
    top("ADJ"),
    list(1),
    list(2),
  ]);
  const long = words.filter((word) => /^\p{L}{5,}$/u.test(word));
  return {
    noun: nouns[0] ?? long[0] ?? words[0] ?? "word",
    other: nouns[1] ?? long[1] ?? words[1] ?? "text",
    verb: verbs[0],
    adjective: adjectives[0],
    pair: pairs.find((pair) => pair.split(" ").every(isPlain)),
  };
}

/** Chapters of examples with the words of the corpus. */
function chapters(context: ViewContext, { noun, other, verb, adjective, pair }: Words): Chapter[] {
  const stem = [...noun].slice(0, 4).join("");
  const end = [...noun].slice(-3).join("");
  const year = context.corpus?.last_day?.slice(0, 4);
  const feature = Object.entries(context.corpus?.features ?? {}).find(([, values]) => values.length > 1);
  return [
    {
      title: t("Words and phrases"),
      rows: [
        [noun, t("a word, upper or lower case")],
        ...(pair ? [[pair, t("two adjacent words")] as const] : []),
        [`${noun}, ${other}`, t("several queries by comma: alternatives, and a line each in the timeline")],
        [`${stem}*`, t("a star stands for any letters, a question mark for one")],
        [`"${noun}"`, t("in quotes: exactly this form")],
      ],
    },
    {
      title: t("Regular expressions"),
      rows: [
        [`[lc="${stem}.*"]`, t("words that begin so; a dot is any character, a star repeats it")],
        [`[lc=".*${end}"]`, t("words that end so")],
        [`[lc="${noun}|${other}"]`, t("one or the other")],
        [`[word="${noun}"%cd]`, t("ignoring case (c) and diacritics (d)")],
      ],
    },
    {
      title: t("Several words"),
      rows: [
        [`[lc="${noun}"] [] [lc="${other}"]`, t("any word in between")],
        [`[lc="${noun}"] []{0,5} [lc="${other}"]`, t("up to five words in between")],
        [`[]? [lc="${noun}"]`, t("with or without a word before")],
      ],
    },
    ...(verb && adjective
      ? [
          {
            title: t("Lemmas and parts of speech"),
            rows: [
              [`[lemma="${verb}"]`, t("all forms of a word")],
              [`[tag="ADJ"] [lemma="${noun}"]`, t("adjectives before a noun")],
              [`[lemma="${adjective}"] [tag="NOUN"]`, t("nouns after an adjective")],
              [`[lemma="${noun}"] []{0,3} [tag="VERB"]`, t("a verb soon after")],
            ] as Example[],
          },
        ]
      : []),
    ...(feature
      ? [
          {
            title: t("Morphological features"),
            rows: feature[1]
              .slice(0, 2)
              .map((value): Example => [`[${feature[0]}="${value}"]`, t("names of features begin with a capital")]),
          },
        ]
      : []),
    {
      title: t("Sentences and documents"),
      rows: [
        [`[lc="${noun}"] []* [lc="${other}"] within <s/>`, t("both in one sentence")],
        [`<s> [lc="${noun}"]`, t("at the beginning of a sentence")],
        [`<s/> containing [lc="${noun}"]`, t("whole sentences with the word")],
        ...(year ? [[`[lc="${noun}"] within <doc date>=${year}/>`, t("only in documents since a day")] as const] : []),
      ],
    },
  ];
}

/** The chapters without examples that find nothing, with the hits of the others. */
async function counted(
  context: ViewContext,
  all: readonly Chapter[],
): Promise<{ title: string; rows: { query: string; about: string; hits: number }[] }[]> {
  const result = [];
  for (const { title, rows } of all) {
    const found = await Promise.all(
      rows.map(async ([query, about]) => {
        const parts = query.includes(",") && !query.includes("[") ? query.split(",") : [query];
        const answers = await Promise.all(
          parts.map((part) =>
            context.requestUnlisted("count", { q: cqlOf(context.route, part.trim()) }).catch(() => null),
          ),
        );
        return { query, about, hits: answers.reduce((sum, answer) => sum + (answer?.hits ?? 0), 0) };
      }),
    );
    const kept = found.filter((row) => row.hits > 0);
    if (kept.length > 0) result.push({ title, rows: kept });
  }
  return result;
}

/** The help view. */
export const help: View = {
  name: "help",
  title: t("Help"),
  about: t("Query syntax by example, with words of this corpus. Click an example to run it."),
  kind: "other",
  fields: () => [],
  ready: () => true,
  show: async (context) => {
    const { route, corpus } = context;
    if (corpus) {
      for (const { title, rows } of await counted(context, chapters(context, await frequentWords(context)))) {
        context.append(
          el(
            "section",
            { class: "examples" },
            el("h2", {}, title),
            el(
              "dl",
              {},
              ...rows.flatMap(({ query, about, hits }) => [
                el(
                  "dt",
                  {},
                  el("a", { href: link("search", route, { q: query }) }, el("code", { dir: "auto" }, query)),
                ),
                el("dd", {}, about, el("span", { class: "quiet" }, ` · ${tn(hits, "{n} hit", "{n} hits")}`)),
              ]),
            ),
          ),
        );
      }
    }
    context.announce("");
    const example = corpus?.last_day?.slice(0, 4) ?? "2026";
    context.append(
      el(
        "section",
        {},
        el("h2", {}, t("Filters")),
        el(
          "p",
          {},
          t(
            "Every view can be restricted to a period, a source, or metadata conditions such as {condition}. Periods are written 2026, 2026-Q1, 2026-03, 2026-W09 or 2026-03-01.",
            { condition: `date>=${example} !site=gazette.example` },
          ),
        ),
        corpus &&
          el(
            "p",
            {},
            `${t("Available metadata fields:")} `,
            ...corpus.fields.flatMap((name, at) => [at > 0 && ", ", el("code", {}, name)]),
            ".",
          ),
        corpus &&
          el(
            "p",
            {},
            t("{n} token attributes: {list}.", {
              n: count(context.attributes.length),
              list: context.attributes.join(", "),
            }),
          ),
      ),
      el(
        "section",
        {},
        el("h2", {}, t("Keys")),
        el(
          "dl",
          { class: "keys" },
          ...(
            [
              ["/", t("focus the query field")],
              ["↑ ↓", t("previous or next hit in a concordance")],
              ["Enter", t("show the paragraph of a hit, or the hits of a period")],
              ["Esc", t("close it")],
              ["← →", t("previous or next period in a timeline")],
              ["Shift ← →", t("select a range of periods; Enter zooms into it")],
            ] as const
          ).flatMap(([key, about]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, about)]),
        ),
      ),
      el(
        "section",
        {},
        el("h2", {}, t("Citing results")),
        el(
          "p",
          {},
          t(
            "Below every result are its permanent link, the API request and citations. They name the checksum of the corpus and the version of the program: equal checksums give equal results. Rates are hits per million tokens of the selected documents; a period in which nothing was collected has no rate, which is not a rate of zero.",
          ),
        ),
      ),
    );
  },
};
