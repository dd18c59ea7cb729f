// A chart with caption, downloads (CSV, SVG, PNG) and its data as an accessible table.

import { el, save } from "../dom.ts";
import { type Column, csvButton, table } from "../table.ts";

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

/** A copy of a chart with its computed styles inlined. */
function standalone(picture: SVGSVGElement): SVGSVGElement {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const [here, there] = [picture, copy].map((each) => [each, ...each.querySelectorAll("*")] as Element[]);
  here!.forEach((element, at) => {
    const seen = getComputedStyle(element);
    for (const name of PAINT) there![at]!.setAttribute(name, seen.getPropertyValue(name));
  });
  for (const unseen of copy.querySelectorAll("[data-screen-only]")) unseen.remove();
  const { width, height } = picture.viewBox.baseVal;
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const paper = document.createElementNS(copy.namespaceURI!, "rect");
  for (const [name, value] of [
    ["width", "100%"],
    ["height", "100%"],
    ["fill", getComputedStyle(document.body).backgroundColor],
  ])
    paper.setAttribute(name!, value!);
  copy.prepend(paper);
  return copy;
}

function svgFile(picture: SVGSVGElement): Blob {
  return new Blob([new XMLSerializer().serializeToString(standalone(picture))], { type: "image/svg+xml" });
}

async function pngFile(picture: SVGSVGElement): Promise<Blob> {
  const source = URL.createObjectURL(svgFile(picture));
  try {
    const image = new Image();
    image.src = source;
    await image.decode();
    const { width, height } = picture.viewBox.baseVal;
    const canvas = el("canvas", { width: width * PNG_SCALE, height: height * PNG_SCALE });
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no image"))), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(source);
  }
}

/** A chart that is redrawn when its width changes, with a line of text about the point under the cursor. */
export function figure<Row>(
  name: string,
  caption: string,
  paint: (width: number, tell: (text: string) => void) => SVGSVGElement,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  invitation = "",
): HTMLElement {
  const reading = el("p", { class: "reading" }, invitation);
  const stage = el("div", { class: "stage" });
  const picture = () => stage.querySelector("svg")!;
  const button = (label: string, give: () => void) =>
    el("button", { type: "button", class: "plain", click: give }, label);
  const tools = el(
    "div",
    { class: "tools" },
    csvButton(name, columns, () => rows),
    button("SVG", () => save(`tidings-${name}.svg`, svgFile(picture()))),
    button("PNG", async () => save(`tidings-${name}.png`, await pngFile(picture()))),
  );
  // The table is built on demand.
  const numbers = el("details", { class: "numbers" }, el("summary", {}, "Data table"));
  numbers.addEventListener("toggle", () => numbers.append(table(name, caption, columns, rows)), { once: true });
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width === 0 || width === drawn) return;
    drawn = width;
    const focused = stage.contains(document.activeElement);
    stage.replaceChildren(
      paint(width, (text) => {
        reading.textContent = text;
      }),
    );
    if (focused) stage.querySelector<SVGElement>("[tabindex='0']")?.focus();
  }).observe(stage);
  return el(
    "figure",
    { class: "chart" },
    el("figcaption", {}, el("span", {}, caption), tools),
    stage,
    reading,
    numbers,
  );
}
