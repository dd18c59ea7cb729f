import assert from "node:assert/strict";
import test from "node:test";
import { bandsInform, coarser, runs, smoothed, thin } from "../src/chart/series.ts";
import { daysOf, timeTicks } from "../src/chart/period.ts";
import { spread } from "../src/chart/timeline.ts";

const point = (hits, tokens = 1e6, band = null) => ({
  bin: "2026",
  hits,
  tokens,
  per_million: tokens > 0 && hits !== null ? (1e6 * hits) / tokens : null,
  band,
});

test("a centred mean sums hits and tokens, and leaves gaps as gaps", () => {
  assert.deepEqual(smoothed([point(1), point(2), point(6)], 3), [1.5, 3, 4]);
  // A period with ten times the text counts ten times as much.
  assert.deepEqual(smoothed([point(10, 1e7), point(10, 1e6)], 3), [20 / 11, 20 / 11]);
  assert.deepEqual(smoothed([point(1), point(0, 0), point(null)], 3), [1, null, null]);
});

test("periods in which the mean rate gives few hits are thin", () => {
  assert.deepEqual(thin([point(10), point(0, 1e5), point(10)]), [false, true, false]);
  assert.deepEqual(thin([point(0), point(0)]), [true, true]);
});

test("sparse words get a coarser interval, frequent and absent ones do not", () => {
  const of = (hits) => [{ name: "x", points: Array.from({ length: 24 }, () => point(hits)) }];
  assert.equal(coarser("month", of(1)), "quarter");
  assert.equal(coarser("year", of(1)), null);
  assert.equal(coarser("month", of(20)), null);
  assert.equal(coarser("month", of(0)), null);
  assert.equal(coarser("month", [{ name: "x", points: [point(1), point(1)] }]), null);
});

test("bands are shown where they are narrow", () => {
  const with_band = (low, high) => Array.from({ length: 5 }, () => point(100, 1e6, { low, high }));
  assert.equal(bandsInform(with_band(90, 110)), true);
  assert.equal(bandsInform(with_band(0, 900)), false);
});

test("equal neighbours are one run", () => {
  assert.deepEqual(runs(["a", "a", "b", "a"]), [
    { value: "a", from: 0, to: 1 },
    { value: "b", from: 2, to: 2 },
    { value: "a", from: 3, to: 3 },
  ]);
});

test("periods have first and last days", () => {
  assert.deepEqual(daysOf("2026"), { first: "2026-01-01", last: "2026-12-31" });
  assert.deepEqual(daysOf("2026-H2"), { first: "2026-07-01", last: "2026-12-31" });
  assert.deepEqual(daysOf("2024-Q1"), { first: "2024-01-01", last: "2024-03-31" });
  assert.deepEqual(daysOf("2024-02"), { first: "2024-02-01", last: "2024-02-29" });
  assert.deepEqual(daysOf("2026-W01"), { first: "2025-12-29", last: "2026-01-04" });
  assert.deepEqual(daysOf("2026-03-01"), { first: "2026-03-01", last: "2026-03-01" });
  assert.deepEqual(daysOf("2026-03-01..2026-03-10"), { first: "2026-03-01", last: "2026-03-10" });
});

test("labels of long axes are years", () => {
  const bins = Array.from(
    { length: 120 },
    (_, at) => `${2016 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`,
  );
  assert.deepEqual(
    timeTicks(bins, 1000).map(({ label }) => label),
    ["2016", "2017", "2018", "2019", "2020", "2021", "2022", "2023", "2024", "2025"],
  );
  assert.equal(timeTicks(bins, 150).length, 4);
});

test("labels at line ends do not overlap", () => {
  assert.deepEqual(spread([10, 12, 100], 16, 0, 200), [10, 26, 100]);
  assert.deepEqual(spread([195, 198], 16, 0, 200), [184, 200]);
});
