// Words with a burst of frequency.

import { el } from "../dom.ts";
import { link } from "../route.ts";
import { count, factor, pValue, period, rate } from "../format.ts";
import { daysOf } from "../chart/period.ts";
import type { BurstRow } from "../generated/api.ts";
import { table } from "../table.ts";
import { asQuery } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type View, INTERVAL, attributeField, usualAttribute } from "../view.ts";
import { passedTest } from "./series-words.ts";
import { ALL_WORDS, LIMIT, PANEL, leftOut, nameColumn, showEmpty, wordColumn } from "./shared.ts";

const SEQUELS = { fell: t("faded"), stayed: t("lasted"), open: t("too recent to tell") } as const;

/** The bursts view. */
export const bursts: View = {
  name: "bursts",
  title: t("Bursts"),
  about: t("Words that were much more frequent than usual for a short time."),
  kind: "discover",
  fields: (context) => [INTERVAL, attributeField(context, ["lemma", "lc", "word"]), ALL_WORDS, PANEL, LIMIT],
  ready: () => true,
  meaning: t(
    "A burst is a period in which a word is much more frequent than before, in several documents. “Afterwards” says whether it faded or lasted.",
  ),
  show: async (context) => {
    const { route } = context;
    const attribute = route.get("attribute") || usualAttribute(context);
    const found = await context.request("bursts", {
      ...context.documents,
      by: route.get("by"),
      attribute,
      all_words: route.get("all_words"),
      panel: route.get("panel"),
      limit: route.get("limit"),
    });
    if (found.rows.length === 0)
      return showEmpty(
        context,
        t("No word stood out from the periods before it. Another interval may show something."),
      );
    context.announce(tn(found.values ?? 0, "{n} word with a burst", "{n} words with bursts"));
    context.append(
      el(
        "p",
        { class: "honest" },
        t(
          "A burst is seen on several sources, each measured by its own past, so that sources that come or fall silent are none.",
        ),
        " ",
        passedTest(found),
      ),
      leftOut(context, found.left_out),
      table(
        "bursts",
        t("Bursts, strongest first"),
        [
          wordColumn<BurstRow>(context, "timeline", attribute),
          nameColumn<BurstRow>(),
          {
            name: "bin",
            label: t("when"),
            value: (row) => row.bin,
            show: (row) => {
              const { first, last } = daysOf(row.bin);
              const href = link("search", route, { q: asQuery(row.value, attribute), from: first, to: last });
              return el("a", { href }, period(row.bin));
            },
          },
          {
            name: "log_ratio",
            label: t("factor"),
            about: t("Rate divided by the rate before"),
            value: (row) => row.log_ratio,
            numeric: true,
            show: (row) => (row.log_ratio === null ? t("new") : factor(row.log_ratio)),
          },
          {
            name: "q",
            label: t("q-value"),
            about: t("False discovery rate at which the word is significant (Benjamini–Hochberg)"),
            value: (row) => row.q,
            numeric: true,
            show: (row) => pValue(row.q),
          },
          { name: "hits", label: t("hits"), value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          {
            name: "documents",
            label: t("documents"),
            value: (row) => row.documents,
            numeric: true,
            show: (row) => count(row.documents),
          },
          {
            name: "score",
            label: t("score"),
            value: (row) => row.score,
            numeric: true,
            show: (row) => rate(row.score),
          },
          { name: "sequel", label: t("afterwards"), value: (row) => row.sequel, show: (row) => SEQUELS[row.sequel] },
        ],
        found.rows,
      ),
    );
  },
};
