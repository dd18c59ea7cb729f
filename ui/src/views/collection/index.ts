// The collection: feeds, volume, yield, and what each stage kept.

import { el } from "../../dom.ts";
import { count, language, percent } from "../../format.ts";
import { table } from "../../table.ts";
import type { View } from "../../view.ts";
import { moreSources } from "../first-start.ts";
import { feedsPart } from "./feeds.ts";
import { funnelPart } from "./funnel.ts";
import { hostsPart } from "./hosts.ts";
import { section } from "./section.ts";
import { backfillsPart, crawlsPart, sourcesPart } from "./sources.ts";
import { publishedPart, volumePart } from "./volume.ts";
import { t, tn } from "../../text/index.ts";

/** The collection view. */
export const collection: View = {
  name: "collection",
  title: t("Collection"),
  about: t("Sources, volume over time, and what each stage of the pipeline kept."),
  kind: "discover",
  fields: () => [],
  ready: () => true,
  show: async (context) => {
    const whole = await context.request("collection");
    const [published, volume, hosts, feeds, sources, crawls, backfills] = await Promise.all([
      publishedPart(context),
      volumePart(context, whole),
      context.request("hosts"),
      context.request("feeds"),
      context.request("sources"),
      context.request("crawls"),
      context.request("backfills"),
    ]);
    const sum = (of: "documents" | "tokens") => context.corpora.reduce((total, corpus) => total + corpus[of], 0);
    context.announce(
      [
        tn(context.corpora.length, "{n} language", "{n} languages"),
        tn(sum("documents"), "{n} document", "{n} documents"),
        tn(sum("tokens"), "{n} token", "{n} tokens"),
      ].join(" · "),
    );
    context.append(
      await moreSources(context),
      published,
      volume,
      funnelPart(whole),
      hostsPart(hosts.rows),
      sourcesPart(sources.rows),
      ...crawlsPart(crawls),
      ...backfillsPart(backfills.rows),
      feedsPart(whole, feeds.rows),
      section(
        t("Corpora"),
        table(
          "corpora",
          t("Corpora"),
          [
            { name: "language", label: t("language"), value: (row) => row.corpus, show: (row) => language(row.corpus) },
            {
              name: "documents",
              label: t("documents"),
              value: (row) => row.documents,
              numeric: true,
              show: (row) => count(row.documents),
            },
            {
              name: "tokens",
              label: t("tokens"),
              value: (row) => row.tokens,
              numeric: true,
              show: (row) => count(row.tokens),
            },
            { name: "first_day", label: t("first day"), value: (row) => row.first_day },
            { name: "last_day", label: t("last day"), value: (row) => row.last_day },
            {
              name: "annotated_by",
              label: t("annotated by"),
              value: (row) =>
                row.layers
                  .map(
                    (layer) =>
                      `${layer.by}${layer.tokens < row.tokens ? ` (${percent(layer.tokens / row.tokens)})` : ""}`,
                  )
                  .join(", "),
            },
            {
              name: "digest",
              label: t("checksum"),
              about: t("Checksum of the text, equal on machines that hold the same corpus"),
              value: (row) => row.digest ?? "",
              show: (row) => el("code", { title: row.digest ?? "" }, row.digest?.slice(0, 12) ?? "–"),
            },
          ],
          context.corpora,
        ),
      ),
    );
  },
};
