// Hits by whatever is known about them.

import { el, foreign } from "../dom.ts";
import { exactly, link } from "../place.ts";
import { count, many, rate } from "../say.ts";
import { table } from "../table.ts";
import { type View, again, asQuery, formsField, meant } from "../view.ts";
import { LIMIT, QUERY, nothing } from "./shared.ts";

/** How often hits have each value. */
export const frequencies: View = {
  name: "frequencies",
  title: "Frequencies",
  about: "Hits by source, by form, by month or whatever is known about documents.",
  group: "Words",
  chooses: "Which documents",
  button: "Count",
  fields: (desk) => {
    const fields = (desk.corpus?.fields ?? []).filter((name) => !["url", "title"].includes(name));
    const attributes = desk.attributes
      .filter((name) => name !== "word")
      .map((name) => [name, { lc: "form", tag: "part of speech", feats: "all features" }[name] ?? name] as const);
    const features = Object.keys(desk.corpus?.features ?? {}).map((name) => [name, `feature ${name}`] as const);
    return [
      QUERY,
      ...formsField(desk),
      {
        name: "by",
        label: "By",
        kind: "choice",
        choices: [
          ["word", "exact form"],
          ...attributes,
          ...features,
          ...fields.map((name) => [name, name === "site" ? "source" : name] as const),
        ],
        usual: fields.includes("site") ? "site" : "lc",
      },
      LIMIT,
    ];
  },
  ready: (place) => place.get("q") !== "",
  show: async (desk) => {
    const { place } = desk;
    const by = place.get("by") || (desk.corpus?.fields.includes("site") ? "site" : "lc");
    const found = await desk.ask<{
      hits: number;
      values: number;
      rows: { value: string; hits: number; tokens?: number; per_million?: number | null }[];
    }>("freq", { q: meant(place), by, limit: place.get("limit") });
    if (found.rows.length === 0) return nothing(desk, "There are no hits.");
    desk.say(`${many(found.hits, "hit")}, ${many(found.values, "value")}.`);
    const isField = desk.corpus?.fields.includes(by);
    const hitsOf = (value: string) =>
      isField
        ? link("search", place, {
            ...again(place),
            filter: [exactly(by, value), place.get("filter") && `(${place.get("filter")})`].filter(Boolean).join(" "),
          })
        : link("search", place, { q: asQuery(value, by) });
    desk.put(
      table(
        "frequencies",
        `Hits by ${by}`,
        [
          {
            name: by,
            value: (row) => row.value,
            show: (row) => (row.value ? el("a", { href: hitsOf(row.value) }, foreign(row.value)) : "(not known)"),
          },
          { name: "hits", value: (row) => row.hits, numeric: true, show: (row) => count(row.hits) },
          { name: "per million", value: (row) => row.per_million, numeric: true, show: (row) => rate(row.per_million) },
          {
            name: "tokens",
            value: (row) => row.tokens,
            numeric: true,
            show: (row) => (row.tokens === undefined ? "" : count(row.tokens)),
          },
        ],
        found.rows,
      ),
    );
  },
};
