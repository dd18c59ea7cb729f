// Quotations by speaker, verb and source.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, percent, plural } from "../format.ts";
import type { QuoteRow } from "../generated/api.ts";
import { table } from "../table.ts";
import type { View } from "../view.ts";
import { LIMIT, showEmpty } from "./shared.ts";

const BY = [
  ["speaker", "speaker"],
  ["verb", "reporting verb"],
  ["site", "source"],
] as const;

/** The quotations view. */
export const quotes: View = {
  name: "quotes",
  title: "Quotations",
  about: "Who is quoted, with which verbs, and how much each source quotes.",
  group: "News",
  documentFilter: "Filter documents",
  button: "List",
  fields: () => [
    { name: "by", label: "Count by", kind: "choice", choices: BY, initial: "speaker" },
    { name: "pronouns", label: "Include pronouns", kind: "flag" },
    { name: "min_documents", label: "Minimum documents", kind: "number", initial: "1", advanced: true },
    LIMIT,
  ],
  ready: () => true,
  meaning:
    "Direct speech in quotation marks or after dashes. Terms and titles in quotation marks are left out, and so are headlines. The speaker is counted where the sentence or a neighbouring one gives one, by the full name where the document has it; nouns such as “the spokeswoman” count as they stand, pronouns on request. The share of a source is the part of its own text that is quoted.",
  show: async (context) => {
    const { route } = context;
    const by = route.get("by") || "speaker";
    const found = await context.request("quotes", {
      ...context.documents,
      by: by as (typeof BY)[number][0],
      pronouns: route.get("pronouns"),
      min_documents: route.get("min_documents"),
      limit: route.get("limit"),
    });
    if (found.rows.length === 0)
      return showEmpty(
        context,
        found.quotes === 0
          ? "These documents have no direct quotations. The layer “quotations” may be switched off (annotate.layers), or their text was annotated by an older version: run tidings annotate and tidings compile."
          : `No quotation has a known ${by}.`,
      );
    const share = found.tokens > 0 ? found.quoted_tokens / found.tokens : 0;
    context.announce(
      `${plural(found.quotes, "direct quotation")} with ${plural(found.quoted_tokens, "token")}, ${percent(share)} of the text.`,
    );
    const label = BY.find(([name]) => name === by)?.[1] ?? by;
    const isSite = by === "site";
    const lines = (row: QuoteRow) =>
      link("search", route, isSite ? { q: row.query, site: row.value } : { q: row.query });
    context.append(
      table(
        "quotes",
        isSite ? "Sources, by the share of quoted text" : `Quotations by ${label}, most frequent first`,
        [
          {
            name: label,
            value: (row) => row.value,
            show: (row) => el("a", { href: lines(row) }, bidi(row.value || "(unknown)")),
          },
          { name: "quotations", value: (row) => row.quotes, numeric: true, show: (row) => count(row.quotes) },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          { name: "tokens", value: (row) => row.quoted_tokens, numeric: true, show: (row) => count(row.quoted_tokens) },
          {
            name: isSite ? "share of its text" : "share of quoted text",
            value: (row) => row.share,
            numeric: true,
            show: (row) => (row.share === null ? "–" : percent(row.share)),
          },
          ...(by === "verb" ? [] : [{ name: "most frequent verb", value: (row: QuoteRow) => row.verb ?? "" }]),
        ],
        found.rows,
      ),
    );
  },
};
