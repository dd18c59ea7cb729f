// Entry point: reads the URL, shows its view, and keeps the state that all views share.

import { type Corpus, ApiError, request, token } from "./api.ts";
import { el, save } from "./dom.ts";
import { options } from "./form.ts";
import { at, footer, header, navigation, showError } from "./layout.ts";
import { setSource } from "./chart/figure.ts";
import { plain } from "./citation.ts";
import { citationOf, downloads, provenance } from "./provenance.ts";
import { SOURCES } from "./querybar.ts";
import { Route, go } from "./route.ts";
import { saveButton } from "./save-search.ts";
import { locale, t } from "./text/index.ts";
import { type ServerInfo, ViewContext } from "./view.ts";
import { VIEWS } from "./views/index.ts";
import { facets } from "./views/facets.ts";

const search = VIEWS.find((view) => view.name === "search")!;
/** Views that work without a corpus. */
const WITHOUT_CORPUS = ["help", "collection"];

/** Milliseconds after which checksums that the server is still making are asked for again, and how often. */
const [DIGEST_PAUSE, DIGEST_TRIES] = [1500, 8];

let corpora: Corpus[] = [];
let named: string[] = [];
let server: ServerInfo = { version: "", address: null, owner: false };
let running: AbortController | undefined;
/** Shows where the current results come from. */
let cite = (): void => undefined;

function corpusOf(route: Route): Corpus | undefined {
  // Without a choice the largest corpus is shown.
  const largest = [...corpora].sort((one, other) => other.tokens - one.tokens)[0];
  return corpora.find((corpus) => corpus.corpus === route.get("lang")) ?? (route.get("lang") ? undefined : largest);
}

/** A note if a permanent link was made with another state of the corpus. */
function otherState(route: Route, corpus: Corpus | undefined): HTMLElement | string {
  const wanted = route.get("corpus");
  if (!wanted || !corpus?.digest || corpus.digest.startsWith(wanted)) return "";
  return el(
    "p",
    { class: "note" },
    t("This link was made with another state of the corpus ({state}…): numbers may differ.", {
      state: wanted.slice(0, 8),
    }),
  );
}

async function show(): Promise<void> {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const route = Route.here();
  const view = VIEWS.find((each) => each.name === route.view) ?? search;
  const corpus = corpusOf(route);
  // A field keeps the focus when its change shows the view again.
  const focused = document.activeElement?.id;
  header(route, { corpora, corpus, named, isQueryView: view.kind === "query" });
  navigation(route, VIEWS);
  const subject = view.kind === "query" ? route.all("q").join(", ") : "";
  document.title = `${[subject, view.title].filter(Boolean).join(" · ")} · Tidings`;
  const message = el("p", { id: "message", role: "status", "aria-live": "polite" });
  const results = el("div", { id: "results" });
  const aside = el("aside", { id: "facets", "aria-label": t("Facets"), hidden: true });
  const foot = el("div", { class: "foot" });
  const tools = el("div", { class: "tools actions" });
  const heading = el(
    "div",
    { class: "heading" },
    el("h1", { class: view.kind === "query" && view.name !== "document" ? "unseen" : undefined }, view.title),
    view.about && view.kind !== "query" ? el("p", { class: "about" }, view.about) : "",
    view.kind === "query" ? "" : tools,
  );
  // Without any corpus the start page offers to begin one.
  const isFirstStart = view.name === "start" && corpora.length === 0;
  if (!corpus && !isFirstStart && !WITHOUT_CORPUS.includes(view.name)) {
    const why =
      corpora.length === 0
        ? t("No index yet.")
        : t("No corpus for language {language}. Choose one above.", { language: route.get("lang") });
    results.append(el("p", { class: "empty" }, why));
    at("main").replaceChildren(heading, results);
    return;
  }
  const context = new ViewContext(route, corpus, corpora, server, results, message, signal);
  const isReady = view.ready(route);
  const optionsForm = isReady || view.kind !== "query" ? options(view.fields(context), route) : null;
  at("main").replaceChildren(
    heading,
    otherState(route, corpus),
    el("div", { class: "bar" }, message, optionsForm ?? "", view.kind === "query" ? tools : ""),
    el("div", { class: "columns" }, results, aside),
    foot,
  );
  if (focused && document.activeElement === document.body)
    document.getElementById(focused)?.focus({ preventScroll: true });
  results.setAttribute("aria-busy", "true");
  try {
    if (isReady) {
      // Most answers arrive before this would be readable.
      const delayed = setTimeout(() => {
        if (results.childElementCount === 0) context.announce(t("Loading …"));
      }, 250);
      signal.addEventListener("abort", () => clearTimeout(delayed));
      await view.show(context).finally(() => clearTimeout(delayed));
      if (!signal.aborted) {
        cite = () => {
          if (signal.aborted) return;
          foot.replaceChildren(...provenance(context, view));
          const cited = citationOf(context, view);
          setSource(cited ? plain(cited) : "");
        };
        cite();
        tools.replaceChildren(...downloads(context, view), saveButton(context, view) ?? "");
        if (view.facets && results.childElementCount > 0) void facets(context, aside);
      }
    } else {
      context.append(await view.welcome?.(context));
      focusQuery(signal);
    }
    if (view.name === "start") focusQuery(signal);
  } catch (error) {
    if (!signal.aborted) showError(context, error);
  } finally {
    if (!signal.aborted) results.removeAttribute("aria-busy");
  }
}

function focusQuery(signal: AbortSignal): void {
  // On a phone the keyboard would hide the page.
  const query = document.querySelector<HTMLInputElement>("#field-q");
  const isFree = document.activeElement === document.body || document.activeElement?.id === "main";
  if (!signal.aborted && isFree && matchMedia("(min-width: 48rem)").matches) query?.focus({ preventScroll: true });
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
  const ending = /[?&]format=(csv|jsonl|rss)/.exec(url)?.[1] ?? "json";
  const named = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  save(named ?? `tidings.${ending}`, await response.blob());
}

/** Fills the suggestions of the source field, once the page stands. */
async function suggestSources(): Promise<void> {
  const { rows } = await request("sites", "", { limit: 2000 });
  const list = el("datalist", { id: SOURCES }, ...rows.map((row) => el("option", { value: row.site })));
  document.getElementById(SOURCES)?.remove();
  document.body.append(list);
}

/** The server makes checksums in the background when it has opened a corpus: citations get theirs as soon as it is there. */
async function awaitDigests(): Promise<void> {
  const missing = () => corpora.filter((corpus) => !corpus.digest);
  for (let tries = 0; tries < DIGEST_TRIES && missing().length > 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, DIGEST_PAUSE));
    const before = missing().length;
    const list = await request("corpora");
    for (const corpus of missing())
      corpus.digest = list.corpora.find((row) => row.corpus === corpus.corpus)?.digest ?? null;
    if (missing().length < before) cite();
  }
}

async function start(): Promise<void> {
  try {
    const [list, virtual, about] = await Promise.all([
      request("corpora"),
      request("corpora-named").catch(() => ({ rows: [] as { name: string }[] })),
      request("server"),
    ]);
    corpora = list.corpora;
    named = virtual.rows.map((row) => row.name);
    server = about;
    await show();
    void suggestSources().catch(() => undefined);
    void awaitDigests().catch(() => undefined);
  } catch (error) {
    at("main").replaceChildren(
      el(
        "div",
        { class: "trouble", role: "alert" },
        el("p", {}, error instanceof ApiError ? error.message : t("The page could not be started.")),
      ),
    );
  }
}

document.documentElement.lang = locale;
document.querySelector(".skip")!.textContent = t("Skip to content");
at("views").setAttribute("aria-label", t("Views"));
addEventListener("popstate", () => void show());
addEventListener("routechange", () => void show());
addEventListener("corporachange", () => void start());
document.addEventListener("click", follow);
document.addEventListener("keydown", (event) => {
  const typing = (event.target as Element).matches?.("input, select, textarea");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const query = document.querySelector<HTMLInputElement>("#field-q");
  if (!query) return;
  event.preventDefault();
  query.focus();
  query.select();
});
footer(() => void start());
void start();
