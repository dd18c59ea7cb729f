// Frequencies of hits by several values at once: of the hit, of its neighbours and of its document.

import { bar } from "../chart/bars.ts";
import { el, bidi } from "../dom.ts";
import { count, percent, rate } from "../format.ts";
import type { GroupRow } from "../generated/api.ts";
import { type PivotRow, pivot } from "../pivot.ts";
import { type Column, table } from "../table.ts";
import { queryOf } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import { type View, type ViewContext } from "../view.ts";
import { FIELD_NAMES } from "./frequencies.ts";
import { LIMIT, askForQuery, hasQuery, showEmpty } from "./shared.ts";

/** The names of levels for readers; others are shown as they are. */
const LEVEL_NAMES: Readonly<Record<string, string>> = {
  lc: t("form"),
  lemma: t("lemma"),
  tag: t("part of speech"),
  left1: t("word before"),
  right1: t("word after"),
  left2: t("second word before"),
  right2: t("second word after"),
  year: t("year"),
  month: t("month"),
};

const nameOf = (level: string): string => LEVEL_NAMES[level] ?? FIELD_NAMES[level] ?? level;

/** The levels that the form offers. */
function levels(context: ViewContext): (readonly [string, string])[] {
  const fields = (context.corpus?.fields ?? []).filter((name) => !["url", "title", "seen"].includes(name));
  const attributes = ["lc", "lemma", "tag"].filter((name) => context.attributes.includes(name));
  const all = [...attributes, "left1", "right1", "left2", "right2", ...fields, "year", "month"];
  return all.map((name) => [name, nameOf(name)] as const);
}

/** The levels of a route: three fields of the form. */
const chosen = (context: ViewContext): string[] =>
  [context.route.get("by") || "lc", context.route.get("by2") || "right1", context.route.get("by3")].filter(
    (name, at, all) => name && name !== "none" && all.indexOf(name) === at,
  );

/** The most columns that stand side by side. */
const MOST_COLUMNS = 16;
/** The combinations that are asked for to fill the cells. */
const MOST_COMBINATIONS = 10_000;

/** Shows the last value as columns, so that sources, years or neighbours stand side by side. */
function showSideBySide(context: ViewContext, by: readonly string[], rows: readonly GroupRow[]): void {
  const found = pivot(rows, MOST_COLUMNS);
  const asShare = context.route.get("cells") === "share";
  const total = (column: string) => found.totals.get(column) || 1;
  const columns: Column<PivotRow>[] = [
    ...by
      .slice(0, -1)
      .map((level, at): Column<PivotRow> => ({
        name: level,
        label: nameOf(level),
        value: (row) => row.values[at] ?? "",
        show: (row) => (row.values[at] ? bidi(row.values[at]) : el("span", { class: "quiet" }, t("(nothing)"))),
      })),
    ...found.columns.map((column): Column<PivotRow> => ({
      name: column || "-",
      label: column || t("(nothing)"),
      value: (row) => (row.cells.get(column) ?? 0) / (asShare ? total(column) : 1),
      numeric: true,
      show: (row) => {
        const hits = row.cells.get(column) ?? 0;
        if (hits === 0) return el("span", { class: "quiet" }, "–");
        return asShare ? percent(hits / total(column)) : count(hits);
      },
    })),
    { name: "hits", label: t("hits"), value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
  ];
  if (found.left > 0)
    context.append(
      el(
        "p",
        { class: "quiet" },
        tn(found.left, "{n} further column is not shown.", "{n} further columns are not shown."),
      ),
    );
  const most = Number(context.route.get("limit")) || 50;
  const caption = t("Hits by {field}", { field: by.map(nameOf).join(" · ") });
  context.append(table("groups", caption, columns, found.rows.slice(0, most)));
}

/** The view of multilevel frequencies. */
export const groups: View = {
  name: "groups",
  title: t("Grouped frequencies"),
  about: t("Frequency of hits by several values at once: word forms, neighbours, sources, years."),
  kind: "query",
  facets: true,
  fields: (context) => {
    const optional = [["none", t("(nothing)")] as const, ...levels(context)];
    return [
      { name: "by", label: t("By"), kind: "choice", choices: levels(context), initial: "lc" },
      { name: "by2", label: t("then by"), kind: "choice", choices: optional, initial: "right1" },
      { name: "by3", label: t("and by"), kind: "choice", choices: optional, initial: "none" },
      { name: "side", label: t("Last value side by side, as columns"), kind: "flag" },
      {
        name: "cells",
        label: t("In columns"),
        kind: "choice",
        choices: [
          ["", t("hits")],
          ["share", t("share of the hits of the column")],
        ],
        initial: "",
        advanced: true,
      },
      { name: "min", label: t("Minimum hits"), kind: "number", initial: "1", advanced: true },
      LIMIT,
    ];
  },
  ready: hasQuery,
  welcome: askForQuery,
  show: async (context) => {
    const { route } = context;
    const by = chosen(context);
    const isSideBySide = route.get("side") === "true" && by.length > 1;
    const found = await context.request("group", {
      ...context.documents,
      q: queryOf(route),
      by: by.join(","),
      min: route.get("min"),
      limit: isSideBySide ? MOST_COMBINATIONS : route.get("limit"),
    });
    if (found.rows.length === 0) return showEmpty(context, t("No hits."));
    context.announce(
      `${tn(found.hits, "{n} hit", "{n} hits")} · ${tn(found.values, "{n} combination", "{n} combinations")}`,
    );
    if (isSideBySide) return showSideBySide(context, by, found.rows);
    const largest = Math.max(...found.rows.map((row) => row.hits));
    const columns: Column<GroupRow>[] = [
      ...by.map((level, at): Column<GroupRow> => ({
        name: level,
        label: nameOf(level),
        value: (row) => row.values[at] ?? "",
        show: (row) => (row.values[at] ? bidi(row.values[at]) : el("span", { class: "quiet" }, t("(nothing)"))),
      })),
      { name: "bar", label: "", picture: true, value: () => "", show: (row) => bar(row.hits, largest) },
      { name: "hits", label: t("hits"), value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
      {
        name: "share",
        label: t("share"),
        value: (row) => row.share,
        numeric: true,
        show: (row) => (row.share === null ? "–" : percent(row.share)),
      },
      {
        name: "per_million",
        label: t("per million"),
        value: (row) => row.per_million,
        numeric: true,
        show: (row) => rate(row.per_million),
      },
    ];
    context.append(table("groups", t("Hits by {field}", { field: by.map(nameOf).join(" · ") }), columns, found.rows));
  },
};
