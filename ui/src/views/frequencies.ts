// Frequency of hits by attribute or metadata field.

import { el, bidi } from "../dom.ts";
import { fieldEquals, link } from "../route.ts";
import { count, plural, rate } from "../format.ts";
import { table } from "../table.ts";
import { asQuery, queryOf, sameQuery } from "../cql.ts";
import { type View, formsField } from "../view.ts";
import { LIMIT, QUERY, showEmpty } from "./shared.ts";

/** The frequencies view. */
export const frequencies: View = {
  name: "frequencies",
  title: "Frequencies",
  about: "Frequency of hits by source, word form, month or any metadata field.",
  group: "Words",
  documentFilter: "Filter documents",
  button: "Count",
  fields: (context) => {
    const fields = (context.corpus?.fields ?? []).filter((name) => !["url", "title"].includes(name));
    const attributes = context.attributes
      .filter((name) => name !== "word")
      .map((name) => [name, { lc: "form", tag: "part of speech", feats: "all features" }[name] ?? name] as const);
    const features = Object.keys(context.corpus?.features ?? {}).map((name) => [name, `feature ${name}`] as const);
    return [
      QUERY,
      ...formsField(context),
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
        initial: fields.includes("site") ? "site" : "lc",
      },
      LIMIT,
    ];
  },
  ready: (route) => route.get("q") !== "",
  show: async (context) => {
    const { route } = context;
    const by = route.get("by") || (context.corpus?.fields.includes("site") ? "site" : "lc");
    const found = await context.request("freq", {
      ...context.documents,
      q: queryOf(route),
      by,
      limit: route.get("limit"),
    });
    if (found.rows.length === 0) return showEmpty(context, "No hits.");
    context.announce(`${plural(found.hits, "hit")}, ${plural(found.values, "value")}.`);
    const isField = context.corpus?.fields.includes(by);
    const hitsOf = (value: string) =>
      isField
        ? link("search", route, {
            ...sameQuery(route),
            filter: [fieldEquals(by, value), route.get("filter") && `(${route.get("filter")})`]
              .filter(Boolean)
              .join(" "),
          })
        : link("search", route, { q: asQuery(value, by) });
    context.append(
      table(
        "frequencies",
        `Hits by ${by}`,
        [
          {
            name: by,
            value: (row) => row.value,
            show: (row) => (row.value ? el("a", { href: hitsOf(row.value) }, bidi(row.value)) : "(unknown)"),
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
