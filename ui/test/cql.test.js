import assert from "node:assert/strict";
import test from "node:test";
import { asCql, asQuery, isCql, queryOf, sameQuery } from "../src/cql.ts";
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
  assert.deepEqual(sameQuery(route("q=storm&q=flood&as=lemma")), { q: "storm", as: "lemma" });
  assert.deepEqual(sameQuery(route("")), {});
});
