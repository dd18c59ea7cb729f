// Sortable, accessible tables with CSV download.

import { type Child, el, save } from "./dom.ts";
import { locale, t } from "./text/index.ts";

/** A column of a table. */
export interface Column<Row> {
  name: string;
  /** The heading, if it differs from the name of the CSV column. */
  label?: string;
  /** Explanation, shown as tooltip. */
  about?: string;
  /** The value for sorting and CSV. */
  value: (row: Row) => string | number | null | undefined;
  /** The displayed content, if it differs from the value. */
  show?: (row: Row) => Child;
  /** Numeric columns are right-aligned and sorted in descending order first. */
  numeric?: boolean;
  /** Text that is shown in full, on as many lines as it needs. */
  running?: boolean;
  /** A drawing of another column; left out of CSV. */
  picture?: boolean;
}

/** A CSV field; text that a spreadsheet would run as a formula is prefixed with an apostrophe. */
function field(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows as CSV (RFC 4180). */
export function csv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const kept = columns.filter((column) => !column.picture);
  const lines = [
    kept.map((column) => field(column.name)),
    ...rows.map((row) => kept.map((column) => field(column.value(row)))),
  ];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** A button that saves rows as CSV, with a byte order mark, which spreadsheets need to read UTF-8. */
export function csvButton<Row>(
  name: string,
  columns: readonly Column<Row>[],
  rows: () => readonly Row[],
): HTMLButtonElement {
  const give = () =>
    save(`tidings-${name}.csv`, new Blob(["\ufeff", csv(columns, rows())], { type: "text/csv;charset=utf-8" }));
  return el("button", { type: "button", class: "plain csv", click: give }, "CSV");
}

function compare(one: string | number | null | undefined, other: string | number | null | undefined): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (one === null || one === undefined) return 1;
  if (other === null || other === undefined) return -1;
  return String(one).localeCompare(String(other), locale, { numeric: true });
}

/** A table; rows beyond `first` are shown on demand. */
export function table<Row>(
  name: string,
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  first = Number.POSITIVE_INFINITY,
): HTMLElement {
  let shown = [...rows];
  let most = first;
  const body = el("tbody");
  const fillBody = () =>
    body.replaceChildren(
      ...shown.slice(0, most).map((row) =>
        el(
          "tr",
          {},
          ...columns.map((column, at) => {
            const content = column.show
              ? column.show(row)
              : column.numeric
                ? String(column.value(row) ?? "–")
                : el("bdi", {}, String(column.value(row) ?? ""));
            const attributes = { class: column.numeric ? "number" : column.running ? "running" : undefined };
            return at === 0 ? el("th", { scope: "row", ...attributes }, content) : el("td", attributes, content);
          }),
        ),
      ),
    );
  const heads = columns.map((column) => {
    // A column of drawings may have no heading; its numbers stand in another one.
    if (column.label === "") return el("td");
    const head = el("th", { scope: "col", class: column.numeric ? "number" : undefined, title: column.about });
    if (column.picture) {
      head.append(column.label ?? column.name);
      return head;
    }
    head.append(
      el(
        "button",
        {
          type: "button",
          class: "sort",
          click: () => {
            const falling = head.getAttribute("aria-sort")
              ? head.getAttribute("aria-sort") === "ascending"
              : Boolean(column.numeric);
            for (const each of heads) each.removeAttribute("aria-sort");
            head.setAttribute("aria-sort", falling ? "descending" : "ascending");
            shown = [...rows].sort(
              (one, other) => (falling ? -1 : 1) * compare(column.value(one), column.value(other)),
            );
            fillBody();
          },
        },
        column.label ?? column.name,
      ),
    );
    return head;
  });
  fillBody();
  const all =
    rows.length > first &&
    el(
      "button",
      {
        type: "button",
        class: "plain",
        click: () => {
          most = Number.POSITIVE_INFINITY;
          fillBody();
          (all as HTMLElement).remove();
        },
      },
      t("Show all {n}", { n: rows.length }),
    );
  return el(
    "div",
    { class: "tabled" },
    el(
      "div",
      { class: "tools" },
      csvButton(name, columns, () => shown),
    ),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      el("table", { class: "rows" }, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...heads)), body),
    ),
    all,
  );
}
