// The state of the feeds.

import { bidi, el } from "../../dom.ts";
import { count, percent, rate } from "../../format.ts";
import type { CollectionAnswer, FeedHealth, FeedRow } from "../../generated/api.ts";
import { table } from "../../table.ts";
import { empty, section } from "./section.ts";
import { t } from "../../text/index.ts";

/** States of feeds, worst first. */
const HEALTH = ["dead", "failing", "slow", "new", "alive"] as const;
const STATES: Readonly<Record<FeedHealth, string>> = {
  dead: t("dead"),
  failing: t("failing"),
  slow: t("slow"),
  new: t("new"),
  alive: t("alive"),
};

/** Feeds by state, failing ones first. */
export function feedsPart(whole: CollectionAnswer, feeds: readonly FeedRow[]): HTMLElement {
  if (feeds.length === 0) return section(t("Feeds"), empty(t("This corpus has no feeds: its text was imported.")));
  const sorted = [...feeds].sort((one, other) => HEALTH.indexOf(one.health) - HEALTH.indexOf(other.health));
  return section(
    t("Feeds"),
    el(
      "ul",
      { class: "tiles" },
      ...HEALTH.toReversed().map((state) =>
        el(
          "li",
          { class: `state-${state}` },
          el("b", {}, count(whole.feeds[state] ?? 0)),
          el("span", {}, STATES[state]),
        ),
      ),
    ),
    table(
      "feeds",
      t("Feeds, failing ones first"),
      [
        {
          name: "feed",
          label: t("feed"),
          value: (feed) => feed.feed,
          show: (feed) => el("span", { title: feed.feed }, bidi(feed.title || feed.feed)),
        },
        { name: "kind", label: t("kind"), value: (feed) => feed.kind },
        {
          name: "state",
          label: t("state"),
          value: (feed) => feed.health,
          show: (feed) => el("span", { class: `state state-${feed.health}` }, STATES[feed.health]),
        },
        {
          name: "last_success",
          label: t("last success"),
          value: (feed) => feed.succeeded,
          show: (feed) => el("span", { class: "nowrap" }, feed.succeeded.slice(0, 10) || t("never")),
        },
        {
          name: "consecutive_failures",
          label: t("consecutive failures"),
          value: (feed) => feed.failures,
          numeric: true,
        },
        { name: "error", label: t("error"), value: (feed) => feed.error },
        {
          name: "articles_per_day",
          label: t("articles per day"),
          value: (feed) => feed.entries_per_day,
          numeric: true,
          show: (feed) => rate(feed.entries_per_day),
        },
        {
          name: "articles",
          label: t("articles"),
          value: (feed) => feed.brought,
          numeric: true,
          show: (feed) => count(feed.brought),
        },
        {
          name: "kept",
          label: t("kept"),
          about: t("Bytes of text per byte downloaded"),
          value: (feed) => feed.yield?.rate,
          numeric: true,
          show: (feed) => (feed.yield ? percent(feed.yield.rate) : "–"),
        },
      ],
      sorted,
      20,
    ),
  );
}
