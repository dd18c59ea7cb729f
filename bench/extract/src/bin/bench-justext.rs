//! jusText as a filter over JSON lines, to measure it like any other extractor and compare it with
//! the Python package paragraph by paragraph.
//!
//! `bench-justext public|production < pages.jsonl` reads `{id, html, lang}` and writes `{id, text,
//! paragraphs}`.

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
        Some(other) => bail!("unknown preset `{other}`; use public or production"),
    };
    // Without a known language the stop words are English, as in peers.py.
    let english = tidings_lang::stop_list("en").expect("English has a stop list");
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
