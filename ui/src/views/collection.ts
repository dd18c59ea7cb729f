// The collection: whether feeds are well, how much came when, and what became of it.

import { type Step, funnel, stacks } from "../chart/bars.ts";
import { figure } from "../chart/figure.ts";
import { type Host, scatter } from "../chart/scatter.ts";
import { el, foreign } from "../dom.ts";
import { bytes, count, language, many, percent, rate } from "../say.ts";
import { table } from "../table.ts";
import type { Desk, View } from "../view.ts";

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
  health: Health;
  succeeded: string;
  failures: number;
  error: string;
  brought: number;
  entries_per_day: number | null;
  yield: Yield | null;
}

type Health = "alive" | "slow" | "failing" | "dead" | "new";

interface Whole {
  feeds: Record<Health, number>;
  days: number;
  days_with_runs: number;
  first_day: string | null;
  last_day: string | null;
  last_run: string | null;
  pages: number;
  downloaded_bytes: number;
  clean_bytes: number;
  words: number;
  duplicate_words: number;
  tokens: number;
  rows: {
    step: "clean" | "dedup" | "annotate";
    unit: string;
    fate: "kept" | "left out";
    reason: string;
    items: number;
    share: number | null;
  }[];
}

const HEALTH = ["dead", "failing", "slow", "new", "alive"] as const;
const STEPS = {
  clean: "Pages became documents",
  dedup: "Documents said something new",
  annotate: "Documents went into the corpus",
} as const;
/** So many languages have a colour of their own. */
const COLOURS = 5;

const section = (title: string, ...children: (HTMLElement | string)[]): HTMLElement =>
  el("section", {}, el("h2", {}, title), ...children);
const empty = (words: string): HTMLElement => el("p", { class: "empty" }, words);

function feedsPart(whole: Whole, feeds: readonly Feed[]): HTMLElement {
  if (feeds.length === 0)
    return section("Feeds", empty("This corpus has no list of feeds: its text came another way."));
  const sorted = [...feeds].sort((one, other) => HEALTH.indexOf(one.health) - HEALTH.indexOf(other.health));
  return section(
    "Feeds",
    el(
      "ul",
      { class: "tiles" },
      ...HEALTH.toReversed().map((state) =>
        el("li", { class: `state-${state}` }, el("b", {}, count(whole.feeds[state] ?? 0)), el("span", {}, state)),
      ),
    ),
    table(
      "feeds",
      "Feeds, those in trouble first",
      [
        {
          name: "feed",
          value: (feed) => feed.feed,
          show: (feed) => el("span", { title: feed.feed }, foreign(feed.title || feed.feed)),
        },
        {
          name: "state",
          value: (feed) => feed.health,
          show: (feed) => el("span", { class: `state state-${feed.health}` }, feed.health),
        },
        {
          name: "last success",
          value: (feed) => feed.succeeded,
          show: (feed) => el("span", { class: "nowrap" }, feed.succeeded.slice(0, 10) || "never"),
        },
        { name: "failures in a row", value: (feed) => feed.failures, numeric: true },
        { name: "trouble", value: (feed) => feed.error },
        {
          name: "articles a day",
          value: (feed) => feed.entries_per_day,
          numeric: true,
          show: (feed) => rate(feed.entries_per_day),
        },
        { name: "articles brought", value: (feed) => feed.brought, numeric: true, show: (feed) => count(feed.brought) },
        {
          name: "kept",
          about: "Bytes of text by bytes downloaded",
          value: (feed) => feed.yield?.rate,
          numeric: true,
          show: (feed) => (feed.yield ? percent(feed.yield.rate) : "–"),
        },
      ],
      sorted,
      20,
    ),
  );
}

function hostsPart(hosts: readonly { host: string; yield: Yield }[]): HTMLElement {
  if (hosts.length === 0)
    return section(
      "What hosts give",
      empty("Nothing is known about hosts yet: `tidings clean` counts what comes of their pages."),
    );
  const all: Host[] = hosts.map((row) => ({
    name: row.host,
    downloaded: row.yield.downloaded_bytes,
    kept: row.yield.clean_bytes,
  }));
  const nothing = all.filter((host) => host.kept === 0).length;
  return section(
    "What hosts give",
    figure(
      "yield",
      "Bytes downloaded against bytes of text kept, a point for each host, both scales logarithmic; dashed lines where 10 %, 1 % and 0.1 % are kept",
      (width, tell) => scatter(width, all, tell),
      [
        { name: "host", value: (row) => row.host },
        { name: "pages", value: (row) => row.yield.pages, numeric: true, show: (row) => count(row.yield.pages) },
        {
          name: "documents",
          value: (row) => row.yield.documents,
          numeric: true,
          show: (row) => count(row.yield.documents),
        },
        {
          name: "downloaded bytes",
          value: (row) => row.yield.downloaded_bytes,
          numeric: true,
          show: (row) => bytes(row.yield.downloaded_bytes),
        },
        {
          name: "kept bytes",
          value: (row) => row.yield.clean_bytes,
          numeric: true,
          show: (row) => bytes(row.yield.clean_bytes),
        },
        { name: "kept", value: (row) => row.yield.rate, numeric: true, show: (row) => percent(row.yield.rate) },
      ],
      hosts,
      nothing > 0
        ? `${many(nothing, "host")} gave nothing that was kept, and cannot be drawn.`
        : "Point at a host to read its name.",
    ),
  );
}

/** Where bytes and documents went. */
function fatePart(whole: Whole): HTMLElement {
  if (whole.pages === 0) return section("Where it went", empty("Nothing was downloaded yet."));
  const steps = (Object.keys(STEPS) as (keyof typeof STEPS)[]).flatMap((name): Step[] => {
    const rows = whole.rows.filter((row) => row.step === name);
    // A step that was never run has nothing to tell.
    if (rows.every((row) => row.items === 0)) return [];
    return [
      {
        name: STEPS[name],
        unit: rows[0]?.unit ?? "",
        parts: rows.map((row) => ({ reason: row.reason, items: row.items, kept: row.fate === "kept" })),
      },
    ];
  });
  const said = [
    `${many(whole.pages, "page")} of ${bytes(whole.downloaded_bytes)} were downloaded, and ${bytes(whole.clean_bytes)} of text were in them (${percent(whole.clean_bytes / (whole.downloaded_bytes || 1))}): the rest was menus, scripts and what pages repeat.`,
    whole.words > 0 &&
      `Of ${many(whole.words, "word")}, ${count(whole.duplicate_words)} (${percent(whole.duplicate_words / whole.words)}) had been said before.`,
    `${many(whole.tokens, "token")} went into the corpus.`,
  ]
    .filter(Boolean)
    .join(" ");
  return section(
    "Where it went",
    el("p", {}, said),
    figure(
      "fate",
      "What became of pages and documents, step by step: green was kept",
      (width, tell) => funnel(width, steps, tell),
      [
        { name: "step", value: (row) => STEPS[row.step] },
        { name: "fate", value: (row) => row.fate },
        { name: "reason", value: (row) => row.reason },
        { name: "items", value: (row) => row.items, numeric: true, show: (row) => count(row.items) },
        { name: "of", value: (row) => row.unit },
        {
          name: "share",
          value: (row) => row.share,
          numeric: true,
          show: (row) => (row.share === null ? "–" : percent(row.share)),
        },
      ],
      whole.rows,
      "Point at a part to read the reason.",
    ),
  );
}

/** Tokens in time, by language; small languages share a colour. */
async function volumePart(desk: Desk, whole: Whole): Promise<HTMLElement> {
  if (!whole.first_day || !whole.last_day) return section("How much came when", empty("Nothing was collected yet."));
  const days = (Date.parse(whole.last_day) - Date.parse(whole.first_day)) / 86_400_000;
  const by = days <= 120 ? "day" : days <= 900 ? "week" : "month";
  const { rows } = await desk.askPlainly<{
    rows: { bin: string; language: string; documents: number; tokens: number }[];
  }>("collection/languages", { by });
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.language, (sums.get(row.language) ?? 0) + row.tokens);
  const codes = [...sums].sort(([, one], [, other]) => other - one).map(([code]) => code);
  const own = codes.length <= COLOURS + 1 ? codes : codes.slice(0, COLOURS);
  const kinds = [...own.map(language), ...(codes.length > own.length ? ["all others"] : [])];
  const stacked = new Map<string, number[]>();
  for (const row of rows) {
    let parts = stacked.get(row.bin);
    if (!parts) stacked.set(row.bin, (parts = kinds.map(() => 0)));
    const kind = own.indexOf(row.language) < 0 ? own.length : own.indexOf(row.language);
    parts[kind] = (parts[kind] ?? 0) + row.tokens;
  }
  const all = [...stacked].map(([bin, parts]) => ({ bin, parts }));
  return section(
    "How much came when",
    el(
      "p",
      {},
      `From ${whole.first_day} to ${whole.last_day}, on ${many(whole.days, "day")}${whole.days_with_runs > 0 ? `, ${count(whole.days_with_runs)} of them with runs of the collector` : ""}${whole.last_run ? `; the last run was on ${whole.last_run}` : ""}.`,
    ),
    el("ul", { class: "legend" }, ...kinds.map((kind, number) => el("li", { class: `c${number}` }, kind))),
    figure(
      "volume",
      `Tokens by ${by} of download and by language`,
      (width, tell) => stacks(width, all, kinds, "Tokens", tell),
      [
        { name: by, value: (row) => row.bin },
        { name: "language", value: (row) => row.language },
        { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
        { name: "tokens", value: (row) => row.tokens, numeric: true, show: (row) => count(row.tokens) },
      ],
      rows,
      "Point at a bar to read its numbers.",
    ),
  );
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
    const whole = await desk.askPlainly<Whole>("collection");
    const [volume, hosts, feeds] = await Promise.all([
      volumePart(desk, whole),
      desk.askPlainly<{ rows: { host: string; yield: Yield }[] }>("hosts"),
      desk.askPlainly<{ rows: Feed[] }>("feeds"),
    ]);
    const sum = (of: "documents" | "tokens") => desk.corpora.reduce((total, corpus) => total + corpus[of], 0);
    desk.say(
      `${many(desk.corpora.length, "language")}, ${many(sum("documents"), "document")}, ${many(sum("tokens"), "token")}.`,
    );
    desk.put(
      volume,
      fatePart(whole),
      hostsPart(hosts.rows),
      feedsPart(whole, feeds.rows),
      section(
        "Corpora",
        table(
          "corpora",
          "Corpora",
          [
            { name: "language", value: (row) => row.corpus, show: (row) => language(row.corpus) },
            { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
            { name: "tokens", value: (row) => row.tokens, numeric: true, show: (row) => count(row.tokens) },
            { name: "first day", value: (row) => row.first_day },
            { name: "last day", value: (row) => row.last_day },
            {
              name: "annotated by",
              value: (row) =>
                row.layers
                  .map(
                    (layer) =>
                      `${layer.by}${layer.tokens < row.tokens ? ` (${percent(layer.tokens / row.tokens)})` : ""}`,
                  )
                  .join(", "),
            },
            {
              name: "state",
              about: "Every change of the corpus is a new state; equal states give equal answers",
              value: (row) => row.generation,
              numeric: true,
            },
          ],
          desk.corpora,
        ),
      ),
    );
  },
};
