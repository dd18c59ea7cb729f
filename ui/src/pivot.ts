// Pivot tables: the last of several values as columns, so that parts of the corpus stand side by side.

/** Hits of a combination of values. */
export interface Combination {
  values: readonly string[];
  hits: number;
}

/** A row of a pivot table: the values before the last, and the hits by the last. */
export interface PivotRow {
  values: readonly string[];
  cells: ReadonlyMap<string, number>;
  hits: number;
}

/** A pivot table. */
export interface Pivot {
  /** The values of the last level: periods in their order, others the most frequent first. */
  columns: readonly string[];
  /** The hits of each column, in all rows. */
  totals: ReadonlyMap<string, number>;
  /** Columns that are left out, because there are too many. */
  left: number;
  /** The most frequent first. */
  rows: readonly PivotRow[];
}

const isPeriod = (value: string): boolean => value === "" || /^\d{4}(-\d{2}){0,2}$/.test(value);

/** Takes the last value of each combination as a column; of many columns the most frequent, and of periods the last ones. */
export function pivot(combinations: readonly Combination[], most: number): Pivot {
  const totals = new Map<string, number>();
  const rows = new Map<string, { values: readonly string[]; cells: Map<string, number>; hits: number }>();
  for (const { values, hits } of combinations) {
    const [head, last] = [values.slice(0, -1), values.at(-1) ?? ""];
    totals.set(last, (totals.get(last) ?? 0) + hits);
    const key = JSON.stringify(head);
    const row = rows.get(key) ?? { values: head, cells: new Map<string, number>(), hits: 0 };
    row.cells.set(last, (row.cells.get(last) ?? 0) + hits);
    row.hits += hits;
    rows.set(key, row);
  }
  const all = [...totals.keys()];
  const byHits = (one: string, other: string) => totals.get(other)! - totals.get(one)! || (one < other ? -1 : 1);
  const columns = all.every(isPeriod) ? all.sort().slice(-most) : all.sort(byHits).slice(0, most);
  const ranked = [...rows.values()].sort((one, other) => other.hits - one.hits);
  return { columns, totals, left: all.length - columns.length, rows: ranked };
}
