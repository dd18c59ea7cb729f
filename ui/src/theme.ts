// Colour scheme: that of the system, unless the user chooses one.

import { el } from "./dom.ts";
import { t } from "./text/index.ts";

const KEY = "tidings-theme";
const ORDER = ["auto", "light", "dark"] as const;
const NAMES = { auto: t("Colours: as the system"), light: t("Colours: light"), dark: t("Colours: dark") } as const;
type Theme = (typeof ORDER)[number];

const chosen = (): Theme => ORDER.find((theme) => theme === localStorage.getItem(KEY)) ?? "auto";

function apply(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

apply(chosen());

/** The button that cycles through the colour schemes. */
export function theme(): HTMLButtonElement {
  const button = el("button", { type: "button", class: "theme plain" });
  const label = () => {
    button.textContent = { auto: "◐", light: "☀", dark: "☾" }[chosen()];
    button.setAttribute("aria-label", NAMES[chosen()]);
    button.title = NAMES[chosen()];
  };
  button.addEventListener("click", () => {
    const next = ORDER[(ORDER.indexOf(chosen()) + 1) % ORDER.length]!;
    localStorage.setItem(KEY, next);
    apply(next);
    label();
  });
  label();
  return button;
}
