// One document: its text with the hits of the query, metadata, copies, revisions, and the way to the next hit.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, period } from "../format.ts";
import type { Availability, DocumentSpan } from "../generated/api.ts";
import { queryOf, sameQuery } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import type { View, ViewContext } from "../view.ts";
import { externalLink } from "./documents.ts";
import { FIELD_NAMES } from "./frequencies.ts";
import { highlighted, legend } from "./highlight.ts";
import { neighbours } from "./reading-order.ts";
import { hasQuery } from "./shared.ts";

const AVAILABILITY: Readonly<Record<Availability, string>> = {
  open: t("open: everybody may read it"),
  kwic: t("concordance lines, with a token"),
  metadata: t("metadata and counts only"),
};

/** Buttons that go from hit to hit, and to the documents before and after. */
function hitNavigation(context: ViewContext, text: HTMLElement): HTMLElement | null {
  const { route } = context;
  const marks = [...text.querySelectorAll<HTMLElement>("mark")];
  const { before, after } = neighbours(route.get("id"), route);
  if (marks.length === 0 && !before && !after) return null;
  let at = -1;
  const place = el("span", { class: "quiet", role: "status" }, tn(marks.length, "{n} hit", "{n} hits"));
  const to = (number: number) => {
    if (marks.length === 0) return;
    at = (number + marks.length) % marks.length;
    marks.forEach((mark, each) => mark.classList.toggle("current", each === at));
    marks[at]!.scrollIntoView({ block: "center" });
    place.textContent = t("hit {n} of {all}", { n: at + 1, all: marks.length });
  };
  const button = (label: string, step: number) =>
    el(
      "button",
      { type: "button", class: "plain", click: () => to(at < 0 && step < 0 ? marks.length - 1 : at + step) },
      label,
    );
  const other = (id: string | undefined, label: string, rel: string) =>
    id && el("a", { class: "button", rel, href: link("document", route, { ...sameQuery(route), id }) }, label);
  return el(
    "nav",
    { class: "hit-navigation", "aria-label": t("Hits") },
    marks.length > 0 && button(t("Previous hit"), -1),
    marks.length > 0 && button(t("Next hit"), 1),
    place,
    other(before, t("Previous document"), "prev"),
    other(after, t("Next document"), "next"),
  );
}

/** The text of a document with switches for its marks. */
function markedText(paragraphs: readonly string[], spans: readonly DocumentSpan[], lang: string): HTMLElement {
  return el(
    "div",
    { class: "text", lang },
    ...paragraphs.map((paragraph, number) =>
      highlighted(
        paragraph,
        spans.filter((span) => span.paragraph === number),
      ),
    ),
  );
}

/** The document view. */
export const documentView: View = {
  name: "document",
  title: t("Document"),
  about: "",
  kind: "query",
  fields: () => [],
  ready: (route) => route.get("id") !== "",
  show: async (context) => {
    const { route } = context;
    const found = await context.request("document", {
      id: route.get("id"),
      q: hasQuery(route) ? queryOf(route) : undefined,
    });
    const revisions =
      found.url && found.seen ? await context.request("revisions", { url: found.url, seen: found.seen }) : { rows: [] };
    context.announce("");
    const known: [string, HTMLElement | string][] = [
      [t("Published"), period(found.date)],
      [t("Downloaded"), period(found.seen)],
      [t("Tokens"), count(found.tokens)],
      [t("Original"), externalLink(found.url, found.url) || found.url],
      [t("Availability"), AVAILABILITY[found.availability]],
      ...Object.entries(found.fields)
        .filter(([, value]) => value !== "")
        .map(([name, value]): [string, HTMLElement] => [
          FIELD_NAMES[name] ?? name,
          ["site", "section", "author", "licence"].includes(name)
            ? el(
                "a",
                {
                  href: link(
                    "documents",
                    route,
                    name === "site" ? { site: value } : { filter: `${name}=="${value.replace(/[\\"]/g, "\\$&")}"` },
                  ),
                },
                bidi(value),
              )
            : bidi(value),
        ]),
    ];
    const spans = [...(found.spans ?? []), ...(found.hits ?? [])];
    const text = found.paragraphs ? markedText(found.paragraphs, spans, context.lang) : null;
    context.append(
      el(
        "article",
        { class: "document" },
        el(
          "div",
          { class: "reading-text" },
          el("h2", { dir: "auto", lang: context.lang }, found.title || t("(no title)")),
          el("p", { class: "quiet" }, [found.fields.site, period(found.date)].filter(Boolean).join(" · ")),
          text && hitNavigation(context, text),
          text && legend(text, found.spans ?? []),
          text ??
            el(
              "p",
              { class: "note" },
              t(
                "The full text of this document is not available here; concordance lines may be. See the original on the web.",
              ),
            ),
        ),
        el(
          "aside",
          { class: "known-about", "aria-label": t("About this document") },
          el("h3", {}, t("About this document")),
          el(
            "dl",
            { class: "known" },
            ...known.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value || "–")]),
          ),
          revisions.rows.length > 1 && el("h3", {}, t("Revisions")),
          revisions.rows.length > 1 &&
            el(
              "ol",
              { class: "plain-list" },
              ...revisions.rows.map((revision) =>
                el(
                  "li",
                  {},
                  `${revision.downloaded.slice(0, 16).replace("T", " ")} `,
                  bidi(revision.title || t("(no title)")),
                ),
              ),
            ),
        ),
      ),
    );
  },
};
