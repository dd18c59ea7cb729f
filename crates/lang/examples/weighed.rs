//! Reads JSON lines with `text` and writes, for `model/fit.py`, what is weighed for each language:
//! per line the number of languages, then for each its code and the numbers, as raw bytes. `weighed glance` does so for
//! `model/glance.py`.

use std::io::{BufRead, Write};

fn main() -> std::io::Result<()> {
    let at_a_glance = std::env::args().nth(1).as_deref() == Some("glance");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let item: serde_json::Value = serde_json::from_str(&line?)?;
        let text = item["text"].as_str().unwrap_or_default();
        let rows = if at_a_glance { tidings_lang::glanced(text) } else { tidings_lang::weighed(text) };
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
