// The yield of hosts: text kept of what was downloaded.

import { figure } from "../../chart/figure.ts";
import { type Host, scatter } from "../../chart/scatter.ts";
import { bytes, count, percent } from "../../format.ts";
import type { HostRow } from "../../generated/api.ts";
import { empty, section } from "./section.ts";
import { t, tn } from "../../text/index.ts";

/** Downloaded bytes against kept bytes, by host. */
export function hostsPart(hosts: readonly HostRow[]): HTMLElement {
  if (hosts.length === 0)
    return section(t("Yield by host"), empty(t("No data yet: `tidings clean` counts the text of each host’s pages.")));
  const all: Host[] = hosts.map((row) => ({
    name: row.host,
    downloaded: row.yield.downloaded_bytes,
    kept: row.yield.clean_bytes,
  }));
  const nothing = all.filter((host) => host.kept === 0).length;
  return section(
    t("Yield by host"),
    figure(
      "yield",
      t("Bytes downloaded and bytes of text kept, one point per host, log scales; dashed lines at 10 %, 1 % and 0.1 %"),
      (width, tip) => scatter(width, all, tip),
      [
        { name: "host", label: t("host"), value: (row) => row.host },
        {
          name: "pages",
          label: t("pages"),
          value: (row) => row.yield.pages,
          numeric: true,
          show: (row) => count(row.yield.pages),
        },
        {
          name: "documents",
          label: t("documents"),
          value: (row) => row.yield.documents,
          numeric: true,
          show: (row) => count(row.yield.documents),
        },
        {
          name: "downloaded_bytes",
          label: t("downloaded bytes"),
          value: (row) => row.yield.downloaded_bytes,
          numeric: true,
          show: (row) => bytes(row.yield.downloaded_bytes),
        },
        {
          name: "kept_bytes",
          label: t("kept bytes"),
          value: (row) => row.yield.clean_bytes,
          numeric: true,
          show: (row) => bytes(row.yield.clean_bytes),
        },
        {
          name: "yield",
          label: t("kept"),
          value: (row) => row.yield.rate,
          numeric: true,
          show: (row) => percent(row.yield.rate),
        },
      ],
      hosts,
      nothing > 0
        ? tn(nothing, "{n} host without any kept text is not shown.", "{n} hosts without any kept text are not shown.")
        : t("Hover over a point for details."),
    ),
  );
}
