// Words first used in a period.

import { address } from "../api.ts";
import { el } from "../dom.ts";
import { count, pValue, period } from "../format.ts";
import type { NewWordRow, NewWordsAnswer } from "../generated/api.ts";
import { table } from "../table.ts";
import { t, tn } from "../text/index.ts";
import { type View, type ViewContext, attributeField } from "../view.ts";
import { ALL_WORDS, LIMIT, nameColumn, showEmpty, wordColumn } from "./shared.ts";

const OUTCOMES = { burst: t("faded"), lasting: t("lasted"), open: t("too recent to tell") } as const;

/** Names of the rules that exclude candidates. */
const RULES: Readonly<Record<string, string>> = {
  rare: t("too rare or on too few sources"),
  known: t("in the dictionary"),
  shape: t("codes and numbers"),
  function: t("function words and dates"),
  name: t("names"),
  chance: t("expected by chance"),
};

const excluded = (found: NewWordsAnswer): string =>
  Object.entries(found.dropped)
    .map(([rule, words]) => `${RULES[rule] ?? rule} ${count(words)}`)
    .join(", ");

/** Why there is no new word, and links that ask for more. */
function nothing(context: ViewContext, found: NewWordsAnswer): HTMLElement {
  const { route } = context;
  const dropped = excluded(found);
  return el(
    "div",
    { class: "empty" },
    el("p", {}, t("No new word since {day} occurs on enough sources and days.", { day: period(found.since) })),
    dropped && el("p", {}, t("Excluded: {rules}.", { rules: dropped })),
    el(
      "ul",
      {},
      ...found.hints.map((hint) =>
        el(
          "li",
          {},
          el(
            "a",
            { href: route.with(hint.parameters) },
            t("Show {n} left out: {rule}", { n: count(hint.words), rule: RULES[hint.rule] ?? hint.rule }),
          ),
        ),
      ),
      context.corpus?.first_day &&
        el(
          "li",
          {},
          el("a", { href: route.with({ since: middle(context) }) }, t("Since the middle of the collected time")),
        ),
    ),
  );
}

const middle = (context: ViewContext): string =>
  new Date((Date.parse(context.corpus!.first_day!) + Date.parse(context.corpus!.last_day!)) / 2)
    .toISOString()
    .slice(0, 10);

/** The new words view. */
export const newWords: View = {
  name: "new-words",
  title: t("New words"),
  about: t("Words first used in a period, on several sources and days."),
  kind: "discover",
  fields: (context) => [
    { name: "since", label: t("First used since"), kind: "date" },
    attributeField(context, ["lemma", "word"]),
    { name: "names", label: t("Include names"), kind: "flag" },
    { name: "known", label: t("Include words of the dictionary"), kind: "flag", advanced: true },
    { ...ALL_WORDS, advanced: true },
    { name: "min_sites", label: t("Minimum sources"), kind: "number", initial: "", advanced: true },
    { name: "min_days", label: t("Minimum days"), kind: "number", initial: "3", advanced: true },
    { name: "min_documents", label: t("Minimum documents"), kind: "number", initial: "5", advanced: true },
    {
      name: "fdr",
      label: t("Accepted share of chance finds (1 lists all)"),
      kind: "text",
      initial: "0.05",
      advanced: true,
    },
    LIMIT,
  ],
  ready: () => true,
  meaning: t(
    "A word is new if no earlier document contains any of its forms, if the dictionary of the language does not have it, and if it occurs on several days, in several documents and, where the corpus has enough of them, on several sources of different owners. The longer the period before, the more reliable the list.",
  ),
  show: async (context) => {
    const { route } = context;
    const names = [
      "since",
      "attribute",
      "names",
      "known",
      "all_words",
      "min_sites",
      "min_days",
      "min_documents",
      "fdr",
      "limit",
    ];
    const asked = { ...context.documents, ...Object.fromEntries(names.map((name) => [name, route.get(name)])) };
    const found = await context.request("new-words", asked);
    if (found.rows.length === 0) return showEmpty(context, nothing(context, found));
    const dropped = excluded(found);
    context.announce(
      `${tn(found.values ?? 0, "{n} new word", "{n} new words")} · ${t("since {day}", { day: period(found.since) })}`,
    );
    const feed = `${address("new-words", context.lang, asked)}${address("new-words", context.lang, asked).includes("?") ? "&" : "?"}format=rss`;
    context.append(
      el(
        "p",
        { class: "honest" },
        t(
          "{sources} sources of different owners have documents since {day}. A new word is on at least {sites} of them, on {days} days and in {documents} documents.",
          {
            sources: count(found.sites),
            day: period(found.since),
            sites: count(found.min_sites),
            days: count(found.min_days),
            documents: count(found.min_documents),
          },
        ),
      ),
      table(
        "new-words",
        t("Words first used since {day}, by number of sources", { day: period(found.since) }),
        [
          wordColumn<NewWordRow>(context, "search", found.attribute),
          nameColumn<NewWordRow>(),
          {
            name: "first_seen",
            label: t("first seen"),
            value: (row) => row.first_seen,
            show: (row) => period(row.first_seen),
          },
          {
            name: "sites",
            label: t("sources"),
            value: (row) => row.sites,
            numeric: true,
            show: (row) => count(row.sites),
          },
          { name: "days", label: t("days"), value: (row) => row.days, numeric: true, show: (row) => count(row.days) },
          {
            name: "documents",
            label: t("documents"),
            value: (row) => row.documents,
            numeric: true,
            show: (row) => count(row.documents),
          },
          { name: "hits", label: t("hits"), value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          {
            name: "q",
            label: t("q-value"),
            about: t("Share of words with as much evidence that are first seen in the period by chance"),
            value: (row) => row.q,
            numeric: true,
            show: (row) => pValue(row.q),
          },
          { name: "fate", label: t("afterwards"), value: (row) => row.fate, show: (row) => OUTCOMES[row.fate] },
        ],
        found.rows,
      ),
      el(
        "p",
        { class: "quiet" },
        el("a", { href: feed, "data-api": true }, t("As a feed (RSS)")),
        dropped && ` · ${t("Excluded: {rules}.", { rules: dropped })}`,
      ),
    );
  },
};
