// Saved searches with their feeds, and virtual corpora.

import { change } from "../api.ts";
import { copyButton, el, bidi } from "../dom.ts";
import { language } from "../format.ts";
import { t } from "../text/index.ts";
import { table } from "../table.ts";
import type { View } from "../view.ts";

/** The saved searches view. */
export const saved: View = {
  name: "saved",
  title: t("Saved searches"),
  about: t("Each has a feed of new hits."),
  kind: "other",
  fields: () => [],
  ready: () => true,
  show: async (context) => {
    const { route, server } = context;
    const [searches, corpora] = await Promise.all([context.request("searches"), context.request("corpora-named")]);
    const remove = (path: string, name: string) =>
      server.owner
        ? el(
            "button",
            {
              type: "button",
              class: "plain",
              "aria-label": t("Delete {name}", { name }),
              click: async () => {
                await change(path, {}, "DELETE");
                dispatchEvent(new Event("corporachange"));
              },
            },
            t("Delete"),
          )
        : "";
    context.announce("");
    const feed = (name: string, format: "rss" | "json") =>
      `api/v1/searches/${encodeURIComponent(name)}/feed?format=${format}`;
    const absolute = (path: string) => new URL(path, document.baseURI).href;
    context.append(
      searches.rows.length === 0
        ? el(
            "p",
            { class: "empty" },
            t("No saved searches yet: “Save, alert me” above the results of a query saves it."),
          )
        : table(
            "searches",
            t("Saved searches"),
            [
              {
                name: "name",
                label: t("name"),
                value: (row) => row.name,
                show: (row) =>
                  el(
                    "a",
                    {
                      href: `?${new URLSearchParams({ lang: row.lang, q: row.q, ...(row.filter ? { filter: row.filter } : {}) })}`,
                    },
                    bidi(row.name),
                  ),
              },
              { name: "q", label: t("query"), value: (row) => row.q, show: (row) => el("code", {}, row.q) },
              { name: "lang", label: t("language"), value: (row) => row.lang, show: (row) => language(row.lang) },
              { name: "filter", label: t("filter"), value: (row) => row.filter },
              {
                name: "feed",
                label: t("feed"),
                picture: true,
                value: () => "",
                show: (row) =>
                  el(
                    "span",
                    { class: "links" },
                    el("a", { href: feed(row.name, "rss"), "data-api": true }, "RSS"),
                    " ",
                    el("a", { href: feed(row.name, "json"), "data-api": true }, "JSON"),
                    " ",
                    copyButton(t("Copy"), () => absolute(feed(row.name, "rss"))),
                  ),
              },
              {
                name: "delete",
                label: t("Delete"),
                picture: true,
                value: () => "",
                show: (row) => remove(`api/v1/searches/${encodeURIComponent(row.name)}`, row.name),
              },
            ],
            searches.rows,
          ),
      el("h2", {}, t("Virtual corpora")),
      corpora.rows.length === 0
        ? el("p", { class: "empty" }, t("No virtual corpora yet: choose filters and save them with “Save, alert me”."))
        : table(
            "virtual-corpora",
            t("Virtual corpora"),
            [
              {
                name: "name",
                label: t("name"),
                value: (row) => row.name,
                show: (row) =>
                  el(
                    "a",
                    {
                      href: `?${new URLSearchParams({ view: "documents", in: row.name, ...(route.get("lang") ? { lang: route.get("lang") } : {}) })}`,
                    },
                    bidi(row.name),
                  ),
              },
              {
                name: "filter",
                label: t("filter"),
                value: (row) => row.filter,
                show: (row) => el("code", {}, row.filter),
              },
              {
                name: "delete",
                label: t("Delete"),
                picture: true,
                value: () => "",
                show: (row) => remove(`api/v1/corpora-named/${encodeURIComponent(row.name)}`, row.name),
              },
            ],
            corpora.rows,
          ),
    );
  },
};
