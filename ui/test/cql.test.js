import assert from "node:assert/strict";
import test from "node:test";
import { asCql, asQuery, cqlOf, isCql, queriesOf, queryOf, sameQuery, splitQueries } from "../src/cql.ts";
import { Route } from "../src/route.ts";

const route = (query) => new Route(new URLSearchParams(query));

test("plain words are not CQL", () => {
  assert.equal(isCql("climate change"), false);
  assert.equal(isCql("state-of-the-art"), false);
  for (const text of ['"market"', "[lc='x']", "<s/>", "(a|b)", "a{2}"]) assert.equal(isCql(text), true, text);
});

test("values are escaped in CQL", () => {
  assert.equal(asCql('a"b\\c', "word"), '[word=="a\\"b\\\\c"]');
});

test("the empty value of a feature matches tokens without it", () => {
  assert.equal(asCql("", "Case"), '[Case!=".*"]');
  assert.equal(asCql("", "word"), '[word==""]');
});

test("values become plain words only where these mean the same", () => {
  assert.equal(asQuery("storm"), "storm");
  assert.equal(asQuery("Storm", "word"), "Storm");
  // A lower-case word form must not also match its capitalised variants.
  assert.equal(asQuery("storm", "word"), '[word=="storm"]');
  assert.equal(asQuery("new york", "lemma"), '[lemma=="new"] [lemma=="york"]');
  assert.equal(asQuery("a|b"), '[lc=="a|b"]');
});

test("as=lemma expands plain words and leaves CQL alone", () => {
  assert.equal(queryOf(route("q=go+home&as=lemma")), '[lemma=="go"%c] [lemma=="home"%c]');
  assert.equal(queryOf(route("q=go+home")), "go home");
  assert.equal(queryOf(route(`q=${encodeURIComponent('[lemma="go"]')}&as=lemma`)), '[lemma="go"]');
});

test("a query moves to another view with its mode", () => {
  assert.deepEqual(sameQuery(route("q=storm&q=flood&as=lemma")), { q: "storm, flood", as: "lemma" });
  assert.deepEqual(sameQuery(route("")), {});
});

test("commas separate queries, but not inside brackets and quotes", () => {
  assert.deepEqual(splitQueries("drought, flood ,fax,"), ["drought", "flood", "fax"]);
  assert.deepEqual(splitQueries('[word=","], "a,b", (x{1,2})'), ['[word=","]', '"a,b"', "(x{1,2})"]);
  assert.deepEqual(splitQueries('[word="\\","] , b'), ['[word="\\","]', "b"]);
  assert.deepEqual(queriesOf(route("q=a%2C+b&q=b&q=c")), ["a", "b", "c"]);
});

test("several queries are alternatives where a view asks one question", () => {
  assert.equal(queryOf(route("q=storm%2C+big+flood")), '([word=="storm"%c]) | ([word=="big"%c] [word=="flood"%c])');
});

test("wildcards become regular expressions, and other characters are literal", () => {
  assert.equal(cqlOf(route(""), "appl*"), '[word="appl.*"%c]');
  assert.equal(cqlOf(route(""), "colo?r Red"), '[word="colo.r"%c] [word=="Red"]');
  assert.equal(cqlOf(route("as=lemma"), "go*"), '[lemma="go.*"%c]');
  assert.equal(cqlOf(route(""), "a.b*"), '[word="a\\.b.*"%c]');
  // A lone question mark is punctuation.
  assert.equal(cqlOf(route(""), "why ?"), "why ?");
});

test("values with wildcards or commas are not plain words", () => {
  assert.equal(asQuery("a*"), '[lc=="a*"]');
  assert.equal(asQuery("1,000"), '[lc=="1,000"]');
});
