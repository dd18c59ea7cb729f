// Citations of a result. They are written in English, as reference lists are, and name the checksum of the corpus and the
// version of the program, so that the same answer can be had again.

/** What a citation names. */
export interface Citation {
  title: string;
  query: string;
  filter: string;
  corpus: string;
  /** The checksum of the corpus; null while it is not known. */
  digest: string | null;
  generation: number;
  version: string;
  tokens: number;
  first: string;
  last: string;
  /** The public address of the result, if there is one. */
  link: string | null;
  accessed: string;
}

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const state = (cited: Citation): string =>
  cited.digest ? `sha256:${cited.digest.slice(0, 16)}` : `state ${cited.generation}`;

const subject = (cited: Citation): string =>
  [cited.title, cited.query && `query ${cited.query}`, cited.filter && `documents ${cited.filter}`]
    .filter(Boolean)
    .join("; ");

const corpus = (cited: Citation): string =>
  `${cited.corpus} corpus, ${number.format(cited.tokens)} tokens, ${cited.first} to ${cited.last}`;

/** One sentence. */
export const plain = (cited: Citation): string =>
  `${subject(cited)}. ${corpus(cited)}, ${state(cited)}. Tidings ${cited.version}.${cited.link ? ` ${cited.link}` : ""} (accessed ${cited.accessed})`;

/** The style of the American Psychological Association for data sets. */
export const apa = (cited: Citation): string =>
  `Tidings. (${cited.accessed.slice(0, 4)}). ${subject(cited)} [Data set; ${corpus(cited)}; ${state(cited)}; software version ${cited.version}].${cited.link ? ` Retrieved ${cited.accessed}, from ${cited.link}` : ` Retrieved ${cited.accessed}.`}`;

/** Characters with a meaning in BibTeX. */
const escaped = (text: string): string =>
  text
    .replace(/\\/g, "\\textbackslash{}")
    .replace(/[{}]/g, "\\$&")
    .replace(/[&%$#_]/g, "\\$&")
    .replace(/~/g, "\\textasciitilde{}")
    .replace(/\^/g, "\\textasciicircum{}");

/** An entry of a BibTeX file. */
export function bibtex(cited: Citation): string {
  const key = `tidings-${(cited.digest ?? String(cited.generation)).slice(0, 8)}-${cited.accessed}`;
  const fields: (readonly [string, string])[] = [
    ["title", `{${escaped(subject(cited))}}`],
    ["author", "{Tidings}"],
    ["year", cited.accessed.slice(0, 4)],
    ["note", escaped(`${corpus(cited)}; ${state(cited)}; version ${cited.version}`)],
    ...(cited.link ? [["url", cited.link.replace(/[{}\\]/g, encodeURIComponent)] as const] : []),
    ["urldate", cited.accessed],
  ];
  return `@misc{${key},\n${fields.map(([name, value]) => `  ${name} = {${value}}`).join(",\n")}\n}`;
}
