// Form fields, and the options of a view: a quiet row above its results.

import { type Child, el } from "./dom.ts";
import { type Route, go } from "./route.ts";
import { t } from "./text/index.ts";

/** A form field. */
export interface Field {
  name: string;
  label: string;
  kind: "text" | "query" | "choice" | "number" | "date" | "flag";
  /** Values with their labels. */
  choices?: readonly (readonly [value: string, name: string])[];
  /** The default value, which is left out of the URL. */
  initial?: string;
  /** An example, shown as placeholder. */
  hint?: string;
  /** Shown under "More options". */
  advanced?: boolean;
  wide?: boolean;
  required?: boolean;
  /** The id of a list of suggestions. */
  list?: string;
}

/** The value of a field in a route. */
export const valueOf = (field: Field, route: Route): string => route.get(field.name) || field.initial || "";

/** Periods of the filter language: a year, quarter, month, week or day. */
const PERIOD = String.raw`\d{4}(-(Q[1-4]|H[12]|W\d\d?|\d\d(-\d\d)?))?`;

/** A field with its label. */
export function input(field: Field, value: string): HTMLElement {
  const id = `field-${field.name}`;
  const label = el("label", { for: id }, field.label);
  const shared = { id, name: field.name, required: field.required };
  let control: HTMLElement;
  switch (field.kind) {
    case "choice":
      control = el(
        "select",
        shared,
        ...(field.choices ?? []).map(([key, name]) => el("option", { value: key, selected: key === value }, name)),
      );
      break;
    case "flag":
      return el(
        "div",
        { class: "field flag" },
        el("input", { ...shared, type: "checkbox", value: "true", checked: value === "true" }),
        label,
      );
    case "number":
      control = el("input", { ...shared, type: "number", min: 0, value, inputmode: "numeric" });
      break;
    case "date":
      // Written out, because the browser's own field follows the region of the system, not of the reader.
      control = el("input", {
        ...shared,
        type: "text",
        value,
        pattern: PERIOD,
        placeholder: t("2026-03-01"),
        title: t("A day or period: 2026, 2026-Q1, 2026-03 or 2026-03-01"),
        autocomplete: "off",
        size: 11,
      });
      break;
    default:
      control = el("input", {
        ...shared,
        type: field.kind === "query" ? "search" : "text",
        value,
        dir: "auto",
        placeholder: field.hint,
        list: field.list,
        autocomplete: "off",
        autocapitalize: "off",
        spellcheck: "false",
        maxlength: 4000,
      });
  }
  return el("div", { class: `field ${field.kind}${field.wide ? " wide" : ""}` }, label, control);
}

/** The row of options of a view. A choice takes effect at once; typed values with Enter or "Apply". */
export function options(fields: readonly Field[], route: Route): HTMLFormElement | null {
  if (fields.length === 0) return null;
  const show = (field: Field): Child => input(field, valueOf(field, route));
  const [plain, advanced] = [fields.filter((field) => !field.advanced), fields.filter((field) => field.advanced)];
  const chosen = advanced.filter((field) => route.get(field.name) && route.get(field.name) !== field.initial);
  const isTyped = (field: Field) => field.kind !== "choice" && field.kind !== "flag";
  const apply = () => el("button", { class: "plain" }, t("Apply"));
  const made = el(
    "form",
    { class: "options", action: "", autocomplete: "off", "aria-label": t("Options of this view") },
    el("div", { class: "fields" }, ...plain.map(show), plain.some(isTyped) && apply()),
    advanced.length > 0 &&
      el(
        "details",
        { class: "more", open: chosen.length > 0 },
        el(
          "summary",
          {},
          t("More options"),
          chosen.length > 0 &&
            el("span", { class: "chosen" }, `: ${chosen.map((field) => field.label.toLowerCase()).join(", ")}`),
        ),
        el("div", { class: "fields" }, ...advanced.map(show), advanced.some(isTyped) && apply()),
      ),
  );
  const submit = () => {
    const filled = new FormData(made);
    const changes: Record<string, string | undefined> = { cursor: undefined };
    for (const field of fields) {
      const text = String(filled.get(field.name) ?? "").trim();
      changes[field.name] = text && text !== field.initial ? text : undefined;
    }
    go(route.with(changes));
  };
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  made.addEventListener("change", (event) => {
    if ((event.target as Element).matches("select, [type=checkbox]")) submit();
  });
  return made;
}
