// Creates elements. Strings become text nodes only: no string is ever parsed as markup.

import { t } from "./text/index.ts";

/** A child of an element. */
export type Child = Node | string | number | null | undefined | false;

/** Attributes by name; functions are event listeners, false and missing values are left out. */
export type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

function assign<E extends Element>(made: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value as EventListener);
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value === true ? "" : String(value));
  }
  fill(made, ...children);
  return made;
}

/** Creates an HTML element. */
export function el<N extends keyof HTMLElementTagNameMap>(
  name: N,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[N] {
  return assign(document.createElement(name), attributes, children);
}

/** Creates an SVG element. */
export function draw<N extends keyof SVGElementTagNameMap>(
  name: N,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[N] {
  return assign(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/** Appends the children that are present. */
export function fill(parent: Element, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/** Text of unknown direction, isolated from its surroundings. */
export const bidi = (text: string): HTMLElement => el("bdi", {}, text);

/** A button that copies a text to the clipboard. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button = el("button", { type: "button", class: "plain" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = t("Copied");
    } catch {
      button.textContent = t("Select the text and copy it");
    }
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
  return button;
}

/** Saves a blob as a file download. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
