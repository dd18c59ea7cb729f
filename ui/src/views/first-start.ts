// First start without a corpus: its owner pastes addresses of newspapers or an OPML file, and sees the first run at work.

import { ApiError, change, send } from "../api.ts";
import { el } from "../dom.ts";
import { count } from "../format.ts";
import { t, tn } from "../text/index.ts";
import type { ViewContext } from "../view.ts";

const PATH = "api/v1/first-run";
/** Milliseconds between two looks at the progress. */
const LOOK_EVERY = 1000;

/** The progress of the first run, as the server tells it. */
interface Progress {
  has_contact: boolean;
  step: "idle" | "feeds" | "collect" | "process" | "rest" | "done" | "failed";
  stage: string;
  done: number;
  total: number | null;
  feeds: number;
  without_feed: number;
  unreachable: number;
  error: string | null;
}

/** What the stages of the pipeline do. */
const STAGES: Readonly<Record<string, string>> = {
  update: t("polling the feeds"),
  fetch: t("downloading articles"),
  clean: t("extracting the text"),
  dedup: t("comparing with what was published before"),
  annotate: t("annotating words"),
  compile: t("making the index"),
};

const isActive = ({ step }: Progress): boolean => !["idle", "done", "failed"].includes(step);

const ask = async (signal?: AbortSignal): Promise<Progress> => (await send(PATH, signal)).json() as Promise<Progress>;

/** One sentence about the progress. */
export function described(progress: Progress): string {
  const { step, stage, done, total, feeds, error } = progress;
  if (step === "failed") return error ?? "";
  const found = feeds > 0 ? tn(feeds, "{n} feed", "{n} feeds") : "";
  const missing = [
    progress.without_feed > 0 &&
      tn(progress.without_feed, "{n} address without a feed", "{n} addresses without a feed"),
    progress.unreachable > 0 && tn(progress.unreachable, "{n} address not reached", "{n} addresses not reached"),
  ];
  const work = step === "feeds" ? t("looking for feeds") : step === "done" ? t("done") : (STAGES[stage] ?? "");
  const amount = total ? t("{done} of {total}", { done: count(done), total: count(total) }) : "";
  return [work, amount, found, ...missing].filter(Boolean).join(" · ");
}

/** The form for new sources with the progress of the run below it. */
async function sources(context: ViewContext): Promise<HTMLElement> {
  const first = await ask(context.signal);
  const contact = el("input", {
    id: "first-contact",
    type: "text",
    required: true,
    placeholder: "you@university.example",
  });
  const sites = el("textarea", {
    id: "first-sites",
    rows: 6,
    spellcheck: "false",
    placeholder: "www.gazette.example\nhttps://www.bugle.example/feed.xml",
  });
  const opml = el("input", { id: "first-opml", type: "file", accept: ".opml,.xml,text/xml" });
  const status = el("p", { id: "first-status", role: "status" });
  const bar = el("progress", { "aria-label": t("Progress of the first run"), hidden: true });
  const button = el("button", { class: "go" }, t("Find feeds and start"));
  const stop = el("button", { type: "button", class: "plain", hidden: true }, t("Stop"));
  const show = (progress: Progress) => {
    const text = described(progress);
    if (status.textContent !== text) status.textContent = text;
    status.classList.toggle("trouble", progress.step === "failed");
    bar.hidden = stop.hidden = !isActive(progress);
    button.disabled = isActive(progress);
    if (progress.total) [bar.max, bar.value] = [progress.total, progress.done];
    else bar.removeAttribute("value");
  };
  const follow = async () => {
    while (!context.signal.aborted && form.isConnected) {
      const progress = await ask(context.signal);
      show(progress);
      if (["rest", "done"].includes(progress.step) && context.corpora.length === 0) {
        // The first documents can be searched.
        const { corpora } = (await (await send("api/v1/corpora", context.signal)).json()) as { corpora: unknown[] };
        if (corpora.length > 0) dispatchEvent(new Event("corporachange"));
      }
      if (!isActive(progress)) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    }
  };
  const quietly = (work: Promise<void>) =>
    work.catch((error: unknown) => {
      if (!context.signal.aborted) status.textContent = error instanceof ApiError ? error.message : String(error);
    });
  stop.addEventListener("click", () => void quietly(change(PATH, {}, "DELETE")));
  const form = el(
    "form",
    {
      class: "first-start",
      submit: (event: Event) => {
        event.preventDefault();
        const begin = async () => {
          const [file] = opml.files ?? [];
          await change(PATH, {
            contact: contact.value,
            sites: sites.value.split(/\s+/).filter(Boolean),
            opml: file ? await file.text() : "",
          });
          await follow();
        };
        void quietly(begin());
      },
    },
    el(
      "div",
      { class: "field" },
      el("label", { for: "first-sites" }, t("Addresses of newspapers or feeds, one per line")),
      sites,
    ),
    el("div", { class: "field" }, el("label", { for: "first-opml" }, t("Or an OPML file of a feed reader")), opml),
    first.has_contact
      ? null
      : el(
          "div",
          { class: "field" },
          el("label", { for: "first-contact" }, t("Your e-mail address, which publishers see in their logs")),
          contact,
        ),
    el("div", { class: "row" }, button, stop),
    bar,
    status,
  );
  show(first);
  if (isActive(first)) setTimeout(() => void quietly(follow()), 0);
  return form;
}

/** Shows the way to a first corpus; for visitors, that there is none. */
export async function firstStart(context: ViewContext): Promise<void> {
  context.announce("");
  if (!context.server.owner) {
    context.append(el("p", { class: "empty" }, t("No index yet.")));
    return;
  }
  context.append(
    el(
      "section",
      { class: "card" },
      el("h2", {}, t("Start a corpus")),
      el(
        "p",
        {},
        t(
          "Name some newspapers. Their feeds are found, new articles are downloaded slowly and once, and a few minutes later they can be searched here.",
        ),
      ),
      await sources(context),
      el(
        "p",
        { class: "quiet" },
        t("Afterwards, collect every hour with this command:"),
        " ",
        el("code", {}, "tidings run --loop"),
      ),
    ),
  );
}

/** The form on the page of the collection, folded; nothing for visitors. */
export async function moreSources(context: ViewContext): Promise<HTMLElement | null> {
  if (!context.server.owner) return null;
  try {
    return el("details", { class: "more" }, el("summary", {}, t("Add newspapers")), await sources(context));
  } catch {
    // This server collects nothing.
    return null;
  }
}
