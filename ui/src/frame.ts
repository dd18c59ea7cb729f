// What stands around every view: the head with the choice of a corpus, the list of views, the foot, and the words behind an answer.

import { type Corpus, Refused, token } from "./api.ts";
import { copyButton, el } from "./dom.ts";
import { Place, go, link } from "./place.ts";
import { count, language } from "./say.ts";
import { theme } from "./theme.ts";
import { type Desk, type View, again } from "./view.ts";

const GROUPS = ["Read", "Time", "Words", "Corpus"] as const;

/** A place of the document, by its id. */
export const at = (id: string): HTMLElement => document.getElementById(id)!;

/** The head of the page. */
export function header(place: Place, corpora: readonly Corpus[], corpus: Corpus | undefined): void {
  const choose = el(
    "select",
    {
      id: "lang",
      name: "lang",
      "aria-label": "Corpus",
      change: () => go(place.with({ lang: choose.value, cursor: undefined, id: undefined })),
    },
    ...corpora.map((each) =>
      el(
        "option",
        { value: each.corpus, selected: each === corpus },
        `${language(each.corpus)} · ${count(each.tokens)} tokens`,
      ),
    ),
  );
  const menu = el(
    "button",
    {
      type: "button",
      class: "menu plain",
      "aria-expanded": "false",
      "aria-controls": "views",
      click: () => {
        const open = at("views").classList.toggle("open");
        menu.setAttribute("aria-expanded", String(open));
      },
    },
    "Views",
  );
  at("top").replaceChildren(
    menu,
    el(
      "a",
      { class: "brand", href: link("search", new Place(new URLSearchParams()), { lang: place.get("lang") }) },
      el("img", { src: "icon.svg", alt: "", width: 24, height: 24 }),
      "Tidings",
    ),
    corpora.length > 0 ? choose : "",
    theme(),
  );
}

/** The list of views. The query goes along to those that have one. */
export function navigation(place: Place, views: readonly View[], withQuery: readonly View[]): void {
  const current = place.view === "document" ? "documents" : place.view;
  at("views").classList.remove("open");
  at("views").replaceChildren(
    ...GROUPS.map((group) =>
      el(
        "section",
        {},
        el("h2", {}, group),
        el(
          "ul",
          {},
          ...views
            .filter((view) => view.group === group && view.name !== "document")
            .map((view) => {
              return el(
                "li",
                {},
                el(
                  "a",
                  {
                    href: link(view.name, place, withQuery.includes(view) ? again(place) : {}),
                    "aria-current": view.name === current ? "page" : undefined,
                  },
                  view.title,
                ),
              );
            }),
        ),
      ),
    ),
  );
}

/** What stands behind an answer: what its numbers mean, its address, its questions, how to cite it. */
export function behind(desk: Desk, view: View): HTMLElement[] {
  if (desk.asked.length === 0) return [];
  const { about, corpus, place } = desk;
  const csv = (question: string) => `${question}${question.includes("?") ? "&" : "?"}format=csv`;
  const absolute = (part: string) => new URL(part, document.baseURI).href;
  const today = new Date().toISOString().slice(0, 10);
  const asked = [about?.query && `query ${about.query}`, about?.filter && `documents ${about.filter}`]
    .filter(Boolean)
    .join(", ");
  const cite = corpus
    ? `Tidings, ${language(corpus.corpus)} corpus, state ${about?.generation ?? corpus.generation} (${count(corpus.tokens)} tokens, ${corpus.first_day ?? "?"} to ${corpus.last_day ?? "?"}). ${view.title}${asked ? `: ${asked}` : ""}. ${location.href} (seen ${today}).`
    : "";
  const questions = [...new Set(desk.asked)];
  const meaning = view.meaning
    ? [el("details", { class: "meaning" }, el("summary", {}, "How to read this"), el("p", {}, view.meaning))]
    : [];
  const provenance = el(
    "details",
    { class: "provenance" },
    el("summary", {}, "Share, cite, and the question behind this"),
    el(
      "dl",
      {},
      el("dt", {}, "This view"),
      el(
        "dd",
        {},
        el("a", { href: place.with({}) }, location.href),
        " ",
        copyButton("Copy", () => location.href),
      ),
      el("dt", {}, "Asked of the API"),
      el(
        "dd",
        {},
        el(
          "ul",
          {},
          ...questions
            .slice(0, 8)
            .map((question) =>
              el(
                "li",
                {},
                el("a", { href: question, "data-api": true }, absolute(question)),
                !question.includes("documents/") &&
                  el("span", {}, " · ", el("a", { href: csv(question), "data-api": true }, "as CSV")),
              ),
            ),
        ),
      ),
      cite && el("dt", {}, "Cite as"),
      cite &&
        el(
          "dd",
          { class: "cite" },
          cite,
          " ",
          copyButton("Copy", () => cite),
        ),
    ),
  );
  return [...meaning, provenance];
}

/** An error as people can use it. A mistake in a query is shown where it is. */
export function trouble(desk: Desk, error: unknown): void {
  if (error instanceof Refused) {
    const isOld = error.message.includes("cursor") || error.message.includes("begin again");
    desk.say(error.shown ? "The question has a mistake." : "");
    desk.put(
      el(
        "div",
        { class: "trouble", role: "alert" },
        error.shown ? el("pre", { dir: "ltr" }, error.shown) : el("p", {}, error.message),
        error.shown && el("p", {}, el("a", { href: link("help", desk.place) }, "Examples of what can be asked")),
        isOld && el("p", {}, el("a", { href: desk.place.with({ cursor: undefined }) }, "Begin at the first page")),
      ),
    );
    return;
  }
  desk.say("");
  desk.put(
    el(
      "div",
      { class: "trouble", role: "alert" },
      el("p", {}, "Something went wrong in this page. Loading it again may help."),
    ),
  );
  console.error(error);
}

/** The foot of the page; `use` is called when somebody gives a token. */
export function footer(use: () => void): void {
  const secret = el("input", {
    type: "password",
    id: "token",
    autocomplete: "off",
    placeholder: "tidings_…",
    value: token.get() ?? "",
  });
  const entry = el(
    "form",
    {
      class: "token",
      submit: (event: Event) => {
        event.preventDefault();
        token.set(secret.value.trim());
        use();
      },
    },
    el("label", { for: "token" }, "Token for texts that not everybody may read"),
    secret,
    el("button", {}, "Use it"),
  );
  at("bottom").replaceChildren(
    el("details", {}, el("summary", {}, "I have a token"), entry),
    el(
      "p",
      {},
      el("a", { href: "api/openapi.json" }, "The API"),
      " · ",
      el("a", { href: "notices.txt" }, "licences of others’ work"),
      " · this page asks nobody but its own server",
    ),
  );
}
