import assert from "node:assert/strict";
import test from "node:test";
import { apa, bibtex, plain } from "../src/citation.ts";

const cited = {
  title: "Timeline",
  query: '[lemma=="go"%c]',
  filter: "date>=2026-01",
  corpus: "English",
  digest: "4f2a".repeat(16),
  generation: 7,
  version: "0.2.0",
  tokens: 1234567,
  first: "2016-01-01",
  last: "2025-12-31",
  link: null,
  accessed: "2026-11-18",
};

test("a citation names checksum, version and question, and an address only if there is one", () => {
  for (const text of [plain(cited), apa(cited), bibtex(cited)]) {
    assert.match(text, /sha256:4f2a4f2a4f2a4f2a/);
    assert.match(text, /0\.2\.0/);
    assert.match(text, /1,234,567 tokens/);
    assert.doesNotMatch(text, /http/);
  }
  const link = "https://corpus.example/?view=timeline&q=a_b";
  assert.match(plain({ ...cited, link }), /https:\/\/corpus\.example/);
  assert.match(bibtex({ ...cited, link }), /url = \{https:\/\/corpus\.example\/\?view=timeline&q=a_b\}/);
  assert.match(plain({ ...cited, digest: null }), /state 7/);
});

test("queries are escaped in BibTeX", () => {
  assert.match(bibtex(cited), /\[lemma=="go"\\%c\]/);
  assert.match(bibtex({ ...cited, query: "a{2}_#" }), /a\\\{2\\\}\\_\\#/);
});
