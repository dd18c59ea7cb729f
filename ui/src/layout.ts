// The layout around every view: header, navigation, footer, provenance of an answer, errors.

import { type Corpus, ApiError, token } from "./api.ts";
import { copyButton, el } from "./dom.ts";
import { Route, go, link } from "./route.ts";
import { count, language } from "./format.ts";
import { theme } from "./theme.ts";
import { sameQuery } from "./cql.ts";
import { type ViewContext, type View } from "./view.ts";

const GROUPS = ["Read", "Time", "News", "Words", "Corpus"] as const;

/** An element of the document by its id. */
export const at = (id: string): HTMLElement => document.getElementById(id)!;

/** The header of the page. */
export function header(route: Route, corpora: readonly Corpus[], corpus: Corpus | undefined): void {
  const choose = el(
    "select",
    {
      id: "lang",
      name: "lang",
      "aria-label": "Corpus",
      change: () => go(route.with({ lang: choose.value, cursor: undefined, id: undefined })),
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
      { class: "brand", href: link("search", new Route(new URLSearchParams()), { lang: route.get("lang") }) },
      el("img", { src: "icon.svg", alt: "", width: 24, height: 24 }),
      "Tidings",
    ),
    corpora.length > 0 ? choose : "",
    theme(),
  );
}

/** The navigation. Links to views with a query field keep the query. */
export function navigation(route: Route, views: readonly View[], withQuery: readonly View[]): void {
  const current = route.view === "document" ? "documents" : route.view;
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
                    href: link(view.name, route, withQuery.includes(view) ? sameQuery(route) : {}),
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

/** The provenance of an answer: explanation, URL, API requests, citation. */
export function provenance(context: ViewContext, view: View): HTMLElement[] {
  if (context.requests.length === 0) return [];
  const { about, corpus, route } = context;
  const csv = (request: string) => `${request}${request.includes("?") ? "&" : "?"}format=csv`;
  const absolute = (part: string) => new URL(part, document.baseURI).href;
  const today = new Date().toISOString().slice(0, 10);
  const subject = [about?.query && `query ${about.query}`, about?.filter && `documents ${about.filter}`]
    .filter(Boolean)
    .join(", ");
  const cite = corpus
    ? `Tidings, ${language(corpus.corpus)} corpus, state ${about?.generation ?? corpus.generation} (${count(corpus.tokens)} tokens, ${corpus.first_day ?? "?"} to ${corpus.last_day ?? "?"}). ${view.title}${subject ? `: ${subject}` : ""}. ${location.href} (accessed ${today}).`
    : "";
  const requests = [...new Set(context.requests)];
  const meaning = view.meaning
    ? [el("details", { class: "meaning" }, el("summary", {}, "How to read this"), el("p", {}, view.meaning))]
    : [];
  const provenance = el(
    "details",
    { class: "provenance" },
    el("summary", {}, "Share, cite, API request"),
    el(
      "dl",
      {},
      el("dt", {}, "This view"),
      el(
        "dd",
        {},
        el("a", { href: route.with({}) }, location.href),
        " ",
        copyButton("Copy", () => location.href),
      ),
      el("dt", {}, "API requests"),
      el(
        "dd",
        {},
        el(
          "ul",
          {},
          ...requests
            .slice(0, 8)
            .map((request) =>
              el(
                "li",
                {},
                el("a", { href: request, "data-api": true }, absolute(request)),
                !request.includes("documents/") &&
                  el("span", {}, " · ", el("a", { href: csv(request), "data-api": true }, "CSV")),
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

/** Shows an error; a syntax error is shown with its position. */
export function showError(context: ViewContext, error: unknown): void {
  if (error instanceof ApiError) {
    const isOld = error.message.includes("cursor");
    context.announce(error.shown ? "Syntax error." : "");
    context.append(
      el(
        "div",
        { class: "trouble", role: "alert" },
        error.shown ? el("pre", { dir: "ltr" }, error.shown) : el("p", {}, error.message),
        error.shown && el("p", {}, el("a", { href: link("help", context.route) }, "Query syntax")),
        isOld && el("p", {}, el("a", { href: context.route.with({ cursor: undefined }) }, "Go to the first page")),
      ),
    );
    return;
  }
  context.announce("");
  context.append(
    el(
      "div",
      { class: "trouble", role: "alert" },
      el("p", {}, "Something went wrong in this page. Reload it to try again."),
    ),
  );
  console.error(error);
}

/** The footer; `use` is called when the user enters a token. */
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
    el("label", { for: "token" }, "Access token for restricted texts"),
    secret,
    el("button", {}, "Apply"),
  );
  at("bottom").replaceChildren(
    el("details", {}, el("summary", {}, "Sign in with a token"), entry),
    el(
      "p",
      {},
      el("a", { href: "api/openapi.json" }, "API"),
      " · ",
      el("a", { href: "notices.txt" }, "Third-party licences"),
      " · No third-party requests",
    ),
  );
}
