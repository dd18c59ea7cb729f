// The collection: whether feeds are well, how much came when, and what became of it.

import { stacks } from "../chart/bars.ts";
import { figure } from "../chart/figure.ts";
import { type Host, scatter } from "../chart/scatter.ts";
import { el, foreign } from "../dom.ts";
import { bytes, count, language, many, percent, rate } from "../say.ts";
import { table } from "../table.ts";
import type { Desk, View } from "../view.ts";
import { isMissing } from "./time.ts";

interface Yield {
  pages: number;
  documents: number;
  downloaded_bytes: number;
  clean_bytes: number;
  rate: number;
}

interface Feed {
  feed: string;
  title: string;
  polled: string;
  checked: string;
  succeeded: string;
  failures: number;
  error: string;
  entries: number;
  brought: number;
  entries_per_day: number | null;
  interval_min: number;
  yield: Yield | null;
}

/** How a feed is, in words. */
function health(feed: Feed): "alive" | "slow" | "dead" | "never asked" {
  if (feed.polled === "never") return "never asked";
  if (feed.polled === "gone" || (feed.failures >= 5 && feed.polled === "failed")) return "dead";
  if (feed.polled === "failed") return "slow";
  return "alive";
}

const STATES = ["alive", "slow", "dead", "never asked"] as const;

function feedsPart(feeds: readonly Feed[]): HTMLElement {
  if (feeds.length === 0) return el("section", {}, el("h2", {}, "Feeds"), el("p", { class: "empty" }, "This corpus has no list of feeds: its text came another way."));
  const counts = STATES.map((state) => ({ name: state, amount: feeds.filter((feed) => health(feed) === state).length, colour: STATES.indexOf(state) === 2 ? 1 : STATES.indexOf(state) === 1 ? 2 : STATES.indexOf(state) === 3 ? 5 : 0 }));
  return el("section", {}, el("h2", {}, "Feeds"),
    el("ul", { class: "tiles" }, ...counts.map((one) => el("li", { class: `state-${one.name.split(" ")[0]}` }, el("b", {}, count(one.amount)), el("span", {}, one.name)))),
    table("feeds", "Feeds, and how they do", [
      { name: "feed", value: (feed) => feed.feed, show: (feed) => el("span", { title: feed.feed }, foreign(feed.title || feed.feed)) },
      { name: "state", value: (feed) => health(feed), show: (feed) => el("span", { class: `state state-${health(feed).split(" ")[0]}` }, health(feed)) },
      { name: "last success", value: (feed) => feed.succeeded, show: (feed) => feed.succeeded.slice(0, 16).replace("T", " ") || "–" },
      { name: "failures in a row", value: (feed) => feed.failures, numeric: true },
      { name: "trouble", value: (feed) => feed.error },
      { name: "articles a day", value: (feed) => feed.entries_per_day, numeric: true, show: (feed) => rate(feed.entries_per_day) },
      { name: "articles brought", value: (feed) => feed.brought, numeric: true, show: (feed) => count(feed.brought) },
      { name: "kept", about: "Bytes of text by bytes downloaded", value: (feed) => feed.yield?.rate, numeric: true, show: (feed) => (feed.yield ? percent(feed.yield.rate) : "–") },
    ], feeds));
}

function hostsPart(hosts: readonly { host: string; yield: Yield }[], tell: HTMLElement): HTMLElement {
  if (hosts.length === 0) return el("section", {}, el("h2", {}, "What hosts give"), el("p", { class: "empty" }, "Nothing is known about hosts yet: `tidings clean` counts what comes of their pages."));
  const all: Host[] = hosts.map((row) => ({ name: row.host, downloaded: row.yield.downloaded_bytes, kept: row.yield.clean_bytes }));
  const sum = (of: (row: Yield) => number) => hosts.reduce((total, row) => total + of(row.yield), 0);
  const [downloaded, kept, pages, documents] = [sum((one) => one.downloaded_bytes), sum((one) => one.clean_bytes), sum((one) => one.pages), sum((one) => one.documents)];
  return el("section", {}, el("h2", {}, "What hosts give"),
    el("p", {}, `${many(hosts.length, "host")} sent ${many(pages, "page")} of ${bytes(downloaded)}; ${many(documents, "document")} with ${bytes(kept)} of text were made of them, ${percent(downloaded ? kept / downloaded : 0)}.`),
    figure("yield", "Bytes downloaded against bytes of text kept, a point for each host; lines where 10 %, 1 % and 0.1 % are kept", (width) => scatter(width, all, (text) => { tell.textContent = text; }), [
      { name: "host", value: (row) => row.host },
      { name: "pages", value: (row) => row.yield.pages, numeric: true, show: (row) => count(row.yield.pages) },
      { name: "documents", value: (row) => row.yield.documents, numeric: true, show: (row) => count(row.yield.documents) },
      { name: "downloaded bytes", value: (row) => row.yield.downloaded_bytes, numeric: true, show: (row) => bytes(row.yield.downloaded_bytes) },
      { name: "kept bytes", value: (row) => row.yield.clean_bytes, numeric: true, show: (row) => bytes(row.yield.clean_bytes) },
      { name: "kept", value: (row) => row.yield.rate, numeric: true, show: (row) => percent(row.yield.rate) },
    ], hosts), tell);
}

/** Tokens in time of every language, from a timeline of a query that needs no hits. */
async function volumePart(desk: Desk): Promise<HTMLElement> {
  const codes = desk.corpora.filter((corpus) => corpus.documents > 0).slice(0, 6).map((corpus) => corpus.corpus);
  const days = (corpus: (typeof desk.corpora)[number]) => (corpus.first_day && corpus.last_day ? (Date.parse(corpus.last_day) - Date.parse(corpus.first_day)) / 86_400_000 : 0);
  const longest = Math.max(...desk.corpora.map(days), 0);
  const by = longest <= 120 ? "day" : longest <= 800 ? "week" : "month";
  const answers = await Promise.all(codes.map((code) => desk.askPlainly<{ points: { bin: string; tokens: number; documents: number }[] }>(`${encodeURIComponent(code)}/timeline`, { q: '[word==""]', by })));
  const bins = [...new Set(answers.flatMap((answer) => answer.points.map((point) => point.bin)))].sort();
  const at = answers.map((answer) => new Map(answer.points.map((point) => [point.bin, point.tokens])));
  const rows = bins.map((bin) => ({ bin, parts: at.map((tokens) => tokens.get(bin) ?? 0) }));
  const reading = el("p", { class: "reading" });
  return el("section", {}, el("h2", {}, "How much came when"),
    el("ul", { class: "legend" }, ...codes.map((code, number) => el("li", { class: `c${number}` }, language(code)))),
    figure("volume", `Tokens by ${by} of publication and language`, (width) => stacks(width, rows, codes.map(language), "Tokens", (text) => { reading.textContent = text; }),
      [{ name: by, value: (row) => row.bin }, ...codes.map((code, number) => ({ name: code, value: (row: (typeof rows)[number]) => row.parts[number], numeric: true, show: (row: (typeof rows)[number]) => count(row.parts[number] ?? 0) }))], rows), reading);
}

/** The view. */
export const collection: View = {
  name: "collection",
  title: "Collection",
  about: "Where the text comes from, and what became of what was downloaded.",
  group: "Corpus",
  chooses: false,
  fields: () => [],
  ready: () => true,
  show: async (desk) => {
    const part = async (title: string, make: () => Promise<HTMLElement>) => {
      try {
        return await make();
      } catch (error) {
        if (!isMissing(error)) throw error;
        return el("section", {}, el("h2", {}, title), el("p", { class: "empty" }, "This server has nothing to tell about it."));
      }
    };
    const [feeds, volume, hosts] = await Promise.all([
      part("Feeds", async () => feedsPart((await desk.askPlainly<{ rows: Feed[] }>("feeds")).rows)),
      part("How much came when", () => volumePart(desk)),
      part("What hosts give", async () => hostsPart((await desk.askPlainly<{ rows: { host: string; yield: Yield }[] }>("hosts")).rows, el("p", { class: "reading" }))),
    ]);
    desk.say(`${many(desk.corpora.length, "language")}, ${many(desk.corpora.reduce((sum, corpus) => sum + corpus.documents, 0), "document")}, ${many(desk.corpora.reduce((sum, corpus) => sum + corpus.tokens, 0), "token")}.`);
    desk.put(table("corpora", "Corpora", [
      { name: "language", value: (row) => row.corpus, show: (row) => language(row.corpus) },
      { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
      { name: "tokens", value: (row) => row.tokens, numeric: true, show: (row) => count(row.tokens) },
      { name: "first day", value: (row) => row.first_day }, { name: "last day", value: (row) => row.last_day },
      { name: "state", about: "Every change of the corpus is a new state; equal states give equal answers", value: (row) => row.generation, numeric: true },
    ], desk.corpora), volume, feeds, hosts);
  },
};

