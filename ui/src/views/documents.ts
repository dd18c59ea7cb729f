// The list of documents, and the view of one document.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, plural } from "../format.ts";
import type { DocumentSpan } from "../generated/api.ts";
import { table } from "../table.ts";
import type { View } from "../view.ts";
import { highlighted, legend } from "./highlight.ts";
import { showEmpty } from "./shared.ts";

const SIZE = 50;

/** The documents view. */
export const documents: View = {
  name: "documents",
  title: "Documents",
  about: "Documents of the corpus.",
  group: "Read",
  documentFilter: "Filter documents",
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
      initial: "newest",
    },
  ],
  ready: () => true,
  show: async (context) => {
    const { route } = context;
    const found = await context.request("documents", {
      ...context.documents,
      order: route.get("order"),
      size: SIZE,
      fields: "site",
      cursor: route.get("cursor"),
    });
    if (found.rows.length === 0) return showEmpty(context, "No document matches the filter under “Filter documents”.");
    context.announce(`${plural(found.documents, "document")} with ${plural(found.tokens, "token")}.`);
    context.append(
      table(
        "documents",
        "Documents",
        [
          {
            name: "title",
            value: (row) => row.title,
            show: (row) => el("a", { href: link("document", route, { id: row.id }) }, bidi(row.title || "(no title)")),
          },
          { name: "date", value: (row) => row.date },
          { name: "source", value: (row) => row.fields.site ?? "" },
          { name: "tokens", value: (row) => row.tokens, numeric: true, show: (row) => count(row.tokens) },
          { name: "link", value: (row) => row.url, show: (row) => externalLink(row.url, "original") },
        ],
        found.rows,
      ),
      el(
        "nav",
        { class: "pages", "aria-label": "Pages" },
        found.first > 0 && el("a", { href: route.with({ cursor: undefined }) }, "First page"),
        el(
          "span",
          {},
          `${count(found.first + 1)} to ${count(found.first + found.rows.length)} of ${count(found.documents)}`,
        ),
        found.next &&
          found.first + found.rows.length < found.documents &&
          el("a", { href: route.with({ cursor: found.next }), rel: "next", class: "next" }, "Next page"),
      ),
    );
  },
};

/** A link to an external page, without referrer. */
export function externalLink(url: string, words: string): HTMLElement | string {
  return /^https?:\/\//i.test(url)
    ? el("a", { href: url, rel: "noreferrer noopener nofollow", target: "_blank" }, words)
    : "";
}

/** The text of a document with switches for its marks. */
function markedText(paragraphs: readonly string[], spans: readonly DocumentSpan[], lang: string): HTMLElement {
  const text = el(
    "div",
    { class: "text", lang },
    ...paragraphs.map((paragraph, number) =>
      highlighted(
        paragraph,
        spans.filter((span) => span.paragraph === number),
      ),
    ),
  );
  return el("div", {}, legend(text, spans), text);
}

/** The document view. */
export const documentView: View = {
  name: "document",
  title: "Document",
  about: "Metadata and text of one document.",
  group: "Read",
  documentFilter: false,
  fields: () => [],
  ready: (route) => route.get("id") !== "",
  show: async (context) => {
    const { route } = context;
    const found = await context.request("document", { id: route.get("id") });
    const revisions =
      found.url && found.seen ? (await context.request("revisions", { url: found.url, seen: found.seen })).rows : [];
    context.announce("");
    const known: [string, HTMLElement | string][] = [
      ["Date", found.date],
      ["Seen", found.seen],
      ["Tokens", count(found.tokens)],
      ["Original", externalLink(found.url, found.url)],
      ["Availability", found.availability],
      ...Object.entries(found.fields).map(([name, value]): [string, HTMLElement] => [name, bidi(value)]),
    ];
    context.append(
      el(
        "article",
        { class: "document" },
        el("h2", { dir: "auto", lang: context.lang }, found.title || "(no title)"),
        el(
          "dl",
          { class: "known" },
          ...known.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value || "–")]),
        ),
        revisions.length > 1 &&
          el(
            "details",
            {},
            el("summary", {}, `${revisions.length} revisions`),
            el(
              "ol",
              {},
              ...revisions.map((revision) =>
                el(
                  "li",
                  {},
                  `${revision.downloaded.slice(0, 16).replace("T", " ")} `,
                  bidi(revision.title || "(no title)"),
                ),
              ),
            ),
          ),
        found.restricted || !found.paragraphs
          ? el(
              "p",
              { class: "note" },
              "The full text of this document is not available here; concordance lines may be. See the original on the web.",
            )
          : markedText(found.paragraphs, found.spans ?? [], context.lang),
      ),
    );
  },
};
