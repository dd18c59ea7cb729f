// Words whose frequency changes at once and stays changed.

import { period } from "../format.ts";
import type { StepRow } from "../generated/api.ts";
import { table } from "../table.ts";
import { t, tn } from "../text/index.ts";
import { INTERVAL, INTERVALS, type View } from "../view.ts";
import { basisOf, courseColumn, showNone, testColumns, testFields, testParameters } from "./series-words.ts";
import { wordColumn } from "./shared.ts";
import { DIRECTION, arrow } from "./trends.ts";

/** The view of level shifts. */
export const steps: View = {
  name: "steps",
  title: t("Step changes"),
  about: t("Words whose frequency changes at once and stays changed."),
  kind: "discover",
  fields: (context) => [DIRECTION, { ...INTERVAL, choices: INTERVALS, initial: "month" }, ...testFields(context)],
  ready: () => true,
  meaning: t(
    "Pettitt’s test finds the period from which on a word has another level. Words that change little by little are left out: two levels must explain the periods better than a line. Change is the rate from then on by the rate before; the q-value is corrected for the number of words tested.",
  ),
  show: async (context) => {
    const parameters = testParameters(context);
    const found = await context.request("steps", { ...parameters, direction: context.route.get("direction") });
    if (found.rows.length === 0) return showNone(context, found);
    context.announce(tn(found.values ?? 0, "{n} word changed", "{n} words changed"));
    context.append(
      basisOf(found),
      table(
        "steps",
        t("Words with a step change, surest first"),
        [
          wordColumn<StepRow>(context, "timeline", parameters.attribute),
          courseColumn<StepRow>(found.bins, (row) => ((row.log_ratio ?? 0) >= 0 ? "c2" : "c1")),
          { name: "bin", label: t("since"), value: (row) => row.bin, show: (row) => period(row.bin) },
          {
            name: "log_ratio",
            label: t("change"),
            about: t("Rate from the step on by the rate before"),
            value: (row) => row.log_ratio,
            numeric: true,
            show: (row) => arrow(row.log_ratio),
          },
          ...testColumns<StepRow>(),
        ],
        found.rows,
      ),
    );
  },
};
