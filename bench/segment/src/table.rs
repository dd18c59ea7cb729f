//! Table of scores.

use bench_segment::score::Score;

/// Treebank, number of tokens, and the score and CPU seconds of each peer.
type Row = (String, usize, Vec<(Score, f64)>);

/// Table with a row per treebank and a column per peer.
pub struct Table {
    peers: Vec<String>,
    rows: Vec<Row>,
}

impl Table {
    pub fn new(peers: &[&str]) -> Table {
        Table { peers: peers.iter().map(|peer| (*peer).to_owned()).collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, name: &str, tokens: usize, scores: Vec<(Score, f64)>) {
        self.rows.push((name.to_owned(), tokens, scores));
    }

    pub fn print(&self) {
        println!("| tokens / sentences, F1 | {} |", self.peers.join(" | "));
        println!("| --- |{}", " --: |".repeat(self.peers.len()));
        for (name, _, scores) in &self.rows {
            let cells: Vec<String> =
                scores.iter().map(|(score, _)| cell(score.tokens.f1(), score.sentences.f1())).collect();
            println!("| {name} | {} |", cells.join(" | "));
        }
        let count = self.rows.len().max(1) as f64;
        let mean =
            |peer: usize, of: fn(&Score) -> f64| self.rows.iter().map(|row| of(&row.2[peer].0)).sum::<f64>() / count;
        let means: Vec<String> = (0..self.peers.len())
            .map(|peer| cell(mean(peer, |score| score.tokens.f1()), mean(peer, |score| score.sentences.f1())))
            .collect();
        println!("| **macro** | {} |", means.join(" | "));
        let tokens: usize = self.rows.iter().map(|row| row.1).sum();
        if tokens > 0 {
            let speed = |peer: usize| {
                let seconds: f64 = self.rows.iter().map(|row| row.2[peer].1).sum();
                format!("{:.0}", tokens as f64 / seconds.max(1e-9) / 1000.0)
            };
            let speeds: Vec<String> = (0..self.peers.len()).map(speed).collect();
            println!("| k tokens per CPU second | {} |", speeds.join(" | "));
        }
    }
}

fn cell(tokens: f64, sentences: f64) -> String {
    format!("{tokens:.2} / {sentences:.2}")
}
