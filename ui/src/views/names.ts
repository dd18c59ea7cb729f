// Names of persons, organisations and places.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, plural, rate } from "../format.ts";
import type { NameRow } from "../generated/api.ts";
import { table } from "../table.ts";
import type { View } from "../view.ts";
import { LIMIT, showEmpty } from "./shared.ts";

/** Types of names with their words. */
export const NAME_TYPES: Readonly<Record<string, string>> = { PER: "person", ORG: "organisation", LOC: "place" };

/** The names view. */
export const names: View = {
  name: "names",
  title: "Names",
  about: "Who and what is in the news.",
  group: "News",
  documentFilter: "Filter documents",
  button: "List",
  fields: () => [
    { name: "type", label: "Type", kind: "choice", choices: [["", "all"], ...Object.entries(NAME_TYPES)], initial: "" },
    { name: "since", label: "Only new names, since", kind: "date" },
    { name: "min_documents", label: "Minimum documents", kind: "number", initial: "1", advanced: true },
    { name: "min_sites", label: "Minimum sources", kind: "number", initial: "1", advanced: true },
    LIMIT,
  ],
  ready: () => true,
  meaning:
    "Names are runs of proper nouns. Within a document, inflected and shortened forms count as the full name: “Merkels” and “Frau Merkel” as “Angela Merkel”. The type is shown only where titles, context words or the name itself make it sure. Different people of the same name are not told apart.",
  show: async (context) => {
    const { route } = context;
    const parameters = ["type", "since", "min_documents", "min_sites", "limit"];
    const found = await context.request("names", {
      ...context.documents,
      ...Object.fromEntries(parameters.map((name) => [name, route.get(name)])),
    });
    const since = route.get("since");
    if (found.rows.length === 0)
      return showEmpty(
        context,
        found.mentions === 0
          ? "These documents have no names. The layer “names” may be switched off (annotate.layers), or their text was annotated by an older version: run tidings annotate and tidings compile."
          : `No name matches.${since ? " Try an earlier date." : ""}`,
      );
    context.announce(
      `${found.values === null ? "Some names" : plural(found.values, since ? "new name" : "name")}${since ? ` since ${since}` : ""}, ${plural(found.mentions, "mention")} of names in all.`,
    );
    const to = (view: string, row: NameRow, words: string, by?: string) =>
      el("a", { href: link(view, route, { q: row.query, by }), "aria-label": `${row.name}: ${words}` }, words);
    context.append(
      table(
        "names",
        since ? `Names first seen since ${since}, by number of documents` : "Names, by number of documents",
        [
          {
            name: "name",
            value: (row) => row.name,
            show: (row) => el("a", { href: link("search", route, { q: row.query }) }, bidi(row.name)),
          },
          { name: "type", value: (row) => row.type ?? "", show: (row) => (row.type ? NAME_TYPES[row.type] : "") },
          { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
          { name: "sources", value: (row) => row.sites, numeric: true, show: (row) => count(row.sites) },
          { name: "mentions", value: (row) => row.mentions, numeric: true, show: (row) => count(row.mentions) },
          { name: "per million", value: (row) => row.per_million, numeric: true, show: (row) => rate(row.per_million) },
          { name: "first", value: (row) => row.first_seen },
          { name: "last", value: (row) => row.last_seen },
          {
            name: "more",
            picture: true,
            value: () => "",
            show: (row) =>
              el("span", {}, to("timeline", row, "timeline"), " ", to("frequencies", row, "sources", "site")),
          },
        ],
        found.rows,
      ),
    );
  },
};
