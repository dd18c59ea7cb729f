// The focus of keywords and terms: the filtered documents, or those of the last twelve months.

import { el } from "../dom.ts";
import { link } from "../route.ts";
import { before } from "../querybar.ts";
import { t } from "../text/index.ts";
import { type ViewContext } from "../view.ts";

/** The documents in focus if none are filtered: those of the last twelve months. */
export const lastYear = ({ corpus }: ViewContext): string =>
  corpus?.last_day ? `date>=${before(corpus.last_day, 364)}` : "date>=1970-01-01";

/** Says what is in focus, and how to choose something else. */
export const usualFocus = ({ corpus, route }: ViewContext, view: string, focus: string): HTMLElement =>
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
