// Several queries by source and time at once: shares of documents, rates, shares among the queries.

import { el, bidi } from "../dom.ts";
import { count, percent, period, rate } from "../format.ts";
import type { CrosstabRow } from "../generated/api.ts";
import { type Column, table } from "../table.ts";
import { cqlOf, queriesOf } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type View, type ViewContext, INTERVALS } from "../view.ts";
import { FIELD_NAMES } from "./frequencies.ts";
import { LIMIT, askForQuery, hasQuery, showEmpty } from "./shared.ts";

/** A number of a cell. */
interface CellMeasure {
  title: string;
  value: (row: CrosstabRow) => number | null;
  show: (value: number) => string;
}

const MEASURES: Readonly<Record<string, CellMeasure>> = {
  document_share: { title: t("share of documents"), value: (row) => row.document_share, show: percent },
  hit_documents: { title: t("documents with a hit"), value: (row) => row.hit_documents, show: count },
  per_million: { title: t("per million tokens"), value: (row) => row.per_million, show: rate },
  hits: { title: t("hits"), value: (row) => row.hits, show: count },
  query_share: { title: t("share among the queries"), value: (row) => row.query_share, show: percent },
};

const isStep = (name: string): boolean => INTERVALS.some(([step]) => step === name);
const nameOf = (name: string): string => INTERVALS.find(([step]) => step === name)?.[1] ?? FIELD_NAMES[name] ?? name;
const valueOf = (name: string, value: string): string => (isStep(name) ? period(value) : value || t("(unknown)"));

/** The fields and intervals that the form offers. */
function levels(context: ViewContext): (readonly [string, string])[] {
  const fields = (context.corpus?.fields ?? []).filter(
    (name) => !["url", "title", "seen", "date", "id"].includes(name),
  );
  const steps = INTERVALS.map(([name]) => name).filter((name) => !fields.includes(name));
  return [...fields, ...steps].map((name) => [name, nameOf(name)] as const);
}

/** A line of the table: a value, a query, and its cells by the value of the column. */
interface TableLine {
  value: string;
  query: string;
  cells: Map<string, CrosstabRow>;
}

function linesOf(rows: readonly CrosstabRow[]): TableLine[] {
  const lines = new Map<string, TableLine>();
  for (const row of rows) {
    const [value = "", column = ""] = row.values;
    const key = JSON.stringify([value, row.query]);
    const line = lines.get(key) ?? { value, query: row.query, cells: new Map<string, CrosstabRow>() };
    line.cells.set(column, row);
    lines.set(key, line);
  }
  return [...lines.values()];
}

/** The cross table view. */
export const crosstab: View = {
  name: "crosstab",
  title: t("Cross table"),
  about: t("Several queries by source and time: share of documents, rates, share among the queries."),
  kind: "query",
  facets: true,
  fields: (context) => [
    { name: "by", label: t("Rows"), kind: "choice", choices: levels(context), initial: "site" },
    {
      name: "by2",
      label: t("Columns"),
      kind: "choice",
      choices: [["none", t("(nothing)")], ...levels(context)],
      initial: "year",
    },
    {
      name: "measure",
      label: t("Measure"),
      kind: "choice",
      choices: Object.entries(MEASURES).map(([name, { title }]) => [name, title] as const),
      initial: "document_share",
    },
    LIMIT,
  ],
  ready: hasQuery,
  welcome: askForQuery,
  meaning: t(
    "The share of documents is the part of all documents of a cell that have a hit of the query. The share among the queries is the part of the hits of all queries of the cell: with two variants of a construction it tells which one is used. Separate queries by commas.",
  ),
  show: async (context) => {
    const { route } = context;
    const by = route.get("by") || "site";
    const by2 = route.get("by2") || "year";
    const names = by2 === "none" || by2 === by ? [by] : [by, by2];
    const queries = queriesOf(route);
    const found = await context.request("crosstab", {
      ...context.documents,
      q: queries.map((query) => cqlOf(route, query)).join(","),
      by: names.join(","),
      limit: route.get("limit"),
    });
    if (found.rows.length === 0) return showEmpty(context, t("No documents."));
    const measure = MEASURES[route.get("measure")] ?? MEASURES.document_share!;
    context.announce(
      `${tn(found.hits, "{n} hit", "{n} hits")} · ${tn(found.documents, "{n} document", "{n} documents")}`,
    );
    const shownQuery = new Map(found.queries.map((query, at) => [query, queries[at] ?? query]));
    const columns: Column<TableLine>[] = [
      { name: by, label: nameOf(by), value: (line) => line.value, show: (line) => bidi(valueOf(by, line.value)) },
    ];
    if (queries.length > 1)
      columns.push({
        name: "query",
        label: t("query"),
        value: (line) => line.query,
        show: (line) => bidi(shownQuery.get(line.query) ?? line.query),
      });
    const values = [...new Set(found.rows.map((row) => row.values[1] ?? ""))].sort();
    for (const value of values)
      columns.push({
        name: value || measure.title,
        label: names.length > 1 ? valueOf(by2, value) : measure.title,
        numeric: true,
        value: (line) => {
          const cell = line.cells.get(value);
          return cell && measure.value(cell);
        },
        show: (line) => {
          const cell = line.cells.get(value);
          const number = cell ? measure.value(cell) : null;
          const about = cell && tn(cell.documents, "{n} document", "{n} documents");
          return el("span", about ? { title: about } : {}, number === null ? "–" : measure.show(number));
        },
      });
    context.append(
      table(
        "crosstab",
        t("{measure} by {field}", { measure: measure.title, field: names.map(nameOf).join(" · ") }),
        columns,
        linesOf(found.rows),
      ),
    );
  },
};
