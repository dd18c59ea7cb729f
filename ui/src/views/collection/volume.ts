// Volume over time, by language.

import { stacks } from "../../chart/bars.ts";
import { figure } from "../../chart/figure.ts";
import { el } from "../../dom.ts";
import { count, language, plural } from "../../format.ts";
import type { CollectionAnswer } from "../../generated/api.ts";
import type { ViewContext } from "../../view.ts";
import { empty, section } from "./section.ts";

/** Languages with a colour of their own; the others share one. */
const COLOURS = 5;

/** Tokens per period and language. */
export async function volumePart(context: ViewContext, whole: CollectionAnswer): Promise<HTMLElement> {
  if (!whole.first_day || !whole.last_day) return section("Volume over time", empty("Nothing collected yet."));
  const days = (Date.parse(whole.last_day) - Date.parse(whole.first_day)) / 86_400_000;
  const by = days <= 120 ? "day" : days <= 900 ? "week" : "month";
  const { rows } = await context.request("collection-languages", { by });
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
    "Volume over time",
    el(
      "p",
      {},
      `From ${whole.first_day} to ${whole.last_day}, on ${plural(whole.days, "day")}${whole.days_with_runs > 0 ? `, ${count(whole.days_with_runs)} of them with runs` : ""}${whole.last_run ? `; last run on ${whole.last_run}` : ""}.`,
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
      "Hover over a bar for its numbers.",
    ),
  );
}
