//! The two languages that annotating tools speak: vertical text and CoNLL-U.
//!
//! What a tool says is believed only as far as it is about the tokens that it was overrides, in their order, each once. Lines that
//! say nothing about tokens (tags, comments, empty ones) are passed over, but not without end.

use std::borrow::Cow;

use tidings_model::feats;

use super::Settings;
use crate::annotator::lowercase_lemma;

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
    /// Something that is not expected.
    Other,
}

/// For each line about a token a tool may write so many others, and these besides.
const MAX_OTHER_LINES_PER_TOKEN: usize = 8;
const MAX_OTHER_LINES: usize = 1000;

/// A token as a line can hold it.
pub(super) fn clean_word(word: &str) -> Cow<'_, str> {
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
                out.extend_from_slice(clean_word(word).as_bytes());
                out.push(b'\n');
            }
            out.extend_from_slice(b"</s>\n");
        }
        Format::Conllu => {
            for (number, (word, space)) in (1..).zip(sentence) {
                let misc = if space { "_" } else { "SpaceAfter=No" };
                let line = format!("{number}\t{}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n", clean_word(word));
                out.extend_from_slice(line.as_bytes());
            }
            out.push(b'\n');
        }
    }
}

/// What a tool says about a token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Annotation {
    pub lemma: String,
    pub tag: String,
    pub feats: String,
}

/// Holds what a tool says against what it was overrides.
pub(super) struct OutputReader<'a> {
    settings: &'a Settings,
    expected: &'a [Cow<'a, str>],
    annotations: Vec<Annotation>,
    /// How many parts of the last token are yet to come.
    parts: usize,
    other_lines: usize,
    /// The first features that are none.
    invalid_feats: Option<String>,
}

impl<'a> OutputReader<'a> {
    pub fn new(settings: &'a Settings, expected: &'a [Cow<'a, str>]) -> OutputReader<'a> {
        OutputReader {
            settings,
            expected,
            annotations: Vec::with_capacity(expected.len()),
            parts: 0,
            other_lines: 0,
            invalid_feats: None,
        }
    }

    /// Whether something was said about every token.
    pub fn is_done(&self) -> bool {
        self.parts == 0 && self.annotations.len() == self.expected.len()
    }

    /// How many tokens something was said about.
    pub fn tokens_read(&self) -> usize {
        self.annotations.len()
    }

    /// Something that was said where features belong and is none.
    pub fn invalid_feats(&self) -> Option<&str> {
        self.invalid_feats.as_deref()
    }

    /// What was annotation, if it was said about all.
    pub fn finish(self) -> Vec<Annotation> {
        self.annotations
    }

    /// Takes a line; says what is wrong with it.
    pub fn read_line(&mut self, line: &str) -> Result<(), String> {
        match self.settings.format {
            Format::Vertical => self.read_vertical(line),
            Format::Conllu => self.read_conllu(line),
        }
    }

    fn read_vertical(&mut self, line: &str) -> Result<(), String> {
        let word = line.split('\t').next().unwrap_or_default();
        let is_next = self.expected.get(self.annotations.len()).is_some_and(|expected| expected == word);
        // Some tag our tags.
        let is_other = line.trim().is_empty() || word.starts_with('<') && word.trim_end().ends_with('>');
        if !is_next && is_other {
            return self.skip_line();
        }
        self.expect(word)?;
        let mut annotation = Annotation::default();
        for (column, text) in self.settings.columns.iter().zip(line.split('\t')) {
            match column {
                Column::Lemma => text.clone_into(&mut annotation.lemma),
                Column::Tag => text.clone_into(&mut annotation.tag),
                Column::Feats => text.clone_into(&mut annotation.feats),
                Column::Word | Column::Other => {}
            }
        }
        self.push(annotation);
        Ok(())
    }

    fn read_conllu(&mut self, line: &str) -> Result<(), String> {
        if line.trim().is_empty() || line.starts_with('#') {
            return self.skip_line();
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, word, lemma, tag, ..] = columns[..] else {
            return Err(format!("“{}” has no columns of CoNLL-U", shortened(line)));
        };
        if id.contains('.') {
            return self.skip_line(); // A word that was never written.
        }
        let blank = |text: &str| if text == "_" && word != "_" { String::new() } else { text.to_owned() };
        let feats = columns.get(5).copied().unwrap_or("_");
        let annotation = Annotation { lemma: blank(lemma), tag: blank(tag), feats: feats.to_owned() };
        if self.parts > 0 {
            // A part of the token before: of what it stands for, and what kind of word each part is.
            self.parts -= 1;
            let whole = self.annotations.last_mut().expect("parts follow their token");
            whole.feats.push_str(if whole.feats.is_empty() { "" } else { "+" });
            whole.feats.push_str(&annotation.feats);
            for (joined, part) in [(&mut whole.lemma, annotation.lemma), (&mut whole.tag, annotation.tag)] {
                if !joined.is_empty() && !part.is_empty() {
                    joined.push('+');
                }
                joined.push_str(&part);
            }
            if self.parts == 0 {
                let whole = self.annotations.pop().expect("it is there");
                self.push(whole);
            }
            return Ok(());
        }
        self.expect(word)?;
        let Some((first, last)) = id.split_once('-') else {
            self.push(annotation);
            return Ok(());
        };
        let count =
            first.parse::<usize>().ok().zip(last.parse::<usize>().ok()).map(|(first, last)| last.checked_sub(first));
        match count {
            Some(Some(more @ 0..100)) => {
                self.parts = more + 1;
                self.annotations.push(Annotation::default());
                Ok(())
            }
            _ => Err(format!("“{id}” is no range of words")),
        }
    }

    fn skip_line(&mut self) -> Result<(), String> {
        self.other_lines += 1;
        match self.other_lines > self.expected.len() * MAX_OTHER_LINES_PER_TOKEN + MAX_OTHER_LINES {
            true => Err("line after line that says nothing about tokens".to_owned()),
            false => Ok(()),
        }
    }

    fn expect(&self, word: &str) -> Result<(), String> {
        match self.expected.get(self.annotations.len()) {
            Some(expected) if expected == word => Ok(()),
            Some(expected) => Err(format!("“{}” where the token “{}” was due", shortened(word), shortened(expected))),
            None => Err(format!("“{}” behind the last token", shortened(word))),
        }
    }

    fn push(&mut self, mut annotation: Annotation) {
        let word = &self.expected[self.annotations.len()];
        if annotation.lemma.trim().is_empty() || annotation.lemma == "<unknown>" {
            annotation.lemma = lowercase_lemma(word);
        }
        annotation.tag = self.settings.tag(&annotation.tag).to_owned();
        annotation.feats = match feats::canonical(&annotation.feats) {
            Some(feats) => feats.into_owned(),
            None => {
                self.invalid_feats.get_or_insert_with(|| shortened(&annotation.feats));
                String::new()
            }
        };
        self.annotations.push(annotation);
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

    fn read_all(settings: &Settings, expected: &[&str], text: &str) -> Result<Vec<(String, String)>, String> {
        let expected: Vec<Cow<'_, str>> = expected.iter().map(|word| clean_word(word)).collect();
        let mut reader = OutputReader::new(settings, &expected);
        text.lines().try_for_each(|line| reader.read_line(line))?;
        match reader.is_done() {
            true => Ok(reader.finish().into_iter().map(|annotation| (annotation.lemma, annotation.tag)).collect()),
            false => Err(format!("{} of {}", reader.tokens_read(), expected.len())),
        }
    }

    #[test]
    fn features_come_in_canonical_form_or_not_at_all() {
        let read = |settings: &Settings, expected: &[&str], text: &str| {
            let expected: Vec<Cow<'_, str>> = expected.iter().map(|word| clean_word(word)).collect();
            let mut reader = OutputReader::new(settings, &expected);
            text.lines().try_for_each(|line| reader.read_line(line)).unwrap();
            let odd = reader.invalid_feats().map(str::to_owned);
            (reader.finish().into_iter().map(|annotation| annotation.feats).collect::<Vec<_>>(), odd)
        };
        let conllu = Settings { format: Format::Conllu, ..Settings::new(vec!["t".into()]) };
        let text = "1-2\tdu\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\n2\tle\tle\tDET\t_\tNumber=Sing|Definite=Def\n\
            3\tvin\tvin\tNOUN\t_\tm-sg\n4\t.\t.\tPUNCT\n";
        let expected = ["+Definite=Def|Number=Sing", "", ""].map(str::to_owned).to_vec();
        assert_eq!(read(&conllu, &["du", "vin", "."], text), (expected, Some("m-sg".to_owned())));
        let vertical = Settings::new(vec!["t".into()]);
        let text = "a\tb\tX\tNumber=Sing\nc\td\tX\t_\ne\tf\n";
        let expected = ["Number=Sing", "", ""].map(str::to_owned).to_vec();
        assert_eq!(read(&vertical, &["a", "c", "e"], text), (expected, None));
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
        let found = read_all(&settings, &["Regen", "fiel", "<b"], text).unwrap();
        assert_eq!(found, pairs(&[("Regen", "NOUN"), ("fallen", "VERB"), ("<b", "XY")]));
    }

    #[test]
    fn conllu_may_have_comments_parts_and_words_that_were_not_written() {
        let settings = Settings { format: Format::Conllu, ..Settings::new(vec!["t".into()]) };
        let text = "# text = du vin\n1-2\tdu\t_\t_\n1\tde\tde\tADP\n2\tle\tle\tDET\n2.1\tx\tx\tX\n3\tVin\t_\tNOUN\n\n";
        assert_eq!(read_all(&settings, &["du", "Vin"], text).unwrap(), pairs(&[("de+le", "ADP+DET"), ("vin", "NOUN")]));
        assert!(read_all(&settings, &["du"], "1-x\tdu\t_\t_\n").unwrap_err().contains("no range"));
        assert!(read_all(&settings, &["du"], "du\n").unwrap_err().contains("no columns"));
    }

    #[test]
    fn other_tokens_more_tokens_and_endless_talk_are_lies() {
        let settings = Settings::new(vec!["t".into()]);
        assert_eq!(read_all(&settings, &["a", "b"], "a\tx\nc\tx\n").unwrap_err(), "“c” where the token “b” was due");
        assert_eq!(read_all(&settings, &["a"], "a\tx\nb\n").unwrap_err(), "“b” behind the last token");
        assert!(read_all(&settings, &["a"], &"<x>\n".repeat(2000)).unwrap_err().contains("line after line"));
        assert_eq!(read_all(&settings, &["a", "b"], "a\n").unwrap_err(), "1 of 2");
    }

    #[test]
    fn what_is_written_is_one_line_a_token() {
        let mut out = Vec::new();
        write(Format::Vertical, [("10\u{85}000", true), ("<", false)].into_iter(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "<s>\n10 000\n<\n</s>\n");
        let mut out = Vec::new();
        write(Format::Conllu, [("a", false), (".", true)].into_iter(), &mut out);
        let expected = "1\ta\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
