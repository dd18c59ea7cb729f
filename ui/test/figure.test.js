import assert from "node:assert/strict";
import test from "node:test";
import { wrapped } from "../src/chart/figure.ts";

test("the source of a saved chart is broken at blanks", () => {
  assert.deepEqual(wrapped("one two three four", 9), ["one two", "three", "four"]);
  assert.deepEqual(wrapped("unbreakable a", 4), ["unbreakable", "a"]);
  assert.deepEqual(wrapped("", 4), []);
});
