//! The HTML page around the charts: head, style sheet, sections.

use std::fmt::Write as _;

use super::matter::Matter;
use super::svg::escape;
use crate::display::bytes;
use crate::display::{count, grouped};

/// A chart with its heading, a summary and its numbers.
pub struct Section {
    /// Its anchor.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The summary.
    pub lead: String,
    /// The chart; empty if there is none.
    pub chart: String,
    /// The legend: colour classes and their labels.
    pub legend: Vec<(String, String)>,
    /// The numbers.
    pub table: Numbers,
    /// Whether the table is shown at once (sections without a chart).
    pub open: bool,
}

/// A table; the columns after the first `words` are numeric.
#[derive(Default)]
pub struct Numbers {
    /// The headings.
    pub columns: Vec<String>,
    /// The number of text columns.
    pub words: usize,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Numbers {
    /// A table with these columns, of which the first `words` are text.
    pub fn new(columns: &[&str], words: usize) -> Numbers {
        Numbers { columns: columns.iter().map(|name| (*name).to_owned()).collect(), words, rows: Vec::new() }
    }

    fn html(&self, caption: &str) -> String {
        let mut out = format!("<table><caption>{}</caption><thead><tr>", escape(caption));
        let class = |at: usize| if at >= self.words { " class=\"n\"" } else { "" };
        for (at, name) in self.columns.iter().enumerate() {
            let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(at), escape(name));
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for (at, field) in row.iter().enumerate() {
                let _ = match at {
                    0 => write!(out, "<th scope=\"row\">{}</th>", escape(field)),
                    _ => write!(out, "<td{}>{}</td>", class(at), escape(field)),
                };
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table>");
        out
    }
}

/// The style sheet: one set of colour variables each for light, dark and print. The eight series colours are
/// distinguishable with colour vision deficiency.
const LOOK: &str = "\
:root{--ink:#1c2330;--soft:#5b6675;--rule:#d5dbe3;--ground:#ffffff;--card:#f6f8fa;--warn:#b3261e;\
--c0:#0072b2;--c1:#e69f00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#d55e00;--c6:#b8a800;--c7:#8a8f98;--h0:#eef1f5;--h1:#c6dcee;--h2:#8bbbe0;--h3:#3f8fc9;--h4:#0b4f86}\
@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa6b5;--rule:#333c48;--ground:#12161c;--card:#1a2029;--warn:#ff8a80;\
--c0:#4aa3df;--c1:#f0b840;--c2:#2fc49a;--c3:#e09cc2;--c4:#86cdf5;--c5:#f0803c;--c6:#e0d24a;--c7:#8d96a3;--h0:#222a34;--h1:#1d4363;--h2:#28689a;--h3:#4597cf;--h4:#9ccdf0}}\
*{box-sizing:border-box}body{margin:0 auto;max-width:1080px;padding:24px 20px 60px;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground)}\
h1{font-size:1.7rem;margin:0}h2{font-size:1.2rem;margin:0 0 4px}p{margin:0 0 10px}.soft,caption{color:var(--soft)}\
nav{margin:10px 0 18px}nav a{margin-right:14px}a{color:var(--c0)}\
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:0 0 22px;padding:0}\
.facts div{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:10px 14px}.facts dt{color:var(--soft);font-size:.85rem}.facts dd{margin:0;font-size:1.35rem;font-variant-numeric:tabular-nums}\
section{border-top:1px solid var(--rule);padding:18px 0 14px}figure{margin:0}svg{width:100%;height:auto;display:block}\
svg text{font-size:12px;fill:var(--soft)}svg .end{text-anchor:end}svg .middle{text-anchor:middle}svg .ink{fill:var(--ink)}\
.axis{stroke:var(--rule);stroke-width:1}.curve{stroke:var(--c0);stroke-width:2.5}.dash{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 4}\
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}.c7{fill:var(--c7)}\
.h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.none{fill:none;stroke:var(--rule)}.gap{fill:none;stroke:var(--warn);stroke-width:1.5}\
circle{fill-opacity:.65}.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin:4px 0 8px;padding:0;list-style:none;font-size:.9rem}\
.legend svg{display:inline-block;width:12px;height:12px;margin-right:6px;vertical-align:-1px}\
details{margin-top:6px}summary{cursor:pointer;color:var(--soft)}\
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;width:100%;font-variant-numeric:tabular-nums}caption{text-align:left;padding:4px 0}\
th,td{padding:3px 12px 3px 0;border-bottom:1px solid var(--rule);text-align:left;font-weight:400;overflow-wrap:anywhere}thead th{font-weight:600}.n{text-align:right;white-space:nowrap}tbody th{min-width:220px}\
footer{border-top:1px solid var(--rule);margin-top:10px;padding-top:10px;font-size:.85rem;color:var(--soft)}\
@media print{body{max-width:none;padding:0;font-size:11pt}nav,summary{display:none}section{break-inside:avoid}:root{--ground:#fff;--ink:#000;--soft:#444;--rule:#bbb;--card:#fff}}";

/// The whole document.
pub fn page(matter: &Matter, sections: &[Section]) -> String {
    let title = format!("{}: {} to {}", matter.home, matter.period.first, matter.period.last);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title><style>{LOOK}</style></head><body>\n",
        title = escape(&title)
    );
    let _ = write!(
        out,
        "<header><h1>{}</h1><p class=\"soft\">{} to {} by day of download (UTC); made {} by Tidings {}</p></header>\n<nav aria-label=\"charts\">",
        escape(&matter.home),
        matter.period.first,
        matter.period.last,
        matter.now.strftime("%Y-%m-%d %H:%M UTC"),
        env!("CARGO_PKG_VERSION"),
    );
    for section in sections {
        let _ = write!(out, "<a href=\"#{}\">{}</a>", section.id, escape(section.title));
    }
    out.push_str("</nav>\n<main>");
    out.push_str(&facts(matter));
    sections.iter().for_each(|section| out.push_str(&section_html(section)));
    out.push_str("</main>\n<footer><p>Counts are those that the stages left in docs/, seen/, text/ and runs/ of the home, and of its index; ");
    out.push_str("days without a crawl are distinguished from days without pages. This file loads no external resources.</p></footer>\n</body></html>\n");
    out
}

fn facts(matter: &Matter) -> String {
    let documents = matter.sum(|day| day.all_documents());
    let days = matter.days.len() as u64;
    let languages: std::collections::BTreeSet<&String> =
        matter.days.iter().flat_map(|day| day.documents.keys()).collect();
    let facts = [
        ("pages", grouped(matter.sum(|day| day.pages))),
        ("documents", grouped(documents)),
        ("tokens", grouped(matter.sum(|day| day.all_tokens()))),
        ("languages", grouped(languages.len() as u64)),
        ("days with pages", grouped(days)),
        ("raw pages on disk", bytes(matter.sum(|day| day.page_bytes) as f64)),
    ];
    let facts = facts.map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>"));
    format!("<dl class=\"facts\">{}</dl>\n", facts.concat())
}

fn section_html(section: &Section) -> String {
    let Section { id, title, lead, chart, legend, table, open } = section;
    let mut out = format!("<section id=\"{id}\"><h2>{}</h2><p>{}</p>", escape(title), escape(lead));
    if !chart.is_empty() {
        out.push_str("<figure>");
        if !legend.is_empty() {
            out.push_str("<ul class=\"legend\">");
            for (class, words) in legend {
                let _ = write!(
                    out,
                    "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect x=\"1\" y=\"1\" width=\"10\" height=\"10\" class=\"{class}\"/></svg>{}</li>",
                    escape(words)
                );
            }
            out.push_str("</ul>");
        }
        let _ = write!(out, "{chart}</figure>");
    }
    if !table.rows.is_empty() {
        let html = format!(
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</div>",
            escape(title),
            table.html(&count(table.rows.len() as u64, "row"))
        );
        match open {
            true => out.push_str(&html),
            false => {
                let _ = write!(out, "<details><summary>Numbers</summary>{html}</details>");
            }
        }
    }
    out.push_str("</section>\n");
    out
}
