// First start without a corpus: what to do.

import { copyButton, el } from "../dom.ts";
import { t } from "../text/index.ts";
import type { ViewContext } from "../view.ts";

/** The commands from an empty home to the first corpus. */
const COMMANDS = [
  'tidings config            # where "contact" is set',
  "tidings discover --add www.gazette.example",
  "tidings run",
].join("\n");

/** Shows the way to a first corpus; for visitors, that there is none. */
export async function firstStart(context: ViewContext): Promise<void> {
  context.announce("");
  context.append(
    el(
      "div",
      { class: "empty" },
      el("p", {}, t("No index yet.")),
      context.server.owner &&
        el(
          "div",
          {},
          el("p", {}, t("Find the feeds of a newspaper, collect the first articles, then reload this page:")),
          el("pre", {}, COMMANDS),
          copyButton(t("Copy"), () => COMMANDS),
        ),
    ),
  );
}
