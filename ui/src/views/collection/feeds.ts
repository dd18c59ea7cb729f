// The state of the feeds.

import { bidi, el } from "../../dom.ts";
import { count, percent, rate } from "../../format.ts";
import type { CollectionAnswer, FeedRow } from "../../generated/api.ts";
import { table } from "../../table.ts";
import { empty, section } from "./section.ts";

/** States of feeds, worst first. */
const HEALTH = ["dead", "failing", "slow", "new", "alive"] as const;

/** Feeds by state, failing ones first. */
export function feedsPart(whole: CollectionAnswer, feeds: readonly FeedRow[]): HTMLElement {
  if (feeds.length === 0) return section("Feeds", empty("This corpus has no feeds: its text was imported."));
  const sorted = [...feeds].sort((one, other) => HEALTH.indexOf(one.health) - HEALTH.indexOf(other.health));
  return section(
    "Feeds",
    el(
      "ul",
      { class: "tiles" },
      ...HEALTH.toReversed().map((state) =>
        el("li", { class: `state-${state}` }, el("b", {}, count(whole.feeds[state] ?? 0)), el("span", {}, state)),
      ),
    ),
    table(
      "feeds",
      "Feeds, failing ones first",
      [
        {
          name: "feed",
          value: (feed) => feed.feed,
          show: (feed) => el("span", { title: feed.feed }, bidi(feed.title || feed.feed)),
        },
        { name: "kind", value: (feed) => feed.kind },
        {
          name: "state",
          value: (feed) => feed.health,
          show: (feed) => el("span", { class: `state state-${feed.health}` }, feed.health),
        },
        {
          name: "last success",
          value: (feed) => feed.succeeded,
          show: (feed) => el("span", { class: "nowrap" }, feed.succeeded.slice(0, 10) || "never"),
        },
        { name: "consecutive failures", value: (feed) => feed.failures, numeric: true },
        { name: "error", value: (feed) => feed.error },
        {
          name: "articles per day",
          value: (feed) => feed.entries_per_day,
          numeric: true,
          show: (feed) => rate(feed.entries_per_day),
        },
        { name: "articles", value: (feed) => feed.brought, numeric: true, show: (feed) => count(feed.brought) },
        {
          name: "kept",
          about: "Bytes of text per byte downloaded",
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
