import assert from "node:assert/strict";
import test from "node:test";
import {
  brief,
  bytes,
  caution,
  count,
  direction,
  firstWords,
  language,
  lastWords,
  pValue,
  percent,
  period,
  rate,
  round,
} from "../src/format.ts";

test("counts are grouped and shortened", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(brief(12300), "12.3K");
});

test("rates have about three significant digits", () => {
  assert.deepEqual([1234.5, 123.4, 12.34, 1.234, 0.1234].map(rate), ["1,235", "123", "12.3", "1.23", "0.123"]);
  assert.equal(rate(0.00001), "1.0e-5");
  assert.equal(rate(0), "0");
});

test("missing numbers are a dash, not zero", () => {
  assert.equal(rate(null), "–");
  assert.equal(rate(undefined), "–");
  assert.equal(rate(Number.POSITIVE_INFINITY), "–");
  assert.equal(pValue(null), "–");
});

test("small probabilities have a bound instead of digits", () => {
  assert.equal(pValue(0.0004), "< 0.001");
  assert.equal(pValue(0.05), "0.050");
});

test("shares and sizes have units", () => {
  assert.equal(percent(0.5), "50 %");
  assert.equal(percent(0.0123), "1.2 %");
  assert.equal(bytes(0), "0 B");
  assert.equal(bytes(1_230_000), "1.23 MB");
  assert.equal(round(10), "10");
});

test("languages have names and directions", () => {
  assert.equal(language("de"), "German");
  assert.equal(language("not a code"), "not a code");
  assert.equal(direction("ar"), "rtl");
  assert.equal(direction("ar-EG"), "rtl");
  assert.equal(direction("en"), "ltr");
});

test("an answer that was cut off says how much of the corpus it has seen", () => {
  const cut = { kind: "cut-off", limit: "time", seen_tokens: 5000, of_tokens: 20000, time_limit_s: 30 };
  assert.match(caution(cut), /cut off after 30 s: 5,000 of 20,000 tokens \(25 %\) were searched/);
  assert.match(caution({ ...cut, limit: "values", time_limit_s: undefined }), /too many distinct values/);
});

test("periods are written for readers", () => {
  assert.equal(period("2026-03-01"), "Mar 1, 2026");
  assert.equal(period("2026-03"), "Mar 2026");
  assert.equal(period("2026-Q1"), "Q1 2026");
  assert.equal(period("2026-W09"), "week 9, 2026");
  assert.equal(period("2026"), "2026");
  assert.equal(period("2026-01..2026-02"), "Jan 2026 – Feb 2026");
});

test("contexts are cut between words", () => {
  assert.equal(lastWords("under the arcades because of it", 14), "… because of it");
  assert.equal(firstWords("came from Highbridge", 12), "came from …");
  assert.equal(firstWords("came from", 12), "came from");
});
