// The URL of the page. Everything a view shows follows from it, so that every view can be bookmarked and shared.

/** Parameters of a route. */
export type RouteParams = Record<string, string | undefined>;

/** The view and its parameters. */
export class Route {
  constructor(private readonly params: URLSearchParams) {}

  static here(): Route {
    return new Route(new URLSearchParams(location.search));
  }

  /** The view: without a name, the concordance of the query, or the start page if there is none. */
  get view(): string {
    return this.params.get("view") ?? (this.get("q") ? "search" : "start");
  }

  /** A parameter; empty if absent. */
  get(name: string): string {
    return this.params.get(name) ?? "";
  }

  /** All values of a repeatable parameter. */
  all(name: string): string[] {
    return this.params.getAll(name).filter(Boolean);
  }

  /** The URL of this view with some parameters changed. */
  with(changes: RouteParams): string {
    const params = new URLSearchParams(this.params);
    for (const [name, value] of Object.entries(changes)) {
      if (value) params.set(name, value);
      else params.delete(name);
    }
    return `?${params}`;
  }
}

/** Parameters shared by all views: the corpus, its state and the document filter. */
const SHARED = ["lang", "as_of", "from", "to", "site", "filter", "in"];

/** The URL of another view with the same document filter. */
export function link(view: string, from: Route, changes: RouteParams = {}): string {
  const url = new URLSearchParams();
  if (view !== "search") url.set("view", view);
  for (const name of SHARED) if (from.get(name)) url.set(name, from.get(name));
  for (const [name, value] of Object.entries(changes)) {
    if (value) url.set(name, value);
    else url.delete(name);
  }
  return `?${url}`;
}

/** A filter for one exact value of a metadata field. */
export const fieldEquals = (field: string, value: string): string =>
  /^[\p{L}\p{N}._:-]+$/u.test(value) ? `${field}=${value}` : `${field}=="${value.replace(/[\\"]/g, "\\$&")}"`;

/** The filter of documents with a hit of a query, and with the properties of another filter. */
export function withHit(query: string, filter: string): string {
  const own = filter.includes("|") ? `(${filter})` : filter;
  return [own, `has("${query.replace(/[\\"]/g, "\\$&")}")`].filter(Boolean).join(" ");
}

/** The document filter of a route. */
export function filterOf(route: Route): string {
  const parts: string[] = [];
  if (route.get("from")) parts.push(`date>=${route.get("from")}`);
  if (route.get("to")) parts.push(`date<=${route.get("to")}`);
  if (route.get("site")) parts.push(fieldEquals("site", route.get("site")));
  const own = route.get("filter");
  if (own) parts.push(parts.length > 0 && own.includes("|") ? `(${own})` : own);
  return parts.join(" ");
}

/** Navigates without reloading the page. */
export function go(address: string): void {
  history.pushState(null, "", address);
  dispatchEvent(new Event("routechange"));
}
