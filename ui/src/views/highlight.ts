// The text of a document with its names and quotations marked.

import { type Child, el } from "../dom.ts";
import type { DocumentSpan } from "../generated/api.ts";
import { NAME_TYPES } from "./names.ts";
import { t } from "../text/index.ts";

const QUOTE_KINDS: Readonly<Record<string, string>> = {
  direct: t("quotation"),
  scare: t("in quotation marks"),
  headline: t("quotation in a headline"),
};

/** The name of the spans of hits. */
export const HIT = "hit";

/** What a mark says on hover. */
function description(span: DocumentSpan): string {
  if (span.span === HIT) return "";
  const { name, type, kind, speaker, lang } = span.attributes;
  if (span.span === "ne") return [NAME_TYPES[type ?? ""], name].filter(Boolean).join(": ");
  if (span.span === "quote") return [QUOTE_KINDS[kind ?? ""] ?? t("quotation"), speaker].filter(Boolean).join(": ");
  if (span.span === "foreign") return t("in another language: {language}", { language: lang ?? "" });
  return [span.span, ...Object.entries(span.attributes).map(([key, value]) => `${key}: ${value}`)].join(" · ");
}

/** A piece of a paragraph with the spans that cover it. */
export interface Piece {
  text: string;
  spans: readonly DocumentSpan[];
}

/** Divides a paragraph at the borders of its spans, which may overlap. Places are counted in characters. */
export function pieces(text: string, spans: readonly DocumentSpan[]): Piece[] {
  const characters = Array.from(text);
  const inside = (place: number) => Math.min(Math.max(place, 0), characters.length);
  const borders = new Set([0, characters.length]);
  spans.forEach((span) => borders.add(inside(span.start)).add(inside(span.end)));
  const sorted = [...borders].sort((one, other) => one - other);
  return sorted.slice(1).map((end, index) => {
    const start = sorted[index] ?? 0;
    return {
      text: characters.slice(start, end).join(""),
      spans: spans.filter((span) => span.start <= start && span.end >= end),
    };
  });
}

/** A paragraph with its spans marked. */
export function highlighted(text: string, spans: readonly DocumentSpan[]): HTMLElement {
  const marked = pieces(text, spans).map(({ text: piece, spans: around }): Child =>
    around.length === 0
      ? piece
      : el(
          around.some((span) => span.span === HIT) ? "mark" : "span",
          {
            class: around.map((span) => `span-${span.span}`).join(" "),
            title: around.map(description).filter(Boolean).join("; ") || undefined,
          },
          piece,
        ),
  );
  return el("p", { dir: "auto" }, ...marked);
}

/** Switches for the marks of a text, with what they mean. */
export function legend(text: HTMLElement, spans: readonly DocumentSpan[]): HTMLElement | null {
  const kinds = [
    ["ne", t("names")],
    ["quote", t("quotations")],
    ["foreign", t("other languages")],
  ] as const;
  const known = kinds.filter(([kind]) => spans.some((span) => span.span === kind));
  if (known.length === 0) return null;
  return el(
    "p",
    { class: "legend" },
    `${t("Show")} `,
    ...known.map(([kind, label]) => {
      const box = el("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => text.classList.toggle(`without-${kind}`, !box.checked));
      return el("label", {}, box, el("span", { class: `span-${kind}` }, label));
    }),
  );
}
