// Facets of the query: hits by source, year and other fields of documents, each a click away from its filter.

import { el, bidi } from "../dom.ts";
import { type Route, fieldEquals } from "../route.ts";
import { brief, language } from "../format.ts";
import { queryOf } from "../cql.ts";
import { t, tn } from "../text/index.ts";
import type { ViewContext } from "../view.ts";
import { FIELD_NAMES } from "./frequencies.ts";

/** Fields with a facet, in their order. */
const FIELDS = ["site", "section", "author", "licence", "country", "topic"] as const;
/** Values of a facet that are shown at once. */
const FIRST = 6;
/** Values of a facet in all. */
const MOST = 30;

interface Value {
  label: string;
  hits: number;
  href: string;
  isChosen: boolean;
}

/** The filter with one condition more. */
const withCondition = (route: Route, condition: string): string =>
  [
    condition,
    route.get("filter") && (route.get("filter").includes("|") ? `(${route.get("filter")})` : route.get("filter")),
  ]
    .filter(Boolean)
    .join(" ");

function facet(name: string, values: readonly Value[]): HTMLElement | null {
  if (values.length === 0 || (values.length === 1 && !values[0]!.isChosen && name !== FIELD_NAMES.site)) return null;
  const largest = Math.max(...values.map((value) => value.hits));
  const row = (value: Value) => {
    const line = el("i", { "aria-hidden": "true" });
    line.style.inlineSize = `${(100 * value.hits) / (largest || 1)}%`;
    return el(
      "li",
      {},
      el(
        "a",
        {
          href: value.href,
          class: value.isChosen ? "chosen" : undefined,
          title: tn(value.hits, "{n} hit", "{n} hits"),
        },
        bidi(value.label),
        " ",
        el("b", {}, value.isChosen ? "×" : brief(value.hits)),
      ),
      line,
    );
  };
  const list = el("ul", {}, ...values.slice(0, FIRST).map(row));
  const more =
    values.length > FIRST &&
    el(
      "button",
      {
        type: "button",
        class: "plain",
        click: () => {
          list.append(...values.slice(FIRST).map(row));
          (more as HTMLElement).remove();
        },
      },
      t("{n} more", { n: values.length - FIRST }),
    );
  return el("section", { class: "facet" }, el("h2", {}, name), list, more);
}

/** Counts the hits by each field that the corpus has, and shows them beside the results. */
export async function facets(context: ViewContext, aside: HTMLElement): Promise<void> {
  const { route, corpus } = context;
  const q = queryOf(route);
  if (!q || !corpus) return;
  const known = FIELDS.filter((name) => corpus.fields.includes(name));
  const byField = known.map(async (name) => {
    const found = await context.requestUnlisted("freq", { ...context.documents, q, by: name, limit: MOST });
    const chosen = name === "site" ? route.get("site") : "";
    return facet(
      FIELD_NAMES[name] ?? name,
      found.rows
        .filter((row) => row.value)
        .map((row) => ({
          label: row.value,
          hits: row.hits,
          isChosen: row.value === chosen || route.get("filter").includes(fieldEquals(name, row.value)),
          href:
            name === "site"
              ? route.with({ site: row.value === chosen ? undefined : row.value, cursor: undefined })
              : route.get("filter").includes(fieldEquals(name, row.value))
                ? route.with({
                    filter: route.get("filter").replace(fieldEquals(name, row.value), "").trim(),
                    cursor: undefined,
                  })
                : route.with({ filter: withCondition(route, fieldEquals(name, row.value)), cursor: undefined }),
        })),
    );
  });
  const byYear = async () => {
    const found = await context.requestUnlisted("timeline", { ...context.documents, q, by: "year" });
    const values = found.points
      .filter((point) => (point.hits ?? 0) > 0)
      .toReversed()
      .map((point) => {
        const isChosen = route.get("from") === point.bin && route.get("to") === point.bin;
        return {
          label: point.bin,
          hits: point.hits ?? 0,
          isChosen,
          href: route.with({
            from: isChosen ? undefined : point.bin,
            to: isChosen ? undefined : point.bin,
            cursor: undefined,
          }),
        };
      });
    return facet(t("year"), values);
  };
  const byLanguage = async () => {
    const others = context.corpora.filter((each) => each !== corpus).slice(0, MOST);
    if (others.length === 0 || q.includes("[")) return null;
    const found = await Promise.all(
      others.map(async (each) => ({
        code: each.corpus,
        answer: await context.requestIn(each.corpus, "count", { ...context.documents, q }).catch(() => null),
      })),
    );
    const values = found
      .flatMap(({ code, answer }) => (answer && answer.hits > 0 ? [{ code, hits: answer.hits }] : []))
      .sort((one, other) => other.hits - one.hits)
      .map(({ code, hits }) => ({
        label: language(code),
        hits,
        isChosen: false,
        href: route.with({ lang: code, cursor: undefined }),
      }));
    return values.length > 0 ? facet(t("other languages"), values) : null;
  };
  const [first, ...rest] = byField;
  const parts = await Promise.allSettled([...(first ? [first] : []), byYear(), ...rest, byLanguage()]);
  if (context.signal.aborted) return;
  const shown = parts.flatMap((part) => (part.status === "fulfilled" && part.value ? [part.value] : []));
  aside.replaceChildren(...shown);
  aside.hidden = shown.length === 0;
}
