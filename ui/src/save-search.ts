// The button that saves the query with its filters, or the filters alone as a virtual corpus.

import { change } from "./api.ts";
import { el } from "./dom.ts";
import { queriesOf, queryOf } from "./cql.ts";
import { t } from "./text/index.ts";
import type { View, ViewContext } from "./view.ts";

/** A name from a text: letters, digits and hyphens. */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40) || "search";

/** The button with its form; nothing for those who may not change the home. */
export function saveButton(context: ViewContext, view: View): HTMLElement | null {
  const { route, server } = context;
  const { filter } = context.documents;
  const hasQuery = view.kind === "query" && view.name !== "document" && queriesOf(route).length > 0;
  if (!server.owner || (!hasQuery && !filter)) return null;
  const name = el("input", {
    id: "save-name",
    required: true,
    value: slug(queriesOf(route).join(" ") || filter),
    maxlength: 60,
  });
  const done = el("p", { role: "status", class: "quiet" });
  const form = el(
    "form",
    {
      class: "save-form",
      submit: async (event: Event) => {
        event.preventDefault();
        try {
          if (hasQuery) {
            const body = { name: name.value.trim(), lang: context.lang, q: queryOf(route), filter };
            await change("api/v1/searches", body);
            const feed = `api/v1/searches/${encodeURIComponent(body.name)}/feed?format=rss`;
            done.replaceChildren(
              t("Saved."),
              " ",
              el("a", { href: feed }, t("Feed of new hits (RSS)")),
              " · ",
              el("a", { href: "?view=saved" }, t("Saved searches")),
            );
          } else {
            await change("api/v1/corpora-named", { name: name.value.trim(), filter });
            done.replaceChildren(t("Saved."), " ", el("a", { href: "?view=saved" }, t("Virtual corpora")));
          }
        } catch (error) {
          done.textContent = error instanceof Error ? error.message : String(error);
        }
      },
    },
    el("div", { class: "field" }, el("label", { for: "save-name" }, t("Name")), name),
    el("button", { class: "go" }, t("Save")),
    done,
  );
  return el(
    "details",
    { class: "save" },
    el("summary", { class: "button" }, hasQuery ? t("☆ Save, alert me") : t("☆ Save as a corpus")),
    form,
  );
}
