// The interface of a view, the context it works in, and fields that several views share.

import { type AnswerOf, type Corpus, type Endpoint, type ParametersOf, address, request } from "./api.ts";
import { type Child, el, fill } from "./dom.ts";
import type { Field } from "./form.ts";
import { caution } from "./format.ts";
import { type About, PATHS, STEP_CHOICES, type Step } from "./generated/api.ts";
import { type Route, filterOf } from "./route.ts";
import { t } from "./text/index.ts";

/** A page of the interface: options, a request, and the display of its answer. */
export interface View {
  name: string;
  title: string;
  /** One sentence below the title. */
  about: string;
  /** Views of the query in the box, discoveries that need none, and the rest. */
  kind: "query" | "discover" | "other";
  fields: (context: ViewContext) => Field[];
  /** Returns true if the route has enough parameters for a request; otherwise `welcome` is shown. */
  ready: (route: Route) => boolean;
  /** Sends requests and shows the answers. */
  show: (context: ViewContext) => Promise<void>;
  /** Explanation of the numbers, under "How to read this". */
  meaning?: string;
  /** Content before the first request. */
  welcome?: (context: ViewContext) => Child | Promise<Child>;
  /** Whether the facets of the query stand beside the results. */
  facets?: boolean;
}

/** What the server tells about itself and about the client. */
export type ServerInfo = Pick<AnswerOf<"server">, "version" | "address" | "owner">;

/** What a view works with: its route, its corpus, the API, and the elements it fills. */
export class ViewContext {
  /** The requests that the shown results come from. */
  readonly requests: string[] = [];
  /** The remarks that are shown already. */
  private readonly notes = new Set<string>();
  /** The corpus state that answered. */
  about: About | undefined;
  /** True if a limit cut off one of the answers: what is not in them may still be in the corpus. */
  isCutOff = false;

  constructor(
    readonly route: Route,
    readonly corpus: Corpus | undefined,
    readonly corpora: readonly Corpus[],
    readonly server: ServerInfo,
    readonly results: HTMLElement,
    private readonly message: HTMLElement,
    readonly signal: AbortSignal,
  ) {}

  /** Token attributes that have values in this corpus. */
  get attributes(): readonly string[] {
    return this.corpus?.attributes ?? [];
  }

  get lang(): string {
    return this.corpus?.corpus ?? "";
  }

  /** Sets the status line, which screen readers announce. */
  announce(text: string): void {
    if (!this.signal.aborted) this.message.textContent = this.isCutOff ? `${t("Incomplete result.")} ${text}` : text;
  }

  /** Appends to the results, unless the user has left the view. */
  append(...children: Child[]): void {
    if (!this.signal.aborted) fill(this.results, ...children);
  }

  /** Sends a request and lists it under "API requests". Its remarks are shown above the results, unless the view has its own. */
  async request<E extends Endpoint>(
    endpoint: E,
    parameters: ParametersOf<E> = {},
    showsNotes = true,
  ): Promise<AnswerOf<E>> {
    const asked = this.asOf(endpoint, parameters);
    const answer = await request(endpoint, this.lang, asked, this.signal);
    this.requests.push(address(endpoint, this.lang, asked));
    if ("about" in answer) {
      this.about ??= answer.about;
      this.warn(answer.about);
    }
    if ("rewrites" in answer && answer.rewrites?.length)
      this.append(el("p", { class: "note" }, answer.rewrites.join("; ")));
    // Two halves of a view may get the same remarks.
    const notes = ("notes" in answer ? answer.notes : []).filter((note) => !this.notes.has(note));
    notes.forEach((note) => this.notes.add(note));
    if (notes.length && showsNotes) this.append(el("p", { class: "note" }, notes.join(" ")));
    return answer;
  }

  /** Shows a notice above the results of an answer that a limit cut off; once, if several answers are. */
  private warn({ exactness }: About): void {
    if (exactness.kind !== "cut-off" || this.isCutOff) return;
    this.isCutOff = true;
    this.append(
      el(
        "p",
        { class: "note cut-off", role: "alert" },
        el("strong", {}, `${t("Incomplete result.")} `),
        caution(exactness),
      ),
    );
  }

  /** The document filter of the page, as parameters of a request. */
  get documents(): { filter: string; in: string } {
    return { filter: filterOf(this.route), in: this.route.get("in") };
  }

  /** Sends a request that is not listed under "API requests". */
  async requestUnlisted<E extends Endpoint>(endpoint: E, parameters: ParametersOf<E> = {}): Promise<AnswerOf<E>> {
    return request(endpoint, this.lang, this.asOf(endpoint, parameters), this.signal);
  }

  /** The parameters with the frozen state of the page, in questions to a corpus. */
  private asOf<E extends Endpoint>(endpoint: E, parameters: ParametersOf<E>): ParametersOf<E> {
    const state = this.route.get("as_of");
    return state && PATHS[endpoint].includes("{lang}") ? { ...parameters, as_of: state } : parameters;
  }

  /** The same to another corpus. */
  async requestIn<E extends Endpoint>(
    lang: string,
    endpoint: E,
    parameters: ParametersOf<E> = {},
  ): Promise<AnswerOf<E>> {
    return request(endpoint, lang, parameters, this.signal);
  }
}

/** Labels of token attributes. */
export const ATTRIBUTES: Readonly<Record<string, string>> = {
  lc: t("words (lower-cased)"),
  word: t("word forms"),
  lemma: t("lemmas"),
  tag: t("parts of speech"),
  feats: t("morphological features"),
};

/** The attribute that lists of words count if nothing is chosen: lemmas, where the corpus has them. The server does the same. */
export const usualAttribute = (context: ViewContext): string => (context.attributes.includes("lemma") ? "lemma" : "lc");

/** The field that chooses the attribute to count; among the advanced fields if there is little choice. */
export function attributeField(
  context: ViewContext,
  among: readonly string[] = ["lemma", "lc", "word", "tag", "feats"],
  initial = usualAttribute(context),
): Field {
  const choices = among
    .filter((name) => context.attributes.includes(name))
    .map((name) => [name, ATTRIBUTES[name] ?? name] as const);
  return { name: "attribute", label: t("Count"), kind: "choice", choices, initial, advanced: choices.length < 3 };
}

/** Labels of intervals. */
const INTERVAL_LABELS: Record<Step, string> = {
  day: t("day"),
  week: t("week"),
  "ten-days": t("ten days"),
  month: t("month"),
  quarter: t("quarter"),
  "half-year": t("half-year"),
  year: t("year"),
};

/** Intervals of the API with their labels. */
export const INTERVALS = STEP_CHOICES.map(([name]) => [name, INTERVAL_LABELS[name] ?? name] as const);

/** The label of an interval. */
export const intervalName = (by: string): string => INTERVALS.find(([name]) => name === by)?.[1] ?? by;

/** The length of a period in days. */
export const daysBetween = (first: string, last: string): number =>
  (Date.parse(last) - Date.parse(first)) / 86_400_000 + 1;

/** The field that chooses the interval; without a choice the server does. */
export const INTERVAL: Field = {
  name: "by",
  label: t("Interval"),
  kind: "choice",
  choices: [["", t("automatic")], ...INTERVALS],
  initial: "",
};
