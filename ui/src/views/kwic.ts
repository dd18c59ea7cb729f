// Concordance lines (KWIC), aligned on the hit, in the writing direction of the language.

import { el } from "../dom.ts";
import { type Route, link } from "../route.ts";
import { direction, period } from "../format.ts";
import { sameQuery } from "../cql.ts";
import type { ConcordanceLine, ContextAnswer, KwicToken } from "../generated/api.ts";
import { t } from "../text/index.ts";

/** Tokens as running text. */
export const text = (tokens: readonly KwicToken[] = []): string =>
  tokens
    .map((token) => token.word + (token.space_after ? " " : ""))
    .join("")
    .trim();

/** Lemma, tag and features of the tokens of a hit, where they add to the word form. */
const analysis = (tokens: readonly KwicToken[] = []): string =>
  tokens
    .filter(({ word, lemma, tag }) => tag || (lemma && lemma !== word.toLowerCase()))
    .map((token) => `${token.word}: ${[token.lemma, token.tag, token.feats].filter(Boolean).join(", ")}`)
    .join("; ");

/** Requests the paragraph of a hit and `around` paragraphs on each side. */
export type Widen = (line: ConcordanceLine, around: number) => Promise<ContextAnswer>;

/** The table of concordance lines. */
export function concordance(
  lines: readonly ConcordanceLine[],
  lang: string,
  route: Route,
  caption: string,
  widen: Widen,
): HTMLElement {
  const base = direction(lang);
  // The left context is cut at its beginning: a cell of the opposite direction aligns text at the hit.
  const away = base === "ltr" ? "rtl" : "ltr";
  const longest = Math.max(...lines.map((line) => text(line.node).length), 4);
  const middle = el("col", { class: "node" });
  // Set by script: the Content-Security-Policy forbids style attributes.
  middle.style.width = `${Math.min(Math.max(longest + 3, 8), 26)}ch`;
  const body = el("tbody");
  const buttons: HTMLButtonElement[] = [];

  for (const line of lines) {
    const meta = [
      el("td", { class: "date" }, line.fields.date ? period(line.fields.date) : ""),
      el(
        "td",
        { class: "site" },
        el(
          "a",
          {
            href: link("document", route, { ...sameQuery(route), id: line.document }),
            title: line.fields.title || line.fields.site,
          },
          el("bdi", {}, line.fields.site || t("document")),
        ),
      ),
    ];
    if (line.restricted || !line.node) {
      body.append(
        el("tr", {}, ...meta, el("td", { class: "withheld", colspan: 3 }, t("This text needs an access token."))),
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
      el("td", { class: "after" }, el("bdi", { lang }, text(line.right))),
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
      const cell = el("td", { colspan: 5 }, t("Loading …"));
      opened = el("tr", { class: "opened" }, cell);
      row.after(opened);
      button.setAttribute("aria-expanded", "true");
      await passage(line, lang, cell, link("document", route, { ...sameQuery(route), id: line.document }), widen, 0);
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
    el("caption", { class: "unseen" }, `${caption} ${t("Up and Down move between hits, Enter shows the paragraph.")}`),
    el("colgroup", {}, el("col", { class: "date" }), el("col", { class: "site" }), el("col"), middle, el("col")),
    el(
      "thead",
      { class: "unseen" },
      el(
        "tr",
        {},
        ...[t("Date"), t("Source"), t("Left"), t("Hit"), t("Right")].map((name) => el("th", { scope: "col" }, name)),
      ),
    ),
    body,
  );
}

/** Shows the paragraph of a hit, and more on demand. */
async function passage(
  line: ConcordanceLine,
  lang: string,
  cell: Element,
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
      const part = (tokens: readonly KwicToken[]) =>
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
      { type: "button", class: "plain", click: () => void passage(line, lang, cell, document, widen, around + 2) },
      t("Show more"),
    );
    cell.replaceChildren(
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
          shortened ? t("More of this text is restricted.") : more,
          " ",
          el("a", { href: document }, t("Open the document")),
        ),
      ),
    );
  } catch (error) {
    cell.textContent = error instanceof Error ? error.message : String(error);
  }
}
