import assert from "node:assert/strict";
import test from "node:test";
import { pieces } from "../src/views/highlight.ts";

const span = (name, start, end) => ({ span: name, paragraph: 0, start, end, attributes: {} });

test("a paragraph is divided at the borders of overlapping spans, in characters", () => {
  const text = "„Größer 🌍 wird es“";
  const found = pieces(text, [span("quote", 1, 17), span("ne", 1, 9), span("ne", 8, 14)]);
  assert.equal(found.map((piece) => piece.text).join(""), text);
  assert.deepEqual(
    found.map((piece) => [piece.text, piece.spans.map((each) => each.span).join(" ")]),
    [
      ["„", ""],
      ["Größer ", "quote ne"],
      ["🌍", "quote ne ne"],
      [" wird", "quote ne"],
      [" es", "quote"],
      ["“", ""],
    ],
  );
});

test("places outside of the paragraph are cut", () => {
  assert.deepEqual(
    pieces("ab", [span("ne", 1, 9)]).map((piece) => piece.text),
    ["a", "b"],
  );
  assert.deepEqual(pieces("", []), []);
});
