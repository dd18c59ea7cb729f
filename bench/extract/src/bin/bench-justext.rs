//! Our jusText as a filter over JSON lines, so that it can be measured like any other extractor and
//! compared with the Python package paragraph by paragraph.
//!
//! `bench-justext public|production < pages.jsonl`: takes `{id, html, lang}`, gives `{id, text, paragraphs}`.

use std::io::{BufRead, BufWriter, Write};

use anyhow::bail;
use serde::Deserialize;
use tidings_clean::justext::{JustextOptions, paragraphs};
use tidings_clean::tree;

#[derive(Deserialize)]
struct Page {
    id: String,
    html: String,
    lang: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let options = match std::env::args().nth(1).as_deref() {
        None | Some("public") => JustextOptions::public(),
        Some("production") => JustextOptions::production(),
        Some(other) => bail!("there is no preset {other}, only public and production"),
    };
    // Who cannot name the language tries English; the peer does the same.
    let english = tidings_lang::stop_list("en").expect("there is an English list");
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let page: Page = serde_json::from_str(&line?)?;
        let stop_list = page.lang.as_deref().and_then(tidings_lang::stop_list).unwrap_or(english);
        let found = paragraphs(&tree::parse(&page.html), stop_list, &options);
        let good: Vec<&str> = found.iter().filter(|found| found.is_good()).map(|found| found.text.as_str()).collect();
        let row = serde_json::json!({ "id": page.id, "text": good.join("\n"), "paragraphs": good });
        serde_json::to_writer(&mut out, &row)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}
