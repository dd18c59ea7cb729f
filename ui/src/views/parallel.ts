// Parallel concordance: hits beside the sentences of their translations.

import { bidi, el } from "../dom.ts";
import { count, language } from "../format.ts";
import type { ParallelLine } from "../generated/api.ts";
import { link } from "../route.ts";
import { sameQuery } from "../cql.ts";
import { table } from "../table.ts";
import { t, tn } from "../text/index.ts";
import { type View, type ViewContext } from "../view.ts";
import { text } from "./kwic.ts";
import { LIMIT, showEmpty } from "./shared.ts";

/** The languages that translations may be in. */
const others = ({ corpora, lang }: ViewContext): string[] =>
  corpora.map((corpus) => corpus.corpus).filter((code) => code !== lang);

/** The parallel concordance. */
export const parallel: View = {
  name: "parallel",
  title: t("Translations"),
  about: t("Hits side by side with the sentences of their translations."),
  kind: "query",
  fields: (context) => [
    {
      // In the address of the page, `to` is the end of the period.
      name: "into",
      label: t("Language of the translations"),
      kind: "choice",
      choices: others(context).map((code) => [code, language(code)] as const),
      initial: others(context)[0] ?? "",
    },
    { name: "with", label: t("Translation contains"), kind: "text" },
    { name: "without", label: t("Translation does not contain"), kind: "text" },
    { ...LIMIT, initial: "50" },
  ],
  ready: (route) => route.get("q") !== "",
  meaning: t(
    "Documents are translations of each other if their pages name each other as versions in other languages, or if the owner of the corpus has said so. Their sentences are aligned by length, numbers and names. A hit whose sentence has no counterpart is counted apart.",
  ),
  show: async (context) => {
    const { route } = context;
    const to = route.get("into") || others(context)[0];
    if (!to) return showEmpty(context, t("There is no corpus of another language."));
    const found = await context.request("parallel", {
      ...context.documents,
      q: route.get("q"),
      to,
      with: route.get("with"),
      without: route.get("without"),
      size: route.get("limit") || 50,
      fields: "date,site,title",
    });
    if (found.documents === 0)
      return showEmpty(
        context,
        t(
          "No document is known to have a translation into {language}. The owner of the corpus finds them with the command `tidings pairs find`.",
          { language: language(to) },
        ),
      );
    const unaligned = found.unaligned > 0 ? ` · ${t("{n} without a counterpart", { n: count(found.unaligned) })}` : "";
    const documents = tn(found.documents, "{n} document", "{n} documents");
    context.announce(`${tn(found.hits, "{n} hit", "{n} hits")} · ${documents}${unaligned}`);
    context.append(
      table(
        "parallel",
        t("Hits and their translations into {language}", { language: language(to) }),
        [
          {
            name: "document",
            label: t("document"),
            value: (row) => row.document,
            show: (row) =>
              el(
                "a",
                { href: link("document", route, { ...sameQuery(route), id: row.document }), title: row.fields.title },
                `${row.fields.date ?? ""} ${row.fields.site ?? ""}`.trim() || t("document"),
              ),
          },
          {
            name: "text",
            label: language(context.lang),
            value: whole,
            running: true,
            show: (row) => own(row, context.lang),
          },
          {
            name: "translation",
            label: language(to),
            running: true,
            value: (row) => text(row.translation),
            show: (row) => translation(row, to),
          },
        ],
        found.lines,
      ),
    );
  },
};

const whole = (row: ParallelLine): string => text([...row.left, ...row.node, ...row.right]);

/** The sentence of the hit, with the hit marked. */
const own = (row: ParallelLine, lang: string): HTMLElement =>
  el("span", { lang }, `${text(row.left)} `, el("mark", {}, bidi(text(row.node))), ` ${text(row.right)}`);

/** The aligned sentences, with the hits of the condition marked. */
function translation(row: ParallelLine, lang: string): HTMLElement {
  if (row.translation.length === 0) return el("span", { class: "note" }, t("no counterpart"));
  const tokens = row.translation.map((token, at) => {
    const blank = token.space_after ? " " : "";
    return row.marked.includes(at) ? el("span", {}, el("mark", {}, token.word), blank) : `${token.word}${blank}`;
  });
  return el("span", { lang }, ...tokens);
}
