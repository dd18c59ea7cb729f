// The documents of the concordance page that was shown last, so that the document view can go to the next one.

import type { ConcordanceLine } from "../generated/api.ts";
import type { Route } from "../route.ts";

const KEY = "tidings-reading-order";

/** Stores the documents of the shown lines, in their order. */
export function rememberHits(lines: readonly Pick<ConcordanceLine, "document">[], route: Route): void {
  const ids = [...new Set(lines.map((line) => line.document))];
  sessionStorage.setItem(KEY, JSON.stringify({ q: route.get("q"), ids }));
}

/** The documents before and after one, if the query is still the same. */
export function neighbours(id: string, route: Route): { before: string | undefined; after: string | undefined } {
  try {
    const known = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as { q?: string; ids?: string[] };
    const at = known.q === route.get("q") ? (known.ids ?? []).indexOf(id) : -1;
    return at < 0 ? { before: undefined, after: undefined } : { before: known.ids![at - 1], after: known.ids![at + 1] };
  } catch {
    return { before: undefined, after: undefined };
  }
}
