// The funnel: pages, documents and text kept or dropped by each stage.

import { type FunnelStage, funnel } from "../../chart/bars.ts";
import { figure } from "../../chart/figure.ts";
import { el } from "../../dom.ts";
import { bytes, count, percent } from "../../format.ts";
import type { CollectionAnswer } from "../../generated/api.ts";
import { empty, section } from "./section.ts";
import { t, tn } from "../../text/index.ts";

const STAGES = {
  clean: t("Extraction: pages → documents"),
  dedup: t("Deduplication: documents with new text"),
  annotate: t("Annotation: documents in the corpus"),
} as const;

/** Items kept and dropped by each stage, with the reasons. */
export function funnelPart(whole: CollectionAnswer): HTMLElement {
  if (whole.pages === 0) return section(t("Pipeline"), empty(t("Nothing downloaded yet.")));
  const steps = (Object.keys(STAGES) as (keyof typeof STAGES)[]).flatMap((name): FunnelStage[] => {
    const rows = whole.rows.filter((row) => row.step === name);
    // A stage that has not run has no data.
    if (rows.every((row) => row.items === 0)) return [];
    return [
      {
        name: STAGES[name],
        unit: rows[0]?.unit === "pages" ? t("pages") : t("documents"),
        parts: rows.map((row) => ({ reason: row.reason, items: row.items, kept: row.fate === "kept" })),
      },
    ];
  });
  // Text that was imported was never downloaded: there is no markup that was left out.
  const wasDownloaded = whole.downloaded_bytes > 1.5 * whole.clean_bytes;
  const summary = [
    wasDownloaded
      ? t(
          "{pages} downloaded ({bytes}), with {text} of article text ({share}); the rest is markup, menus and scripts.",
          {
            pages: tn(whole.pages, "{n} page", "{n} pages"),
            bytes: bytes(whole.downloaded_bytes),
            text: bytes(whole.clean_bytes),
            share: percent(whole.clean_bytes / (whole.downloaded_bytes || 1)),
          },
        )
      : t("{pages} imported, with {text} of text.", {
          pages: tn(whole.pages, "{n} page", "{n} pages"),
          text: bytes(whole.clean_bytes),
        }),
    whole.words > 0 &&
      t("Of {words}, {duplicates} ({share}) were duplicates.", {
        words: tn(whole.words, "{n} word", "{n} words"),
        duplicates: count(whole.duplicate_words),
        share: percent(whole.duplicate_words / whole.words),
      }),
    tn(whole.tokens, "{n} token in the corpus.", "{n} tokens in the corpus."),
  ]
    .filter(Boolean)
    .join(" ");
  return section(
    t("Pipeline"),
    el("p", {}, summary),
    figure(
      "funnel",
      t("Pages and documents kept (green) and dropped by each stage"),
      (width, tip) => funnel(width, steps, tip),
      [
        { name: "stage", label: t("stage"), value: (row) => STAGES[row.step] },
        { name: "outcome", label: t("outcome"), value: (row) => row.fate },
        { name: "reason", label: t("reason"), value: (row) => row.reason },
        { name: "items", label: t("items"), value: (row) => row.items, numeric: true, show: (row) => count(row.items) },
        { name: "unit", label: t("unit"), value: (row) => row.unit },
        {
          name: "share",
          label: t("share"),
          value: (row) => row.share,
          numeric: true,
          show: (row) => (row.share === null ? "–" : percent(row.share)),
        },
      ],
      whole.rows,
      t("Hover over a bar for the reason."),
    ),
  );
}
