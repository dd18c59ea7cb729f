// A concordance: hits below each other, aligned on the hit, in the direction in which the language is written.

import { el } from "../dom.ts";
import { type Place, link } from "../place.ts";
import { direction } from "../say.ts";

/** A word of a line. */
export interface Token {
  word: string;
  lemma?: string;
  tag?: string;
  feats?: string;
  space_after: boolean;
}

/** A hit in its context. Without a right there is no text. */
export interface Line {
  document: string;
  fields: Record<string, string>;
  restricted?: boolean;
  position?: number;
  left?: Token[];
  node?: Token[];
  right?: Token[];
}

/** Tokens as they stand in the text. */
export const text = (tokens: readonly Token[] = []): string =>
  tokens
    .map((token) => token.word + (token.space_after ? " " : ""))
    .join("")
    .trim();

/** What the tagger says about the words of a hit, where that is more than the words say themselves. */
const analysis = (tokens: readonly Token[] = []): string =>
  tokens
    .filter(({ word, lemma, tag }) => tag || (lemma && lemma !== word.toLowerCase()))
    .map((token) => `${token.word}: ${[token.lemma, token.tag, token.feats].filter(Boolean).join(", ")}`)
    .join("; ");

/** The sentences around a hit, as the API gives them. */
export interface Context {
  restricted: boolean;
  shortened: boolean;
  sentences: { paragraph: number; position: number; tokens: Token[] }[];
}

/** Asks for what stands around a hit: its paragraph, and so many on either side. */
export type Widen = (line: Line, around: number) => Promise<Context>;

/** The table of the lines. */
export function concordance(
  lines: readonly Line[],
  lang: string,
  place: Place,
  caption: string,
  widen: Widen,
): HTMLElement {
  const base = direction(lang);
  // The words before a hit are cut off at their beginning: text runs away from the hit in a cell of the other direction.
  const away = base === "ltr" ? "rtl" : "ltr";
  const longest = Math.max(...lines.map((line) => text(line.node).length), 4);
  const middle = el("col", { class: "node" });
  // The style of an element is set by script, which the policy of the page allows; a style attribute would be refused.
  middle.style.width = `${Math.min(Math.max(longest + 3, 8), 26)}ch`;
  const body = el("tbody");
  const buttons: HTMLButtonElement[] = [];

  for (const line of lines) {
    const meta = [
      el("td", { class: "date" }, line.fields.date ?? ""),
      el(
        "td",
        { class: "site" },
        el(
          "a",
          { href: link("document", place, { id: line.document }), title: line.fields.title || line.fields.site },
          el("bdi", {}, line.fields.site || "document"),
        ),
      ),
    ];
    if (line.restricted || !line.node) {
      body.append(
        el(
          "tr",
          {},
          ...meta,
          el("td", { class: "withheld", colspan: 3 }, "The text of this document is shown with a token only."),
        ),
      );
      continue;
    }
    const button = el(
      "button",
      {
        type: "button",
        class: "hit",
        "aria-expanded": "false",
        tabindex: buttons.length === 0 ? 0 : -1,
        title: analysis(line.node) || undefined,
      },
      el("bdi", {}, text(line.node)),
    );
    const row = el(
      "tr",
      {},
      ...meta,
      el("td", { class: "before", dir: away }, el("bdi", { lang }, text(line.left))),
      el("td", { class: "node" }, button),
      el("td", { class: "behind" }, el("bdi", { lang }, text(line.right))),
    );
    const mine = buttons.push(button) - 1;
    let opened: HTMLElement | undefined;
    const open = async () => {
      if (opened) {
        opened.remove();
        opened = undefined;
        button.setAttribute("aria-expanded", "false");
        return;
      }
      const cell = el("td", { colspan: 5 }, "One moment …");
      opened = el("tr", { class: "opened" }, cell);
      row.after(opened);
      button.setAttribute("aria-expanded", "true");
      await passage(line, lang, cell, link("document", place, { id: line.document }), widen, 0);
    };
    button.addEventListener("click", open);
    button.addEventListener("keydown", (event) => {
      const move: Record<string, number> = { ArrowUp: mine - 1, ArrowDown: mine + 1, Home: 0, End: buttons.length - 1 };
      const to = buttons[move[event.key] ?? -1];
      if (event.key === "Escape" && opened) void open();
      else if (to) {
        button.tabIndex = -1;
        to.tabIndex = 0;
        to.focus();
        event.preventDefault();
      }
    });
    body.append(row);
  }

  return el(
    "table",
    { class: "kwic", dir: base },
    el("caption", { class: "unseen" }, `${caption} Up and Down go from hit to hit, Enter shows more of the text.`),
    el("colgroup", {}, el("col", { class: "date" }), el("col", { class: "site" }), el("col"), middle, el("col")),
    el(
      "thead",
      { class: "unseen" },
      el("tr", {}, ...["Date", "Source", "Before", "Hit", "Behind"].map((name) => el("th", { scope: "col" }, name))),
    ),
    body,
  );
}

/** Shows the paragraph of a hit, and on demand those around it. */
async function passage(
  line: Line,
  lang: string,
  place: Element,
  document: string,
  widen: Widen,
  around: number,
): Promise<void> {
  try {
    const { sentences, shortened } = await widen(line, around);
    const paragraphs = new Map<number, HTMLElement>();
    for (const sentence of sentences) {
      let paragraph = paragraphs.get(sentence.paragraph);
      if (!paragraph) paragraphs.set(sentence.paragraph, (paragraph = el("p", { dir: "auto", lang })));
      const from = (line.position ?? 0) - sentence.position;
      const to = from + (line.node?.length ?? 0);
      const part = (tokens: readonly Token[]) =>
        tokens.map((token) => token.word + (token.space_after ? " " : "")).join("");
      const cut = (at: number) => Math.max(0, Math.min(at, sentence.tokens.length));
      const hit = sentence.tokens.slice(cut(from), cut(to));
      paragraph.append(part(sentence.tokens.slice(0, cut(from))));
      if (hit.length > 0) paragraph.append(el("mark", {}, part(hit).trimEnd()), hit.at(-1)!.space_after ? " " : "");
      paragraph.append(part(sentence.tokens.slice(cut(to))), " ");
    }
    const about = analysis(line.node);
    const more = el(
      "button",
      { type: "button", class: "plain", click: () => void passage(line, lang, place, document, widen, around + 2) },
      "More of the text",
    );
    place.replaceChildren(
      el(
        "div",
        { class: "passage" },
        el(
          "p",
          { class: "source", dir: "ltr" },
          ...[line.fields.title, line.fields.site, line.fields.date]
            .filter(Boolean)
            .flatMap((part, at) => [at > 0 && " · ", el("bdi", {}, part!)]),
          about && ` · ${about}`,
        ),
        ...paragraphs.values(),
        el(
          "p",
          { class: "source", dir: "ltr" },
          shortened ? "More of this text may not be shown. " : more,
          " ",
          el("a", { href: document }, "About the document"),
        ),
      ),
    );
  } catch (error) {
    place.textContent = error instanceof Error ? error.message : String(error);
  }
}
