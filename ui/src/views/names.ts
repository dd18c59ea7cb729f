// Names of persons, organisations and places.

import { el, bidi } from "../dom.ts";
import { link } from "../route.ts";
import { count, period, rate } from "../format.ts";
import type { NameRow } from "../generated/api.ts";
import { table } from "../table.ts";
import type { View } from "../view.ts";
import { LIMIT, showEmpty } from "./shared.ts";
import { t, tn } from "../text/index.ts";

/** Types of names with their words. */
export const NAME_TYPES: Readonly<Record<string, string>> = {
  PER: t("person"),
  ORG: t("organisation"),
  LOC: t("place"),
};

/** The names view. */
export const names: View = {
  name: "names",
  title: t("Names"),
  about: t("Who and what is in the news."),
  kind: "discover",
  fields: () => [
    {
      name: "type",
      label: t("Type"),
      kind: "choice",
      choices: [["", t("all")], ...Object.entries(NAME_TYPES)],
      initial: "",
    },
    { name: "since", label: t("Only new names, since"), kind: "date" },
    { name: "min_documents", label: t("Minimum documents"), kind: "number", initial: "1", advanced: true },
    { name: "min_sites", label: t("Minimum sources"), kind: "number", initial: "1", advanced: true },
    LIMIT,
  ],
  ready: () => true,
  meaning: t(
    "Names are runs of proper nouns. Within a document, inflected and shortened forms count as the full name: “Merkels” and “Frau Merkel” as “Angela Merkel”. The type is shown only where titles, context words or the name itself make it sure. Different people of the same name are not told apart.",
  ),
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
          ? t(
              "These documents have no names. The layer “names” may be switched off (annotate.layers), or their text was annotated by an older version: run tidings annotate and tidings compile.",
            )
          : since
            ? t("No name matches. Try an earlier date.")
            : t("No name matches."),
      );
    context.announce(
      `${found.values === null ? t("Some names") : tn(found.values, "{n} name", "{n} names")} · ${tn(found.mentions, "{n} mention", "{n} mentions")}`,
    );
    const to = (view: string, row: NameRow, words: string, by?: string) =>
      el("a", { href: link(view, route, { q: row.query, by }), "aria-label": `${row.name}: ${words}` }, words);
    context.append(
      table(
        "names",
        since
          ? t("Names first seen since {day}, by number of documents", { day: since })
          : t("Names, by number of documents"),
        [
          {
            name: "name",
            label: t("name"),
            value: (row) => row.name,
            show: (row) => el("a", { href: link("search", route, { q: row.query }) }, bidi(row.name)),
          },
          {
            name: "type",
            label: t("type"),
            value: (row) => row.type ?? "",
            show: (row) => (row.type ? NAME_TYPES[row.type] : ""),
          },
          {
            name: "documents",
            label: t("documents"),
            value: (row) => row.documents,
            numeric: true,
            show: (row) => count(row.documents),
          },
          {
            name: "sites",
            label: t("sources"),
            value: (row) => row.sites,
            numeric: true,
            show: (row) => count(row.sites),
          },
          {
            name: "mentions",
            label: t("mentions"),
            value: (row) => row.mentions,
            numeric: true,
            show: (row) => count(row.mentions),
          },
          {
            name: "per_million",
            label: t("per million"),
            value: (row) => row.per_million,
            numeric: true,
            show: (row) => rate(row.per_million),
          },
          {
            name: "first_seen",
            label: t("first"),
            value: (row) => row.first_seen,
            show: (row) => period(row.first_seen ?? "–"),
          },
          {
            name: "last_seen",
            label: t("last"),
            value: (row) => row.last_seen,
            show: (row) => period(row.last_seen ?? "–"),
          },
          {
            name: "more",
            label: t("more"),
            picture: true,
            value: () => "",
            show: (row) =>
              el("span", {}, to("timeline", row, t("timeline")), " ", to("frequencies", row, t("sources"), "site")),
          },
        ],
        found.rows,
      ),
    );
  },
};
