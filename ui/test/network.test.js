import assert from "node:assert/strict";
import test from "node:test";
import { around } from "../src/chart/network.ts";

test("collocates that belong together are neighbours on the circle", () => {
  const edges = [
    { one: 0, other: 3, score: 5 },
    { one: 1, other: 2, score: 9 },
    { one: 3, other: 1, score: 2 },
  ];
  assert.deepEqual(around(4, edges), [0, 3, 1, 2]);
  assert.deepEqual(around(3, []), [0, 1, 2]);
  assert.deepEqual(around(1, []), [0]);
});
