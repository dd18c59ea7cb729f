// A small reading room: one form, a timeline, a concordance. Every view is in the address, and every view names
// the question to the API behind it.
"use strict";

const $ = (id) => document.getElementById(id);
const api = "/api/v1/";
let running = null;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawn(name, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

async function ask(path, signal) {
  const answer = await fetch(path, { signal });
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.error), { shown: body.shown });
  return body;
}

const number = (value) => value.toLocaleString("en");
const text = (tokens) => tokens.map((token) => token.word + (token.space_after ? " " : "")).join("").trim();

function path(lang, endpoint, parameters) {
  const given = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value));
  return `${api}${encodeURIComponent(lang)}/${endpoint}?${given}`;
}

// Links to the question behind a view, and to the same as a table.
function links(place, link) {
  const csv = link + (link.includes("?") ? "&" : "?") + "format=csv";
  place.replaceChildren("Asked: ", element("a", { href: link }, link), " · ", element("a", { href: csv }, "CSV"));
}

function line(row) {
  const made = element("tr");
  made.append(element("td", { class: "meta" }, row.fields.date ?? ""), element("td", { class: "meta site" }, row.fields.site ?? ""));
  if (row.restricted) {
    made.append(element("td", { class: "withheld", colspan: 3 }, "The text of this document is not shown without a token."));
    return made;
  }
  const part = (name, tokens) => element("td", { class: name, dir: name === "left" ? "rtl" : "auto" }, element("bdi", {}, text(tokens)));
  made.append(part("left", row.left), part("node", row.node), part("right", row.right));
  return made;
}

function chart(timeline, choose) {
  const width = 1000, height = 150, points = timeline.points;
  // Rates set the scale: the band of a month with little text may reach beyond the picture.
  const top = 1.15 * Math.max(...points.map((point) => point.per_million ?? 0), 1e-9);
  const y = (rate) => height * (1 - Math.min(rate / top, 1));
  const step = Math.min(width / points.length, 80);
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "group",
    "aria-label": "Hits per million tokens in time" });
  points.forEach((point, at) => {
    const x = at * step, wide = Math.max(step * 0.8, 0.5), rate = point.per_million ?? 0;
    const named = drawn("title");
    named.textContent = point.per_million === null ? `${point.bin}: nothing was collected`
      : `${point.bin}: ${number(point.hits)} hits, ${rate.toFixed(1)} per million of ${number(point.tokens)} tokens`;
    const bar = drawn("rect", { class: "bar", x, y: y(rate), width: wide, height: Math.max(height - y(rate), 1),
      tabindex: 0, role: "button", "aria-label": named.textContent });
    bar.append(named);
    bar.addEventListener("click", () => choose(point.bin));
    bar.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(point.bin);
    });
    picture.append(bar);
    // Where the rate may lie by chance.
    if (point.band) {
      picture.append(drawn("rect", { class: "band", x: x + wide / 4, y: y(point.band.high), width: wide / 2,
        height: Math.max(y(point.band.low) - y(point.band.high), 1), "pointer-events": "none" }));
    }
  });
  $("axis-first").textContent = points[0]?.bin ?? "";
  $("axis-most").textContent = `hits per million tokens, up to ${top.toFixed(1)}; the bands are 95 % intervals`;
  $("axis-last").textContent = points.length > 1 ? points.at(-1).bin : "";
  return picture;
}

async function show() {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const asked = new URLSearchParams(location.search);
  for (const name of ["lang", "q", "filter", "by", "sort"]) if (asked.has(name)) $(name).value = asked.get(name);
  $("fault").hidden = $("lines").hidden = $("timeline").hidden = true;
  if (!asked.get("q")) { $("message").textContent = ""; return; }
  const lang = $("lang").value, filter = $("filter").value, q = $("q").value;
  document.title = `${q} · Tidings`;
  $("message").textContent = "Searching …";
  try {
    const [found, timeline] = await Promise.all([
      ask(path(lang, "query", { q, filter, sort: $("sort").value, size: 50 }), signal),
      ask(path(lang, "timeline", { q, filter, by: $("by").value }), signal),
    ]);
    const about = found.about.exactness.kind === "sample" ? ", of which a sample is sorted" : "";
    $("message").textContent = found.hits === 0 ? "No hits. Words are found in any case unless they have capitals; is the filter too narrow?"
      : `${number(found.hits)} hits, ${found.per_million.toFixed(1)} per million tokens${about}; state ${found.about.generation}`
        + (found.withheld ? `; the text of ${found.withheld} lines here is not shown without a token` : "");
    $("timeline").hidden = timeline.points.length === 0;
    $("chart").replaceChildren(chart(timeline, (bin) => {
      $("filter").value = `${filter} date=${bin}`.trim();
      submit();
    }));
    links($("timeline-links"), timeline.link);
    const rows = $("kwic").tBodies[0];
    rows.replaceChildren(...found.lines.map(line));
    $("lines").hidden = found.lines.length === 0;
    links($("lines-links"), found.link);
    let next = found.next;
    $("more").hidden = !next;
    $("more").onclick = async () => {
      const more = await ask(path(lang, "query", { q, filter, sort: $("sort").value, size: 50, cursor: next, count: "false" }), signal);
      rows.append(...more.lines.map(line));
      next = more.next;
      $("more").hidden = !next;
    };
  } catch (error) {
    if (error.name === "AbortError") return;
    $("message").textContent = error.shown ? "" : error.message;
    $("fault").textContent = error.shown ?? "";
    $("fault").hidden = !error.shown;
  }
}

function submit() {
  const given = new URLSearchParams([...new FormData($("ask"))].filter(([, value]) => value));
  history.pushState(null, "", `/?${given}`);
  show();
}

$("ask").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
addEventListener("popstate", show);

let corpora = [];

function describe() {
  const one = corpora.find(({ corpus }) => corpus === $("lang").value);
  $("state").textContent = one ? `${number(one.tokens)} tokens in ${number(one.documents)} documents, ${one.first_day} to ${one.last_day}`
    : "Nothing is searchable yet; run `tidings compile`.";
}

$("lang").addEventListener("change", describe);
ask(`${api}corpora`).then((answer) => {
  corpora = answer.corpora;
  $("lang").replaceChildren(...corpora.map(({ corpus }) => element("option", {}, corpus)));
  show();
  describe();
}, (error) => { $("state").textContent = error.message; });
