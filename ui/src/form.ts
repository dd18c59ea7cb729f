// Forms made of a description: the fields of a view, and those by which every view chooses its documents.

import { type Child, el } from "./dom.ts";
import { type Place, go } from "./place.ts";

/** Something that a person can fill in. */
export interface Field {
  name: string;
  label: string;
  kind: "text" | "query" | "choice" | "number" | "date" | "flag";
  /** Values with their names. */
  choices?: readonly (readonly [value: string, name: string])[];
  /** What holds if nothing is chosen; it is left out of the address. */
  usual?: string;
  /** What may be written here. */
  hint?: string;
  /** Whether the field stands with those that few people need. */
  rare?: boolean;
  wide?: boolean;
  required?: boolean;
  /** Which of several values of the same name it is. */
  at?: number;
}

/** Which documents are meant. */
export const DOCUMENTS: readonly Field[] = [
  { name: "from", label: "From", kind: "date" },
  { name: "to", label: "To", kind: "date" },
  { name: "site", label: "Source", kind: "text", hint: "gazette.example" },
  { name: "filter", label: "Other conditions", kind: "text", hint: "topic=sport", wide: true },
];

/** What a field holds at a place. */
export const valueOf = (field: Field, place: Place): string =>
  place.all(field.name)[field.at ?? 0] || field.usual || "";

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

/** The fields as a form that leads to the address of what was filled in. */
export function form(
  fields: readonly Field[],
  documents: readonly Field[],
  title: string,
  place: Place,
  button: string,
): HTMLFormElement {
  const show = (field: Field): Child => input(field, valueOf(field, place));
  const group = (title: string, members: readonly Field[]): Child => {
    if (members.length === 0) return null;
    const chosen = members.filter((field) => place.get(field.name) && place.get(field.name) !== field.usual);
    const said = chosen.map((field) =>
      `${field.label.toLowerCase()} ${field.kind === "flag" ? "" : place.get(field.name)}`.trim(),
    );
    // Without documents in focus there is nothing to ask.
    return el(
      "details",
      { class: "more", open: chosen.length > 0 || title === "Documents in focus" },
      el("summary", {}, title, said.length > 0 && el("span", { class: "chosen" }, `: ${said.join(", ")}`)),
      el("div", { class: "fields" }, ...members.map(show)),
    );
  };
  const made = el(
    "form",
    { class: "ask", role: "search", action: "", autocomplete: "off" },
    el(
      "div",
      { class: "fields" },
      ...fields.filter((field) => !field.rare).map(show),
      el("button", { class: "go" }, button),
    ),
    el(
      "div",
      { class: "groups" },
      group(title, documents),
      group(
        "More options",
        fields.filter((field) => field.rare),
      ),
    ),
  );
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new URLSearchParams();
    if (place.view !== "search") given.set("view", place.view);
    if (place.get("lang")) given.set("lang", place.get("lang"));
    const filled = new FormData(made);
    for (const field of [...fields, ...documents]) {
      const text = String(filled.getAll(field.name)[field.at ?? 0] ?? "").trim();
      if (text && text !== field.usual) given.append(field.name, text);
    }
    go(`?${given}`);
  });
  return made;
}
