// What keywords and terms share: the focus (the filtered documents, or those of the last twelve months), the reference, and
// the columns of both.

import type { AnswerOf } from "../api.ts";
import { el } from "../dom.ts";
import { count, rate } from "../format.ts";
import { KEYNESS_MEASURE_CHOICES } from "../generated/api.ts";
import { filterOf, link } from "../route.ts";
import { before } from "../querybar.ts";
import type { Column } from "../table.ts";
import { t } from "../text/index.ts";
import { type ViewContext } from "../view.ts";

/** The documents that the focus is compared with. */
export const AGAINST = {
  name: "against",
  label: t("Reference subcorpus (all other documents if empty)"),
  kind: "text",
  wide: true,
  hint: "date<2026-06",
} as const;

/** The measure that orders the rows. */
export const KEYNESS = {
  name: "measure",
  label: t("Order by"),
  kind: "choice",
  choices: KEYNESS_MEASURE_CHOICES.map(([name]) => [name, name.replace("-", " ")] as const),
  initial: "simple-maths",
  advanced: true,
} as const;

/** Asks what is typical of the focus, with these parameters of the route, and announces how large both parts are. */
export async function ofFocus<E extends "keywords" | "terms">(
  context: ViewContext,
  endpoint: E,
  names: readonly string[],
): Promise<AnswerOf<E>> {
  const { route } = context;
  const focus = filterOf(route) || lastYear(context);
  if (!filterOf(route)) context.append(usualFocus(context, endpoint, focus));
  const found = await context.request(endpoint, {
    ...context.documents,
    focus,
    filter: "",
    ...Object.fromEntries(names.map((name) => [name, route.get(name)])),
  });
  context.announce(
    t("{focus} tokens in focus, {reference} in the reference", {
      focus: count(found.focus_tokens),
      reference: count(found.reference_tokens),
    }),
  );
  return found;
}

/** A row of both. */
interface FocusRow {
  score: number | null;
  focus: number;
  reference: number;
  focus_per_million: number | null;
  reference_per_million: number | null;
  log_ratio: number | null;
  log_likelihood: number | null;
}

/** The titles of columns that depend on what is counted. */
interface FocusTitles {
  rate: readonly [string, string];
  count: readonly [string, string];
  showRate: (value: number | null) => string;
}

/** Hits as they are counted without other choice. */
export const HITS_IN_FOCUS: FocusTitles = {
  rate: [t("per million in focus"), t("per million in reference")],
  count: [t("hits in focus"), t("hits in reference")],
  showRate: rate,
};

/** The columns of numbers, by name. */
export function focusColumns<Row extends FocusRow>(titles: FocusTitles): Record<keyof FocusRow, Column<Row>> {
  const column = (
    name: keyof FocusRow,
    label: string,
    show: (value: number | null) => string,
    about?: string,
  ): Column<Row> => ({
    name,
    label,
    ...(about ? { about } : {}),
    value: (row) => row[name],
    numeric: true,
    show: (row) => show(row[name]),
  });
  const whole = (value: number | null) => count(value ?? 0);
  return {
    focus_per_million: column("focus_per_million", titles.rate[0], titles.showRate),
    reference_per_million: column("reference_per_million", titles.rate[1], titles.showRate),
    score: column("score", t("score"), rate),
    log_ratio: column("log_ratio", t("log ratio"), rate, t("Binary logarithm of the ratio of rates")),
    log_likelihood: column("log_likelihood", t("log-likelihood"), rate),
    focus: column("focus", titles.count[0], whole),
    reference: column("reference", titles.count[1], whole),
  };
}

/** The documents in focus if none are filtered: those of the last twelve months. */
const lastYear = ({ corpus }: ViewContext): string =>
  corpus?.last_day ? `date>=${before(corpus.last_day, 364)}` : "date>=1970-01-01";

/** Says what is in focus, and how to choose something else. */
const usualFocus = ({ corpus, route }: ViewContext, view: string, focus: string): HTMLElement =>
  el(
    "p",
    { class: "note" },
    t(
      "In focus: the last 12 months ({filter}), compared with all other documents. Choose a period, a source or other filters above for another focus.",
      { filter: focus },
    ),
    ...(corpus?.last_day
      ? [
          ` ${t("For example:")} `,
          el(
            "a",
            { href: link(view, route, { filter: `date=${corpus.last_day.slice(0, 7)}` }) },
            corpus.last_day.slice(0, 7),
          ),
        ]
      : []),
  );

/** The reason why a comparison has no rows: a part without documents, or what is said otherwise. */
export function whyEmpty(found: { focus_tokens: number; reference_tokens: number }, otherwise: string): string {
  if (found.focus_tokens === 0) return t("The focus subcorpus has no documents; the filter may be too narrow.");
  if (found.reference_tokens === 0)
    return t("There are no documents to compare with. Choose a shorter period, or another reference.");
  return otherwise;
}
