// The page: reads the address, shows the view that it names, and keeps what all views share.

import { type Corpus, Refused, address, ask, token } from "./api.ts";
import { copyButton, el, save } from "./dom.ts";
import { DOCUMENTS, type Field, form } from "./form.ts";
import { Place, go, link } from "./place.ts";
import { count, language } from "./say.ts";
import { theme } from "./theme.ts";
import { Desk, type View, again } from "./view.ts";
import { collection } from "./views/collection.ts";
import { documentView, documents } from "./views/documents.ts";
import { help } from "./views/help.ts";
import { search } from "./views/search.ts";
import { bursts, compare, newWords, trends } from "./views/time.ts";
import { timeline } from "./views/timeline.ts";
import { collocations, frequencies, keywords, sketch, words } from "./views/words.ts";

const VIEWS: readonly View[] = [search, documents, documentView, timeline, trends, compare, newWords, bursts, collocations, keywords, words, frequencies, sketch, collection, help];
const GROUPS = ["Read", "Time", "Words", "Corpus"] as const;
const at = (id: string): HTMLElement => document.getElementById(id)!;

let corpora: Corpus[] = [];
let named: string[] = [];
let running: AbortController | undefined;
const known = new Map<string, Promise<string[]>>();

/** Which attributes have values: the words of any document tell. */
function attributesOf(corpus: Corpus): Promise<string[]> {
  const told = corpus.attributes;
  if (told) return Promise.resolve(["lc", "word", ...told.filter((name) => name !== "lc" && name !== "word")]);
  let found = known.get(corpus.corpus);
  if (!found) {
    found = ask<{ lines: { node?: { lemma?: string; tag?: string }[] }[] }>(`${encodeURIComponent(corpus.corpus)}/query`, { q: "[]", size: 5, context: 0, count: false })
      .then(({ lines }) => {
        const tokens = lines.flatMap((line) => line.node ?? []);
        return ["lc", "word", ...(["lemma", "tag"] as const).filter((name) => tokens.some((token) => token[name]))];
      })
      .catch(() => ["lc", "word"]);
    known.set(corpus.corpus, found);
  }
  return found;
}

function corpusOf(place: Place): Corpus | undefined {
  // Somebody who came without choosing sees the largest corpus.
  const largest = [...corpora].sort((one, other) => other.tokens - one.tokens)[0];
  return corpora.find((corpus) => corpus.corpus === place.get("lang")) ?? (place.get("lang") ? undefined : largest);
}

function header(place: Place, corpus: Corpus | undefined): void {
  const choose = el("select", { id: "lang", name: "lang", "aria-label": "Corpus", change: () => go(place.with({ lang: choose.value, cursor: undefined, id: undefined })) },
    ...corpora.map((each) => el("option", { value: each.corpus, selected: each === corpus }, `${language(each.corpus)} · ${count(each.tokens)} tokens`)));
  const menu = el("button", { type: "button", class: "menu plain", "aria-expanded": "false", "aria-controls": "views", click: () => {
    const open = at("views").classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  } }, "Views");
  at("top").replaceChildren(menu, el("a", { class: "brand", href: link("search", new Place(new URLSearchParams()), { lang: place.get("lang") }) }, el("img", { src: "icon.svg", alt: "", width: 24, height: 24 }), "Tidings"),
    corpora.length > 0 ? choose : "", theme());
}

function navigation(place: Place): void {
  const current = place.view === "document" ? "documents" : place.view;
  at("views").classList.remove("open");
  at("views").replaceChildren(...GROUPS.map((group) => el("section", {}, el("h2", {}, group),
    el("ul", {}, ...VIEWS.filter((view) => view.group === group && view !== documentView).map((view) => {
      // The query goes along to views that have one.
      const takesQuery = [search, timeline, collocations, frequencies].includes(view);
      return el("li", {}, el("a", { href: link(view.name, place, takesQuery ? again(place) : {}), "aria-current": view.name === current ? "page" : undefined }, view.title));
    })))));
}

/** What stands behind an answer: its address, its questions, how to cite it. */
function behind(desk: Desk, view: View): HTMLElement | "" {
  if (desk.asked.length === 0) return "";
  const { about, corpus, place } = desk;
  const csv = (question: string) => `${question}${question.includes("?") ? "&" : "?"}format=csv`;
  const absolute = (part: string) => new URL(part, document.baseURI).href;
  const today = new Date().toISOString().slice(0, 10);
  const asked = [about?.query && `query ${about.query}`, about?.filter && `documents ${about.filter}`].filter(Boolean).join(", ");
  const cite = corpus ? `Tidings, ${language(corpus.corpus)} corpus, state ${about?.generation ?? corpus.generation} (${count(corpus.tokens)} tokens, ${corpus.first_day ?? "?"} to ${corpus.last_day ?? "?"}). ${view.title}${asked ? `: ${asked}` : ""}. ${location.href} (seen ${today}).` : "";
  const questions = [...new Set(desk.asked)];
  return el("details", { class: "provenance" }, el("summary", {}, "Share, cite, and the question behind this"),
    el("dl", {},
      el("dt", {}, "This view"), el("dd", {}, el("a", { href: place.with({}) }, location.href), " ", copyButton("Copy", () => location.href)),
      el("dt", {}, "Asked of the API"), el("dd", {}, el("ul", {}, ...questions.slice(0, 8).map((question) => el("li", {}, el("a", { href: question, "data-api": true }, absolute(question)), !question.includes("documents/") && el("span", {}, " · ", el("a", { href: csv(question), "data-api": true }, "as CSV")))))),
      cite && el("dt", {}, "Cite as"), cite && el("dd", { class: "cite" }, cite, " ", copyButton("Copy", () => cite))));
}

/** An error as people can use it. A mistake in a query is shown where it is. */
function trouble(desk: Desk, error: unknown): void {
  if (error instanceof Refused) {
    const isOld = error.message.includes("cursor") || error.message.includes("begin again");
    desk.say(error.shown ? "The question has a mistake." : "");
    desk.put(el("div", { class: "trouble", role: "alert" }, error.shown ? el("pre", { dir: "ltr" }, error.shown) : el("p", {}, error.message),
      error.shown && el("p", {}, el("a", { href: link("help", desk.place) }, "Examples of what can be asked")),
      isOld && el("p", {}, el("a", { href: desk.place.with({ cursor: undefined }) }, "Begin at the first page"))));
    return;
  }
  desk.say("");
  desk.put(el("div", { class: "trouble", role: "alert" }, el("p", {}, "Something went wrong in this page. Loading it again may help.")));
  console.error(error);
}

async function show(): Promise<void> {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const place = Place.here();
  const view = VIEWS.find((each) => each.name === place.view) ?? search;
  const corpus = corpusOf(place);
  header(place, corpus);
  navigation(place);
  document.title = `${[place.all("q").join(", ") || place.get("lemma"), view.title].filter(Boolean).join(" · ")} · Tidings`;
  const message = el("p", { id: "message", role: "status", "aria-live": "polite" });
  const results = el("div", { id: "results" });
  const foot = el("div", {});
  const heading = [el("h1", {}, view.title), el("p", { class: "about" }, view.about)];
  if (!corpus && view !== help && view !== collection) {
    const why = corpora.length === 0
      ? el("p", { class: "empty" }, "Nothing is searchable yet. ", el("code", {}, "tidings run"), " collects and compiles; load this page again when it is done.")
      : el("p", { class: "empty" }, `There is no corpus of ${place.get("lang")}. Choose one above.`);
    results.append(why);
    at("main").replaceChildren(...heading, results);
    return;
  }
  const attributes = corpus ? await attributesOf(corpus) : ["lc", "word"];
  if (signal.aborted) return;
  const desk = new Desk(place, corpus, corpora, attributes, results, message, signal);
  const fields = view.fields(desk);
  const documentFields: Field[] = view.chooses
    ? [...DOCUMENTS.map((field) => (field.kind === "date" ? { ...field, hint: corpus?.first_day ?? "" } : field)), ...(named.length > 0 ? [{ name: "in", label: "Named part", kind: "choice" as const, choices: [["", "everything"], ...named.map((name) => [name, name] as const)] as const, usual: "" }] : [])]
    : [];
  const asking = fields.length > 0 || view.chooses ? form(fields, documentFields, place, view.button ?? "Search") : "";
  at("main").replaceChildren(...heading, asking, message, results, foot);
  results.setAttribute("aria-busy", "true");
  try {
    if (view.ready(place)) {
      // Quick answers come before anybody could read this.
      const patience = setTimeout(() => { if (results.childElementCount === 0) desk.say("One moment …"); }, 250);
      signal.addEventListener("abort", () => clearTimeout(patience));
      await view.show(desk).finally(() => clearTimeout(patience));
      if (!signal.aborted) foot.replaceChildren(view.meaning ? el("details", { class: "meaning" }, el("summary", {}, "How to read this"), el("p", {}, view.meaning)) : "", behind(desk, view));
    } else {
      const shown = await view.welcome?.(desk);
      desk.put(shown);
      if (!signal.aborted && matchMedia("(min-width: 48rem)").matches) asking && asking.querySelector<HTMLInputElement>("input[type=search]")?.focus({ preventScroll: true });
    }
  } catch (error) {
    if (!signal.aborted) trouble(desk, error);
  } finally {
    if (!signal.aborted) results.removeAttribute("aria-busy");
  }
}

/** Links within the page change the address and the view, not the document. */
function follow(event: MouseEvent): void {
  const anchor = (event.target as Element).closest?.("a");
  if (!anchor || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || anchor.target) return;
  const wanted = anchor.getAttribute("href") ?? "";
  if (wanted.startsWith("?")) {
    event.preventDefault();
    go(wanted);
    at("main").focus({ preventScroll: true });
    scrollTo(0, 0);
  } else if (anchor.dataset.api !== undefined && token.get()) {
    // A plain link cannot carry the token.
    event.preventDefault();
    void openWithToken(wanted);
  }
}

async function openWithToken(question: string): Promise<void> {
  const response = await fetch(question, { headers: { Authorization: `Bearer ${token.get()}` } });
  save(question.includes("format=csv") ? "tidings.csv" : "tidings.json", await response.blob());
}

function footer(): void {
  const secret = el("input", { type: "password", id: "token", autocomplete: "off", placeholder: "tidings_…", value: token.get() ?? "" });
  const entry = el("form", { class: "token", submit: (event: Event) => {
    event.preventDefault();
    token.set(secret.value.trim());
    known.clear();
    void start();
  } }, el("label", { for: "token" }, "Token for texts that not everybody may read"), secret, el("button", {}, "Use it"));
  at("bottom").replaceChildren(el("details", {}, el("summary", {}, "I have a token"), entry),
    el("p", {}, el("a", { href: address("").replace("v1/", "openapi.json") }, "The API"), " · this page asks nobody but its own server"));
}

async function start(): Promise<void> {
  try {
    const [list, parts] = await Promise.all([ask<{ corpora: Corpus[] }>("corpora"), ask<{ rows: { name: string }[] }>("corpora-named").catch(() => ({ rows: [] }))]);
    corpora = list.corpora;
    named = parts.rows.map((row) => row.name);
    await show();
  } catch (error) {
    at("main").replaceChildren(el("div", { class: "trouble", role: "alert" }, el("p", {}, error instanceof Refused ? error.message : "The page could not begin.")));
  }
}

addEventListener("popstate", () => void show());
addEventListener("moved", () => void show());
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
footer();
void start();
