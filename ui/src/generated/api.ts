// Generated from the OpenAPI document; do not edit. TIDINGS_BLESS=1 cargo test -p tidings-serve --test generated writes it again.

/** The question and the state of the corpus that an answer belongs to. */
export interface About {
  /** The language of the corpus. */
  corpus: string;
  /** The state of the corpus: it grows with every change, and equal states give equal answers. */
  generation: number;
  /** The frozen state that was asked with `as_of`; missing if the answer is from the present state. */
  frozen?: FrozenState;
  /** The query in its canonical form. */
  query?: string;
  /** The filter in its canonical form. */
  filter?: string;
  /** The choice among matches that begin at one position. */
  rule: MatchRule;
  /** Whether the numbers are exact. */
  exactness: Exactness;
  /** The caution to show with the answer; missing unless a limit stopped the search or shards did not answer. */
  warning?: string;
  /** The documents that the answer leaves out or counts in groups, because the client may not read them; missing if there are none. */
  rights?: AppliedRights;
}

/** What the rights of the client did to an answer. */
export interface AppliedRights {
  /** Documents of the question that the client may not read. */
  hidden_documents: number;
  /** Those of them that are counted, in whole groups of documents of one site; the others are left out. */
  counted_documents: number;
  /** The documents of a group. */
  group_documents: number;
}

export type Association = "log-dice" | "mi" | "mi3" | "t-score" | "log-likelihood" | "dice" | "min-sensitivity" | "mi-log-f";
/** The choices of Association with their meanings. */
export const ASSOCIATION_CHOICES: readonly (readonly [Association, string])[] = [
  ["log-dice", "14 + log2 of Dice: at most 14, and comparable between corpora of different size."],
  ["mi", "Mutual information: log2 of observed by expected; favours rare words."],
  ["mi3", "MI with the observed count cubed; favours frequent words."],
  ["t-score", "Difference of observed and expected in standard deviations."],
  ["log-likelihood", "Log-likelihood ratio of the 2×2 table."],
  ["dice", "Harmonic mean of the two conditional probabilities."],
  ["min-sensitivity", "The smaller of the two conditional probabilities."],
  ["mi-log-f", "MI weighted by the logarithm of the count."],
];

export type Attribute = string;

export type Availability = "metadata" | "kwic" | "open";
/** The choices of Availability with their meanings. */
export const AVAILABILITY_CHOICES: readonly (readonly [Availability, string])[] = [
  ["metadata", "Nowhere: counts and metadata only."],
  ["kwic", "In lines of a concordance, with a token."],
  ["open", "Everywhere."],
];

/** The backfill of a site. */
export interface BackfillRow {
  /** The site. */
  site: string;
  /** Articles that it found. */
  found: number;
  /** Requests for sitemaps and archive pages. */
  listing_requests: number;
  /** Articles of the site that feeds brought. */
  known: number;
  /** The estimated recall: the share of these that the backfill found by its own ways. */
  recall: number | null;
  /** The lower end of the 95 % interval of the recall. */
  recall_low: number | null;
  /** The upper end of the interval. */
  recall_high: number | null;
  /** The first day of the history, or empty. */
  since: string;
  /** The last day of the history, or empty. */
  until: string;
  /** The end of the last round of requests. */
  updated: string;
  /** The reason why nothing is left to read, or empty. */
  ended: string;
  shard?: unknown;
}

/** The backfills of sites, at the end of their last runs. */
export interface BackfillsAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The backfills. */
  rows: BackfillRow[];
}

/** Lists the backfills. */
export interface BackfillsRequest {
}

/** The interval of a value, with the confidence that was asked for. */
export interface Band {
  /** The lower end. */
  low: number | null;
  /** The upper end. */
  high: number | null;
}

/** A word with its strongest burst. */
export interface BurstRow {
  /** The word. */
  value: string;
  /** Whether it is a name, by its tags. */
  name: boolean;
  /** The time step of the burst. */
  bin: string;
  /** Log-likelihood against the steps before, times documents divided by hits. */
  score: number | null;
  /** Binary logarithm of the ratio to the rate before. */
  log_ratio: number | null;
  /** Probability of such a burst by chance, controlled for the number of words and steps tested (Benjamini–Hochberg). */
  q: number | null;
  /** Hits in the step. */
  hits: number;
  /** Documents with it in the step. */
  documents: number;
  /** The course after the burst. */
  sequel: Sequel;
}

/** Words with bursts, the strongest first. */
export interface BurstsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was counted. */
  attribute: Attribute;
  /** The length of a time step. */
  step: Step;
  /** Tokens of the documents counted. */
  tokens: number;
  /** The number of words tested. */
  tested: number;
  /** Punctuation, numbers, dates and function words that are frequent enough, but not tested. */
  left_out: number;
  /** The accepted share of false discoveries among the rows. */
  false_discovery_rate: number;
  /** The number of words with a burst; null if the answer is cut off. */
  values: number | null;
  /** The words. */
  rows: BurstRow[];
}

/** Finds the words with the strongest bursts. */
export interface BurstsRequest {
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The attribute to count: lemma, lc, word, tag, feats, or a feature such as Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc elsewhere]. */
  attribute?: Attribute;
  /** The length of a time step [default: week; day in corpora of up to four months, month where a week has few documents]. */
  by?: Step;
  /** Include punctuation, numbers, dates and function words. */
  all_words?: boolean;
  /** Only sites with documents in every step, so that new feeds do not look like news. */
  panel?: boolean;
  /** Maximum rows. */
  limit?: number;
}

/** A word whose frequency differs. */
export interface Change {
  /** The word. */
  value: string;
  /** Hits in the first part. */
  before: number;
  /** Hits in the second part. */
  after: number;
  /** Documents of the first part with it. */
  before_documents: number;
  /** Documents of the second part with it. */
  after_documents: number;
  /** Their share among the documents of the first part. */
  before_document_share: number;
  /** Their share among the documents of the second part. */
  after_document_share: number;
  /** Hits per million tokens of the first part. */
  before_per_million: number;
  /** Hits per million tokens of the second part. */
  after_per_million: number;
  /** Binary logarithm of the ratio of the rates, within the sites of both parts if they are compared so (Mantel–Haenszel); half a hit stands for none. */
  log_ratio: number | null;
  /** The interval of the logarithm. */
  band: Band;
  /** Probability of such a difference by chance, measured by how the word varies from unit to unit. */
  p: number | null;
  /** The same, controlled for the number of words tested (Benjamini–Hochberg). */
  q: number | null;
}

/** A line of a document. */
export interface Citation {
  /** The document. */
  document: string;
  /** Its date. */
  date: string;
  /** Its site. */
  site: string;
  /** Its title. */
  title: string;
  /** Its address. */
  url: string;
  /** The text before the word. */
  left: string;
  /** The word. */
  node: string;
  /** The text behind the word. */
  right: string;
}

/** The collection as a whole, with the funnel from pages to text. */
export interface CollectionAnswer {
  /** The address that asks the same again. */
  link: string;
  /** Feeds, by health. */
  feeds: Record<string, number>;
  /** Days with statistics. */
  days: number;
  /** Days with fetch runs. */
  days_with_runs: number;
  /** The first day. */
  first_day: string | null;
  /** The last day. */
  last_day: string | null;
  /** The last day with a fetch run. */
  last_run: string | null;
  /** Pages downloaded. */
  pages: number;
  /** Bytes downloaded. */
  downloaded_bytes: number;
  /** Bytes of text. */
  clean_bytes: number;
  /** Words that were compared with earlier text. */
  words: number;
  /** Words among them that are duplicates. */
  duplicate_words: number;
  /** Tokens of annotated text. */
  tokens: number;
  /** The funnel: the items that each stage kept or left out, by reason. The items of a stage add up to its input. */
  rows: FunnelRow[];
}

/** The collection over time. */
export interface CollectionDaysAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The time steps. */
  rows: DaysRow[];
}

/** Counts the collection over time. */
export interface CollectionDaysRequest {
  /** The length of a time step. */
  by?: Step;
  /** The first day. */
  since?: string;
  /** The last day. */
  until?: string;
}

/** The collection over time, by language. */
export interface CollectionLanguagesAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The time steps and languages. */
  rows: LanguageRow[];
}

/** Counts the collection over time, by language. */
export interface CollectionLanguagesRequest {
  /** The length of a time step. */
  by?: Step;
  /** The first day. */
  since?: string;
  /** The last day. */
  until?: string;
}

/** Summarises the collection. */
export interface CollectionRequest {
}

/** Words in the neighbourhood of hits, best first, equals by value. */
export interface CollocAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was counted. */
  attribute: Attribute;
  /** The window. */
  window: Window;
  /** Hits of the query; those found until the limit if the answer is cut off. */
  hits: number;
  /** Tokens of the documents searched. */
  tokens: number;
  /** The measure that orders the rows. */
  order: Association;
  /** Punctuation, numbers, dates and function words that are frequent enough, but not listed. */
  left_out: number;
  /** The number of different collocates. */
  collocates: number;
  /** The collocates. */
  rows: Collocate[];
}

/** Ranks the words in the neighbourhood of hits by an association measure. */
export interface CollocRequest {
  /** The query: a word, several words, or CQL. */
  q: string;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The attribute to count: lemma, lc, word, tag, feats, or a feature such as Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc elsewhere]. */
  attribute?: Attribute;
  /** Tokens before the hit. */
  left?: number;
  /** Tokens after the hit. */
  right?: number;
  /** The whole sentence instead of a window of tokens. */
  sentence?: boolean;
  /** Only collocates of this part of speech, such as ADJ. */
  pos?: string;
  /** Count the collocates at each place of the window, too. */
  positions?: boolean;
  /** The association measure that orders the rows. */
  measure?: Association;
  /** Minimum co-occurrences. */
  min?: number;
  /** Include punctuation, numbers, dates and function words. */
  all_words?: boolean;
  /** Include punctuation. */
  punctuation?: boolean;
  /** Maximum rows. */
  limit?: number;
}

/** A word in the neighbourhood of hits. */
export interface Collocate {
  /** The word or lemma. */
  value: string;
  /** Co-occurrences with a hit: a token in the windows of two hits counts twice. */
  together: number;
  /** Occurrences anywhere. */
  hits: number;
  /** Co-occurrences at each place of the window, from the farthest before the hit to the farthest behind it; missing unless they were asked for. */
  positions?: number[];
  /** The scores of all measures; null if the answer is cut off. */
  scores: Scores;
}

/** Words whose frequency differs between two parts of a corpus, by how much they changed at least. */
export interface CompareAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was counted. */
  attribute: Attribute;
  /** The filter of the first part. */
  before: string;
  /** The filter of the second part. */
  after: string;
  /** Tokens of the first part. */
  before_tokens: number;
  /** Tokens of the second part. */
  after_tokens: number;
  /** Documents of the first part. */
  before_documents: number;
  /** Documents of the second part. */
  after_documents: number;
  /** The number of words tested. */
  tested: number;
  /** The accepted share of false discoveries among the rows. */
  false_discovery_rate: number;
  /** The confidence of the intervals. */
  confidence: number;
  /** What the test rests on; missing if the answer is cut off. */
  basis?: ContrastBasis;
  /** Remarks on what the test rests on. */
  notes: string[];
  /** Punctuation, numbers, dates and function words that changed, but are not listed. */
  left_out: number;
  /** The number of words that changed; null if the answer is cut off. */
  values: number | null;
  /** The words. */
  rows: Change[];
}

/** Tests which words became more or less frequent from one part of the corpus to another. */
export interface CompareRequest {
  /** The documents to compare with, a filter such as date=2026-05. */
  before: string;
  /** The documents in which words rose or fell, a filter such as date=2026-06. */
  after: string;
  /** Minimum documents of a tested word. */
  min?: number;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The attribute to count: lemma, lc, word, tag, feats, or a feature such as Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc elsewhere]. */
  attribute?: Attribute;
  /** The accepted share of false discoveries among the rows (Benjamini–Hochberg). */
  fdr?: number;
  /** Only words that rise, or only words that fall. */
  direction?: Direction;
  /** The minimum change: the factor by which the rate rises or falls. */
  effect?: number;
  /** The confidence of the intervals. */
  confidence?: number;
  /** Only sites with documents in both parts, so that new feeds do not look like news. */
  panel?: boolean;
  /** Include punctuation, numbers, dates and function words. */
  all_words?: boolean;
  /** Include punctuation. */
  punctuation?: boolean;
  /** Maximum rows. */
  limit?: number;
}

/** A line of a concordance. */
export interface ConcordanceLine {
  /** The id of the document. */
  document: string;
  /** The fields of the document that were asked for. */
  fields: Record<string, string>;
  /** Whether the text may not be shown; missing in answers of this version, which leave such lines out. */
  restricted?: boolean;
  /** The first token of the hit, counted in the document from 0. */
  position?: number;
  /** The tokens before the hit. */
  left?: KwicToken[];
  /** The hit. */
  node?: KwicToken[];
  /** The tokens after the hit. */
  right?: KwicToken[];
}

/** The text around a token. */
export interface ContextAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The id of the document. */
  document: string;
  /** Where the text may be shown. */
  availability: Availability;
  /** Whether the text may not be shown. */
  restricted: boolean;
  /** Whether sentences are cut, because no more of the text may be shown. */
  shortened: boolean;
  /** The sentences. */
  sentences: ShownSentence[];
}

/** Shows the sentences or paragraphs around a token of a document. */
export interface ContextRequest {
  /** The id of the document, 32 hexadecimal digits. */
  id: string;
  /** The number of the token in the document, as lines state it. */
  position: number;
  /** The unit of text to show. */
  unit?: TextUnit;
  /** Further units before and after. */
  around?: number;
}

/** What a comparison of two parts rests on. */
export interface ContrastBasis {
  /** True if rates are compared within the sites of both parts, false if these have too little text. */
  within_sites: boolean;
  /** The units whose variation is the measure of chance. */
  unit: ContrastUnit;
  /** Sites with text in both parts. */
  sites: number;
  /** Their share of the tokens, in the part in which it is smaller. */
  shared: number;
}

export type ContrastUnit = "quarter" | "month" | "week" | "day" | "document";
/** The choices of ContrastUnit with their meanings. */
export const CONTRAST_UNIT_CHOICES: readonly (readonly [ContrastUnit, string])[] = [
  ["quarter", "Quarters."],
  ["month", "Months."],
  ["week", "Weeks."],
  ["day", "Days."],
  ["document", "Documents: there are too few periods, or the parts share too few sites."],
];

/** The corpora, one for each language. */
export interface CorporaAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The corpora. */
  corpora: CorpusRow[];
}

/** Virtual corpora: filters with names, which the parameter `in` takes. */
export interface CorporaNamedAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The virtual corpora. */
  rows: NamedCorpus[];
}

/** Lists the virtual corpora. */
export interface CorporaNamedRequest {
}

/** Lists the corpora. */
export interface CorporaRequest {
}

/** A corpus. */
export interface CorpusRow {
  /** The language. */
  corpus: string;
  /** The state: it grows with every change. */
  generation: number;
  /** The checksum of the text, equal on machines that hold the same corpus (`tidings digest --lang`); null while it is not known. */
  digest: string | null;
  /** Tokens. */
  tokens: number;
  /** Documents. */
  documents: number;
  /** The day of the oldest document. */
  first_day: string | null;
  /** The day of the newest document. */
  last_day: string | null;
  /** The fields of documents. */
  fields: string[];
  /** The attributes of tokens. */
  attributes: string[];
  /** The features of tokens, with their values. */
  features: Record<string, string[]>;
  /** The spans of documents, with their attributes. */
  spans: Record<string, string[]>;
  /** The annotators of the text. */
  layers: LayerRow[];
  /** The frozen states, oldest first, which `as_of` takes. */
  frozen: FrozenState[];
}

/** The number of hits of a query. */
export interface CountAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** Hits; those found until the limit if the answer is cut off. */
  hits: number;
  /** Tokens of the documents searched. */
  tokens: number;
  /** Hits per million tokens; null if the answer is cut off. */
  per_million: number | null;
}

/** Counts the hits of a query. */
export interface CountRequest {
  /** The query: a word, several words, or CQL. */
  q: string;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
}

/** URLs of a crawl that were not stored for a reason. */
export interface CrawlReason {
  /** The crawl. */
  crawl: string;
  /** Whether there was a page. */
  outcome: UrlOutcome;
  /** The reason or the status. */
  reason: string;
  /** The number of URLs. */
  urls: number;
  shard?: unknown;
}

/** A crawl. */
export interface CrawlRow {
  /** The name. */
  crawl: string;
  /** Requests for pages. */
  requests: number;
  /** Pages that were stored. */
  kept: number;
  /** Pages without wanted text, which were not stored. */
  refused: number;
  /** URLs that gave no page. */
  failed: number;
  /** Bytes downloaded. */
  downloaded_bytes: number;
  /** New words in the wanted languages. */
  words: number;
  /** Sites (registered domains) that were met. */
  sites: number;
  /** Of these, sites that were closed because they are not worth a request. */
  closed_sites: number;
  /** URLs that wait. */
  waiting_urls: number;
  /** The end of the last run: its time, or empty while it runs and after a crash. */
  ended: string;
  /** The reason of the end, or empty. */
  end_reason: string;
  shard?: unknown;
}

/** The crawls that follow links, at their last checkpoints. */
export interface CrawlsAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The crawls. */
  rows: CrawlRow[];
  /** The reasons for which URLs were not stored, the most common first. */
  reasons: CrawlReason[];
}

/** Lists the crawls. */
export interface CrawlsRequest {
}

/** A cross table with a row for each cell and query, also those without a hit. Fields are ordered by hits, periods by time. */
export interface CrosstabAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The names of the values. */
  by: string[];
  /** The queries. */
  queries: string[];
  /** All hits of all queries; those found until the limit if the answer is cut off. */
  hits: number;
  /** Tokens of the documents searched. */
  tokens: number;
  /** Documents searched. */
  documents: number;
  /** The number of different values of the first name. */
  values: number;
  /** The rows. */
  rows: CrosstabRow[];
}

/** Counts hits and documents of several queries by fields of documents and by time. */
export interface CrosstabRequest {
  /** The queries, repeated or separated by commas: words, several words, or CQL; at most 20. */
  q: string[];
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** Count by these, at most two, separated by commas: fields of documents such as site, and day, week, month, quarter, half-year or year. */
  by?: string[];
  /** Maximum rows. */
  limit?: number;
}

/** A query in a cell. */
export interface CrosstabRow {
  /** The values in the order of their names; empty where a document has none. */
  values: string[];
  /** The query. */
  query: string;
  /** Hits; null if the answer is cut off and none was found. */
  hits: number | null;
  /** Documents with a hit; null as the hits. */
  hit_documents: number | null;
  /** Tokens of the documents of the cell. */
  tokens: number;
  /** These documents. */
  documents: number;
  /** Hits per million of these tokens; null if the answer is cut off. */
  per_million: number | null;
  /** The share of documents with a hit among them; null if the answer is cut off. */
  document_share: number | null;
  /** The share of the query among the hits of all queries in the cell; null if there are none or the answer is cut off. */
  query_share: number | null;
}

/** The collection in one time step. */
export interface DaysRow {
  /** The time step. */
  bin: string;
  /** Its days. */
  days: number;
  /** Days with fetch runs; on others nothing was collected. */
  days_with_runs: number;
  /** Fetch runs. */
  runs: number;
  /** The most feeds with new pages on one day. */
  feeds: number;
  /** The most hosts on one day. */
  hosts: number;
  /** Pages downloaded. */
  pages: number;
  /** Bytes downloaded. */
  downloaded_bytes: number;
  /** Bytes of text. */
  clean_bytes: number;
  /** Documents. */
  documents: number;
  /** Documents that are duplicates. */
  duplicates: number;
  /** Documents that were annotated. */
  kept: number;
  /** Tokens of annotated text. */
  tokens: number;
}

/** A decision about a word. */
export interface DecisionRow {
  /** The time. */
  decided: string;
  /** The language of the corpus. */
  lang: string;
  /** The word. */
  word: string;
  /** The state that it has since. */
  status: string;
  /** The word that it is a variant of; empty if of none. */
  variant_of: string;
  /** The note. */
  note: string;
}

/** The history of decisions about new words, the newest first, and the lists of words to leave out. */
export interface DecisionsAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The lists. */
  lists: ExclusionList[];
  /** The decisions. */
  rows: DecisionRow[];
}

/** Lists the decisions about new words. */
export interface DecisionsRequest {
  /** Only decisions about this word. */
  word?: string;
}

export type Direction = "both" | "rising" | "falling";
/** The choices of Direction with their meanings. */
export const DIRECTION_CHOICES: readonly (readonly [Direction, string])[] = [
  ["both", "Rising and falling."],
  ["rising", "More frequent."],
  ["falling", "Less frequent."],
];

/** The distribution of hits over the corpus, whose documents are in the order of time. */
export interface DispersionAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** All hits; those found until the limit if the answer is cut off. */
  hits: number;
  /** Tokens of the documents searched. */
  tokens: number;
  /** Documents with a hit. */
  documents: number;
  /** The average reduced frequency: the hits if they are spread evenly, 1 if they are all in one place. Null if the answer is cut off. */
  arf: number | null;
  /** The average logarithmic distance frequency, between 1 and the hits; null if the answer is cut off. */
  aldf: number | null;
  /** Gries' deviation of proportions over the parts: 0 if hits are spread evenly, near 1 if they are all in one part. Null if there are none, or the answer is cut off. */
  dp: number | null;
  /** The parts. */
  rows: DispersionRow[];
}

/** Shows how evenly hits are spread over the corpus. */
export interface DispersionRequest {
  /** The query: a word, several words, or CQL. */
  q: string;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The number of equal parts of the corpus, the oldest documents first. */
  parts?: number;
}

/** A part of the corpus. */
export interface DispersionRow {
  /** Its number, from 1. */
  part: number;
  /** The day of its first token; null if the corpus has fewer tokens than parts. */
  first: string | null;
  /** Hits that start in it; null if the answer is cut off. */
  hits: number | null;
}

/** The metadata of a document and, where it may be shown, its text. */
export interface DocumentAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The id, 32 hexadecimal digits. */
  id: string;
  /** The day of publication. */
  date: string;
  /** The day of the download. */
  seen: string;
  /** The title. */
  title: string;
  /** The address. */
  url: string;
  /** Tokens. */
  tokens: number;
  /** Where the text may be shown. */
  availability: Availability;
  /** Further fields. */
  fields: Record<string, string>;
  /** Whether the text may not be shown. */
  restricted: boolean;
  /** The paragraphs of the text; missing if they may not be shown. */
  paragraphs?: string[];
  /** Names, quotations and other spans of the text, one for each paragraph that they reach; missing if there are none or they may not be shown. */
  spans?: DocumentSpan[];
  /** Hits of the query, as spans with the name `hit`, one for each paragraph that they reach; missing if there are none or the text may not be shown. */
  hits?: DocumentSpan[];
}

/** Shows the metadata of a document and its text. */
export interface DocumentRequest {
  /** The id of the document, 32 hexadecimal digits. */
  id: string;
  /** The query whose hits are marked: a word, several words, or CQL. */
  q?: string;
}

/** The metadata of a document. */
export interface DocumentRow {
  /** The id, 32 hexadecimal digits. */
  id: string;
  /** The day of publication. */
  date: string;
  /** The day of the download. */
  seen: string;
  /** The title. */
  title: string;
  /** The address. */
  url: string;
  /** Tokens. */
  tokens: number;
  /** Hits of the query; missing without one. */
  hits?: number;
  /** Where the text may be shown. */
  availability: Availability;
  /** Further fields. */
  fields: Record<string, string>;
}

/** A span of the text of a document, inside one paragraph. */
export interface DocumentSpan {
  /** The name, such as `ne` or `quote`. */
  span: string;
  /** The number of the paragraph, from 0. */
  paragraph: number;
  /** The first character in the paragraph, from 0. */
  start: number;
  /** The character after the last one. */
  end: number;
  /** Names and values of its attributes. */
  attributes: Record<string, string>;
}

/** A page of documents. */
export interface DocumentsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The number of documents, on this page or not. */
  documents: number;
  /** Their tokens. */
  tokens: number;
  /** The number of the first document of the page, from 0. */
  first: number;
  /** The cursor of the next page; null if there is none. */
  next: string | null;
  /** The documents of this page. */
  rows: DocumentRow[];
}

/** Lists documents in the order of time. */
export interface DocumentsRequest {
  /** Only documents with a hit of this query: a word, several words, or CQL. */
  q?: string;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** Which day comes first. */
  order?: Order;
  /** The rows on a page [default: 20; all in a stream]. */
  size?: number;
  /** The start of the page: `next` of the answer before. */
  cursor?: string;
  /** Fields to show, separated by commas. */
  fields?: string[];
}

/** The reason why there is no answer. */
export interface Error {
  /** The cause and the remedy. */
  error: string;
  /** The parameter that is wrong. */
  parameter?: string;
  /** The position of the error in the query or filter, in bytes. */
  place?: { from: number; to: number };
  /** The query or filter with carets under the error. */
  shown?: string;
}

/** Whether the numbers of an answer are exact. */
export type Exactness = { kind: "exact" } | { hits: number; kind: "sample"; of_hits: number; seed: number } | { kind: "partial"; of_shards: number; shards: number; tokens: number } | { kind: "cut-off"; limit: Limit; of_tokens: number; seen_tokens: number; time_limit_s?: number };

/** A list of words to leave out. */
export interface ExclusionList {
  /** The language of the corpus. */
  lang: string;
  /** The name. */
  list: string;
  /** The number of words. */
  words: number;
}

export type FeedHealth = "alive" | "slow" | "failing" | "dead" | "new";
/** The choices of FeedHealth with their meanings. */
export const FEED_HEALTH_CHOICES: readonly (readonly [FeedHealth, string])[] = [
  ["alive", "It answers and brings entries."],
  ["slow", "It answers, but brings less than an entry a month."],
  ["failing", "It did not answer the last time."],
  ["dead", "It is gone, or failed five times in a row."],
  ["new", "It was never polled."],
];

/** A feed. */
export interface FeedRow {
  /** The address. */
  feed: string;
  /** The title. */
  title: string;
  /** The kind: feed, sitemap or page. */
  kind: SourceKind;
  /** The health. */
  health: FeedHealth;
  /** The result of the last poll. */
  polled: PollResult;
  /** The time of the last poll. */
  checked: string;
  /** The time of the last poll that succeeded. */
  succeeded: string;
  /** Consecutive failures. */
  failures: number;
  /** The last error. */
  error: string;
  /** Entries of the last list. */
  entries: number;
  /** Entries that it brought so far. */
  brought: number;
  /** The publishing rate. */
  entries_per_day: number | null;
  /** The time of the next poll. */
  due: string;
  /** The poll interval in minutes. */
  interval_min: number;
  /** The yield of its pages. */
  yield: YieldSum | null;
  shard?: unknown;
}

/** The feeds, in the order of the list. */
export interface FeedsAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The feeds. */
  rows: FeedRow[];
}

/** Lists the feeds. */
export interface FeedsRequest {
  /** Only feeds of this health. */
  health?: FeedHealth;
}

/** Frequencies of the values of hits, the most frequent first, equals by value. */
export interface FreqAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute or field. */
  by: string;
  /** All hits; those found until the limit if the answer is cut off. */
  hits: number;
  /** Tokens of the documents searched. */
  tokens: number;
  /** The number of different values. */
  values: number;
  /** The values. */
  rows: FrequencyRow[];
}

/** Counts the hits of a query by the values of an attribute or a field. */
export interface FreqRequest {
  /** The query: a word, several words, or CQL. */
  q: string;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** Count by word, lc, lemma, tag, feats, a feature such as Case or another layer of the hit, by a field of its document such as site, date, feed, topic, or by an attribute of the span that the hit is or lies within, such as ne.name. */
  by?: string;
  /** Count the documents with a hit, too, and their share among all documents; documents that the client may not read are left out. */
  documents?: boolean;
  /** Maximum rows. */
  limit?: number;
}

/** The frequency of one value. */
export interface FrequencyRow {
  /** The value; for hits of several tokens, the values separated by blanks. */
  value: string;
  /** Hits with this value. */
  hits: number;
  /** Documents with such a hit, if they are asked for and the values are of attributes or fields. */
  hit_documents?: number;
  /** For fields, the documents with this value, if they are asked for; missing if the answer is cut off. */
  documents?: number;
  /** The share of documents with such a hit among them; for attributes, among all documents. Missing if the answer is cut off. */
  document_share?: number;
  /** For fields, the tokens of documents with this value; missing if the answer is cut off. */
  tokens?: number;
  /** Hits per million of those tokens; for attributes, of all tokens. Missing if the answer is cut off. */
  per_million?: number;
}

/** A state of the corpus that is kept under a name, so that it can be cited and asked again. */
export interface FrozenState {
  /** The name, which `as_of` takes. */
  name: string;
  /** The time at which it was frozen. */
  frozen: string;
  /** The state of the corpus then. */
  generation: number;
  /** The checksum of the text then (`tidings digest --lang`); null if it was not known. */
  digest: string | null;
  /** Documents then. */
  documents: number;
  /** Tokens then. */
  tokens: number;
  /** The documents that takedowns took out since, one row for each takedown. Answers are without them. */
  withdrawn: WithdrawnDocuments[];
  /** Documents that the client may not read now or might not read then. Answers are without them. */
  withheld_documents: number;
}

/** Items that a stage kept or left out. */
export interface FunnelRow {
  /** The stage. */
  step: FunnelStage;
  /** The items. */
  unit: FunnelUnit;
  /** Whether they were kept. */
  fate: ItemOutcome;
  /** The reason why they were left out; empty if they were kept. */
  reason: string;
  /** The number of items. */
  items: number;
  /** Their share of the input of the stage. */
  share: number | null;
}

export type FunnelStage = "clean" | "dedup" | "annotate";
/** The choices of FunnelStage with their meanings. */
export const FUNNEL_STAGE_CHOICES: readonly (readonly [FunnelStage, string])[] = [
  ["clean", "Pages become documents."],
  ["dedup", "Duplicates are found."],
  ["annotate", "Documents become annotated text."],
];

export type FunnelUnit = "pages" | "documents";
/** The choices of FunnelUnit with their meanings. */
export const FUNNEL_UNIT_CHOICES: readonly (readonly [FunnelUnit, string])[] = [
  ["pages", "Pages."],
  ["documents", "Documents."],
];

/** Frequencies of hits by several values, the most frequent first, equals by value. */
export interface GroupAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The names of the values. */
  by: string[];
  /** All hits; those found until the limit if the answer is cut off. */
  hits: number;
  /** Tokens of the documents searched. */
  tokens: number;
  /** The number of different rows. */
  values: number;
  /** The rows. */
  rows: GroupRow[];
}

/** Counts the hits of a query by several values at once: of the hit, of its neighbours and of its document. */
export interface GroupRequest {
  /** The query: a word, several words, or CQL. */
  q: string;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** Count by these values, separated by commas: attributes of the hit (lemma), of a neighbour (left1, right2.tag) or of a labelled token (a.lemma), fields of the document (site), year and month. */
  by?: string[];
  /** Minimum hits of a row. */
  min?: number;
  /** Maximum rows. */
  limit?: number;
}

/** The frequency of one combination of values. */
export interface GroupRow {
  /** The values in the order of their names; empty if there is none, such as a neighbour outside of the document. */
  values: string[];
  /** Hits with these values. */
  hits: number;
  /** Their share among all hits; null if the answer is cut off. */
  share: number | null;
  /** Hits per million tokens of all documents searched; null if the answer is cut off. */
  per_million: number | null;
}

/** A host. */
export interface HostRow {
  /** The name. */
  host: string;
  /** The yield of its pages. */
  yield: YieldSum;
  shard?: unknown;
}

/** The hosts that pages came from. */
export interface HostsAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The hosts. */
  rows: HostRow[];
}

/** Lists the hosts. */
export interface HostsRequest {
}

export type ItemOutcome = "kept" | "left out";
/** The choices of ItemOutcome with their meanings. */
export const ITEM_OUTCOME_CHOICES: readonly (readonly [ItemOutcome, string])[] = [
  ["kept", "Kept."],
  ["left out", "Left out."],
];

export type KeynessMeasure = "simple-maths" | "log-likelihood" | "log-ratio" | "din" | "chi-square";
/** The choices of KeynessMeasure with their meanings. */
export const KEYNESS_MEASURE_CHOICES: readonly (readonly [KeynessMeasure, string])[] = [
  ["simple-maths", "Ratio of the rates per million with a constant added to both."],
  ["log-likelihood", "Log-likelihood ratio, negative if the word is rarer in focus."],
  ["log-ratio", "log2 of the ratio of the rates; half a hit stands for none."],
  ["din", "Difference of the rates by their sum, in percent: −100 to 100."],
  ["chi-square", "Pearson's chi-square with Yates' correction, negative if the word is rarer in focus."],
];

/** A word, in focus and in the reference. */
export interface Keyword {
  /** The word. */
  value: string;
  /** The score by the measure that orders the rows. */
  score: number | null;
  /** Hits, or documents with it, in focus. */
  focus: number;
  /** Hits, or documents with it, in the reference. */
  reference: number;
  /** Hits per million tokens in focus, or documents with it per million documents. */
  focus_per_million: number | null;
  /** The same of the reference. */
  reference_per_million: number | null;
  /** Log-likelihood, negative if rarer in focus. */
  log_likelihood: number | null;
  /** Binary logarithm of the ratio of the rates. */
  log_ratio: number | null;
  /** Difference of the rates divided by their sum, in percent. */
  din: number | null;
  /** Binary logarithm of the ratio of the rates within the sites of both parts (Mantel–Haenszel), if the word is tested. */
  site_log_ratio: number | null;
  /** Probability of such a difference by chance, measured by how the word varies from unit to unit; none if the word is not tested. */
  p: number | null;
  /** The same, controlled for the number of words tested (Benjamini–Hochberg). */
  q: number | null;
}

export type KeywordUnit = "hits" | "documents";
/** The choices of KeywordUnit with their meanings. */
export const KEYWORD_UNIT_CHOICES: readonly (readonly [KeywordUnit, string])[] = [
  ["hits", "Occurrences."],
  ["documents", "Documents with the word, whatever its hits."],
];

/** Words that are typical of one part of the corpus against another: those that differ significantly first, then by score, equals by value. */
export interface KeywordsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was counted. */
  attribute: Attribute;
  /** The filter of the documents in focus. */
  focus: string;
  /** The filter of the documents compared with. */
  against: string;
  /** What is counted. */
  unit: KeywordUnit;
  /** Tokens in focus. */
  focus_tokens: number;
  /** Tokens of the reference. */
  reference_tokens: number;
  /** The measure that orders the rows. */
  order: KeynessMeasure;
  /** The constant of simple maths. */
  add: number;
  /** The accepted share of false discoveries among the rows that come first. */
  false_discovery_rate: number;
  /** What the test rests on; missing for n-grams, which are not tested. */
  basis?: ContrastBasis;
  /** Remarks on what the test rests on. */
  notes: string[];
  /** The number of words that differ significantly and at least 1.25-fold; they come first. */
  significant: number;
  /** Punctuation, numbers, dates and function words that are frequent enough, but not listed. */
  left_out: number;
  /** The number of different values; null if the answer is cut off. */
  values: number | null;
  /** The words. */
  rows: Keyword[];
}

/** Ranks the words that are typical of one part of the corpus against another. */
export interface KeywordsRequest {
  /** The documents in focus, a filter such as date>=2026-03. */
  focus: string;
  /** The documents to compare with, a filter [default: all others]. */
  against?: string;
  /** The keyness measure that orders the rows. */
  measure?: KeynessMeasure;
  /** The constant that simple maths adds to both rates: 1 favours what is rare, 1000 what is common. */
  add?: number;
  /** Only sites with documents in both parts, so that new feeds do not look like new words. */
  panel?: boolean;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** What is counted: hits, or documents with the word (the share of stories). The test of significance is of hits. */
  unit?: KeywordUnit;
  /** Minimum hits, or documents, in the focus subcorpus. */
  min?: number;
  /** The accepted share of false discoveries among the words that come first (Benjamini–Hochberg); 0 orders all by the measure. */
  fdr?: number;
  /** The attribute to count: lemma, lc, word, tag, feats, or a feature such as Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc elsewhere]. */
  attribute?: Attribute;
  /** The number of consecutive words in a row, inside one sentence. */
  ngram?: number;
  /** Include punctuation, numbers, dates and function words. */
  all_words?: boolean;
  /** Include punctuation. */
  punctuation?: boolean;
  /** Maximum rows. */
  limit?: number;
}

/** A token of a line. */
export interface KwicToken {
  /** The form in the text. */
  word: string;
  /** The lemma; missing if the corpus has none. */
  lemma?: string;
  /** The part of speech; missing if the corpus has none. */
  tag?: string;
  /** The morphological features; missing if it has none. */
  feats?: string;
  /** The values of further layers of the corpus by name; missing if it has none. */
  layers?: Record<string, string>;
  /** Whether a blank follows. */
  space_after: boolean;
}

/** The collection of one language in one time step. */
export interface LanguageRow {
  /** The time step. */
  bin: string;
  /** The language. */
  language: string;
  /** Documents. */
  documents: number;
  /** Documents that were annotated. */
  kept: number;
  /** Tokens of annotated text. */
  tokens: number;
}

/** An annotator of the text. */
export interface LayerRow {
  /** Its name. */
  by: string;
  /** Tokens that it annotated. */
  tokens: number;
}

export type Limit = "time" | "cancelled" | "steps" | "values" | "memory";
/** The choices of Limit with their meanings. */
export const LIMIT_CHOICES: readonly (readonly [Limit, string])[] = [
  ["time", "The time limit."],
  ["cancelled", "The client no longer waits for the answer."],
  ["steps", "The number of steps."],
  ["values", "The number of distinct values in memory."],
  ["memory", "The memory of one question."],
];

export type ListedStatus = "open" | "accepted" | "rejected" | "later" | "all";
/** The choices of ListedStatus with their meanings. */
export const LISTED_STATUS_CHOICES: readonly (readonly [ListedStatus, string])[] = [
  ["open", "Candidates without a decision."],
  ["accepted", "Accepted words, also those that are no candidates any more."],
  ["rejected", "Rejected words."],
  ["later", "Words to be looked at again."],
  ["all", "Candidates and all words with a decision."],
];

export type MatchRule = "shortest" | "longest" | "all";
/** The choices of MatchRule with their meanings. */
export const MATCH_RULE_CHOICES: readonly (readonly [MatchRule, string])[] = [
  ["shortest", "The shortest that fulfils restrictions and constraints."],
  ["longest", "The longest that does."],
  ["all", "All that do: several hits may begin at one position, the shortest first."],
];

/** Words whose collocates differ between two parts of a corpus, by distance. */
export interface MeaningAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute of words and collocates. */
  attribute: Attribute;
  /** The filter of the first part. */
  before: string;
  /** The filter of the second part. */
  after: string;
  /** Tokens of the first part. */
  before_tokens: number;
  /** Tokens of the second part. */
  after_tokens: number;
  /** Tokens on each side of a word in which words are its collocates. */
  window: number;
  /** The number of words tested. */
  tested: number;
  /** Words that are frequent enough, but beyond the 1,000 most frequent ones that one question tests. */
  untested: number;
  /** The accepted share of false discoveries among the rows. */
  false_discovery_rate: number;
  /** What the test rests on; missing if the answer is cut off. */
  basis?: ContrastBasis;
  /** Remarks on what the test rests on. */
  notes: string[];
  /** The number of words that changed; null if the answer is cut off. */
  values: number | null;
  /** The words; none if the answer is cut off. */
  rows: MeaningRow[];
}

/** A collocate that was gained or lost. */
export interface MeaningCollocate {
  /** The collocate. */
  value: string;
  /** Hits of the word with the collocate in the window, in the first part. */
  before: number;
  /** The same in the second part. */
  after: number;
  /** Documents of the first part with such a hit. */
  before_documents: number;
  /** Documents of the second part with such a hit. */
  after_documents: number;
}

/** Lists the words whose collocates differ most between two parts of the corpus, with the collocates gained and lost. */
export interface MeaningRequest {
  /** The documents to compare with, a filter such as date=2025. */
  before: string;
  /** The documents in which collocates are gained or lost, a filter such as date=2026. */
  after: string;
  /** Minimum hits of a tested word in each part. */
  min?: number;
  /** The tokens on each side of a word in which words are its collocates. */
  window?: number;
  /** The most collocates gained, and as many lost, of each word. */
  collocates?: number;
  /** Test names, too: what stands beside a name changes with the news. */
  names?: boolean;
  /** The accepted share of false discoveries among the rows (Benjamini–Hochberg). */
  fdr?: number;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** Maximum rows. */
  limit?: number;
}

/** A word whose collocates changed. */
export interface MeaningRow {
  /** The word. */
  value: string;
  /** Hits in the first part. */
  before: number;
  /** Hits in the second part. */
  after: number;
  /** Documents of the first part that are compared: those of each site have as many collocates as in the second part. */
  before_compared: number;
  /** Documents of the second part that are compared. */
  after_compared: number;
  /** The distance of the collocates beyond chance: 0 as in random halves, 1 if no collocate is in both parts. */
  distance: number;
  /** The collocates that were gained, those that make the greatest difference first. */
  gained: MeaningCollocate[];
  /** The collocates that were lost. */
  lost: MeaningCollocate[];
  /** Probability of such a distance if documents of a site are exchanged between the parts at random. */
  p: number;
  /** The same, controlled for the number of words tested (Benjamini–Hochberg). */
  q: number;
}

/** A name. */
export interface NameRow {
  /** The name in the longest form of its documents, inflection removed. */
  name: string;
  /** Its type; missing if its contexts do not tell, or tell different ones, or the answer is cut off. */
  type?: NameType;
  /** Mentions. */
  mentions: number;
  /** Documents with it. */
  documents: number;
  /** Sites with it. */
  sites: number;
  /** Mentions per million tokens; null if the answer is cut off. */
  per_million: number | null;
  /** The day of its first document; null if the answer is cut off. */
  first_seen: string | null;
  /** The day of its last document; null if the answer is cut off. */
  last_seen: string | null;
  /** The CQL query that finds its mentions. */
  query: string;
}

export type NameType = "PER" | "ORG" | "LOC";
/** The choices of NameType with their meanings. */
export const NAME_TYPE_CHOICES: readonly (readonly [NameType, string])[] = [
  ["PER", "A person."],
  ["ORG", "An organisation."],
  ["LOC", "A place."],
];

/** A virtual corpus. */
export interface NamedCorpus {
  /** The name. */
  name: string;
  /** The filter. */
  filter: string;
}

/** Names, those in most documents first, equals by mentions and name. */
export interface NamesAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** Tokens of the documents counted. */
  tokens: number;
  /** Mentions of all names that were looked at. */
  mentions: number;
  /** The number of different names; null if the answer is cut off. */
  values: number | null;
  /** The names. */
  rows: NameRow[];
}

/** Lists the names of persons, organisations and places. */
export interface NamesRequest {
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** Only names of this type. The type of many names is not known. */
  type?: NameType;
  /** Only names that do not occur before this day: new names. */
  since?: string;
  /** Minimum documents. */
  min_documents?: number;
  /** Minimum sites. */
  min_sites?: number;
  /** Maximum rows. */
  limit?: number;
}

/** A candidate, or a word that was decided about. Counts are of all variants together. */
export interface NeologismRow {
  /** The word. */
  value: string;
  /** Other spellings and words that count as it. */
  variants: string[];
  /** The state. */
  status: WordStatus;
  /** The note of the last decision. */
  note: string;
  /** The time of the last decision; empty if there is none. */
  decided: string;
  /** Whether it is a candidate of the window. Words with a decision stay on the list when the window has passed. */
  candidate: boolean;
  /** The day of its first document; null if no document has it any more. */
  first_seen: string | null;
  /** The day of its last document. */
  last_seen: string | null;
  /** Hits. */
  hits: number;
  /** Documents with it. */
  documents: number;
  /** Sites with it. */
  sites: number;
  /** Days with it. */
  days: number;
  /** Months with it. */
  months: number;
  /** Whether it stayed; null if it is no candidate. */
  fate: Persistence | null;
  /** The share of words with as much evidence that are first seen in the window by chance; null if it is no candidate. */
  q: number | null;
  /** The first citation; null if the client may see none. */
  citation: Citation | null;
}

/** Candidates for new words, and words that were decided about: the most widely spread first, equals by value. */
export interface NeologismsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was looked at. */
  attribute: Attribute;
  /** The first day of the window of candidates. */
  since: string;
  /** Candidates and words with a decision by state. */
  states: Record<string, number>;
  /** Candidates on an exclusion list. */
  excluded: number;
  /** The number of words in the asked state; null if the answer is cut off. */
  values: number | null;
  /** The words. */
  rows: NeologismRow[];
}

/** Lists candidates for new words with evidence, and the decisions about them. */
export interface NeologismsRequest {
  /** The state of the words to list. */
  status?: ListedStatus;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The first day of the window [default: the last quarter of the collected time]. */
  since?: string;
  /** The attribute to look at [default: lemma, which merges inflected forms, where the corpus has lemmas]. */
  attribute?: WordForm;
  /** Minimum sites of different owners [default: 3; 2 in a corpus of 3 to 5 sites, 1 in a smaller one]. */
  min_sites?: number;
  /** Minimum days. */
  min_days?: number;
  /** Minimum documents. */
  min_documents?: number;
  /** Include names, which are told by their tags, or by capitals in a corpus without tags. */
  names?: boolean;
  /** Include words that the dictionary of the language has. */
  known?: boolean;
  /** Include punctuation, numbers, dates and function words. */
  all_words?: boolean;
  /** The accepted share of words that are first seen in the window by chance among the rows; 1 lists all candidates. */
  fdr?: number;
  /** Maximum rows. */
  limit?: number;
}

/** Parameters that list candidates that a rule dropped. */
export interface NewWordHint {
  /** The rule. */
  rule: string;
  /** The candidates. */
  words: number;
  /** The parameters with their values. */
  parameters: Record<string, string>;
}

/** A word that was not there before. */
export interface NewWordRow {
  /** The word. */
  value: string;
  /** Whether it is a name. */
  name: boolean;
  /** The day of its first document. */
  first_seen: string;
  /** Hits. */
  hits: number;
  /** Documents with it. */
  documents: number;
  /** Independent sites with it. */
  sites: number;
  /** Days with it. */
  days: number;
  /** Whether it stayed. */
  fate: Persistence;
  /** The share of words with as much evidence that are first seen in the window by chance: near 1, that it was not there before is no evidence that it is new. */
  q: number | null;
}

/** Words that were not there before, the most widely spread first, equals by value. */
export interface NewWordsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was looked at. */
  attribute: Attribute;
  /** The first day of the window. */
  since: string;
  /** Tokens of the documents counted. */
  tokens: number;
  /** Sites of different owners with documents in the window. */
  sites: number;
  /** Minimum sites of different owners. */
  min_sites: number;
  /** Minimum days. */
  min_days: number;
  /** Minimum documents. */
  min_documents: number;
  /** The accepted share of words among the rows that are first seen in the window by chance. */
  false_discovery_rate: number;
  /** Candidates that were dropped, by rule; `chance` are those of which as many are expected if no word is new. */
  dropped: Record<string, number>;
  /** Parameters that list candidates that were dropped, those with most candidates first. */
  hints: NewWordHint[];
  /** The number of new words; null if the answer is cut off. */
  values: number | null;
  /** The words. */
  rows: NewWordRow[];
}

/** Finds the words that were not collected before a day. */
export interface NewWordsRequest {
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The first day of the window [default: the last quarter of the collected time]. */
  since?: string;
  /** The attribute to look at [default: lemma, which merges inflected forms, where the corpus has lemmas]. */
  attribute?: WordForm;
  /** Minimum sites of different owners [default: 3; 2 in a corpus of 3 to 5 sites, 1 in a smaller one]. */
  min_sites?: number;
  /** Minimum days. */
  min_days?: number;
  /** Minimum documents. */
  min_documents?: number;
  /** Include names, which are told by their tags, or by capitals in a corpus without tags. */
  names?: boolean;
  /** Include words that the dictionary of the language has. */
  known?: boolean;
  /** Include punctuation, numbers, dates and function words. */
  all_words?: boolean;
  /** The accepted share of words that are first seen in the window by chance among the rows; 1 lists all candidates. */
  fdr?: number;
  /** Maximum rows. */
  limit?: number;
}

export type Order = "newest" | "oldest";
/** The choices of Order with their meanings. */
export const ORDER_CHOICES: readonly (readonly [Order, string])[] = [
  ["newest", "The newest day first."],
  ["oldest", "The oldest day first."],
];

/** A revision of a page. */
export interface PageRevision {
  /** The id of the document, 32 hexadecimal digits. */
  id: string;
  /** The time of the download. */
  downloaded: string;
  /** The title. */
  title: string;
}

/** A page of hits with their translations. */
export interface ParallelAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The hits that fulfil the conditions, on this page or not; those found until the limit if the answer is cut off. */
  hits: number;
  /** Further hits in these documents whose sentence has no counterpart in the translation. Conditions exclude them. */
  unaligned: number;
  /** The documents searched: those with a translation that the client may read. */
  documents: number;
  /** Their tokens. */
  tokens: number;
  /** The number of the first line, from 0. */
  first: number;
  /** The cursor of the next page; null if there is none. */
  next: string | null;
  /** The lines of this page. */
  lines: ParallelLine[];
}

/** A hit in its sentence, and the translation. */
export interface ParallelLine {
  /** The id of the document. */
  document: string;
  /** The fields of the document that were asked for. */
  fields: Record<string, string>;
  /** The first token of the hit, counted in the document from 0. */
  position: number;
  /** The tokens of the sentences before the hit. */
  left: KwicToken[];
  /** The hit. */
  node: KwicToken[];
  /** The tokens of the sentences behind the hit. */
  right: KwicToken[];
  /** The id of the translated document. */
  translated: string;
  /** The tokens of the aligned sentences; none if the sentence of the hit has no counterpart. */
  translation: KwicToken[];
  /** The tokens of the translation that belong to a hit of `with`, by number from 0. */
  marked: number[];
  /** The confidence of the alignment, from 0 to 1. */
  score: number;
}

/** Shows hits with their translations. */
export interface ParallelRequest {
  /** The query: a word, several words, or CQL. */
  q: string;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The language of the translations, such as de. */
  to: string;
  /** Only hits whose translation has a hit of this query. */
  with?: string;
  /** Only hits whose translation has no hit of this query. */
  without?: string;
  /** Fields of the documents to show, separated by commas. */
  fields?: string[];
  /** Which day comes first. */
  order?: Order;
  /** The rows on a page [default: 20; all in a stream]. */
  size?: number;
  /** The start of the page: `next` of the answer before. */
  cursor?: string;
}

export type Persistence = "burst" | "lasting" | "open";
/** The choices of Persistence with their meanings. */
export const PERSISTENCE_CHOICES: readonly (readonly [Persistence, string])[] = [
  ["burst", "It came, and has hardly been seen since."],
  ["lasting", "It is still in use, long after it came."],
  ["open", "It came too recently to say."],
];

export type PollResult = "listed" | "unchanged" | "failed" | "gone" | "never";
/** The choices of PollResult with their meanings. */
export const POLL_RESULT_CHOICES: readonly (readonly [PollResult, string])[] = [
  ["listed", "It gave its entries."],
  ["unchanged", "It has not changed since the last time."],
  ["failed", "It could not be reached or read."],
  ["gone", "The server says that it is gone for good."],
  ["never", "It was never polled."],
];

/** A page of hits in their context. */
export interface QueryAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** All hits, on this page or not; missing if they were not counted, and those found until the limit if the answer is cut off. */
  hits?: number;
  /** Tokens of the documents searched. */
  tokens: number;
  /** Hits per million tokens; missing if hits were not counted, or the answer is cut off. */
  per_million?: number;
  /** The number of the first line, from 0. */
  first: number;
  /** Hits without a line, because their documents may not be read; missing if hits were not counted, or the answer is cut off. */
  withheld?: number;
  /** The cursor of the next page; null if there is none. */
  next: string | null;
  /** The lines of this page. */
  lines: ConcordanceLine[];
}

/** Shows the hits of a query in their context. */
export interface QueryRequest {
  /** The query: a word, several words, or CQL. */
  q: string;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** Only hits with a hit of this query near them. */
  with?: string;
  /** Only hits without a hit of this query near them. */
  without?: string;
  /** The tokens before and behind the hit that are near it. */
  window?: number;
  /** Tokens on each side of the hit. */
  context?: number;
  /** Fields of the documents to show, separated by commas. */
  fields?: string[];
  /** Sort by left, right, node, a token beside the hit (left2, 1R.lemma), fields, or good examples (good), separated by commas. */
  sort?: string[];
  /** The size of a random sample to show instead of a page. */
  sample?: number;
  /** The seed of the sample: the same seed gives the same sample. */
  seed?: number;
  /** Take the longest of several matches that begin at one position. */
  longest?: boolean;
  /** Whether to count all hits, which may take longer than the page. */
  count?: boolean;
  /** Which day comes first. */
  order?: Order;
  /** The rows on a page [default: 20; all in a stream]. */
  size?: number;
  /** The start of the page: `next` of the answer before. */
  cursor?: string;
}

/** Quotations of one speaker, verb or site. */
export interface QuoteRow {
  /** The speaker, the verb or the site. */
  value: string;
  /** Quotations. */
  quotes: number;
  /** Documents with them. */
  documents: number;
  /** Sites with them. */
  sites: number;
  /** Their tokens. */
  quoted_tokens: number;
  /** The share of quoted tokens: of a site's own tokens, or of all quoted tokens; null if the answer is cut off. */
  share: number | null;
  /** The most frequent verb of a speaker's or a site's quotations; null if none is known, or the answer is cut off. */
  verb: string | null;
  /** The CQL query that finds them; for sites, to be asked with a filter. */
  query: string;
}

/** Quotations by speaker, verb or site: those with most quotations first, sites by their share of quoted text. */
export interface QuotesAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** What quotations are counted by. */
  by: QuotesBy;
  /** Tokens of the documents counted. */
  tokens: number;
  /** All direct quotations in them, with and without a known speaker. */
  quotes: number;
  /** Tokens in these quotations; those of nested ones count once for each. */
  quoted_tokens: number;
  /** The number of different values; null if the answer is cut off. */
  values: number | null;
  /** The rows. */
  rows: QuoteRow[];
}

export type QuotesBy = "speaker" | "verb" | "site";
/** The choices of QuotesBy with their meanings. */
export const QUOTES_BY_CHOICES: readonly (readonly [QuotesBy, string])[] = [
  ["speaker", "The speaker, where the text gives one."],
  ["verb", "The verb that introduces the quotation."],
  ["site", "The site."],
];

/** Lists who is quoted, with which verbs, or how much each source quotes. */
export interface QuotesRequest {
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** What quotations are counted by. */
  by?: QuotesBy;
  /** Include speakers that are a pronoun or another function word. */
  pronouns?: boolean;
  /** Minimum documents. */
  min_documents?: number;
  /** Maximum rows. */
  limit?: number;
}

/** A collocate in a relation. */
export interface RelationRow {
  /** The name of the relation. */
  relation: string;
  /** The lemma of the collocate. */
  value: string;
  /** Co-occurrences in the relation. */
  together: number;
  /** Occurrences of the collocate in the relation with any word. */
  anywhere: number;
  /** logDice within the relation: 14 if neither occurs in it without the other; null if the answer is cut off. */
  score: number | null;
  /** The query of the hits of both. */
  query: string;
}

/** A relation of the lemma. */
export interface RelationSummary {
  /** The name, such as subjects of come. */
  name: string;
  /** Hits of the relation. */
  hits: number;
  /** The number of different collocates. */
  values: number;
  /** The query of these hits. */
  query: string;
}

/** The revisions of a page, oldest first; empty if it was never revised. */
export interface RevisionsAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The revisions. */
  rows: PageRevision[];
}

/** Lists the revisions of a page. */
export interface RevisionsRequest {
  /** The address of the page, as the document has it. */
  url: string;
  /** The day of the download of the newest revision, as the document has it. */
  seen: string;
}

export interface Scores {
  log_dice: number | null;
  mi: number | null;
  mi3: number | null;
  t_score: number | null;
  log_likelihood: number | null;
  dice: number | null;
  min_sensitivity: number | null;
  mi_log_f: number | null;
}

/** A saved search. */
export interface SearchRow {
  /** The name. */
  name: string;
  /** The language of the corpus. */
  lang: string;
  /** The query. */
  q: string;
  /** The filter of documents; empty for all. */
  filter: string;
  /** The time at which it was saved. */
  created: string;
}

/** The saved searches. `/api/v1/searches/NAME/feed` is the feed of the newest hits of one, as RSS or JSON. */
export interface SearchesAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The searches. */
  rows: SearchRow[];
}

/** Lists the saved searches. */
export interface SearchesRequest {
}

/** A word with a season. */
export interface SeasonRow {
  /** The word. */
  value: string;
  /** Hits in all steps. */
  hits: number;
  /** Documents with it. */
  documents: number;
  /** The month of the peak, from 1 to 12. */
  peak: number;
  /** Binary logarithm of the rate in the three months around the peak by that of the other months, within sites. */
  log_ratio: number | null;
  /** The share of the variance of scores that the season explains. */
  strength: number | null;
  /** Probability by chance. */
  p: number | null;
  /** The same, controlled for the number of words tested (Benjamini–Hochberg). */
  q: number | null;
  /** The rate in each month of the year, from January, relative to that expected from the sites; null if nothing was collected. */
  months: (number | null)[];
  /** Hits per million tokens in each step. */
  per_million: number[];
}

/** Words with a season, the surest first. */
export interface SeasonsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was counted. */
  attribute: Attribute;
  /** The time steps with enough tokens. */
  bins: string[];
  /** Tokens of the documents counted. */
  tokens: number;
  /** Sites with text; words are tested within them. */
  sites: number;
  /** The number of words tested. */
  tested: number;
  /** The number of words that are frequent enough and not tested: punctuation, numbers, dates, function words. */
  left_out: number;
  /** The accepted share of false discoveries among the rows. */
  false_discovery_rate: number;
  /** Remarks on the time. */
  notes: string[];
  /** The number of words with a season; null if the answer is cut off. */
  values: number | null;
  /** The words. */
  rows: SeasonRow[];
}

/** Tests the whole vocabulary for words with a season. */
export interface SeasonsRequest {
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The attribute to count: lemma, lc, word, tag, feats, or a feature such as Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc elsewhere]. */
  attribute?: Attribute;
  /** The length of a time step. */
  by?: Step;
  /** Minimum documents of a tested word. */
  min?: number;
  /** Include punctuation, numbers, dates and function words. */
  all_words?: boolean;
  /** Only sites with documents in every step, so that new feeds do not look like news. */
  panel?: boolean;
  /** Maximum rows. */
  limit?: number;
  /** The accepted share of false discoveries among the rows (Benjamini–Hochberg). */
  fdr?: number;
  /** The minimum factor of the rate in the three months around the peak by that of the other months. */
  effect?: number;
}

export type Sequel = "fell" | "stayed" | "open";
/** The choices of Sequel with their meanings. */
export const SEQUEL_CHOICES: readonly (readonly [Sequel, string])[] = [
  ["fell", "The word fell back towards its former rate."],
  ["stayed", "It stayed nearer to the height of the burst: a step, not a burst."],
  ["open", "Too little was collected since."],
];

/** The server and the client. */
export interface ServerAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The version of the program. */
  version: string;
  /** The public address of the server (setting serve.address); null if it has none. */
  address: string | null;
  /** Whether the client is the owner of the home on the same machine, who may save searches. */
  owner: boolean;
}

/** Describes the server. */
export interface ServerRequest {
}

export type Shape = "steady" | "late" | "early";
/** The choices of Shape with their meanings. */
export const SHAPE_CHOICES: readonly (readonly [Shape, string])[] = [
  ["steady", "All the time."],
  ["late", "In the last two fifths of the time."],
  ["early", "In the first two fifths of the time."],
];

/** A sentence of a document. */
export interface ShownSentence {
  /** The number of its paragraph, from 0. */
  paragraph: number;
  /** The number of its first token in the document, from 0. */
  position: number;
  /** Its tokens. */
  tokens: KwicToken[];
}

/** The sites that a test of trends rests on. */
export interface SiteMixture {
  /** Sites with text in at least three steps; trends are tested within them. */
  sites: number;
  /** The share of the tokens that other sites have, which are left out. */
  left_out: number;
  /** The share of the tokens of sites with text in both halves of the time, in the half in which it is smaller. */
  in_both_halves: number;
}

/** A site. */
export interface SiteRow {
  /** The name, as filters take it. */
  site: string;
  /** Documents. */
  documents: number;
}

/** The sites with documents in any language, those with most documents first. */
export interface SitesAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The number of sites. */
  sites: number;
  /** The sites. */
  rows: SiteRow[];
}

/** Lists the sites with documents. */
export interface SitesRequest {
  /** Maximum rows. */
  limit?: number;
}

/** A word sketch. The rows of all relations are one list. */
export interface SketchAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The lemma. */
  lemma: string;
  /** The part of speech of the sketch; empty if the corpus has no such lemma with a tag. */
  tag: string;
  /** The parts of speech of the lemma in the corpus, the most frequent first. */
  tags: TagCount[];
  /** Hits of the lemma with the tag. */
  hits: number;
  /** Tokens of the documents counted. */
  tokens: number;
  /** The name of the sketch grammar. */
  grammar: string;
  /** The relations, in the order of the grammar. */
  relations: RelationSummary[];
  /** The collocates of each relation, best first, equals by value. */
  rows: RelationRow[];
}

/** The collocates of two lemmas by relation, from the most typical of the first to the most typical of the second. */
export interface SketchDiffAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The first lemma. */
  lemma: string;
  /** The second lemma. */
  other: string;
  /** The part of speech of both; empty if the corpus has no such lemma with a tag. */
  tag: string;
  /** Hits of the first lemma with the tag. */
  hits: number;
  /** Hits of the second lemma with the tag. */
  other_hits: number;
  /** Tokens of the documents counted. */
  tokens: number;
  /** The name of the sketch grammar. */
  grammar: string;
  /** The collocates of each relation; none if the answer is cut off. */
  rows: SketchDiffRow[];
}

/** Compares the word sketches of two lemmas. */
export interface SketchDiffRequest {
  /** The first lemma, as a dictionary lists it. */
  lemma: string;
  /** The second lemma. */
  other: string;
  /** The part of speech of both, such as NOUN [default: the most frequent one of the first]. */
  pos?: string;
  /** Minimum co-occurrences with one of the two. */
  min?: number;
  /** Maximum collocates per relation. */
  size?: number;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
}

/** A collocate in a relation of two lemmas. */
export interface SketchDiffRow {
  /** The relation, with … for the lemma. */
  relation: string;
  /** The lemma of the collocate. */
  value: string;
  /** Co-occurrences with the first lemma. */
  together: number;
  /** Co-occurrences with the second lemma. */
  other_together: number;
  /** logDice with the first lemma; null if they do not occur together often enough. */
  score: number | null;
  /** logDice with the second lemma; null likewise. */
  other_score: number | null;
  /** The first score minus the second, where a missing one counts as 0: positive if the collocate is more typical of the first lemma. */
  difference: number;
}

/** Ranks the collocates of a lemma by grammatical relation. */
export interface SketchRequest {
  /** The lemma, as a dictionary lists it. */
  lemma: string;
  /** The part of speech, such as NOUN [default: the most frequent one]. */
  pos?: string;
  /** Minimum co-occurrences. */
  min?: number;
  /** Maximum collocates per relation. */
  size?: number;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
}

export type SourceKind = "feed" | "sitemap" | "page" | "archive" | "crawl";
/** The choices of SourceKind with their meanings. */
export const SOURCE_KIND_CHOICES: readonly (readonly [SourceKind, string])[] = [
  ["feed", "RSS, Atom, RDF or JSON Feed."],
  ["sitemap", "A sitemap that is polled."],
  ["page", "A front page or section page that is polled."],
  ["archive", "The backfill of a site."],
  ["crawl", "A crawl that follows links."],
];

/** The sources of a kind. */
export interface SourceRow {
  /** The kind. */
  kind: SourceKind;
  /** The number of sources. */
  sources: number;
  /** The yield of their pages in the last 30 days. */
  yield: YieldSum;
}

/** The kinds of sources that the home has. */
export interface SourcesAnswer {
  /** The address that asks the same again. */
  link: string;
  /** The kinds. */
  rows: SourceRow[];
}

/** Lists the kinds of sources. */
export interface SourcesRequest {
}

export type Step = "day" | "ten-days" | "week" | "month" | "quarter" | "half-year" | "year";
/** The choices of Step with their meanings. */
export const STEP_CHOICES: readonly (readonly [Step, string])[] = [
  ["day", "A day."],
  ["ten-days", "The first ten days of a month, the second ten, and the rest."],
  ["week", "From Monday to Sunday, numbered as in ISO 8601."],
  ["month", "A month."],
  ["quarter", "Three months."],
  ["half-year", "Six months."],
  ["year", "A year."],
];

/** A word whose rate changes at once. */
export interface StepRow {
  /** The word. */
  value: string;
  /** Hits in all steps. */
  hits: number;
  /** Documents with it. */
  documents: number;
  /** The first time step of the new level. */
  bin: string;
  /** Binary logarithm of the rate from then on by that before, within sites. */
  log_ratio: number | null;
  /** Probability by chance. */
  p: number | null;
  /** The same, controlled for the number of words tested (Benjamini–Hochberg). */
  q: number | null;
  /** Hits per million tokens in each step. */
  per_million: number[];
}

/** Words whose rate changes at once, the surest first. */
export interface StepsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was counted. */
  attribute: Attribute;
  /** The time steps with enough tokens. */
  bins: string[];
  /** Tokens of the documents counted. */
  tokens: number;
  /** Sites with text; words are tested within them. */
  sites: number;
  /** The number of words tested. */
  tested: number;
  /** The number of words that are frequent enough and not tested: punctuation, numbers, dates, function words. */
  left_out: number;
  /** The accepted share of false discoveries among the rows. */
  false_discovery_rate: number;
  /** The number of words whose rate changes at once; null if the answer is cut off. */
  values: number | null;
  /** The words. */
  rows: StepRow[];
}

/** Tests the whole vocabulary for words whose rate changes at once and stays changed. */
export interface StepsRequest {
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The attribute to count: lemma, lc, word, tag, feats, or a feature such as Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc elsewhere]. */
  attribute?: Attribute;
  /** The length of a time step. */
  by?: Step;
  /** Minimum documents of a tested word. */
  min?: number;
  /** Include punctuation, numbers, dates and function words. */
  all_words?: boolean;
  /** Only sites with documents in every step, so that new feeds do not look like news. */
  panel?: boolean;
  /** Maximum rows. */
  limit?: number;
  /** The accepted share of false discoveries among the rows (Benjamini–Hochberg). */
  fdr?: number;
  /** Only words that rise, or only words that fall. */
  direction?: Direction;
  /** The minimum change: the factor by which the rate rises or falls. */
  effect?: number;
}

/** A part of speech of a lemma. */
export interface TagCount {
  /** The tag. */
  tag: string;
  /** Hits of the lemma with the tag. */
  hits: number;
}

/** A term, in focus and in the reference. */
export interface TermRow {
  /** The values of its words. */
  value: string;
  /** The form in which it is written most often in focus. */
  form: string;
  /** The score by the measure that orders the rows. */
  score: number | null;
  /** Hits in focus. */
  focus: number;
  /** Documents with it in focus. */
  focus_documents: number;
  /** Hits in the reference. */
  reference: number;
  /** Documents with it in the reference. */
  reference_documents: number;
  /** Hits per million tokens in focus. */
  focus_per_million: number | null;
  /** The same of the reference. */
  reference_per_million: number | null;
  /** Log-likelihood, negative if rarer in focus. */
  log_likelihood: number | null;
  /** Binary logarithm of the ratio of the rates. */
  log_ratio: number | null;
}

/** Terms that are typical of one part of the corpus against another, by score, equals by value. */
export interface TermsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute of the words of a term. */
  attribute: Attribute;
  /** The filter of the documents in focus. */
  focus: string;
  /** The filter of the documents compared with. */
  against: string;
  /** Tokens in focus. */
  focus_tokens: number;
  /** Tokens of the reference. */
  reference_tokens: number;
  /** The measure that orders the rows. */
  order: KeynessMeasure;
  /** The constant of simple maths. */
  add: number;
  /** The number of different terms; null if the answer is cut off. */
  values: number | null;
  /** The terms. */
  rows: TermRow[];
}

/** Ranks terms of several words, such as *climate policy*, that are typical of one part of the corpus against another. */
export interface TermsRequest {
  /** The documents in focus, a filter such as date>=2026-03. */
  focus: string;
  /** The documents to compare with, a filter [default: all others]. */
  against?: string;
  /** The keyness measure that orders the rows. */
  measure?: KeynessMeasure;
  /** The constant that simple maths adds to both rates: 1 favours what is rare, 1000 what is common. */
  add?: number;
  /** Only sites with documents in both parts, so that new feeds do not look like new words. */
  panel?: boolean;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** Minimum hits in the focus subcorpus. */
  min?: number;
  /** Minimum documents with the term in the focus subcorpus. */
  min_documents?: number;
  /** Include terms with proper nouns, most of which are names. */
  names?: boolean;
  /** Maximum rows. */
  limit?: number;
}

export type TextUnit = "sentence" | "paragraph";
/** The choices of TextUnit with their meanings. */
export const TEXT_UNIT_CHOICES: readonly (readonly [TextUnit, string])[] = [
  ["sentence", "Sentences."],
  ["paragraph", "Paragraphs."],
];

/** Words that occur in the same contexts, the most similar first. */
export interface ThesaurusAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The lemma. */
  lemma: string;
  /** The part of speech of all words; empty if the corpus has no such lemma with a tag. */
  tag: string;
  /** Hits of the lemma. */
  hits: number;
  /** Tokens of the documents counted. */
  tokens: number;
  /** The number of contexts that are compared: collocates with the highest positive mutual information. */
  contexts: number;
  /** The similar words; none if the answer is cut off. */
  rows: ThesaurusRow[];
}

/** Lists words that occur in the same contexts as a lemma. */
export interface ThesaurusRequest {
  /** The lemma, as a dictionary lists it. */
  lemma: string;
  /** The part of speech, such as NOUN [default: the most frequent one]. */
  pos?: string;
  /** Minimum hits of similar words. */
  min?: number;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** Maximum rows. */
  limit?: number;
}

/** A similar word. */
export interface ThesaurusRow {
  /** The lemma. */
  value: string;
  /** Hits of the lemma. */
  hits: number;
  /** The cosine of the vectors of contexts: 1 if they are the same, 0 if they share none. */
  similarity: number;
  /** The contexts that both words have and that contribute most. */
  shared: string[];
}

/** Hits over time, with the size and quality of the collection. */
export interface TimelineAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The length of a time step. */
  step: Step;
  /** The confidence of the intervals. */
  confidence: number;
  /** The queries in the order in which they were given. */
  queries: string[];
  /** All hits of all queries; those found until the limit if the answer is cut off. */
  hits: number;
  /** Tokens of the documents searched. */
  tokens: number;
  /** Every step from the first to the last, also those without documents, for each query in turn. */
  points: TimelinePoint[];
}

/** One time step. Without tokens nothing was collected, and there is no rate; with tokens and zero hits the rate is zero. A step that was not searched to its end has neither hits nor rate. */
export interface TimelinePoint {
  /** The time step. */
  bin: string;
  /** The query; missing if there is only one. */
  query?: string;
  /** Hits; null if the step was not searched to its end. */
  hits: number | null;
  /** Tokens collected. */
  tokens: number;
  /** Documents collected. */
  documents: number;
  /** Sites with documents. */
  sites: number;
  /** Days of the step. */
  days: number;
  /** Days with documents. */
  days_with_documents: number;
  /** Days with fetch runs; null if the home has none. */
  days_with_runs: number | null;
  /** Completeness of the collection, from 0 to 1. */
  health: number;
  /** Documents with a hit, if they are asked for; null if the step was not searched to its end. */
  hit_documents?: number | null;
  /** Their share among the documents collected; null if there are none. */
  document_share?: number | null;
  /** Hits per million tokens; null if nothing was collected, or the step was not searched to its end. */
  per_million: number | null;
  /** The share of the query among the hits of all queries in the step, if there are several; null if there are no hits, or the step was not searched to its end. */
  query_share?: number | null;
  /** The interval of the rate; null without a rate, and if the answer is cut off. */
  band: Band | null;
}

/** Counts the hits of queries over time. */
export interface TimelineRequest {
  /** The queries, repeated or separated by commas: words, several words, or CQL; at most 20. */
  q: string[];
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The length of a time step [default: one that gives 24 to 60 periods]. */
  by?: Step;
  /** Only sites with documents in every step, so that new feeds do not look like news. */
  panel?: boolean;
  /** Count the documents with a hit, too, and their share among all documents; documents that the client may not read are left out. */
  documents?: boolean;
  /** The confidence of the intervals. */
  confidence?: number;
}

/** A word that rises or falls. */
export interface TrendRow {
  /** The word. */
  value: string;
  /** Whether it is a name, by its tags. */
  name: boolean;
  /** Hits in all steps. */
  hits: number;
  /** Documents with it. */
  documents: number;
  /** The period of the change, if the test finds one. */
  shape?: Shape;
  /** Binary logarithm of the rate at the end by that at the beginning, fitted within sites. */
  log_ratio: number | null;
  /** The interval of the logarithm, with a confidence of 95 %. */
  band: Band;
  /** Growth from the first step to the last in multiples of the mean rate (Theil–Sen). */
  growth: number | null;
  /** The same as Sketch Engine shows it: the tangent of whole degrees. */
  score: number | null;
  /** Probability by chance. */
  p: number | null;
  /** The same, controlled for the number of words tested (Benjamini–Hochberg). */
  q: number | null;
  /** The z statistic of Mann–Kendall. */
  kendall_z: number | null;
  /** Hits per million tokens in each step. */
  per_million: number[];
}

/** Words that rise or fall, the surest first. */
export interface TrendsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was counted. */
  attribute: Attribute;
  /** The length of a time step. */
  step: Step;
  /** The time steps with enough tokens. */
  bins: string[];
  /** Tokens of the documents counted. */
  tokens: number;
  /** The number of words tested. */
  tested: number;
  /** Punctuation, numbers, dates and function words that are frequent enough, but not tested. */
  left_out: number;
  /** The accepted share of false discoveries among the rows. */
  false_discovery_rate: number;
  /** The sites that the test rests on; missing if the answer is cut off. */
  mixture?: SiteMixture;
  /** Remarks on the sites. */
  notes: string[];
  /** The number of words that rise or fall; null if the answer is cut off. */
  values: number | null;
  /** The words. */
  rows: TrendRow[];
}

/** Tests the whole vocabulary for words that rise or fall. */
export interface TrendsRequest {
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The attribute to count: lemma, lc, word, tag, feats, or a feature such as Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc elsewhere]. */
  attribute?: Attribute;
  /** The length of a time step [default: one that gives 24 to 60 periods]. */
  by?: Step;
  /** Minimum documents of a tested word. */
  min?: number;
  /** The accepted share of false discoveries among the rows (Benjamini–Hochberg). */
  fdr?: number;
  /** Only words that rise, or only words that fall. */
  direction?: Direction;
  /** The minimum change: the factor by which the rate rises or falls. */
  effect?: number;
  /** Include punctuation, numbers, dates and function words. */
  all_words?: boolean;
  /** Only sites with documents in every step, so that new feeds do not look like news. */
  panel?: boolean;
  /** Maximum rows. */
  limit?: number;
}

export type UrlOutcome = "refused" | "failed";
/** The choices of UrlOutcome with their meanings. */
export const URL_OUTCOME_CHOICES: readonly (readonly [UrlOutcome, string])[] = [
  ["refused", "The page has no wanted text."],
  ["failed", "There was no page."],
];

/** The window in which collocates are counted: never beyond the document, and never in the hit itself. */
export type Window = { tokens: { left: number; right: number } } | "sentence";

/** What one takedown took out of a frozen state. */
export interface WithdrawnDocuments {
  /** The time of the takedown. */
  time: string;
  /** Documents. */
  documents: number;
  /** Their tokens. */
  tokens: number;
}

export type WordForm = "word" | "lemma";
/** The choices of WordForm with their meanings. */
export const WORD_FORM_CHOICES: readonly (readonly [WordForm, string])[] = [
  ["word", "The form in the text."],
  ["lemma", "The dictionary form."],
];

/** A word or n-gram. */
export interface WordRow {
  /** The word; for n-grams, the words separated by blanks. */
  value: string;
  /** Hits; those found until the limit if the answer is cut off. */
  hits: number;
  /** Documents with it. */
  documents: number;
  /** Hits per million tokens; null if the answer is cut off. */
  per_million: number | null;
}

export type WordStatus = "open" | "accepted" | "rejected" | "later";
/** The choices of WordStatus with their meanings. */
export const WORD_STATUS_CHOICES: readonly (readonly [WordStatus, string])[] = [
  ["open", "Without a decision."],
  ["accepted", "A new word of the language."],
  ["rejected", "No new word."],
  ["later", "To be looked at again."],
];

/** Words or n-grams, the most frequent first, equals by value. */
export interface WordsAnswer {
  about: About;
  /** The address that asks the same again. */
  link: string;
  /** Changes to the question, such as rows that were left out to protect text. */
  rewrites?: string[];
  /** The attribute that was counted. */
  attribute: Attribute;
  /** The tokens of a value: 1 for words. N-grams do not cross sentences. */
  n: number;
  /** Tokens of the documents counted. */
  tokens: number;
  /** The number of different values. */
  values: number;
  /** The values. */
  rows: WordRow[];
}

/** Lists words or n-grams with their frequencies. */
export interface WordsRequest {
  /** Only words that match this regular expression as a whole. */
  regex?: string;
  /** Minimum hits [default: 1, for n-grams 5]. */
  min?: number;
  /** Only documents with these properties, such as site=gazette.example date>=2026-01. */
  filter?: string;
  /** Only documents of this virtual corpus, made with `tidings corpus save`. */
  in?: string;
  /** The attribute to count: word, lc, lemma, tag, feats, or a feature such as Case. */
  attribute?: Attribute;
  /** The number of consecutive words in a row, inside one sentence. */
  ngram?: number;
  /** Include punctuation. */
  punctuation?: boolean;
  /** Maximum rows. */
  limit?: number;
}

/** The text that pages yielded. */
export interface YieldSum {
  /** Pages. */
  pages: number;
  /** Documents. */
  documents: number;
  /** Bytes downloaded. */
  downloaded_bytes: number;
  /** Bytes of text. */
  clean_bytes: number;
  /** Bytes of text by bytes downloaded. */
  rate: number;
}

/** The paths of the endpoints, by name. */
export const PATHS = {
  "backfills": "/api/v1/backfills",
  "collection": "/api/v1/collection",
  "collection-days": "/api/v1/collection/days",
  "collection-languages": "/api/v1/collection/languages",
  "revisions": "/api/v1/collection/revisions",
  "corpora": "/api/v1/corpora",
  "corpora-named": "/api/v1/corpora-named",
  "crawls": "/api/v1/crawls",
  "decisions": "/api/v1/decisions",
  "feeds": "/api/v1/feeds",
  "hosts": "/api/v1/hosts",
  "searches": "/api/v1/searches",
  "server": "/api/v1/server",
  "sites": "/api/v1/sites",
  "sources": "/api/v1/sources",
  "bursts": "/api/v1/{lang}/bursts",
  "colloc": "/api/v1/{lang}/colloc",
  "compare": "/api/v1/{lang}/compare",
  "count": "/api/v1/{lang}/count",
  "crosstab": "/api/v1/{lang}/crosstab",
  "dispersion": "/api/v1/{lang}/dispersion",
  "documents": "/api/v1/{lang}/documents",
  "document": "/api/v1/{lang}/documents/{id}",
  "context": "/api/v1/{lang}/documents/{id}/context",
  "freq": "/api/v1/{lang}/freq",
  "group": "/api/v1/{lang}/group",
  "keywords": "/api/v1/{lang}/keywords",
  "meaning": "/api/v1/{lang}/meaning",
  "names": "/api/v1/{lang}/names",
  "neologisms": "/api/v1/{lang}/neologisms",
  "new-words": "/api/v1/{lang}/new-words",
  "parallel": "/api/v1/{lang}/parallel",
  "query": "/api/v1/{lang}/query",
  "quotes": "/api/v1/{lang}/quotes",
  "seasons": "/api/v1/{lang}/seasons",
  "sketch": "/api/v1/{lang}/sketch",
  "sketch-diff": "/api/v1/{lang}/sketch-diff",
  "steps": "/api/v1/{lang}/steps",
  "terms": "/api/v1/{lang}/terms",
  "thesaurus": "/api/v1/{lang}/thesaurus",
  "timeline": "/api/v1/{lang}/timeline",
  "trends": "/api/v1/{lang}/trends",
  "words": "/api/v1/{lang}/words",
} as const;

/** The requests, answers and rows of the endpoints, by name. */
export interface Endpoints {
  "backfills": { request: BackfillsRequest; answer: BackfillsAnswer; row: BackfillRow };
  "collection": { request: CollectionRequest; answer: CollectionAnswer; row: FunnelRow };
  "collection-days": { request: CollectionDaysRequest; answer: CollectionDaysAnswer; row: DaysRow };
  "collection-languages": { request: CollectionLanguagesRequest; answer: CollectionLanguagesAnswer; row: LanguageRow };
  "revisions": { request: RevisionsRequest; answer: RevisionsAnswer; row: PageRevision };
  "corpora": { request: CorporaRequest; answer: CorporaAnswer; row: CorpusRow };
  "corpora-named": { request: CorporaNamedRequest; answer: CorporaNamedAnswer; row: NamedCorpus };
  "crawls": { request: CrawlsRequest; answer: CrawlsAnswer; row: CrawlRow };
  "decisions": { request: DecisionsRequest; answer: DecisionsAnswer; row: DecisionRow };
  "feeds": { request: FeedsRequest; answer: FeedsAnswer; row: FeedRow };
  "hosts": { request: HostsRequest; answer: HostsAnswer; row: HostRow };
  "searches": { request: SearchesRequest; answer: SearchesAnswer; row: SearchRow };
  "server": { request: ServerRequest; answer: ServerAnswer; row: never };
  "sites": { request: SitesRequest; answer: SitesAnswer; row: SiteRow };
  "sources": { request: SourcesRequest; answer: SourcesAnswer; row: SourceRow };
  "bursts": { request: BurstsRequest; answer: BurstsAnswer; row: BurstRow };
  "colloc": { request: CollocRequest; answer: CollocAnswer; row: Collocate };
  "compare": { request: CompareRequest; answer: CompareAnswer; row: Change };
  "count": { request: CountRequest; answer: CountAnswer; row: never };
  "crosstab": { request: CrosstabRequest; answer: CrosstabAnswer; row: CrosstabRow };
  "dispersion": { request: DispersionRequest; answer: DispersionAnswer; row: DispersionRow };
  "documents": { request: DocumentsRequest; answer: DocumentsAnswer; row: DocumentRow };
  "document": { request: DocumentRequest; answer: DocumentAnswer; row: never };
  "context": { request: ContextRequest; answer: ContextAnswer; row: ShownSentence };
  "freq": { request: FreqRequest; answer: FreqAnswer; row: FrequencyRow };
  "group": { request: GroupRequest; answer: GroupAnswer; row: GroupRow };
  "keywords": { request: KeywordsRequest; answer: KeywordsAnswer; row: Keyword };
  "meaning": { request: MeaningRequest; answer: MeaningAnswer; row: MeaningRow };
  "names": { request: NamesRequest; answer: NamesAnswer; row: NameRow };
  "neologisms": { request: NeologismsRequest; answer: NeologismsAnswer; row: NeologismRow };
  "new-words": { request: NewWordsRequest; answer: NewWordsAnswer; row: NewWordRow };
  "parallel": { request: ParallelRequest; answer: ParallelAnswer; row: ParallelLine };
  "query": { request: QueryRequest; answer: QueryAnswer; row: ConcordanceLine };
  "quotes": { request: QuotesRequest; answer: QuotesAnswer; row: QuoteRow };
  "seasons": { request: SeasonsRequest; answer: SeasonsAnswer; row: SeasonRow };
  "sketch": { request: SketchRequest; answer: SketchAnswer; row: RelationRow };
  "sketch-diff": { request: SketchDiffRequest; answer: SketchDiffAnswer; row: SketchDiffRow };
  "steps": { request: StepsRequest; answer: StepsAnswer; row: StepRow };
  "terms": { request: TermsRequest; answer: TermsAnswer; row: TermRow };
  "thesaurus": { request: ThesaurusRequest; answer: ThesaurusAnswer; row: ThesaurusRow };
  "timeline": { request: TimelineRequest; answer: TimelineAnswer; row: TimelinePoint };
  "trends": { request: TrendsRequest; answer: TrendsAnswer; row: TrendRow };
  "words": { request: WordsRequest; answer: WordsAnswer; row: WordRow };
}
