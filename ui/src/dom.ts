// Makes elements. Text becomes text nodes and nothing else: no string is ever read as markup.

/** What an element may hold. */
export type Child = Node | string | number | null | undefined | false;

/** Attributes by name; a function listens to the event of its name, and what is false or missing is left out. */
export type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

function furnish<E extends Element>(made: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value as EventListener);
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value === true ? "" : String(value));
  }
  fill(made, ...children);
  return made;
}

/** An element of HTML. */
export function el<N extends keyof HTMLElementTagNameMap>(
  name: N,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[N] {
  return furnish(document.createElement(name), attributes, children);
}

/** An element of SVG. */
export function draw<N extends keyof SVGElementTagNameMap>(
  name: N,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[N] {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/** Appends what is there. */
export function fill(place: Element, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    place.append(child instanceof Node ? child : String(child));
  }
}

/** Text in whatever direction it is written, which does not disturb what stands around it. */
export const foreign = (text: string): HTMLElement => el("bdi", {}, text);

/** A button that puts a text on the clipboard and says so. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button = el("button", { type: "button", class: "plain" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select the text and copy it";
    }
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
  return button;
}

/** Gives bytes to the person as a file. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
