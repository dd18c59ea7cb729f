// The neologism desk: candidates for new words with evidence, decisions about them, exclusion lists and the history.

import { change } from "../api.ts";
import { type Child, el, bidi } from "../dom.ts";
import { count, firstWords, language, lastWords, period } from "../format.ts";
import { link } from "../route.ts";
import type { DecisionsAnswer, NeologismRow } from "../generated/api.ts";
import { type Column, table } from "../table.ts";
import { asQuery } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type View, type ViewContext, attributeField } from "../view.ts";
import { LIMIT, showEmpty } from "./shared.ts";

type Status = NeologismRow["status"];

const STATES: Readonly<Record<Status, string>> = {
  open: t("open"),
  accepted: t("accepted"),
  rejected: t("rejected"),
  later: t("later"),
};
const ACTIONS = [
  ["accepted", t("Accept")],
  ["rejected", t("Reject")],
  ["later", t("Later")],
] as const;

/** The buttons, the note and the headword of a row; for others than the owner, what was decided. */
function decisionCell(context: ViewContext, row: NeologismRow): Child {
  if (!context.server.owner) return STATES[row.status];
  const note = el("input", {
    value: row.note,
    maxlength: 2000,
    "aria-label": t("Note on {word}", { word: row.value }),
  });
  const head = el("input", { maxlength: 100, "aria-label": t("{word} is a variant of", { word: row.value }) });
  const state = el("output", { role: "status" }, STATES[row.status]);
  let present: Status = row.status;
  const decide = async (status: Status) => {
    try {
      const body = { lang: context.lang, word: row.value, status, note: note.value, variant_of: head.value.trim() };
      await change("api/v1/decisions", body);
      present = status;
      state.textContent = STATES[status];
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.status === status));
    } catch (error) {
      state.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const buttons = ACTIONS.map(([status, label]) =>
    el(
      "button",
      {
        type: "button",
        class: "plain",
        "data-status": status,
        "aria-pressed": String(row.status === status),
        // Pressed once more, the decision is taken back.
        click: () => decide(present === status ? "open" : status),
      },
      label,
      el("span", { class: "unseen" }, ` ${row.value}`),
    ),
  );
  const keep = el("button", { type: "button", class: "plain", click: () => decide(present) }, t("Save"));
  return el(
    "div",
    { class: "decision" },
    ...buttons,
    state,
    el(
      "details",
      {},
      el("summary", {}, row.note ? t("Note: {note}", { note: row.note }) : t("Note, variant")),
      el("label", {}, t("Note"), note),
      el("label", {}, t("Variant of"), head),
      keep,
    ),
  );
}

/** Letters of a citation on each side of the word. */
const CITED = 60;

function citationCell(context: ViewContext, row: NeologismRow): Child {
  const { citation } = row;
  if (!citation) return "";
  return el(
    "span",
    { class: "citation", lang: context.lang },
    lastWords(citation.left, CITED),
    el("mark", {}, citation.node.trim()),
    ` ${firstWords(citation.right, CITED)}`,
    " ",
    el("a", { href: link("document", context.route, { id: citation.document }) }, bidi(citation.site)),
  );
}

function columnsOf(context: ViewContext, attribute: string): Column<NeologismRow>[] {
  const number = (name: "documents" | "sites" | "days" | "months", label: string): Column<NeologismRow> => ({
    name,
    label,
    value: (row) => row[name],
    numeric: true,
    show: (row) => count(row[name]),
  });
  return [
    {
      name: "word",
      label: t("word"),
      value: (row) => row.value,
      show: (row) =>
        el(
          "a",
          { href: link("search", context.route, { q: asQuery(row.value, attribute) }) },
          el("bdi", { lang: context.lang }, row.value),
        ),
    },
    { name: "variants", label: t("variants"), value: (row) => row.variants.join(", ") },
    { name: "status", label: t("decision"), value: (row) => row.status, show: (row) => decisionCell(context, row) },
    {
      name: "first_seen",
      label: t("first seen"),
      value: (row) => row.first_seen,
      show: (row) => (row.first_seen ? period(row.first_seen) : "–"),
    },
    {
      name: "citation",
      label: t("first citation"),
      value: (row) => (row.citation ? `${row.citation.left}${row.citation.node}${row.citation.right}` : ""),
      show: (row) => citationCell(context, row),
    },
    number("documents", t("documents")),
    number("sites", t("sources")),
    number("days", t("days")),
    number("months", t("months")),
  ];
}

/** The lists of words to leave out, with a form for another one. */
function listsOf(context: ViewContext, { lists }: DecisionsAnswer): HTMLElement {
  const name = el("input", { id: "list-name", required: true, maxlength: 60 });
  const words = el("textarea", { id: "list-words", rows: 5, required: true });
  const done = el("p", { role: "status", class: "quiet" });
  const changed = () => dispatchEvent(new Event("corporachange"));
  const form = el(
    "form",
    {
      class: "save-form",
      submit: async (event: Event) => {
        event.preventDefault();
        try {
          const body = { lang: context.lang, list: name.value.trim(), words: words.value.split("\n") };
          await change("api/v1/word-lists", body);
          changed();
        } catch (error) {
          done.textContent = error instanceof Error ? error.message : String(error);
        }
      },
    },
    el("div", { class: "field" }, el("label", { for: "list-name" }, t("Name")), name),
    el("div", { class: "field" }, el("label", { for: "list-words" }, t("Words, one on each line")), words),
    el("button", { class: "go" }, t("Save")),
    done,
  );
  const remove = async (list: string) => {
    await change(`api/v1/word-lists/${encodeURIComponent(list)}`, {}, "DELETE");
    changed();
  };
  return el(
    "details",
    { class: "more" },
    el("summary", {}, t("Exclusion lists ({n})", { n: lists.length })),
    lists.length > 0 &&
      el(
        "ul",
        {},
        ...lists.map(({ list, lang, words: size }) =>
          el(
            "li",
            {},
            `${list} · ${language(lang)} · ${tn(size, "{n} word", "{n} words")} `,
            context.server.owner &&
              el(
                "button",
                {
                  type: "button",
                  class: "plain",
                  "aria-label": t("Delete {name}", { name: list }),
                  click: () => remove(list),
                },
                t("Delete"),
              ),
          ),
        ),
      ),
    context.server.owner && form,
  );
}

function historyOf(decisions: DecisionsAnswer): HTMLElement {
  return el(
    "details",
    { class: "more" },
    el("summary", {}, t("History of decisions ({n})", { n: decisions.rows.length })),
    table(
      "decisions",
      t("Decisions, newest first"),
      [
        { name: "word", label: t("word"), value: (row) => row.word },
        {
          name: "status",
          label: t("decision"),
          value: (row) => row.status,
          show: (row) => STATES[row.status as Status],
        },
        { name: "variant_of", label: t("variant of"), value: (row) => row.variant_of },
        { name: "note", label: t("note"), value: (row) => row.note },
        { name: "lang", label: t("language"), value: (row) => row.lang, show: (row) => language(row.lang) },
        {
          name: "decided",
          label: t("decided"),
          value: (row) => row.decided,
          show: (row) => period(row.decided.slice(0, 10)),
        },
      ],
      decisions.rows,
      20,
    ),
  );
}

/** The neologism desk. */
export const neologisms: View = {
  name: "neologisms",
  title: t("Neologism desk"),
  about: t("Candidates for new words with first citation and spread, and what was decided about them."),
  kind: "discover",
  fields: (context) => [
    {
      name: "status",
      label: t("Show"),
      kind: "choice",
      choices: [...Object.entries(STATES), ["all", t("all")] as const],
      initial: "open",
    },
    { name: "since", label: t("First used since"), kind: "date" },
    attributeField(context, ["lemma", "word"]),
    { name: "names", label: t("Include names"), kind: "flag" },
    { name: "known", label: t("Include words of the dictionary"), kind: "flag", advanced: true },
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
    "Candidates are the new words of the corpus. Spellings that differ in case, hyphens or blanks are one word, and so are words that you declare variants of it; counts are of all of them. Decisions are kept in the home of the corpus and hold for later runs: a word that you rejected does not come back, and one that you accepted stays on its list.",
  ),
  show: async (context) => {
    const { route } = context;
    const names = [
      "status",
      "since",
      "attribute",
      "names",
      "known",
      "min_sites",
      "min_days",
      "min_documents",
      "fdr",
      "limit",
    ];
    const found = await context.request("neologisms", {
      ...context.documents,
      ...Object.fromEntries(names.map((name) => [name, route.get(name)])),
    });
    const decisions = context.server.owner ? await context.request("decisions") : undefined;
    const states = Object.entries(found.states).map(
      ([state, words]) => `${STATES[state as Status] ?? state} ${count(words)}`,
    );
    const below = decisions ? [listsOf(context, decisions), decisions.rows.length > 0 && historyOf(decisions)] : [];
    if (found.rows.length === 0) {
      showEmpty(context, t("No word in this state. Another status, or an earlier day, may show some."));
      return context.append(...below);
    }
    context.announce(`${tn(found.values ?? 0, "{n} word", "{n} words")} · ${states.join(" · ")}`);
    context.append(
      found.excluded > 0 &&
        el(
          "p",
          { class: "quiet" },
          tn(found.excluded, "{n} candidate is on an exclusion list.", "{n} candidates are on exclusion lists."),
        ),
      table("neologisms", t("Words and decisions"), columnsOf(context, found.attribute), found.rows),
      ...below,
    );
  },
};
