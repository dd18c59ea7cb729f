import assert from "node:assert/strict";
import { test } from "node:test";
import { pivot } from "../src/pivot.ts";

const combination = (hits, ...values) => ({ values, hits });

test("the last value of each combination is a column, the most frequent first", () => {
  const found = pivot([combination(3, "go", "a"), combination(4, "go", "b"), combination(2, "come", "b")], 9);
  assert.deepEqual(found.columns, ["b", "a"]);
  assert.deepEqual(
    found.rows.map((row) => [row.values, row.hits, row.cells.get("a") ?? 0, row.cells.get("b") ?? 0]),
    [
      [["go"], 7, 3, 4],
      [["come"], 2, 0, 2],
    ],
  );
  assert.deepEqual([found.totals.get("a"), found.totals.get("b"), found.left], [3, 6, 0]);
});

test("periods are in their order, and the last ones are kept", () => {
  const found = pivot([combination(9, "x", "2019"), combination(1, "x", "2021"), combination(2, "x", "2020")], 2);
  assert.deepEqual([found.columns, found.left], [["2020", "2021"], 1]);
});

test("one level alone is one row of columns", () => {
  const found = pivot([combination(2, "a"), combination(1, "b")], 9);
  assert.deepEqual(
    found.rows.map((row) => [row.values, row.hits]),
    [[[], 3]],
  );
});
