// Words that come back every year.

import { bar } from "../chart/bars.ts";
import { el } from "../dom.ts";
import { rate } from "../format.ts";
import type { SeasonRow } from "../generated/api.ts";
import { table } from "../table.ts";
import { regional, t, tn } from "../text/index.ts";
import { type View, intervalName } from "../view.ts";
import { basisOf, courseColumn, showNone, testColumns, testFields, testParameters } from "./series-words.ts";
import { wordColumn } from "./shared.ts";

/** The name of a month, from 1, in the language of the page. */
const monthName = (month: number, form: "long" | "short" = "long"): string =>
  new Intl.DateTimeFormat(regional, { month: form, timeZone: "UTC" }).format(Date.UTC(2024, month - 1, 15));

/** The rates of twelve months as small bars, with the names of the months for readers. */
function year(months: readonly (number | null)[]): HTMLElement {
  const largest = Math.max(...months.map((value) => value ?? 0), 0);
  const told = months.map((value, at) => `${monthName(at + 1, "short")} ${value === null ? "–" : rate(value)}`);
  return el(
    "details",
    { class: "months" },
    el("summary", {}, t("by month")),
    el("ul", { class: "quiet" }, ...months.map((value, at) => el("li", {}, bar(value ?? 0, largest), " ", told[at]))),
  );
}

/** The seasons view. */
export const seasons: View = {
  name: "seasons",
  title: t("Seasons"),
  about: t("Words that come back every year, tested one by one."),
  kind: "discover",
  fields: (context) => [
    {
      name: "by",
      label: t("Interval"),
      kind: "choice",
      choices: ["month", "ten-days", "week"].map((name) => [name, intervalName(name)] as const),
      initial: "month",
    },
    ...testFields(context),
  ],
  ready: () => true,
  meaning: t(
    "Peak is the month in which the word is most frequent. Change is the rate in the three months around it by that of the other months. The test compares the periods, without their trend, with a wave of one year and with the months of the year; the q-value is corrected for the number of words tested.",
  ),
  show: async (context) => {
    const parameters = testParameters(context);
    const found = await context.request("seasons", parameters);
    if (found.rows.length === 0) return showNone(context, found);
    context.announce(tn(found.values ?? 0, "{n} word with a season", "{n} words with a season"));
    context.append(
      basisOf(found),
      table(
        "seasons",
        t("Words with a season, surest first"),
        [
          wordColumn<SeasonRow>(context, "timeline", parameters.attribute),
          courseColumn<SeasonRow>(found.bins, () => "c0"),
          { name: "peak", label: t("peak"), value: (row) => row.peak, show: (row) => monthName(row.peak) },
          {
            name: "log_ratio",
            label: t("change"),
            about: t("Rate around the peak by the rate of the other months"),
            value: (row) => row.log_ratio,
            numeric: true,
            show: (row) => (row.log_ratio === null ? "–" : `${rate(2 ** row.log_ratio)}×`),
          },
          ...testColumns<SeasonRow>(),
          { name: "months", label: t("year"), picture: true, value: () => "", show: (row) => year(row.months) },
        ],
        found.rows,
      ),
    );
  },
};
