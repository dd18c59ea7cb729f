//! Annotated text from a vertical file to the index: CPU time of each stage.
//!
//! The file is generated: a Zipf vocabulary of 120,000 words with lemmas and tags, documents of 24 sentences, dated over
//! a number of years in no order. An e-mail address in every thousandth sentence gives the masks something to do.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Result;
use jiff::ToSpan as _;
use jiff::civil::date;

use crate::{Args, run};

const WORDS: usize = 120_000;
const TAGS: [&str; 7] = ["NOUN", "VERB", "ADJ", "ADV", "DET", "ADP", "PROPN"];
/// Stop words, so that the quality gate accepts the text.
const STOP_WORDS: &str = "the of and to in a is that for it was on with as by at from he this are be have not but they";
/// Stages from the imported pages to the index.
const STAGES: [&str; 4] = ["clean", "dedup", "annotate", "compile"];

/// Measures the import of so many million tokens, over ten years and on one day.
pub fn measure(args: &Args, folder: &Path, million_tokens: u64) -> Result<()> {
    for years in [10, 0] {
        let home = folder.join(format!("annotated-{years}")).display().to_string();
        let path = folder.join("annotated.vert");
        let tokens = generate(&path, million_tokens * 1_000_000, years)?;
        run(args, &["init", &home])?;
        let (import, peak, said) = run(args, &["import", &path.display().to_string(), "--home", &home])?;
        println!("annotated, {years} years: {tokens} tokens: {}", said.trim());
        println!("  import   {import:6.2} CPU s {peak:5.0} MiB");
        let mut sum = import;
        for stage in STAGES {
            let (cpu, peak, _) = run(args, &[stage, "--home", &home])?;
            println!("  {stage:8} {cpu:6.2} CPU s {peak:5.0} MiB");
            sum += cpu;
        }
        println!("  together {sum:6.2} CPU s, {:.0} tokens per CPU s", tokens as f64 / sum);
    }
    Ok(())
}

/// Writes a vertical file; returns its number of tokens.
fn generate(path: &Path, wanted: u64, years: i64) -> Result<u64> {
    let mut random = fastrand::Rng::with_seed(7);
    let stop_words = STOP_WORDS.split(' ').map(str::to_owned);
    let words: Vec<String> = stop_words.chain((0..WORDS).map(|_| word(&mut random))).collect();
    let mut weights = Vec::with_capacity(words.len());
    let mut sum = 0.0;
    for rank in 0..words.len() {
        sum += (rank as f64 + 2.7).powf(-1.05);
        weights.push(sum);
    }
    let mut file = BufWriter::new(File::create(path)?);
    let (mut tokens, mut documents) = (0, 0);
    while tokens < wanted {
        documents += 1;
        let days = if years == 0 { 0 } else { random.i64(0..365 * years) };
        let day = date(2016, 1, 1).checked_add(days.days())?;
        writeln!(file, "<doc id=\"d{documents}\" date=\"{day}\" site=\"s{}.example\" lang=\"en\">", documents % 20)?;
        for sentence in 0..24 {
            if sentence % 4 == 0 {
                writeln!(file, "<p>")?;
            }
            writeln!(file, "<s>")?;
            if random.u32(0..1000) == 0 {
                writeln!(file, "ann{documents}@example.org\tann{documents}@example.org\tX")?;
                tokens += 1;
            }
            for _ in 0..random.u32(10..25) {
                let point = random.f64() * sum;
                let rank = weights.partition_point(|weight| *weight < point).min(words.len() - 1);
                let word = &words[rank];
                let lemma = if word.len() > 4 { &word[..word.len() - 1] } else { word };
                writeln!(file, "{word}\t{lemma}\t{}", TAGS[rank % TAGS.len()])?;
                tokens += 1;
            }
            writeln!(file, "<g/>\n.\t.\tPUNCT\n</s>")?;
            tokens += 1;
        }
        writeln!(file, "</doc>")?;
    }
    file.flush()?;
    Ok(tokens)
}

fn word(random: &mut fastrand::Rng) -> String {
    let letters = b"etaoinshrdlucmfwypvbgk";
    (0..random.usize(2..10)).map(|_| letters[random.usize(0..letters.len())] as char).collect()
}
