// Where the person is: everything that a view shows follows from the address, so that every view can be sent to somebody.

/** The parameters of an address. */
export type Given = Record<string, string | undefined>;

/** The view and its parameters. */
export class Place {
  constructor(private readonly given: URLSearchParams) {}

  static here(): Place {
    return new Place(new URLSearchParams(location.search));
  }

  get view(): string {
    return this.given.get("view") ?? "search";
  }

  /** A parameter; empty if it is not given. */
  get(name: string): string {
    return this.given.get(name) ?? "";
  }

  /** All values of a parameter that may be given several times. */
  all(name: string): string[] {
    return this.given.getAll(name).filter(Boolean);
  }

  /** The address of this view with some parameters changed. */
  with(changes: Given): string {
    const given = new URLSearchParams(this.given);
    for (const [name, value] of Object.entries(changes)) {
      if (value) given.set(name, value);
      else given.delete(name);
    }
    return `?${given}`;
  }
}

/** Parameters that mean the same in every view: which corpus, and which of its documents. */
const SHARED = ["lang", "from", "to", "site", "filter", "in"];

/** The address of another view about the same documents. */
export function link(view: string, from: Place, given: Given = {}): string {
  const made = new URLSearchParams();
  if (view !== "search") made.set("view", view);
  for (const name of SHARED) if (from.get(name)) made.set(name, from.get(name));
  for (const [name, value] of Object.entries(given)) {
    if (value) made.set(name, value);
    else made.delete(name);
  }
  return `?${made}`;
}

/** A filter for one value of a field, whatever signs it has. */
export const exactly = (field: string, value: string): string =>
  /^[\p{L}\p{N}._:-]+$/u.test(value) ? `${field}=${value}` : `${field}=="${value.replace(/[\\"]/g, "\\$&")}"`;

/** The filter that the parameters of a place make together. */
export function filterOf(place: Place): string {
  const parts: string[] = [];
  if (place.get("from")) parts.push(`date>=${place.get("from")}`);
  if (place.get("to")) parts.push(`date<=${place.get("to")}`);
  if (place.get("site")) parts.push(exactly("site", place.get("site")));
  const own = place.get("filter");
  if (own) parts.push(parts.length > 0 && own.includes("|") ? `(${own})` : own);
  return parts.join(" ");
}

/** Goes somewhere without loading the page anew. */
export function go(address: string): void {
  history.pushState(null, "", address);
  dispatchEvent(new Event("moved"));
}
