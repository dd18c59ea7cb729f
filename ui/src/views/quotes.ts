// Quotations by speaker, verb and source.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, percent } from "../format.ts";
import type { QuoteRow } from "../generated/api.ts";
import { table } from "../table.ts";
import type { View } from "../view.ts";
import { LIMIT, showEmpty } from "./shared.ts";
import { t, tn } from "../text/index.ts";

const BY = [
  ["speaker", t("speaker")],
  ["verb", t("reporting verb")],
  ["site", t("source")],
] as const;

/** The quotations view. */
export const quotes: View = {
  name: "quotes",
  title: t("Quotations"),
  about: t("Who is quoted, with which verbs, and how much each source quotes."),
  kind: "discover",
  fields: () => [
    { name: "by", label: t("Count by"), kind: "choice", choices: BY, initial: "speaker" },
    { name: "pronouns", label: t("Include pronouns"), kind: "flag" },
    { name: "min_documents", label: t("Minimum documents"), kind: "number", initial: "1", advanced: true },
    LIMIT,
  ],
  ready: () => true,
  meaning: t(
    "Direct speech in quotation marks or after dashes. Terms and titles in quotation marks are left out, and so are headlines. The speaker is counted where the sentence or a neighbouring one gives one, by the full name where the document has it; nouns such as “the spokeswoman” count as they stand, pronouns on request. The share of a source is the part of its own text that is quoted.",
  ),
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
          ? t(
              "These documents have no direct quotations. The layer “quotations” may be switched off (annotate.layers), or their text was annotated by an older version: run tidings annotate and tidings compile.",
            )
          : t("No quotation matches."),
      );
    const share = found.tokens > 0 ? found.quoted_tokens / found.tokens : 0;
    context.announce(
      `${tn(found.quotes, "{n} direct quotation", "{n} direct quotations")} · ${t("{share} of the text", { share: percent(share) })}`,
    );
    const label = BY.find(([name]) => name === by)?.[1] ?? by;
    const isSite = by === "site";
    const lines = (row: QuoteRow) =>
      link("search", route, isSite ? { q: row.query, site: row.value } : { q: row.query });
    context.append(
      table(
        "quotes",
        isSite
          ? t("Sources, by the share of quoted text")
          : t("Quotations by {field}, most frequent first", { field: label }),
        [
          {
            name: by,
            label,
            value: (row) => row.value,
            show: (row) => el("a", { href: lines(row) }, bidi(row.value || t("(unknown)"))),
          },
          {
            name: "quotes",
            label: t("quotations"),
            value: (row) => row.quotes,
            numeric: true,
            show: (row) => count(row.quotes),
          },
          {
            name: "documents",
            label: t("documents"),
            value: (row) => row.documents,
            numeric: true,
            show: (row) => count(row.documents),
          },
          {
            name: "quoted_tokens",
            label: t("tokens"),
            value: (row) => row.quoted_tokens,
            numeric: true,
            show: (row) => count(row.quoted_tokens),
          },
          {
            name: "share",
            label: isSite ? t("share of its text") : t("share of quoted text"),
            value: (row) => row.share,
            numeric: true,
            show: (row) => (row.share === null ? "–" : percent(row.share)),
          },
          ...(by === "verb"
            ? []
            : [{ name: "verb", label: t("most frequent verb"), value: (row: QuoteRow) => row.verb ?? "" }]),
        ],
        found.rows,
      ),
    );
  },
};
