// Volume over time: by date of publication for the corpus at hand, and by day of download for all languages.

import { stacks } from "../../chart/bars.ts";
import { figure } from "../../chart/figure.ts";
import { daysOf } from "../../chart/period.ts";
import { el } from "../../dom.ts";
import { count, language, percent, period } from "../../format.ts";
import type { CollectionAnswer } from "../../generated/api.ts";
import { go, link } from "../../route.ts";
import { t, tn } from "../../text/index.ts";
import { type ViewContext, daysBetween, intervalName } from "../../view.ts";
import { NOTHING, gapOf } from "../start.ts";
import { empty, section } from "./section.ts";

/** Languages with a colour of their own; the others share one. */
const COLOURS = 5;

/** Documents by date of publication, with what is missing. */
export async function publishedPart(context: ViewContext): Promise<HTMLElement | ""> {
  const { corpus, route } = context;
  if (!corpus?.first_day) return "";
  const { points, step } = await context.request("timeline", { ...context.documents, q: NOTHING });
  const usual = Math.max(...points.map((point) => point.sites), 0);
  return section(
    t("Published"),
    figure(
      "published",
      t("{language}: documents by {interval} of publication", {
        language: language(corpus.corpus),
        interval: intervalName(step),
      }),
      (width, tip) =>
        stacks(
          width,
          points.map((point) => ({ bin: point.bin, parts: [point.documents], gap: gapOf(point, usual) })),
          [t("documents")],
          t("documents"),
          tip,
          (bin) => go(link("documents", route, { from: daysOf(bin).first, to: daysOf(bin).last })),
        ),
      [
        { name: "period", label: t("period"), value: (row) => row.bin, show: (row) => period(row.bin) },
        {
          name: "documents",
          label: t("documents"),
          value: (row) => row.documents,
          numeric: true,
          show: (row) => count(row.documents),
        },
        {
          name: "tokens",
          label: t("tokens"),
          value: (row) => row.tokens,
          numeric: true,
          show: (row) => count(row.tokens),
        },
        { name: "sites", label: t("sources"), value: (row) => row.sites, numeric: true },
        { name: "days", label: t("days"), value: (row) => row.days, numeric: true },
        {
          name: "days_with_documents",
          label: t("days with documents"),
          value: (row) => row.days_with_documents,
          numeric: true,
        },
        {
          name: "coverage",
          label: t("coverage"),
          value: (row) => row.health,
          numeric: true,
          show: (row) => percent(row.health),
        },
      ],
      points,
      t("Click a period to list its documents. Dashed periods are incomplete: gaps of the collection, not silence."),
    ),
  );
}

/** Tokens per day of download and language. */
export async function volumePart(context: ViewContext, whole: CollectionAnswer): Promise<HTMLElement> {
  if (!whole.first_day || !whole.last_day) return section(t("Downloaded"), empty(t("Nothing collected yet.")));
  const days = daysBetween(whole.first_day, whole.last_day);
  const by = days <= 120 ? "day" : days <= 900 ? "week" : "month";
  const { rows } = await context.request("collection-languages", { by });
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.language, (sums.get(row.language) ?? 0) + row.tokens);
  const codes = [...sums].sort(([, one], [, other]) => other - one).map(([code]) => code);
  const own = codes.length <= COLOURS + 1 ? codes : codes.slice(0, COLOURS);
  const kinds = [...own.map(language), ...(codes.length > own.length ? [t("all others")] : [])];
  const stacked = new Map<string, number[]>();
  for (const row of rows) {
    let parts = stacked.get(row.bin);
    if (!parts) stacked.set(row.bin, (parts = kinds.map(() => 0)));
    const kind = own.indexOf(row.language) < 0 ? own.length : own.indexOf(row.language);
    parts[kind] = (parts[kind] ?? 0) + row.tokens;
  }
  const all = [...stacked].map(([bin, parts]) => ({ bin, parts }));
  const facts = [
    t("From {first} to {last}", { first: period(whole.first_day), last: period(whole.last_day) }),
    tn(whole.days, "{n} day", "{n} days"),
    whole.days_with_runs > 0 && tn(whole.days_with_runs, "{n} day with runs", "{n} days with runs"),
    whole.last_run && t("last run on {day}", { day: period(whole.last_run) }),
  ];
  // One day of import is no chart.
  if (all.length < 2) return section(t("Downloaded"), el("p", {}, facts.filter(Boolean).join(" · ")));
  return section(
    t("Downloaded"),
    el("p", {}, facts.filter(Boolean).join(" · ")),
    el("ul", { class: "legend" }, ...kinds.map((kind, number) => el("li", { class: `c${number}` }, kind))),
    figure(
      "volume",
      t("Tokens by {interval} of download and by language", { interval: intervalName(by) }),
      (width, tip) => stacks(width, all, kinds, t("tokens"), tip),
      [
        { name: by, label: intervalName(by), value: (row) => row.bin },
        { name: "language", label: t("language"), value: (row) => row.language },
        {
          name: "documents",
          label: t("documents"),
          value: (row) => row.documents,
          numeric: true,
          show: (row) => count(row.documents),
        },
        {
          name: "tokens",
          label: t("tokens"),
          value: (row) => row.tokens,
          numeric: true,
          show: (row) => count(row.tokens),
        },
      ],
      rows,
    ),
  );
}
