// Dispersion plot: how evenly hits are spread over the corpus.

import { stacks } from "../chart/bars.ts";
import { figure } from "../chart/figure.ts";
import { el } from "../dom.ts";
import { count, rate } from "../format.ts";
import type { DispersionRow } from "../generated/api.ts";
import { queryOf } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type View } from "../view.ts";
import { askForQuery, hasQuery, showEmpty } from "./shared.ts";

/** The dispersion view. */
export const dispersion: View = {
  name: "dispersion",
  title: t("Dispersion"),
  about: t("How evenly the hits are spread over the corpus, from its oldest documents to its newest."),
  kind: "query",
  facets: true,
  fields: () => [{ name: "parts", label: t("Equal parts of the corpus"), kind: "number", initial: "50" }],
  ready: hasQuery,
  welcome: askForQuery,
  meaning: t(
    "Documents are in the order of time, and each bar is an equal part of the tokens. ARF (average reduced frequency) and ALDF (average logarithmic distance frequency) equal the number of hits if these are spread evenly, and are near 1 if all are in one place. DP (deviation of proportions) is 0 if hits are spread evenly and near 1 if they are all in one part.",
  ),
  show: async (context) => {
    const { route } = context;
    const found = await context.request("dispersion", {
      ...context.documents,
      q: queryOf(route),
      parts: route.get("parts") || 50,
    });
    if (found.hits === 0) return showEmpty(context, t("No hits."));
    context.announce(
      `${tn(found.hits, "{n} hit", "{n} hits")} · ${tn(found.documents, "{n} document", "{n} documents")}`,
    );
    const measures = [
      ["ARF", found.arf],
      ["ALDF", found.aldf],
      ["DP", found.dp],
    ] as const;
    const parts = found.rows.filter((row) => row.first !== null && row.hits !== null);
    context.append(
      el(
        "dl",
        { class: "facts" },
        ...measures.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, rate(value))]),
      ),
      parts.length > 0 &&
        figure<DispersionRow>(
          "dispersion",
          t("Hits in equal parts of the corpus"),
          (width, show) =>
            stacks(
              width,
              parts.map((row) => ({ bin: row.first ?? "", parts: [row.hits ?? 0] })),
              [t("hits")],
              t("hits"),
              show,
            ),
          [
            { name: "part", label: t("part"), value: (row) => row.part, numeric: true },
            { name: "first", label: t("first day"), value: (row) => row.first },
            {
              name: "hits",
              label: t("hits"),
              value: (row) => row.hits,
              numeric: true,
              show: (row) => (row.hits === null ? "–" : count(row.hits)),
            },
          ],
          found.rows,
        ),
    );
  },
};
