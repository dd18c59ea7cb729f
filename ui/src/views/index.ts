// All views, in the order of the tabs.

import type { View } from "../view.ts";
import { bursts } from "./bursts.ts";
import { collection } from "./collection/index.ts";
import { collocations } from "./collocations.ts";
import { compare } from "./compare.ts";
import { crosstab } from "./crosstab.ts";
import { dispersion } from "./dispersion.ts";
import { documentView } from "./document.ts";
import { documents } from "./documents.ts";
import { frequencies } from "./frequencies.ts";
import { groups } from "./groups.ts";
import { help } from "./help.ts";
import { keywords } from "./keywords.ts";
import { meaning } from "./meaning.ts";
import { names } from "./names.ts";
import { neologisms } from "./neologisms.ts";
import { newWords } from "./new-words.ts";
import { parallel } from "./parallel.ts";
import { quotes } from "./quotes.ts";
import { saved } from "./saved.ts";
import { search } from "./search.ts";
import { seasons } from "./seasons.ts";
import { sketchDiff } from "./sketch-diff.ts";
import { sketch } from "./sketch.ts";
import { start } from "./start.ts";
import { steps } from "./steps.ts";
import { terms } from "./terms.ts";
import { thesaurus } from "./thesaurus.ts";
import { timeline } from "./timeline.ts";
import { trends } from "./trends.ts";
import { words } from "./words.ts";

export const VIEWS: readonly View[] = [
  start,
  search,
  timeline,
  collocations,
  sketch,
  sketchDiff,
  thesaurus,
  frequencies,
  groups,
  crosstab,
  dispersion,
  parallel,
  documents,
  documentView,
  trends,
  seasons,
  steps,
  newWords,
  neologisms,
  bursts,
  compare,
  meaning,
  keywords,
  terms,
  names,
  quotes,
  words,
  collection,
  saved,
  help,
];
