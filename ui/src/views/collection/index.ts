// The collection: feeds, volume, yield, and what each stage kept.

import { count, language, percent, plural } from "../../format.ts";
import { table } from "../../table.ts";
import type { View } from "../../view.ts";
import { feedsPart } from "./feeds.ts";
import { funnelPart } from "./funnel.ts";
import { hostsPart } from "./hosts.ts";
import { section } from "./section.ts";
import { backfillsPart, crawlsPart, sourcesPart } from "./sources.ts";
import { volumePart } from "./volume.ts";

/** The collection view. */
export const collection: View = {
  name: "collection",
  title: "Collection",
  about: "Sources, volume over time, and what each stage of the pipeline kept.",
  group: "Corpus",
  documentFilter: false,
  fields: () => [],
  ready: () => true,
  show: async (context) => {
    const whole = await context.request("collection");
    const [volume, hosts, feeds, sources, crawls, backfills] = await Promise.all([
      volumePart(context, whole),
      context.request("hosts"),
      context.request("feeds"),
      context.request("sources"),
      context.request("crawls"),
      context.request("backfills"),
    ]);
    const sum = (of: "documents" | "tokens") => context.corpora.reduce((total, corpus) => total + corpus[of], 0);
    context.announce(
      `${plural(context.corpora.length, "language")}, ${plural(sum("documents"), "document")}, ${plural(sum("tokens"), "token")}.`,
    );
    context.append(
      volume,
      funnelPart(whole),
      hostsPart(hosts.rows),
      sourcesPart(sources.rows),
      ...crawlsPart(crawls),
      ...backfillsPart(backfills.rows),
      feedsPart(whole, feeds.rows),
      section(
        "Corpora",
        table(
          "corpora",
          "Corpora",
          [
            { name: "language", value: (row) => row.corpus, show: (row) => language(row.corpus) },
            { name: "documents", value: (row) => row.documents, numeric: true, show: (row) => count(row.documents) },
            { name: "tokens", value: (row) => row.tokens, numeric: true, show: (row) => count(row.tokens) },
            { name: "first day", value: (row) => row.first_day },
            { name: "last day", value: (row) => row.last_day },
            {
              name: "annotated by",
              value: (row) =>
                row.layers
                  .map(
                    (layer) =>
                      `${layer.by}${layer.tokens < row.tokens ? ` (${percent(layer.tokens / row.tokens)})` : ""}`,
                  )
                  .join(", "),
            },
            {
              name: "state",
              about: "Generation of the index; equal states give equal answers",
              value: (row) => row.generation,
              numeric: true,
            },
          ],
          context.corpora,
        ),
      ),
    );
  },
};
