// Sources by kind, crawls, and backfills with their recall.

import { el } from "../../dom.ts";
import { bytes, count, percent, plural } from "../../format.ts";
import type { BackfillRow, CrawlsAnswer, SourceKind, SourceRow } from "../../generated/api.ts";
import { table } from "../../table.ts";
import { empty, section } from "./section.ts";

const KINDS: Record<SourceKind, string> = {
  feed: "feeds",
  sitemap: "sitemaps",
  page: "front and section pages",
  archive: "history of sites (backfills)",
  crawl: "crawls",
};

/** Sources by kind, with the yield of their pages. */
export function sourcesPart(rows: readonly SourceRow[]): HTMLElement {
  if (rows.length === 0) return section("Sources", empty("This corpus has no sources: its text was imported."));
  return section(
    "Sources",
    table(
      "sources",
      "Sources by kind; pages of the last 30 days",
      [
        { name: "kind", value: (row) => row.kind, show: (row) => KINDS[row.kind] },
        { name: "sources", value: (row) => row.sources, numeric: true, show: (row) => count(row.sources) },
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
          name: "kept",
          about: "Bytes of text per byte downloaded",
          value: (row) => row.yield.rate,
          numeric: true,
          show: (row) => (row.yield.downloaded_bytes > 0 ? percent(row.yield.rate) : "–"),
        },
      ],
      rows,
    ),
  );
}

/** Crawls: pages kept, refused and failed, and the reasons. */
export function crawlsPart(crawls: CrawlsAnswer): HTMLElement[] {
  if (crawls.rows.length === 0) return [];
  return [
    section(
      "Crawls",
      el("p", {}, "Crawls follow links; each is shown as of its last checkpoint."),
      table(
        "crawls",
        "Crawls",
        [
          { name: "crawl", value: (row) => row.crawl },
          { name: "requests", value: (row) => row.requests, numeric: true, show: (row) => count(row.requests) },
          { name: "kept", value: (row) => row.kept, numeric: true, show: (row) => count(row.kept) },
          {
            name: "refused",
            about: "Pages without wanted text",
            value: (row) => row.refused,
            numeric: true,
            show: (row) => count(row.refused),
          },
          {
            name: "failed",
            about: "URLs that gave no page",
            value: (row) => row.failed,
            numeric: true,
            show: (row) => count(row.failed),
          },
          {
            name: "downloaded bytes",
            value: (row) => row.downloaded_bytes,
            numeric: true,
            show: (row) => bytes(row.downloaded_bytes),
          },
          { name: "new words", value: (row) => row.words, numeric: true, show: (row) => count(row.words) },
          {
            name: "sites",
            about: "Registered domains that were met; closed ones are not worth a request",
            value: (row) => row.sites,
            numeric: true,
            show: (row) => `${count(row.sites)} (${count(row.closed_sites)} closed)`,
          },
          {
            name: "waiting URLs",
            value: (row) => row.waiting_urls,
            numeric: true,
            show: (row) => count(row.waiting_urls),
          },
          {
            name: "last run",
            about: "The end of the last run; hover over it for the reason",
            value: (row) => row.ended,
            show: (row) =>
              el("span", { class: "nowrap", title: row.end_reason }, row.ended.slice(0, 10) || "not ended"),
          },
        ],
        crawls.rows,
      ),
      crawls.reasons.length > 0 &&
        table(
          "crawl-reasons",
          "URLs that were not stored, by reason",
          [
            { name: "crawl", value: (row) => row.crawl },
            { name: "outcome", value: (row) => row.outcome },
            { name: "reason", value: (row) => row.reason },
            { name: "URLs", value: (row) => row.urls, numeric: true, show: (row) => count(row.urls) },
          ],
          crawls.reasons,
          20,
        ),
    ),
  ];
}

/** The recall of a backfill with its interval. */
const recall = ({ recall, recall_low, recall_high }: BackfillRow): string =>
  recall === null || recall_low === null || recall_high === null
    ? "unknown"
    : `${percent(recall)} (${percent(recall_low)} to ${percent(recall_high)})`;

/** Backfills: articles found, and the recall that each estimates for itself. */
export function backfillsPart(rows: readonly BackfillRow[]): HTMLElement[] {
  if (rows.length === 0) return [];
  const found = rows.reduce((sum, row) => sum + row.found, 0);
  return [
    section(
      "History of sites",
      el(
        "p",
        {},
        `${plural(found, "article")} found in the archives of ${plural(rows.length, "site")}. The recall is the share of articles known from feeds that the backfill found by its own ways, with a 95 % interval.`,
      ),
      table(
        "backfills",
        "Backfills by site",
        [
          { name: "site", value: (row) => row.site },
          { name: "articles found", value: (row) => row.found, numeric: true, show: (row) => count(row.found) },
          { name: "recall", value: (row) => row.recall, numeric: true, show: recall },
          {
            name: "known articles",
            about: "Articles of the site that feeds brought",
            value: (row) => row.known,
            numeric: true,
            show: (row) => count(row.known),
          },
          {
            name: "listing requests",
            value: (row) => row.listing_requests,
            numeric: true,
            show: (row) => count(row.listing_requests),
          },
          {
            name: "last request",
            value: (row) => row.updated,
            show: (row) => el("span", { class: "nowrap" }, row.updated.slice(0, 10) || "–"),
          },
          { name: "state", value: (row) => row.ended, show: (row) => row.ended || "not finished" },
        ],
        rows,
        20,
      ),
    ),
  ];
}
