// The funnel: pages, documents and text kept or dropped by each stage.

import { type FunnelStage, funnel } from "../../chart/bars.ts";
import { figure } from "../../chart/figure.ts";
import { el } from "../../dom.ts";
import { bytes, count, percent, plural } from "../../format.ts";
import type { CollectionAnswer } from "../../generated/api.ts";
import { empty, section } from "./section.ts";

const STAGES = {
  clean: "Extraction: pages → documents",
  dedup: "Deduplication: documents with new text",
  annotate: "Annotation: documents in the corpus",
} as const;

/** Items kept and dropped by each stage, with the reasons. */
export function funnelPart(whole: CollectionAnswer): HTMLElement {
  if (whole.pages === 0) return section("Pipeline", empty("Nothing downloaded yet."));
  const steps = (Object.keys(STAGES) as (keyof typeof STAGES)[]).flatMap((name): FunnelStage[] => {
    const rows = whole.rows.filter((row) => row.step === name);
    // A stage that has not run has no data.
    if (rows.every((row) => row.items === 0)) return [];
    return [
      {
        name: STAGES[name],
        unit: rows[0]?.unit ?? "",
        parts: rows.map((row) => ({ reason: row.reason, items: row.items, kept: row.fate === "kept" })),
      },
    ];
  });
  const summary = [
    `${plural(whole.pages, "page")} downloaded (${bytes(whole.downloaded_bytes)}), with ${bytes(whole.clean_bytes)} of article text (${percent(whole.clean_bytes / (whole.downloaded_bytes || 1))}); the rest is markup, menus and scripts.`,
    whole.words > 0 &&
      `Of ${plural(whole.words, "word")}, ${count(whole.duplicate_words)} (${percent(whole.duplicate_words / whole.words)}) were duplicates.`,
    `${plural(whole.tokens, "token")} in the corpus.`,
  ]
    .filter(Boolean)
    .join(" ");
  return section(
    "Pipeline",
    el("p", {}, summary),
    figure(
      "funnel",
      "Pages and documents kept (green) and dropped by each stage",
      (width, tell) => funnel(width, steps, tell),
      [
        { name: "stage", value: (row) => STAGES[row.step] },
        { name: "outcome", value: (row) => row.fate },
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
      "Hover over a bar for the reason.",
    ),
  );
}
