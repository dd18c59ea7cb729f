// Frequency of hits by attribute or metadata field, as bars.

import { bar } from "../chart/bars.ts";
import { el, bidi } from "../dom.ts";
import { fieldEquals, link } from "../route.ts";
import { count, percent, rate } from "../format.ts";
import type { FrequencyRow } from "../generated/api.ts";
import { type Column, table } from "../table.ts";
import { asQuery, queryOf, sameQuery } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type View, type ViewContext } from "../view.ts";
import { LIMIT, askForQuery, hasQuery, showEmpty } from "./shared.ts";

/** Names of fields of documents for readers. */
export const FIELD_NAMES: Readonly<Record<string, string>> = {
  site: t("source"),
  date: t("day"),
  section: t("section"),
  author: t("author"),
  licence: t("licence"),
  lang: t("language"),
  feed: t("feed"),
  country: t("country"),
  topic: t("topic"),
};

const usual = (context: ViewContext): string => (context.corpus?.fields.includes("site") ? "site" : "lc");

/** The frequencies view. */
export const frequencies: View = {
  name: "frequencies",
  title: t("Frequencies"),
  about: t("Frequency of hits by source, word form, month or any metadata field."),
  kind: "query",
  facets: true,
  fields: (context) => {
    const fields = (context.corpus?.fields ?? []).filter((name) => !["url", "title", "seen"].includes(name));
    const attributes = context.attributes
      .filter((name) => name !== "word")
      .map(
        (name) =>
          [
            name,
            { lc: t("form"), tag: t("part of speech"), feats: t("all features"), lemma: t("lemma") }[name] ?? name,
          ] as const,
      );
    const features = Object.keys(context.corpus?.features ?? {}).map(
      (name) => [name, t("feature {name}", { name })] as const,
    );
    return [
      {
        name: "by",
        label: t("By"),
        kind: "choice",
        choices: [
          ...fields.map((name) => [name, FIELD_NAMES[name] ?? name] as const),
          ["word", t("exact form")],
          ...attributes,
          ...features,
        ],
        initial: usual(context),
      },
      {
        name: "measure",
        label: t("Bars"),
        kind: "choice",
        choices: [
          ["", t("per million tokens")],
          ["hits", t("hits")],
          ["documents", t("share of documents")],
        ],
        initial: "",
      },
      LIMIT,
    ];
  },
  ready: hasQuery,
  welcome: askForQuery,
  show: async (context) => {
    const { route } = context;
    const by = route.get("by") || usual(context);
    const measure = route.get("measure");
    const found = await context.request("freq", {
      ...context.documents,
      q: queryOf(route),
      by,
      documents: measure === "documents" ? true : undefined,
      limit: route.get("limit"),
    });
    if (found.rows.length === 0) return showEmpty(context, t("No hits."));
    context.announce(`${tn(found.hits, "{n} hit", "{n} hits")} · ${tn(found.values, "{n} value", "{n} values")}`);
    const isField = context.corpus?.fields.includes(by);
    const hitsOf = (value: string) =>
      isField
        ? link("search", route, {
            ...sameQuery(route),
            ...(by === "site"
              ? { site: value }
              : {
                  filter: [fieldEquals(by, value), route.get("filter") && `(${route.get("filter")})`]
                    .filter(Boolean)
                    .join(" "),
                }),
          })
        : link("search", route, { q: asQuery(value, by) });
    const measured = (row: FrequencyRow) =>
      measure === "documents"
        ? (row.document_share ?? 0)
        : measure === "hits"
          ? row.hits
          : (row.per_million ?? row.hits);
    const barLabels: Record<string, string> = { hits: t("hits"), documents: t("share of documents") };
    const barLabel = barLabels[measure] ?? t("per million tokens");
    const largest = Math.max(...found.rows.map(measured));
    const label = FIELD_NAMES[by] ?? by;
    const columns: Column<FrequencyRow>[] = [
      {
        name: by,
        label,
        value: (row) => row.value,
        show: (row) => (row.value ? el("a", { href: hitsOf(row.value) }, bidi(row.value)) : t("(unknown)")),
      },
      { name: "bar", label: barLabel, picture: true, value: () => "", show: (row) => bar(measured(row), largest) },
      { name: "hits", label: t("hits"), value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
      {
        name: "per_million",
        label: t("per million"),
        value: (row) => row.per_million,
        numeric: true,
        show: (row) => rate(row.per_million),
      },
      {
        name: "tokens",
        label: t("tokens"),
        value: (row) => row.tokens,
        numeric: true,
        show: (row) => (row.tokens === undefined ? "" : count(row.tokens)),
      },
    ];
    if (measure === "documents")
      columns.push(
        {
          name: "hit_documents",
          label: t("documents with a hit"),
          value: (row) => row.hit_documents,
          numeric: true,
          show: (row) => (row.hit_documents === undefined ? "–" : count(row.hit_documents)),
        },
        {
          name: "document_share",
          label: t("share of documents"),
          value: (row) => row.document_share,
          numeric: true,
          show: (row) => (row.document_share === undefined ? "–" : percent(row.document_share)),
        },
      );
    context.append(
      table(
        "frequencies",
        t("Hits by {field}", { field: label }),
        columns.filter(({ name }) => name !== "tokens" || found.rows.some((row) => row.tokens !== undefined)),
        found.rows,
      ),
    );
  },
};
