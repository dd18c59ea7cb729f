import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { CATALOGUES, LANGUAGES, filled, firstKnown } from "../src/text/index.ts";

// The runner starts in the folder of the page.
const SOURCES = path.join(process.cwd(), "src");

/** The literal that starts at a place of a source. */
function literal(text, at) {
  const quote = text[at];
  if (quote !== '"' && quote !== "'") return null;
  let end = at + 1;
  while (text[end] !== quote) end += text[end] === "\\" ? 2 : 1;
  const value = text
    .slice(at + 1, end)
    .replace(/\\u(\w{4})|\\(.)/g, (_, code, letter) =>
      code ? String.fromCharCode(Number.parseInt(code, 16)) : letter,
    );
  return { value, end: end + 1 };
}

const skip = (text, at) => {
  while (/[\s,]/.test(text[at])) at += 1;
  return at;
};

/** All messages of the sources: plain ones, and those with plural forms. */
function messages() {
  const [plain, counted] = [new Set(), new Set()];
  for (const name of readdirSync(SOURCES, { recursive: true })) {
    if (!name.endsWith(".ts") || name.startsWith("text") || name.startsWith("generated")) continue;
    const text = readFileSync(path.join(SOURCES, name), "utf8");
    for (const { index, 0: call } of text.matchAll(/\bt\(\s*/g)) {
      const found = literal(text, index + call.length);
      assert.ok(found, `${name}: t() takes a literal text: ${text.slice(index, index + 60)}`);
      plain.add(found.value);
    }
    for (const { index } of text.matchAll(/\btn\(/g)) {
      // The first argument is a number; the texts are the next two literals with its place.
      let at = index;
      let one = null;
      while (!one?.value.includes("{n}")) {
        at = one?.end ?? at;
        while (text[at] !== '"' && text[at] !== "'") at += 1;
        one = literal(text, at);
      }
      const more = literal(text, skip(text, one.end));
      assert.ok(more, `${name}: tn() takes two literal texts`);
      counted.add(more.value);
    }
  }
  return { plain, counted };
}

const places = (text) => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();

for (const [code, catalogue] of Object.entries(CATALOGUES)) {
  test(`the catalogue ${code} has every message with its placeholders, and nothing else`, () => {
    const { plain, counted } = messages();
    const all = new Set([...plain, ...counted]);
    const missing = [...all].filter((message) => !(message in catalogue));
    const unused = Object.keys(catalogue).filter((message) => !all.has(message));
    assert.deepEqual({ missing, unused }, { missing: [], unused: [] });
    const categories = new Intl.PluralRules(code)
      .resolvedOptions()
      .pluralCategories.filter((name) => name !== "many" || code === "cs");
    for (const message of counted) {
      const forms = catalogue[message];
      assert.equal(typeof forms, "object", message);
      for (const category of categories) {
        if (code === "cs" && category === "many") continue;
        assert.ok(forms[category], `${message}: ${category}`);
        const wanted = places(message);
        assert.deepEqual(places(forms[category]), wanted, `${message}: ${category}`);
      }
    }
    for (const message of plain)
      if (typeof catalogue[message] === "string")
        assert.deepEqual(places(catalogue[message]), places(message), message);
  });
}

test("every language has a catalogue", () => {
  assert.deepEqual(
    LANGUAGES.map(([code]) => code)
      .filter((code) => code !== "en")
      .sort(),
    Object.keys(CATALOGUES).sort(),
  );
});

test("the language of the browser is taken if there is a catalogue", () => {
  for (const [code] of LANGUAGES) assert.equal(firstKnown(["ja", `${code}-XX`, "en"]), code);
  assert.equal(firstKnown(["ja"]), "en");
  assert.equal(filled("{a} of {b}", { a: 1 }), "1 of {b}");
});
