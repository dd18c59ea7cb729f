// Answers about the collection, as the API returns them.

export interface Yield {
  pages: number;
  documents: number;
  downloaded_bytes: number;
  clean_bytes: number;
  rate: number;
}

export interface Feed {
  feed: string;
  title: string;
  health: Health;
  succeeded: string;
  failures: number;
  error: string;
  brought: number;
  entries_per_day: number | null;
  yield: Yield | null;
}

export type Health = "alive" | "slow" | "failing" | "dead" | "new";

export interface Whole {
  feeds: Record<Health, number>;
  days: number;
  days_with_runs: number;
  first_day: string | null;
  last_day: string | null;
  last_run: string | null;
  pages: number;
  downloaded_bytes: number;
  clean_bytes: number;
  words: number;
  duplicate_words: number;
  tokens: number;
  rows: {
    step: "clean" | "dedup" | "annotate";
    unit: string;
    fate: "kept" | "left out";
    reason: string;
    items: number;
    share: number | null;
  }[];
}
