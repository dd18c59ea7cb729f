// Change of meaning: words whose collocates differ between two parts of the corpus.

import { bidi, el } from "../dom.ts";
import { link } from "../route.ts";
import { brief, count, pValue, rate } from "../format.ts";
import type { MeaningCollocate, MeaningRow } from "../generated/api.ts";
import { type Column, table } from "../table.ts";
import { asQuery } from "../cql.ts";
import { type View } from "../view.ts";
import { halves } from "./compare.ts";
import { LIMIT, showEmpty, wordColumn } from "./shared.ts";
import { t, tn } from "../text/index.ts";

/** A filter as it is, and a period as a filter. */
const asFilter = (part: string): string => (/[=<>(]/.test(part) ? part : `date=${part}`);

/** The view of changes of meaning. */
export const meaning: View = {
  name: "meaning",
  title: t("Change of meaning"),
  about: t("Words whose collocates differ between two periods, or between two other parts of the corpus."),
  kind: "discover",
  fields: (context) => {
    const { before, after } = halves(context);
    return [
      {
        name: "before",
        label: t("Before"),
        kind: "text",
        wide: true,
        initial: before,
        hint: "2025 · 2026-03..2026-05 · country=de",
      },
      {
        name: "after",
        label: t("After"),
        kind: "text",
        wide: true,
        initial: after,
        hint: "2026 · 2026-Q2 · country=at",
      },
      { name: "names", label: t("Include names"), kind: "flag" },
      { name: "min", label: t("Minimum hits in each part"), kind: "number", initial: "20", advanced: true },
      { name: "window", label: t("Words on each side"), kind: "number", initial: "5", advanced: true },
      { name: "fdr", label: t("False discovery rate (0 to 1)"), kind: "text", initial: "0.05", advanced: true },
      LIMIT,
    ];
  },
  ready: () => true,
  meaning: t(
    "The distance of the collocates is 0 if they differ no more than those of random halves of the same documents, and 1 if no collocate is in both parts. As many documents of each source are compared, with the same mixture of topics, so that new sources and more sport are no change. The q-value is corrected for the number of words tested. The numbers beside a collocate are hits with it before and after.",
  ),
  show: async (context) => {
    const { route } = context;
    const usual = halves(context);
    const [before, after] = [route.get("before") || usual.before, route.get("after") || usual.after];
    if (!before || !after) return showEmpty(context, t("Choose two periods."));
    const found = await context.request("meaning", {
      ...context.documents,
      before: asFilter(before),
      after: asFilter(after),
      names: route.get("names"),
      min: route.get("min"),
      window: route.get("window"),
      fdr: route.get("fdr"),
      limit: route.get("limit"),
    });
    const missing = [
      [before, found.before_tokens],
      [after, found.after_tokens],
    ].find(([, tokens]) => tokens === 0);
    if (missing) return showEmpty(context, t("No documents in {period}.", { period: missing[0] as string }));
    if (found.rows.length === 0) return showEmpty(context, t("No word changed its collocates significantly."));
    context.announce(
      t("{n} of {tested} words tested changed their collocates · {before} and {after} tokens", {
        n: count(found.values ?? 0),
        tested: count(found.tested),
        before: brief(found.before_tokens),
        after: brief(found.after_tokens),
      }),
    );
    const kind = found.attribute;
    /** The hits of a word in a part, all or those with a collocate, as a link to their concordance. */
    const hits = (number: number, part: string, word: string, collocate?: string) =>
      number === 0
        ? "0"
        : el(
            "a",
            {
              href: link("search", route, {
                q: asQuery(word, kind),
                with: collocate && asQuery(collocate, kind),
                window: collocate && String(found.window),
                filter: [asFilter(part), route.get("filter") && `(${route.get("filter")})`].filter(Boolean).join(" "),
              }),
              "aria-label": `${[word, collocate].filter(Boolean).join(" + ")}, ${part}: ${tn(number, "{n} hit", "{n} hits")}`,
            },
            count(number),
          );
    const collocates = (name: "gained" | "lost", label: string): Column<MeaningRow> => ({
      name,
      label,
      value: (row) =>
        row[name].map((each: MeaningCollocate) => `${each.value} ${each.before}→${each.after}`).join(", "),
      show: (row) =>
        el(
          "span",
          {},
          ...row[name].flatMap((each: MeaningCollocate, at: number) => [
            at > 0 ? ", " : "",
            bidi(each.value),
            " ",
            el(
              "small",
              {},
              hits(each.before, before, row.value, each.value),
              "→",
              hits(each.after, after, row.value, each.value),
            ),
          ]),
        ),
    });
    context.append(
      table(
        "meaning",
        t("Words whose collocates changed most"),
        [
          wordColumn<MeaningRow>(context, "collocations", kind),
          {
            name: "distance",
            label: t("distance"),
            about: t("Distance of the collocates beyond chance, from 0 to 1"),
            value: (row) => row.distance,
            numeric: true,
            show: (row) => rate(row.distance),
          },
          collocates("gained", t("collocates gained")),
          collocates("lost", t("collocates lost")),
          {
            name: "before",
            label: t("hits before"),
            value: (row) => row.before,
            numeric: true,
            show: (row) => hits(row.before, before, row.value),
          },
          {
            name: "after",
            label: t("hits after"),
            value: (row) => row.after,
            numeric: true,
            show: (row) => hits(row.after, after, row.value),
          },
          {
            name: "q",
            label: t("q-value"),
            about: t("False discovery rate at which the word is significant (Benjamini–Hochberg)"),
            value: (row) => row.q,
            numeric: true,
            show: (row) => pValue(row.q),
          },
        ],
        found.rows,
      ),
    );
  },
};
