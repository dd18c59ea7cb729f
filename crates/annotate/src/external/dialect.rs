//! The two languages that annotating tools speak: vertical text and CoNLL-U.
//!
//! What a tool says is believed only as far as it is about the tokens that it was given, in their order, each once. Lines that
//! say nothing about tokens (tags, comments, empty ones) are passed over, but not without end.

use std::borrow::Cow;

use tidings_model::feats;

use super::Settings;
use crate::layer::plain_lemma;

/// How tokens are written and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A token a line between `<s>` and `</s>`; back come columns parted by tabs.
    Vertical,
    /// Ten columns a token, an empty line behind each sentence.
    Conllu,
}

/// What a column of vertical text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// The token itself; the first column.
    Word,
    /// Its lemma.
    Lemma,
    /// Its tag.
    Tag,
    /// Its morphological features.
    Feats,
    /// Something that is not wanted.
    Other,
}

/// For each line about a token a tool may write so many others, and these besides.
const IDLE_LINES_PER_TOKEN: usize = 8;
const IDLE_LINES: usize = 1000;

/// A token as a line can hold it.
pub(super) fn form(word: &str) -> Cow<'_, str> {
    if word.contains(char::is_control) {
        return Cow::Owned(word.chars().map(|c| if c.is_control() { ' ' } else { c }).collect());
    }
    Cow::Borrowed(word)
}

/// Writes a sentence of words; the flag says whether white space follows.
pub(super) fn write<'w>(format: Format, sentence: impl Iterator<Item = (&'w str, bool)>, out: &mut Vec<u8>) {
    match format {
        Format::Vertical => {
            out.extend_from_slice(b"<s>\n");
            for (word, _) in sentence {
                out.extend_from_slice(form(word).as_bytes());
                out.push(b'\n');
            }
            out.extend_from_slice(b"</s>\n");
        }
        Format::Conllu => {
            for (number, (word, space)) in (1..).zip(sentence) {
                let misc = if space { "_" } else { "SpaceAfter=No" };
                let line = format!("{number}\t{}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n", form(word));
                out.extend_from_slice(line.as_bytes());
            }
            out.push(b'\n');
        }
    }
}

/// What a tool says about a token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub lemma: String,
    pub tag: String,
    pub feats: String,
}

/// Holds what a tool says against what it was given.
pub(super) struct Listener<'a> {
    settings: &'a Settings,
    wanted: &'a [Cow<'a, str>],
    said: Vec<Said>,
    /// How many parts of the last token are yet to come.
    parts: usize,
    idle: usize,
    /// The first features that are none.
    odd_feats: Option<String>,
}

impl<'a> Listener<'a> {
    pub fn new(settings: &'a Settings, wanted: &'a [Cow<'a, str>]) -> Listener<'a> {
        Listener { settings, wanted, said: Vec::with_capacity(wanted.len()), parts: 0, idle: 0, odd_feats: None }
    }

    /// Whether something was said about every token.
    pub fn is_done(&self) -> bool {
        self.parts == 0 && self.said.len() == self.wanted.len()
    }

    /// How many tokens something was said about.
    pub fn heard(&self) -> usize {
        self.said.len()
    }

    /// Something that was said where features belong and is none.
    pub fn odd_feats(&self) -> Option<&str> {
        self.odd_feats.as_deref()
    }

    /// What was said, if it was said about all.
    pub fn finish(self) -> Vec<Said> {
        self.said
    }

    /// Takes a line; says what is wrong with it.
    pub fn hear(&mut self, line: &str) -> Result<(), String> {
        match self.settings.format {
            Format::Vertical => self.hear_vertical(line),
            Format::Conllu => self.hear_conllu(line),
        }
    }

    fn hear_vertical(&mut self, line: &str) -> Result<(), String> {
        let word = line.split('\t').next().unwrap_or_default();
        let is_next = self.wanted.get(self.said.len()).is_some_and(|wanted| wanted == word);
        // Some tag our tags.
        let is_idle = line.trim().is_empty() || word.starts_with('<') && word.trim_end().ends_with('>');
        if !is_next && is_idle {
            return self.pass_over();
        }
        self.expect(word)?;
        let mut said = Said::default();
        for (column, text) in self.settings.columns.iter().zip(line.split('\t')) {
            match column {
                Column::Lemma => text.clone_into(&mut said.lemma),
                Column::Tag => text.clone_into(&mut said.tag),
                Column::Feats => text.clone_into(&mut said.feats),
                Column::Word | Column::Other => {}
            }
        }
        self.note(said);
        Ok(())
    }

    fn hear_conllu(&mut self, line: &str) -> Result<(), String> {
        if line.trim().is_empty() || line.starts_with('#') {
            return self.pass_over();
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, word, lemma, tag, ..] = columns[..] else {
            return Err(format!("“{}” has no columns of CoNLL-U", shortened(line)));
        };
        if id.contains('.') {
            return self.pass_over(); // A word that was never written.
        }
        let blank = |text: &str| if text == "_" && word != "_" { String::new() } else { text.to_owned() };
        let feats = columns.get(5).copied().unwrap_or("_");
        let said = Said { lemma: blank(lemma), tag: blank(tag), feats: feats.to_owned() };
        if self.parts > 0 {
            // A part of the token before: of what it stands for, and what kind of word each part is.
            self.parts -= 1;
            let whole = self.said.last_mut().expect("parts follow their token");
            whole.feats.push_str(if whole.feats.is_empty() { "" } else { "+" });
            whole.feats.push_str(&said.feats);
            for (joined, part) in [(&mut whole.lemma, said.lemma), (&mut whole.tag, said.tag)] {
                if !joined.is_empty() && !part.is_empty() {
                    joined.push('+');
                }
                joined.push_str(&part);
            }
            if self.parts == 0 {
                let whole = self.said.pop().expect("it is there");
                self.note(whole);
            }
            return Ok(());
        }
        self.expect(word)?;
        let Some((first, last)) = id.split_once('-') else {
            self.note(said);
            return Ok(());
        };
        let count =
            first.parse::<usize>().ok().zip(last.parse::<usize>().ok()).map(|(first, last)| last.checked_sub(first));
        match count {
            Some(Some(more @ 0..100)) => {
                self.parts = more + 1;
                self.said.push(Said::default());
                Ok(())
            }
            _ => Err(format!("“{id}” is no range of words")),
        }
    }

    fn pass_over(&mut self) -> Result<(), String> {
        self.idle += 1;
        match self.idle > self.wanted.len() * IDLE_LINES_PER_TOKEN + IDLE_LINES {
            true => Err("line after line that says nothing about tokens".to_owned()),
            false => Ok(()),
        }
    }

    fn expect(&self, word: &str) -> Result<(), String> {
        match self.wanted.get(self.said.len()) {
            Some(wanted) if wanted == word => Ok(()),
            Some(wanted) => Err(format!("“{}” where the token “{}” was due", shortened(word), shortened(wanted))),
            None => Err(format!("“{}” behind the last token", shortened(word))),
        }
    }

    fn note(&mut self, mut said: Said) {
        let word = &self.wanted[self.said.len()];
        if said.lemma.trim().is_empty() || said.lemma == "<unknown>" {
            said.lemma = plain_lemma(word);
        }
        said.tag = self.settings.tag(&said.tag).to_owned();
        said.feats = match feats::canonical(&said.feats) {
            Some(feats) => feats.into_owned(),
            None => {
                self.odd_feats.get_or_insert_with(|| shortened(&said.feats));
                String::new()
            }
        };
        self.said.push(said);
    }
}

/// Enough of a text to know it by.
fn shortened(text: &str) -> String {
    const ENOUGH: usize = 60;
    let mut shown: String = text.chars().take(ENOUGH).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(settings: &Settings, wanted: &[&str], text: &str) -> Result<Vec<(String, String)>, String> {
        let wanted: Vec<Cow<'_, str>> = wanted.iter().map(|word| form(word)).collect();
        let mut listener = Listener::new(settings, &wanted);
        text.lines().try_for_each(|line| listener.hear(line))?;
        match listener.is_done() {
            true => Ok(listener.finish().into_iter().map(|said| (said.lemma, said.tag)).collect()),
            false => Err(format!("{} of {}", listener.heard(), wanted.len())),
        }
    }

    #[test]
    fn features_come_in_canonical_form_or_not_at_all() {
        let heard = |settings: &Settings, wanted: &[&str], text: &str| {
            let wanted: Vec<Cow<'_, str>> = wanted.iter().map(|word| form(word)).collect();
            let mut listener = Listener::new(settings, &wanted);
            text.lines().try_for_each(|line| listener.hear(line)).unwrap();
            let odd = listener.odd_feats().map(str::to_owned);
            (listener.finish().into_iter().map(|said| said.feats).collect::<Vec<_>>(), odd)
        };
        let conllu = Settings { format: Format::Conllu, ..Settings::new(vec!["t".into()]) };
        let text = "1-2\tdu\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\n2\tle\tle\tDET\t_\tNumber=Sing|Definite=Def\n\
            3\tvin\tvin\tNOUN\t_\tm-sg\n4\t.\t.\tPUNCT\n";
        let wanted = ["+Definite=Def|Number=Sing", "", ""].map(str::to_owned).to_vec();
        assert_eq!(heard(&conllu, &["du", "vin", "."], text), (wanted, Some("m-sg".to_owned())));
        let vertical = Settings::new(vec!["t".into()]);
        let text = "a\tb\tX\tNumber=Sing\nc\td\tX\t_\ne\tf\n";
        let wanted = ["Number=Sing", "", ""].map(str::to_owned).to_vec();
        assert_eq!(heard(&vertical, &["a", "c", "e"], text), (wanted, None));
    }

    fn pairs(rows: &[(&str, &str)]) -> Vec<(String, String)> {
        rows.iter().map(|(lemma, tag)| ((*lemma).to_owned(), (*tag).to_owned())).collect()
    }

    #[test]
    fn vertical_columns_come_in_any_order_and_tags_are_translated() {
        let mut settings = Settings::new(vec!["t".into()]);
        settings.columns = vec![Column::Word, Column::Tag, Column::Lemma];
        settings.tags = [("NN".to_owned(), "NOUN".to_owned()), ("V*".to_owned(), "VERB".to_owned())].into();
        let text = "<s>\nRegen\tNN\tRegen\nfiel\tVVFIN\tfallen\n<b\tXY\t<unknown>\n</s>\n";
        let said = listen(&settings, &["Regen", "fiel", "<b"], text).unwrap();
        assert_eq!(said, pairs(&[("Regen", "NOUN"), ("fallen", "VERB"), ("<b", "XY")]));
    }

    #[test]
    fn conllu_may_have_comments_parts_and_words_that_were_not_written() {
        let settings = Settings { format: Format::Conllu, ..Settings::new(vec!["t".into()]) };
        let text = "# text = du vin\n1-2\tdu\t_\t_\n1\tde\tde\tADP\n2\tle\tle\tDET\n2.1\tx\tx\tX\n3\tVin\t_\tNOUN\n\n";
        assert_eq!(listen(&settings, &["du", "Vin"], text).unwrap(), pairs(&[("de+le", "ADP+DET"), ("vin", "NOUN")]));
        assert!(listen(&settings, &["du"], "1-x\tdu\t_\t_\n").unwrap_err().contains("no range"));
        assert!(listen(&settings, &["du"], "du\n").unwrap_err().contains("no columns"));
    }

    #[test]
    fn other_tokens_more_tokens_and_endless_talk_are_lies() {
        let settings = Settings::new(vec!["t".into()]);
        assert_eq!(listen(&settings, &["a", "b"], "a\tx\nc\tx\n").unwrap_err(), "“c” where the token “b” was due");
        assert_eq!(listen(&settings, &["a"], "a\tx\nb\n").unwrap_err(), "“b” behind the last token");
        assert!(listen(&settings, &["a"], &"<x>\n".repeat(2000)).unwrap_err().contains("line after line"));
        assert_eq!(listen(&settings, &["a", "b"], "a\n").unwrap_err(), "1 of 2");
    }

    #[test]
    fn what_is_written_is_one_line_a_token() {
        let mut out = Vec::new();
        write(Format::Vertical, [("10\u{85}000", true), ("<", false)].into_iter(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "<s>\n10 000\n<\n</s>\n");
        let mut out = Vec::new();
        write(Format::Conllu, [("a", false), (".", true)].into_iter(), &mut out);
        let wanted = "1\ta\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
