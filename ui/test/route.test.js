import assert from "node:assert/strict";
import test from "node:test";
import { Route, fieldEquals, filterOf, link, withHit } from "../src/route.ts";

const route = (query) => new Route(new URLSearchParams(query));

test("a route without a view is the concordance of its query, or the start page", () => {
  assert.equal(route("").view, "start");
  assert.equal(route("q=storm").view, "search");
  assert.equal(route("view=trends").view, "trends");
  assert.equal(route("").get("q"), "");
  assert.deepEqual(route("q=a&q=&q=b").all("q"), ["a", "b"]);
});

test("changed parameters are set, empty ones removed", () => {
  assert.equal(route("view=search&q=a&cursor=1-50").with({ cursor: undefined, q: "b" }), "?view=search&q=b");
});

test("links keep the corpus and the document filter, and nothing else", () => {
  const from = route("view=trends&lang=de&from=2026-01-01&site=a.example&by=week&q=x");
  assert.equal(link("timeline", from, { q: "storm" }), "?view=timeline&lang=de&from=2026-01-01&site=a.example&q=storm");
  assert.equal(link("search", from), "?lang=de&from=2026-01-01&site=a.example");
});

test("filter values are quoted if they need it", () => {
  assert.equal(fieldEquals("site", "gazette.example"), "site=gazette.example");
  assert.equal(fieldEquals("topic", "local news"), 'topic=="local news"');
  assert.equal(fieldEquals("topic", 'a"b\\'), 'topic=="a\\"b\\\\"');
});

test("the document filter joins its parts, with alternatives in parentheses", () => {
  assert.equal(
    filterOf(route("from=2026-01-01&to=2026-02-01&site=a.example")),
    "date>=2026-01-01 date<=2026-02-01 site=a.example",
  );
  assert.equal(filterOf(route("from=2026-01-01&filter=topic=a|topic=b")), "date>=2026-01-01 (topic=a|topic=b)");
  assert.equal(filterOf(route("filter=topic=a|topic=b")), "topic=a|topic=b");
  assert.equal(filterOf(route("")), "");
});

test("documents with a hit are a filter, with quotes escaped and alternatives in parentheses", () => {
  assert.equal(withHit("storm", ""), 'has("storm")');
  assert.equal(withHit('[lemma="a\\."]', "topic=a|topic=b"), '(topic=a|topic=b) has("[lemma=\\"a\\\\.\\"]")');
});
