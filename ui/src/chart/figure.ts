// A chart with caption, downloads (CSV, SVG, SVG in grey, PNG, embed code), a tip at the pointer, and its data as a table.

import { copyButton, draw, el, save } from "../dom.ts";
import { t } from "../text/index.ts";
import { type Column, csvButton, table } from "../table.ts";

/** What is said about the point under the pointer, at a place of the chart. */
export interface Tip {
  x: number;
  y: number;
  title: string;
  rows?: readonly { name: string; colour: number; text: string; more?: string; isNearest?: boolean }[];
  note?: string;
}

/** Shows a tip, or hides it. */
export type ShowTip = (tip: Tip | null) => void;

/** Computed styles that a saved chart needs. */
const PAINT = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linejoin",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
];
/** Pixels per unit in PNG files. */
const PNG_SCALE = 2;
/** Greys of the series in print; dashes tell them apart. */
const GREYS = ["#000", "#555", "#888", "#333", "#777", "#aaa"];

/** Font size and width of a character of the source line of saved charts. */
const [SOURCE_SIZE, SOURCE_CHAR] = [10, 5.3];

let source = "";

/** Sets the citation that saved charts carry. */
export const setSource = (text: string): void => {
  source = text;
};

/** Lines of at most some characters. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ").filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Writes the source below a chart that is saved; returns the new height. */
function cite(copy: SVGSVGElement, width: number, height: number): number {
  if (!source) return height;
  const lines = wrapped(source, Math.floor((width - 8) / SOURCE_CHAR));
  const line = SOURCE_SIZE + 4;
  lines.forEach((text, at) =>
    copy.append(
      draw(
        "text",
        {
          class: "source",
          x: 4,
          y: height + line * (at + 1),
          "font-size": SOURCE_SIZE,
          "font-family": "sans-serif",
          fill: "#777",
        },
        text,
      ),
    ),
  );
  const higher = height + line * lines.length + 6;
  copy.setAttribute("viewBox", `0 0 ${width} ${higher}`);
  return higher;
}

/** A copy of a chart with its computed styles inlined and its source below; in grey on white for print. */
function standalone(picture: SVGSVGElement, grey = false): SVGSVGElement {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const [here, there] = [picture, copy].map((each) => [each, ...each.querySelectorAll("*")] as Element[]);
  here!.forEach((element, at) => {
    const seen = getComputedStyle(element);
    const made = there![at]!;
    for (const name of PAINT) made.setAttribute(name, seen.getPropertyValue(name));
    if (!grey) return;
    const shade = GREYS[Number(/\bc(\d)\b/.exec(element.getAttribute("class") ?? "")?.[1] ?? 0)]!;
    for (const name of ["fill", "stroke"]) {
      if (seen.getPropertyValue(name) === "none") continue;
      const isMark = /\b(line|dot|bar|band|point|coverage|label)\b/.test(element.getAttribute("class") ?? "");
      made.setAttribute(
        name,
        element.tagName === "text" ? (name === "fill" ? "#000" : "none") : isMark ? shade : "#bbb",
      );
    }
  });
  for (const unseen of copy.querySelectorAll("[data-screen-only]")) unseen.remove();
  const { width } = picture.viewBox.baseVal;
  const height = cite(copy, width, picture.viewBox.baseVal.height);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const paper = document.createElementNS(copy.namespaceURI!, "rect");
  for (const [name, value] of [
    ["width", "100%"],
    ["height", "100%"],
    ["fill", grey ? "#fff" : getComputedStyle(document.body).backgroundColor],
  ])
    paper.setAttribute(name!, value!);
  copy.prepend(paper);
  return copy;
}

const svgText = (picture: SVGSVGElement, grey = false): string =>
  new XMLSerializer().serializeToString(standalone(picture, grey));

const svgFile = (picture: SVGSVGElement, grey = false): Blob =>
  new Blob([svgText(picture, grey)], { type: "image/svg+xml" });

async function pngFile(picture: SVGSVGElement): Promise<Blob> {
  const address = URL.createObjectURL(svgFile(picture));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image;
    const canvas = el("canvas", { width: width * PNG_SCALE, height: height * PNG_SCALE });
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no image"))), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** HTML with the chart as inline SVG and its source: it needs no script, no frame and no server. */
function embedCode(picture: SVGSVGElement, caption: string): string {
  const copy = standalone(picture);
  copy.removeAttribute("width");
  copy.removeAttribute("height");
  copy.setAttribute("role", "img");
  copy.setAttribute("aria-label", caption);
  const shown = el("figcaption", {}, `${caption} (Tidings)`);
  return `<figure>${new XMLSerializer().serializeToString(copy)}${new XMLSerializer().serializeToString(shown)}</figure>`;
}

/** The tip as an element beside the pointer. */
function tipBox(stage: HTMLElement): { element: HTMLElement; show: ShowTip } {
  const element = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  const show: ShowTip = (tip) => {
    element.hidden = tip === null;
    if (!tip) return;
    element.replaceChildren(
      el("p", { class: "tip-title" }, tip.title),
      ...(tip.rows ?? []).map((row) =>
        el(
          "p",
          { class: `tip-row c${row.colour % 6}${row.isNearest ? " nearest" : ""}` },
          el("bdi", {}, row.name),
          el("b", {}, row.text),
          row.more ? el("span", {}, row.more) : "",
        ),
      ),
      tip.note ? el("p", { class: "tip-title" }, tip.note) : "",
    );
    const room = stage.clientWidth;
    const wide = element.offsetWidth;
    const left = tip.x + 14 + wide > room ? Math.max(0, tip.x - wide - 14) : tip.x + 14;
    element.style.left = `${left}px`;
    element.style.top = `${Math.max(0, tip.y - 20)}px`;
  };
  return { element, show };
}

/** A chart that is redrawn when its width changes. */
export function figure<Row>(
  name: string,
  caption: string,
  paint: (width: number, show: ShowTip) => SVGSVGElement,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  invitation = "",
): HTMLElement {
  const stage = el("div", { class: "stage" });
  const tip = tipBox(stage);
  const picture = () => stage.querySelector("svg")!;
  const button = (label: string, title: string, give: () => void) =>
    el("button", { type: "button", class: "plain", title, click: give }, label);
  const tools = el(
    "div",
    { class: "tools" },
    csvButton(name, columns, () => rows),
    button("SVG", t("Save the chart as SVG"), () => save(`tidings-${name}.svg`, svgFile(picture()))),
    button(t("SVG, grey"), t("Save the chart in grey, for print"), () =>
      save(`tidings-${name}-grey.svg`, svgFile(picture(), true)),
    ),
    button("PNG", t("Save the chart as an image"), async () => save(`tidings-${name}.png`, await pngFile(picture()))),
    copyButton(t("Embed"), () => embedCode(picture(), caption)),
  );
  // The table is built on demand.
  const numbers = el("details", { class: "numbers" }, el("summary", {}, t("Data table")));
  numbers.addEventListener("toggle", () => numbers.append(table(name, caption, columns, rows)), { once: true });
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width === 0 || width === drawn) return;
    drawn = width;
    const focused = stage.contains(document.activeElement);
    const began = performance.now();
    stage.replaceChildren(paint(width, tip.show), tip.element);
    // Milliseconds of drawing, for tests of large charts.
    stage.dataset.drawMs = String(Math.ceil(performance.now() - began));
    if (focused) stage.querySelector<SVGElement>("[tabindex='0']")?.focus();
  }).observe(stage);
  return el(
    "figure",
    { class: "chart" },
    el("figcaption", {}, el("span", {}, caption), tools),
    stage,
    invitation ? el("p", { class: "quiet" }, invitation) : "",
    numbers,
  );
}
