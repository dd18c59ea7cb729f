// Sources by kind, crawls, and backfills with their recall.

import { el } from "../../dom.ts";
import { bytes, count, percent } from "../../format.ts";
import type { BackfillRow, CrawlsAnswer, SourceKind, SourceRow } from "../../generated/api.ts";
import { table } from "../../table.ts";
import { empty, section } from "./section.ts";
import { t, tn } from "../../text/index.ts";

const KINDS: Record<SourceKind, string> = {
  feed: t("feeds"),
  sitemap: t("sitemaps"),
  page: t("front and section pages"),
  archive: t("history of sites (backfills)"),
  crawl: t("crawls"),
};

/** Sources by kind, with the yield of their pages. */
export function sourcesPart(rows: readonly SourceRow[]): HTMLElement {
  if (rows.length === 0) return section(t("Sources"), empty(t("This corpus has no sources: its text was imported.")));
  return section(
    t("Sources"),
    table(
      "sources",
      t("Sources by kind; pages of the last 30 days"),
      [
        { name: "kind", label: t("kind"), value: (row) => row.kind, show: (row) => KINDS[row.kind] },
        {
          name: "sources",
          label: t("sources"),
          value: (row) => row.sources,
          numeric: true,
          show: (row) => count(row.sources),
        },
        {
          name: "pages",
          label: t("pages"),
          value: (row) => row.yield.pages,
          numeric: true,
          show: (row) => count(row.yield.pages),
        },
        {
          name: "documents",
          label: t("documents"),
          value: (row) => row.yield.documents,
          numeric: true,
          show: (row) => count(row.yield.documents),
        },
        {
          name: "downloaded_bytes",
          label: t("downloaded bytes"),
          value: (row) => row.yield.downloaded_bytes,
          numeric: true,
          show: (row) => bytes(row.yield.downloaded_bytes),
        },
        {
          name: "kept",
          label: t("kept"),
          about: t("Bytes of text per byte downloaded"),
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
      t("Crawls"),
      el("p", {}, t("Crawls follow links; each is shown as of its last checkpoint.")),
      table(
        "crawls",
        t("Crawls"),
        [
          { name: "crawl", label: t("crawl"), value: (row) => row.crawl },
          {
            name: "requests",
            label: t("requests"),
            value: (row) => row.requests,
            numeric: true,
            show: (row) => count(row.requests),
          },
          { name: "kept", label: t("kept"), value: (row) => row.kept, numeric: true, show: (row) => count(row.kept) },
          {
            name: "refused",
            label: t("refused"),
            about: t("Pages without wanted text"),
            value: (row) => row.refused,
            numeric: true,
            show: (row) => count(row.refused),
          },
          {
            name: "failed",
            label: t("failed"),
            about: t("URLs that gave no page"),
            value: (row) => row.failed,
            numeric: true,
            show: (row) => count(row.failed),
          },
          {
            name: "downloaded_bytes",
            label: t("downloaded bytes"),
            value: (row) => row.downloaded_bytes,
            numeric: true,
            show: (row) => bytes(row.downloaded_bytes),
          },
          {
            name: "new_words",
            label: t("new words"),
            value: (row) => row.words,
            numeric: true,
            show: (row) => count(row.words),
          },
          {
            name: "sites",
            label: t("sites"),
            about: t("Registered domains that were met; closed ones are not worth a request"),
            value: (row) => row.sites,
            numeric: true,
            show: (row) => t("{n} ({closed} closed)", { n: count(row.sites), closed: count(row.closed_sites) }),
          },
          {
            name: "waiting_URLs",
            label: t("waiting URLs"),
            value: (row) => row.waiting_urls,
            numeric: true,
            show: (row) => count(row.waiting_urls),
          },
          {
            name: "last_run",
            label: t("last run"),
            about: t("The end of the last run; hover over it for the reason"),
            value: (row) => row.ended,
            show: (row) =>
              el("span", { class: "nowrap", title: row.end_reason }, row.ended.slice(0, 10) || t("not ended")),
          },
        ],
        crawls.rows,
      ),
      crawls.reasons.length > 0 &&
        table(
          "crawl-reasons",
          t("URLs that were not stored, by reason"),
          [
            { name: "crawl", label: t("crawl"), value: (row) => row.crawl },
            { name: "outcome", label: t("outcome"), value: (row) => row.outcome },
            { name: "reason", label: t("reason"), value: (row) => row.reason },
            { name: "urls", label: t("URLs"), value: (row) => row.urls, numeric: true, show: (row) => count(row.urls) },
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
    ? t("unknown")
    : `${percent(recall)} (${percent(recall_low)} – ${percent(recall_high)})`;

/** Backfills: articles found, and the recall that each estimates for itself. */
export function backfillsPart(rows: readonly BackfillRow[]): HTMLElement[] {
  if (rows.length === 0) return [];
  const found = rows.reduce((sum, row) => sum + row.found, 0);
  return [
    section(
      t("History of sites"),
      el(
        "p",
        {},
        t(
          "{articles} found in the archives of {sites}. The recall is the share of articles known from feeds that the backfill found by its own ways, with a 95 % interval.",
          { articles: tn(found, "{n} article", "{n} articles"), sites: tn(rows.length, "{n} site", "{n} sites") },
        ),
      ),
      table(
        "backfills",
        t("Backfills by site"),
        [
          { name: "site", label: t("site"), value: (row) => row.site },
          {
            name: "articles_found",
            label: t("articles found"),
            value: (row) => row.found,
            numeric: true,
            show: (row) => count(row.found),
          },
          { name: "recall", label: t("recall"), value: (row) => row.recall, numeric: true, show: recall },
          {
            name: "known_articles",
            label: t("known articles"),
            about: t("Articles of the site that feeds brought"),
            value: (row) => row.known,
            numeric: true,
            show: (row) => count(row.known),
          },
          {
            name: "listing_requests",
            label: t("listing requests"),
            value: (row) => row.listing_requests,
            numeric: true,
            show: (row) => count(row.listing_requests),
          },
          {
            name: "last_request",
            label: t("last request"),
            value: (row) => row.updated,
            show: (row) => el("span", { class: "nowrap" }, row.updated.slice(0, 10) || "–"),
          },
          {
            name: "state",
            label: t("state"),
            value: (row) => row.ended,
            show: (row) => row.ended || t("not finished"),
          },
        ],
        rows,
        20,
      ),
    ),
  ];
}
