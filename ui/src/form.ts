// Forms built from a list of fields, and the document filter that most views have.

import { type Child, el } from "./dom.ts";
import { type Route, go } from "./route.ts";

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
  /** Index among repeated fields of one name. */
  at?: number;
}

/** The fields of the document filter. */
export const DOCUMENTS: readonly Field[] = [
  { name: "from", label: "From", kind: "date" },
  { name: "to", label: "To", kind: "date" },
  { name: "site", label: "Source", kind: "text", hint: "gazette.example" },
  { name: "filter", label: "Other fields", kind: "text", hint: "topic=sport", wide: true },
];

/** The value of a field in a route. */
export const valueOf = (field: Field, route: Route): string =>
  route.all(field.name)[field.at ?? 0] || field.initial || "";

function input(field: Field, value: string): HTMLElement {
  const id = `field-${field.name}${field.at || ""}`;
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
      control = el("input", { ...shared, type: "date", value });
      break;
    default:
      control = el("input", {
        ...shared,
        type: field.kind === "query" ? "search" : "text",
        value,
        dir: "auto",
        placeholder: field.hint,
        autocomplete: "off",
        autocapitalize: "off",
        spellcheck: "false",
        maxlength: 4000,
      });
  }
  return el("div", { class: `field ${field.kind}${field.wide ? " wide" : ""}` }, label, control);
}

/** A form whose submission navigates to the URL of its values. */
export function form(
  fields: readonly Field[],
  documents: readonly Field[],
  title: string,
  route: Route,
  button: string,
): HTMLFormElement {
  const show = (field: Field): Child => input(field, valueOf(field, route));
  const group = (title: string, members: readonly Field[]): Child => {
    if (members.length === 0) return null;
    const chosen = members.filter((field) => route.get(field.name) && route.get(field.name) !== field.initial);
    const summary = chosen.map((field) =>
      `${field.label.toLowerCase()} ${field.kind === "flag" ? "" : route.get(field.name)}`.trim(),
    );
    // A focus subcorpus is required, so its fields are open.
    return el(
      "details",
      { class: "more", open: chosen.length > 0 || title === "Focus subcorpus" },
      el("summary", {}, title, summary.length > 0 && el("span", { class: "chosen" }, `: ${summary.join(", ")}`)),
      el("div", { class: "fields" }, ...members.map(show)),
    );
  };
  const made = el(
    "form",
    { class: "ask", role: "search", action: "", autocomplete: "off" },
    el(
      "div",
      { class: "fields" },
      ...fields.filter((field) => !field.advanced).map(show),
      el("button", { class: "go" }, button),
    ),
    el(
      "div",
      { class: "groups" },
      group(title, documents),
      group(
        "More options",
        fields.filter((field) => field.advanced),
      ),
    ),
  );
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    const params = new URLSearchParams();
    if (route.view !== "search") params.set("view", route.view);
    if (route.get("lang")) params.set("lang", route.get("lang"));
    const filled = new FormData(made);
    for (const field of [...fields, ...documents]) {
      const text = String(filled.getAll(field.name)[field.at ?? 0] ?? "").trim();
      if (text && text !== field.initial) params.append(field.name, text);
    }
    go(`?${params}`);
  });
  return made;
}
