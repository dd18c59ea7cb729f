//! Writes the feature vectors of texts for `model/fit.py`, and with the argument `fast-lines` for `model/fit_fast_lines.py`.
//!
//! Input is JSON lines with `text`. Output is binary: per line the number of languages, then for each its code and features.

use std::io::{BufRead, Write};

fn main() -> std::io::Result<()> {
    let fast_lines = std::env::args().nth(1).as_deref() == Some("fast-lines");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let item: serde_json::Value = serde_json::from_str(&line?)?;
        let text = item["text"].as_str().unwrap_or_default();
        let rows = if fast_lines { tidings_lang::fast_line_features(text) } else { tidings_lang::features(text) };
        out.write_all(&(rows.len() as u32).to_le_bytes())?;
        for (code, row) in rows {
            let mut name = [0; 4];
            name[..code.len()].copy_from_slice(code.as_bytes());
            out.write_all(&name)?;
            for number in row {
                out.write_all(&number.to_le_bytes())?;
            }
        }
    }
    Ok(())
}
