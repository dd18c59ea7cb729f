// The search box of every view: query, word form, language and period, with further filters behind a button.

import type { Corpus } from "./api.ts";
import { type Child, el } from "./dom.ts";
import { type Field, input, valueOf } from "./form.ts";
import { brief, language, period } from "./format.ts";
import { Route, go } from "./route.ts";
import { queriesOf } from "./cql.ts";
import { t } from "./text/index.ts";

/** What the box offers. */
export interface Offer {
  corpora: readonly Corpus[];
  corpus: Corpus | undefined;
  /** Names of virtual corpora. */
  named: readonly string[];
  /** Whether the current view is one of the query. */
  isQueryView: boolean;
}

/** The id of the suggestions of sources. */
export const SOURCES = "known-sources";
const CUSTOM = "custom";
/** Years that the menu of periods lists. */
const MOST_YEARS = 15;

/** A day some days before another, as text. */
export const before = (day: string, days: number): string =>
  new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);

/** The periods of the menu: everything, the last month and year, and single years. */
export function periods(first: string | null | undefined, last: string | null | undefined): [string, string][] {
  if (!first || !last) return [["", t("all time")]];
  const years: [string, string][] = [];
  for (let year = Number(last.slice(0, 4)); year >= Number(first.slice(0, 4)) && years.length < MOST_YEARS; year -= 1)
    years.push([`${year}..${year}`, String(year)]);
  const [from, to] = [first.slice(0, 4), last.slice(0, 4)];
  return [
    ["", from === to ? from : `${from} – ${to}`],
    [`${before(last, 29)}..`, t("last 30 days")],
    [`${before(last, 364)}..`, t("last 12 months")],
    ...(years.length > 1 ? years : []),
  ];
}

/** The box. */
export function queryBar(route: Route, { corpora, corpus, named, isQueryView }: Offer): HTMLFormElement {
  const query = el("input", {
    id: "field-q",
    name: "q",
    type: "search",
    value: queriesOf(route).join(", "),
    dir: "auto",
    placeholder: t('word, phrase, wild*, [lemma="go"]'),
    "aria-label": t("Word, phrase or pattern"),
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: 4000,
  });
  const select = (name: string, label: string, choices: readonly (readonly [string, string])[], value: string) =>
    el(
      "select",
      { id: `field-${name}`, name, "aria-label": label },
      ...choices.map(([key, text]) => el("option", { value: key, selected: key === value }, text)),
    );
  const forms = corpus?.attributes.includes("lemma")
    ? select(
        "as",
        t("Match"),
        [
          ["", t("this form")],
          ["lemma", t("all forms")],
        ],
        route.get("as"),
      )
    : null;
  const languages = select(
    "lang",
    t("Language of the corpus"),
    corpora.map((each) => [each.corpus, language(each.corpus)] as const),
    corpus?.corpus ?? route.get("lang"),
  );
  const known = periods(corpus?.first_day, corpus?.last_day);
  const [from, to] = [route.get("from"), route.get("to")];
  const here = from || to ? `${from}..${to}` : "";
  const isListed = known.some(([key]) => key === here);
  const times = select(
    "period",
    t("Period"),
    [
      ...known,
      ...(isListed ? [] : [[here, `${from ? period(from) : "…"} – ${to ? period(to) : "…"}`] as [string, string]]),
      [CUSTOM, t("other period …")],
    ],
    here,
  );
  const fields: Field[] = [
    { name: "from", label: t("From"), kind: "date" },
    { name: "to", label: t("To"), kind: "date" },
    { name: "site", label: t("Source"), kind: "text", hint: "gazette.example", list: SOURCES },
    { name: "filter", label: t("Other fields"), kind: "text", hint: "section=sport", wide: true },
  ];
  if (named.length > 0) {
    const choices = [["", t("all documents")], ...named.map((name) => [name, name] as const)] as const;
    fields.push({ name: "in", label: t("Virtual corpus"), kind: "choice", choices, initial: "" });
  }
  const states = corpus?.frozen ?? [];
  if (states.length > 0) {
    const shown = states.map(({ name, frozen }) => [name, `${name} (${frozen.slice(0, 10)})`] as const);
    const choices = [["", t("present state")], ...shown.reverse()] as const;
    fields.push({ name: "as_of", label: t("State of the corpus"), kind: "choice", choices, initial: "" });
  }
  const active = ["site", "filter", "in", "as_of"].filter((name) => route.get(name));
  const panel = el(
    "div",
    { id: "filters", class: "filters", hidden: active.length === 0 },
    ...fields.map((field): Child => input(field, valueOf(field, route))),
    el("button", { class: "plain" }, t("Apply")),
    (active.length > 0 || here) &&
      el(
        "a",
        {
          class: "clear",
          href: route.with({
            from: undefined,
            to: undefined,
            site: undefined,
            filter: undefined,
            in: undefined,
            as_of: undefined,
            cursor: undefined,
          }),
        },
        t("Remove all filters"),
      ),
  );
  const toggle = el(
    "button",
    {
      type: "button",
      class: "filter-button",
      "aria-expanded": String(active.length > 0),
      "aria-controls": "filters",
      click: () => open(Boolean(panel.hidden)),
    },
    active.length > 0 ? t("Filters ({n})", { n: active.length }) : t("Filters"),
  );
  const open = (isOpen: boolean) => {
    panel.hidden = !isOpen;
    toggle.setAttribute("aria-expanded", String(isOpen));
  };
  const made = el(
    "form",
    { class: "ask", role: "search", action: "", autocomplete: "off" },
    el("div", { class: "box" }, query, forms, languages, times, toggle, el("button", { class: "go" }, t("Search"))),
    panel,
  );
  const submit = () => {
    const filled = new FormData(made);
    const text = (name: string) => String(filled.get(name) ?? "").trim();
    const changes: Record<string, string | undefined> = { cursor: undefined, id: undefined };
    for (const name of ["q", "as", "from", "to", "site", "filter", "in"]) changes[name] = text(name) || undefined;
    if (corpora.length > 1 || route.get("lang")) changes.lang = text("lang");
    const chosen = text("period");
    if (chosen !== CUSTOM && chosen !== here)
      [changes.from, changes.to] = chosen.split("..").map((day) => day || undefined);
    if (chosen === "" && here) changes.from = changes.to = undefined;
    // A new query of another view is answered by the concordance.
    const isNew = changes.q !== undefined && changes.q !== queriesOf(route).join(", ");
    const next =
      changes.q && !isQueryView && (isNew || route.view === "start") ? new Route(new URLSearchParams()) : route;
    go(
      changes.q || !isQueryView
        ? next.with(changes)
        : new Route(new URLSearchParams()).with({ ...changes, as: undefined }),
    );
  };
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  made.addEventListener("change", (event) => {
    const { name, value } = event.target as HTMLSelectElement;
    if (name === "period" && value === CUSTOM) {
      open(true);
      panel.querySelector<HTMLInputElement>("#field-from")?.focus();
    } else if (["period", "lang", "as", "in"].includes(name) && (query.value || route.view !== "search")) submit();
  });
  return made;
}

/** What a corpus holds, in a few words. */
export const described = (corpus: Corpus): string =>
  [
    t("{n} documents", { n: brief(corpus.documents) }),
    t("{n} tokens", { n: brief(corpus.tokens) }),
    corpus.last_day && t("up to {day}", { day: period(corpus.last_day) }),
  ]
    .filter(Boolean)
    .join(" · ");
