// Sections of the collection view.

import { el } from "../../dom.ts";

/** A section with a heading. */
export const section = (title: string, ...children: (HTMLElement | string | false)[]): HTMLElement =>
  el("section", {}, el("h2", {}, title), ...children);

/** A paragraph in place of missing data. */
export const empty = (text: string): HTMLElement => el("p", { class: "empty" }, text);
