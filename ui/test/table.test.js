import assert from "node:assert/strict";
import test from "node:test";
import { csv } from "../src/table.ts";
import { address } from "../src/api.ts";

test("CSV quotes fields, leaves out drawings, and defuses formulas", () => {
  const columns = [
    { name: "word", value: (row) => row.word },
    { name: "sparkline", picture: true, value: () => "" },
    { name: "hits", numeric: true, value: (row) => row.hits },
  ];
  const rows = [
    { word: 'a,"b"', hits: 1 },
    { word: "=1+1", hits: null },
    { word: "-", hits: -2.5 },
  ];
  assert.equal(csv(columns, rows), 'word,hits\r\n"a,""b""",1\r\n\'=1+1,\r\n\'-,-2.5\r\n');
});

test("request URLs fill in the path and leave out empty parameters", () => {
  const parameters = { q: "a b", filter: "", in: undefined, size: 0 };
  assert.equal(address("query", "en", parameters), "api/v1/en/query?q=a+b&size=0");
  assert.equal(address("count", "en", { filter: "date=2026", q: "a" }), "api/v1/en/count?q=a&filter=date%3D2026");
  assert.equal(address("corpora", "en"), "api/v1/corpora");
  assert.equal(address("document", "x/y", { id: "0a?" }), "api/v1/x%2Fy/documents/0a%3F");
});
