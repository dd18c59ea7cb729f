// The page: reads the address, shows the view that it names, and keeps what all views share.

import { type Corpus, Refused, ask, token } from "./api.ts";
import { el, save } from "./dom.ts";
import { DOCUMENTS, type Field, form } from "./form.ts";
import { at, behind, footer, header, navigation, trouble } from "./frame.ts";
import { Place, go } from "./place.ts";
import { Desk, type View } from "./view.ts";
import { bursts } from "./views/bursts.ts";
import { collection } from "./views/collection.ts";
import { collocations } from "./views/collocations.ts";
import { compare } from "./views/compare.ts";
import { documentView, documents } from "./views/documents.ts";
import { frequencies } from "./views/frequencies.ts";
import { help } from "./views/help.ts";
import { keywords } from "./views/keywords.ts";
import { newWords } from "./views/new-words.ts";
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
  collocations,
  keywords,
  words,
  frequencies,
  sketch,
  collection,
  help,
];
/** Views that ask for something, so that the query of one can be asked in another. */
const WITH_QUERY: readonly View[] = [search, timeline, collocations, frequencies];

let corpora: Corpus[] = [];
let named: string[] = [];
let running: AbortController | undefined;
function corpusOf(place: Place): Corpus | undefined {
  // Somebody who came without choosing sees the largest corpus.
  const largest = [...corpora].sort((one, other) => other.tokens - one.tokens)[0];
  return corpora.find((corpus) => corpus.corpus === place.get("lang")) ?? (place.get("lang") ? undefined : largest);
}

async function show(): Promise<void> {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const place = Place.here();
  const view = VIEWS.find((each) => each.name === place.view) ?? search;
  const corpus = corpusOf(place);
  header(place, corpora, corpus);
  navigation(place, VIEWS, WITH_QUERY);
  document.title = `${[place.all("q").join(", ") || place.get("lemma"), view.title].filter(Boolean).join(" · ")} · Tidings`;
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
            "Nothing is searchable yet. ",
            el("code", {}, "tidings run"),
            " collects and compiles; load this page again when it is done.",
          )
        : el("p", { class: "empty" }, `There is no corpus of ${place.get("lang")}. Choose one above.`);
    results.append(why);
    at("main").replaceChildren(...heading, results);
    return;
  }
  const desk = new Desk(place, corpus, corpora, results, message, signal);
  const fields = view.fields(desk);
  const parts = [["", "everything"], ...named.map((name) => [name, name] as const)] as const;
  const part: Field = { name: "in", label: "Named part", kind: "choice", choices: parts, usual: "" };
  const documentFields = view.chooses ? [...DOCUMENTS, ...(named.length > 0 ? [part] : [])] : [];
  const asking =
    fields.length > 0 || view.chooses
      ? form(fields, documentFields, view.chooses || "", place, view.button ?? "Search")
      : "";
  at("main").replaceChildren(...heading, asking, message, results, foot);
  results.setAttribute("aria-busy", "true");
  try {
    if (view.ready(place)) {
      // Quick answers come before anybody could read this.
      const patience = setTimeout(() => {
        if (results.childElementCount === 0) desk.say("One moment …");
      }, 250);
      signal.addEventListener("abort", () => clearTimeout(patience));
      await view.show(desk).finally(() => clearTimeout(patience));
      if (!signal.aborted) foot.replaceChildren(...behind(desk, view));
    } else {
      desk.put(await view.welcome?.(desk));
      // On a telephone the keyboard would hide what stands below.
      const query = document.querySelector<HTMLInputElement>("form.ask input[type=search]");
      if (!signal.aborted && matchMedia("(min-width: 48rem)").matches) query?.focus({ preventScroll: true });
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

async function start(): Promise<void> {
  try {
    const [list, parts] = await Promise.all([
      ask<{ corpora: Corpus[] }>("corpora"),
      ask<{ rows: { name: string }[] }>("corpora-named").catch(() => ({ rows: [] })),
    ]);
    corpora = list.corpora;
    named = parts.rows.map((row) => row.name);
    await show();
  } catch (error) {
    at("main").replaceChildren(
      el(
        "div",
        { class: "trouble", role: "alert" },
        el("p", {}, error instanceof Refused ? error.message : "The page could not begin."),
      ),
    );
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
footer(() => void start());
void start();
