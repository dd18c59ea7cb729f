// Entry point: reads the URL, shows its view, and keeps the state that all views share.

import { type Corpus, ApiError, request, token } from "./api.ts";
import { el, save } from "./dom.ts";
import { DOCUMENTS, type Field, form } from "./form.ts";
import { at, provenance, footer, header, navigation, showError } from "./layout.ts";
import { Route, go } from "./route.ts";
import { ViewContext, type View } from "./view.ts";
import { bursts } from "./views/bursts.ts";
import { collection } from "./views/collection/index.ts";
import { collocations } from "./views/collocations.ts";
import { compare } from "./views/compare.ts";
import { documentView, documents } from "./views/documents.ts";
import { frequencies } from "./views/frequencies.ts";
import { help } from "./views/help.ts";
import { keywords } from "./views/keywords.ts";
import { names } from "./views/names.ts";
import { newWords } from "./views/new-words.ts";
import { quotes } from "./views/quotes.ts";
import { search } from "./views/search.ts";
import { sketch } from "./views/sketch.ts";
import { timeline } from "./views/timeline.ts";
import { trends } from "./views/trends.ts";
import { words } from "./views/words.ts";

const VIEWS: readonly View[] = [
  search,
  documents,
  documentView,
  timeline,
  trends,
  compare,
  newWords,
  bursts,
  names,
  quotes,
  collocations,
  keywords,
  words,
  frequencies,
  sketch,
  collection,
  help,
];
/** Views with a query field: links between them keep the query. */
const WITH_QUERY: readonly View[] = [search, timeline, collocations, frequencies];

let corpora: Corpus[] = [];
let named: string[] = [];
let running: AbortController | undefined;
function corpusOf(route: Route): Corpus | undefined {
  // Without a choice the largest corpus is shown.
  const largest = [...corpora].sort((one, other) => other.tokens - one.tokens)[0];
  return corpora.find((corpus) => corpus.corpus === route.get("lang")) ?? (route.get("lang") ? undefined : largest);
}

async function show(): Promise<void> {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const route = Route.here();
  const view = VIEWS.find((each) => each.name === route.view) ?? search;
  const corpus = corpusOf(route);
  header(route, corpora, corpus);
  navigation(route, VIEWS, WITH_QUERY);
  document.title = `${[route.all("q").join(", ") || route.get("lemma"), view.title].filter(Boolean).join(" · ")} · Tidings`;
  const message = el("p", { id: "message", role: "status", "aria-live": "polite" });
  const results = el("div", { id: "results" });
  const foot = el("div", {});
  const heading = [el("h1", {}, view.title), el("p", { class: "about" }, view.about)];
  if (!corpus && view !== help && view !== collection) {
    const why =
      corpora.length === 0
        ? el(
            "p",
            { class: "empty" },
            "No index yet. ",
            el("code", {}, "tidings run"),
            " collects text and builds the index; reload this page when it is done.",
          )
        : el("p", { class: "empty" }, `No corpus for language ${route.get("lang")}. Choose one above.`);
    results.append(why);
    at("main").replaceChildren(...heading, results);
    return;
  }
  const context = new ViewContext(route, corpus, corpora, results, message, signal);
  const fields = view.fields(context);
  const choices = [["", "all documents"], ...named.map((name) => [name, name] as const)] as const;
  const corpusField: Field = { name: "in", label: "Virtual corpus", kind: "choice", choices, initial: "" };
  const documentFields = view.documentFilter ? [...DOCUMENTS, ...(named.length > 0 ? [corpusField] : [])] : [];
  const searchForm =
    fields.length > 0 || view.documentFilter
      ? form(fields, documentFields, view.documentFilter || "", route, view.button ?? "Search")
      : "";
  at("main").replaceChildren(...heading, searchForm, message, results, foot);
  results.setAttribute("aria-busy", "true");
  try {
    if (view.ready(route)) {
      // Most answers arrive before this would be readable.
      const delayed = setTimeout(() => {
        if (results.childElementCount === 0) context.announce("Loading …");
      }, 250);
      signal.addEventListener("abort", () => clearTimeout(delayed));
      await view.show(context).finally(() => clearTimeout(delayed));
      if (!signal.aborted) foot.replaceChildren(...provenance(context, view));
    } else {
      context.append(await view.welcome?.(context));
      // On a phone the keyboard would hide the page.
      const query = document.querySelector<HTMLInputElement>("form.ask input[type=search]");
      if (!signal.aborted && matchMedia("(min-width: 48rem)").matches) query?.focus({ preventScroll: true });
    }
  } catch (error) {
    if (!signal.aborted) showError(context, error);
  } finally {
    if (!signal.aborted) results.removeAttribute("aria-busy");
  }
}

/** Follows links within the page without reloading it. */
function follow(event: MouseEvent): void {
  const anchor = (event.target as Element).closest?.("a");
  if (
    !anchor ||
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey ||
    anchor.target
  )
    return;
  const href = anchor.getAttribute("href") ?? "";
  if (href.startsWith("?")) {
    event.preventDefault();
    go(href);
    at("main").focus({ preventScroll: true });
    scrollTo(0, 0);
  } else if (anchor.dataset.api !== undefined && token.get()) {
    // A plain link cannot carry the token.
    event.preventDefault();
    void openWithToken(href);
  }
}

async function openWithToken(url: string): Promise<void> {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${token.get()}` } });
  save(url.includes("format=csv") ? "tidings.csv" : "tidings.json", await response.blob());
}

async function start(): Promise<void> {
  try {
    const [list, virtual] = await Promise.all([
      request("corpora"),
      request("corpora-named").catch(() => ({ rows: [] as { name: string }[] })),
    ]);
    corpora = list.corpora;
    named = virtual.rows.map((row) => row.name);
    await show();
  } catch (error) {
    at("main").replaceChildren(
      el(
        "div",
        { class: "trouble", role: "alert" },
        el("p", {}, error instanceof ApiError ? error.message : "The page could not be started."),
      ),
    );
  }
}

addEventListener("popstate", () => void show());
addEventListener("routechange", () => void show());
document.addEventListener("click", follow);
document.addEventListener("keydown", (event) => {
  const typing = (event.target as Element).matches?.("input, select, textarea");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const query = document.querySelector<HTMLInputElement>("form.ask input[type=search]");
  if (!query) return;
  event.preventDefault();
  query.focus();
  query.select();
});
footer(() => void start());
void start();
