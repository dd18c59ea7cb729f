// The layout around every view: header with the search box, tabs, footer, errors.

import { ApiError, token } from "./api.ts";
import { el } from "./dom.ts";
import { type Offer, described, queryBar } from "./querybar.ts";
import { Route, link } from "./route.ts";
import { theme } from "./theme.ts";
import { sameQuery } from "./cql.ts";
import { LANGUAGES, choose, locale, t } from "./text/index.ts";
import { type ViewContext, type View } from "./view.ts";

/** An element of the document by its id. */
export const at = (id: string): HTMLElement => document.getElementById(id)!;

/** The header of the page. */
export function header(route: Route, offer: Offer): void {
  const { corpora, corpus } = offer;
  at("top").replaceChildren(
    el(
      "a",
      { class: "brand", href: new Route(new URLSearchParams()).with({ lang: route.get("lang") }) },
      el("img", { src: "icon.svg", alt: "", width: 26, height: 26 }),
      "Tidings",
    ),
    corpora.length > 0 ? queryBar(route, offer) : "",
    corpus ? el("a", { class: "pill", href: link("collection", route) }, described(corpus)) : "",
    theme(),
  );
}

/** The tabs: views of the query, then discoveries. All links keep the query. */
export function navigation(route: Route, views: readonly View[]): void {
  const current = route.view === "document" ? "documents" : route.view;
  const list = (kind: View["kind"], label: string) =>
    el(
      "ul",
      { class: kind, "aria-label": label },
      ...views
        .filter((view) => view.kind === kind && view.name !== "document")
        .map((view) =>
          el(
            "li",
            {},
            el(
              "a",
              {
                href: link(view.name, route, {
                  ...sameQuery(route),
                  ...(view.name === "search" && !route.get("q") ? { view: "search" } : {}),
                }),
                "aria-current": view.name === current ? "page" : undefined,
              },
              view.title,
            ),
          ),
        ),
    );
  at("views").replaceChildren(list("query", t("Views of the query")), list("discover", t("Discoveries")));
  // On narrow screens the lists scroll sideways.
  at("views").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Shows an error; a syntax error is shown with its position. */
export function showError(context: ViewContext, error: unknown): void {
  if (error instanceof ApiError) {
    const isOld = error.message.includes("cursor");
    context.announce(error.shown ? t("Syntax error.") : "");
    context.append(
      el(
        "div",
        { class: "trouble", role: "alert" },
        error.shown ? el("pre", { dir: "ltr" }, error.shown) : el("p", {}, error.message),
        error.shown && el("p", {}, el("a", { href: link("help", context.route) }, t("Query syntax"))),
        isOld && el("p", {}, el("a", { href: context.route.with({ cursor: undefined }) }, t("Go to the first page"))),
      ),
    );
    return;
  }
  context.announce("");
  context.append(
    el(
      "div",
      { class: "trouble", role: "alert" },
      el("p", {}, t("Something went wrong in this page. Reload it to try again.")),
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
    el("label", { for: "token" }, t("Access token for restricted texts")),
    secret,
    el("button", {}, t("Apply")),
  );
  const languages = el(
    "select",
    {
      id: "interface-language",
      change: () => {
        choose(languages.value);
        location.reload();
      },
    },
    ...LANGUAGES.map(([code, name]) => el("option", { value: code, lang: code, selected: code === locale }, name)),
  );
  at("bottom").replaceChildren(
    el("details", {}, el("summary", {}, t("Sign in with a token")), entry),
    el("p", { class: "language" }, el("label", { for: "interface-language" }, t("Interface language")), " ", languages),
    el(
      "p",
      {},
      el("a", { href: "?view=help" }, t("Help")),
      " · ",
      el("a", { href: "?view=saved" }, t("Saved searches")),
      " · ",
      el("a", { href: "api/openapi.json" }, "API"),
      " · ",
      el("a", { href: "notices.txt" }, t("Third-party licences")),
      " · ",
      t("No third-party requests"),
    ),
  );
}
