// What a view is, and what it is given to work with.

import { type About, type Answer, type Corpus, type Parameters, address, ask, send } from "./api.ts";
import { type Child, el, fill } from "./dom.ts";
import type { Field } from "./form.ts";
import { type Place, filterOf } from "./place.ts";

/** One of the things that can be looked at. */
export interface View {
  name: string;
  title: string;
  /** One sentence: what it is for. */
  about: string;
  /** Under which heading it stands in the list of views. */
  group: "Read" | "Time" | "Words" | "Corpus";
  fields: (desk: Desk) => Field[];
  /** Whether documents can be chosen, and what they are then called. */
  chooses: false | "Which documents" | "Documents in focus";
  button?: string;
  /** Whether there is something to ask at once; otherwise it waits for the form. */
  ready: (place: Place) => boolean;
  /** Asks and shows. */
  show: (desk: Desk) => Promise<void>;
  /** What its numbers mean, for those who have not met them. */
  meaning?: string;
  /** What is shown as long as nothing is asked. */
  welcome?: (desk: Desk) => Child | Promise<Child>;
}

/** A view at work: where it is, whom it asks, and where it puts what it found. */
export class Desk {
  /** The questions behind what is shown. */
  readonly asked: string[] = [];
  /** The state of the corpus that answered. */
  about: About | undefined;

  constructor(
    readonly place: Place,
    readonly corpus: Corpus | undefined,
    readonly corpora: readonly Corpus[],
    readonly results: HTMLElement,
    private readonly message: HTMLElement,
    private readonly signal: AbortSignal,
  ) {}

  /** Which attributes of tokens have values. */
  get attributes(): readonly string[] {
    return this.corpus?.attributes ?? [];
  }

  get lang(): string {
    return this.corpus?.corpus ?? "";
  }

  /** Tells the person, and whoever reads the page to them, what came of the question. */
  say(text: string): void {
    if (!this.signal.aborted) this.message.textContent = text;
  }

  /** Shows something, unless the person is elsewhere by now. */
  put(...children: Child[]): void {
    if (!this.signal.aborted) fill(this.results, ...children);
  }

  /** Asks the corpus about the documents that are chosen. */
  async ask<T>(endpoint: string, parameters: Parameters = {}): Promise<T & Answer> {
    const filter = "filter" in parameters ? parameters.filter : filterOf(this.place);
    return this.askPlainly(`${encodeURIComponent(this.lang)}/${endpoint}`, {
      ...parameters,
      filter,
      in: this.place.get("in"),
    });
  }

  /** Asks something that is not about a corpus. */
  async askPlainly<T>(path: string, parameters: Parameters = {}): Promise<T & Answer> {
    const answer = await ask<T>(path, parameters, this.signal);
    this.asked.push(address(path, parameters));
    this.about ??= answer.about;
    if (answer.rewrites?.length) this.put(el("p", { class: "note" }, answer.rewrites.join(" ")));
    return answer;
  }

  /** Asks without counting it among the questions behind the view. */
  async askAside<T>(path: string, parameters: Parameters = {}): Promise<T> {
    return (await send(address(path, parameters), this.signal)).json() as Promise<T>;
  }
}

/** Names of attributes, as people call them. */
export const ATTRIBUTES: Readonly<Record<string, string>> = {
  lc: "words, any case",
  word: "word forms",
  lemma: "lemmas",
  tag: "parts of speech",
  feats: "features of words",
};

/** The field that chooses what is counted, if there is a choice. */
export function attributeField(
  desk: Desk,
  among: readonly string[] = ["lc", "word", "lemma", "tag", "feats"],
  usual = "lc",
): Field {
  const choices = among
    .filter((name) => desk.attributes.includes(name))
    .map((name) => [name, ATTRIBUTES[name] ?? name] as const);
  return { name: "attribute", label: "Count", kind: "choice", choices, usual, rare: choices.length < 3 };
}

/** How long a step of time is. */
export const STEPS = [
  ["day", "day"],
  ["10days", "ten days"],
  ["week", "week"],
  ["month", "month"],
  ["quarter", "quarter"],
  ["half-year", "half a year"],
  ["year", "year"],
] as const;

/** The step that suits a corpus: some dozens of points. */
export function usualStep(corpus: Corpus | undefined): string {
  if (!corpus?.first_day || !corpus.last_day) return "month";
  const days = (Date.parse(corpus.last_day) - Date.parse(corpus.first_day)) / 86_400_000;
  return days <= 45 ? "day" : days <= 300 ? "week" : days <= 365 * 8 ? "month" : "quarter";
}

/** The field that chooses the step. */
export const stepField = (usual: string): Field => ({
  name: "by",
  label: "Step",
  kind: "choice",
  choices: STEPS,
  usual,
});

/** Whether a query is more than plain words, which have none of these signs. */
export const isCql = (text: string): boolean => /[[\](){}<>"|]/.test(text);

/** Whether an attribute is a single feature, such as Case. */
const isFeature = (attribute: string): boolean => /^[A-Z]/.test(attribute);

/** A value of an attribute, exactly. Words without a feature are those that have no value of it whatever. */
export const asCql = (value: string, attribute: string): string =>
  value === "" && isFeature(attribute)
    ? `[${attribute}!=".*"]`
    : `[${attribute}=="${value.replace(/[\\"]/g, "\\$&")}"]`;

/** The field that makes plain words mean all their forms, where the corpus knows lemmas. */
export const formsField = (desk: Desk): Field[] =>
  desk.attributes.includes("lemma")
    ? [
        {
          name: "as",
          label: "Words",
          kind: "choice",
          choices: [
            ["", "as they are written"],
            ["lemma", "in all their forms"],
          ],
          usual: "",
        },
      ]
    : [];

/** The query that a text means at a place: plain words may stand for all their forms. */
export function meant(place: Place, text = place.get("q")): string {
  if (place.get("as") !== "lemma" || isCql(text)) return text;
  return text
    .trim()
    .split(/\s+/)
    .map((word) => `[lemma=="${word.replace(/\\/g, "\\\\")}"%c]`)
    .join(" ");
}

/** The same question for another view. */
export const again = (place: Place, q = place.all("q")[0] ?? ""): Record<string, string> =>
  q ? { q, as: place.get("as") } : {};

/** A value of an attribute, or several with blanks between, as a query that a person would write where that means the same. */
export function asQuery(value: string, attribute = "lc"): string {
  // Plain words ignore case unless they have capitals, which is what lower-cased values mean, and forms with capitals.
  const isPlain = (attribute === "lc" || (attribute === "word" && value !== value.toLowerCase())) && !isCql(value);
  return isPlain
    ? value
    : value
        .split(" ")
        .map((word) => asCql(word, attribute))
        .join(" ");
}
