// Documents: lists of them, and one with all that is known about it.

import { el, foreign } from "../dom.ts";
import { link } from "../place.ts";
import { count, many } from "../say.ts";
import { table } from "../table.ts";
import type { View } from "../view.ts";
import { nothing } from "./shared.ts";

const SIZE = 50;

interface Row {
  id: string;
  date: string;
  seen: string;
  title: string;
  url: string;
  tokens: number;
  availability: string;
  fields: Record<string, string>;
}

/** The documents that are chosen. */
export const documents: View = {
  name: "documents",
  title: "Documents",
  about: "What is in the corpus, document by document.",
  group: "Read",
  chooses: "Which documents",
  button: "List",
  fields: () => [
    {
      name: "order",
      label: "Order",
      kind: "choice",
      choices: [
        ["newest", "newest first"],
        ["oldest", "oldest first"],
      ],
      usual: "newest",
    },
  ],
  ready: () => true,
  show: async (desk) => {
    const { place } = desk;
    const found = await desk.ask<{
      documents: number;
      tokens: number;
      first: number;
      next: string | null;
      rows: Row[];
    }>("documents", { order: place.get("order"), size: SIZE, fields: "site", cursor: place.get("cursor") });
    if (found.rows.length === 0) return nothing(desk, "No document fits what is chosen under “Which documents”.");
    desk.say(`${many(found.documents, "document")} with ${many(found.tokens, "token")}.`);
    desk.put(
      table(
        "documents",
        "Documents",
        [
          {
            name: "title",
            value: (row) => row.title,
            show: (row) =>
              el("a", { href: link("document", place, { id: row.id }) }, foreign(row.title || "without a title")),
          },
          { name: "date", value: (row) => row.date },
          { name: "source", value: (row) => row.fields.site ?? "" },
          { name: "tokens", value: (row) => row.tokens, numeric: true, show: (row) => count(row.tokens) },
          { name: "address", value: (row) => row.url, show: (row) => outside(row.url, "the original") },
        ],
        found.rows,
      ),
      el(
        "nav",
        { class: "pages", "aria-label": "Pages" },
        found.first > 0 && el("a", { href: place.with({ cursor: undefined }) }, "First page"),
        el(
          "span",
          {},
          `${count(found.first + 1)} to ${count(found.first + found.rows.length)} of ${count(found.documents)}`,
        ),
        found.next &&
          found.first + found.rows.length < found.documents &&
          el("a", { href: place.with({ cursor: found.next }), rel: "next", class: "next" }, "Next page"),
      ),
    );
  },
};

/** A link to a page of the web, if its address is one; it is told nothing about us. */
export function outside(url: string, words: string): HTMLElement | string {
  return /^https?:\/\//i.test(url)
    ? el("a", { href: url, rel: "noreferrer noopener nofollow", target: "_blank" }, words)
    : "";
}

/** One document. */
export const documentView: View = {
  name: "document",
  title: "Document",
  about: "All that is known about one document.",
  group: "Read",
  chooses: false,
  fields: () => [],
  ready: (place) => place.get("id") !== "",
  show: async (desk) => {
    const { place } = desk;
    const found = await desk.askPlainly<Row & { restricted: boolean; paragraphs?: string[] }>(
      `${encodeURIComponent(desk.lang)}/documents/${encodeURIComponent(place.get("id"))}`,
    );
    desk.say("");
    const known: [string, HTMLElement | string][] = [
      ["Date", found.date],
      ["Seen", found.seen],
      ["Tokens", count(found.tokens)],
      ["Original", outside(found.url, found.url)],
      ["Availability", found.availability],
      ...Object.entries(found.fields).map(([name, value]): [string, HTMLElement] => [name, foreign(value)]),
    ];
    desk.put(
      el(
        "article",
        { class: "document" },
        el("h2", { dir: "auto", lang: desk.lang }, found.title || "Without a title"),
        el(
          "dl",
          { class: "known" },
          ...known.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value || "–")]),
        ),
        found.restricted || !found.paragraphs
          ? el(
              "p",
              { class: "note" },
              "The whole text of this document is not shown here: its availability allows lines of hits at most. The original may be on the web still.",
            )
          : el(
              "div",
              { class: "text", lang: desk.lang },
              ...found.paragraphs.map((text) => el("p", { dir: "auto" }, text)),
            ),
      ),
    );
  },
};
