//! Input and output formats of external annotators: vertical text and CoNLL-U.
//!
//! Output must contain the given tokens, in order and each exactly once. A limited number of other
//! lines (markup, comments, empty lines) is skipped. Lines of declared structures between the
//! tokens, such as `<ne type="PER">` and `</ne>`, are spans.

use std::borrow::Cow;
use std::path::Path;

use tidings_formats::vertical::{Event, OpenSpans, Reader};
use tidings_model::{LayerKind, TokenSpan, feats};

use super::Settings;
use crate::annotator::lowercase_lemma;

/// Format of input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One token per line between `<s>` and `</s>`; the output has tab-separated columns.
    Vertical,
    /// CoNLL-U: ten columns, an empty line after each sentence.
    Conllu,
}

/// Content of a column of vertical text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// The token; always the first column.
    Word,
    /// Lemma.
    Lemma,
    /// Tag.
    Tag,
    /// Morphological features.
    Feats,
    /// Further attribute, by its number among those of the tool.
    Further(usize),
    /// Ignored.
    Other,
}

/// Limits of lines without a token: per token, and in addition.
const MAX_OTHER_LINES_PER_TOKEN: usize = 8;
const MAX_OTHER_LINES: usize = 1000;

/// Replaces control characters, which would break the line format.
pub(super) fn clean_word(word: &str) -> Cow<'_, str> {
    if word.contains(char::is_control) {
        return Cow::Owned(word.chars().map(|c| if c.is_control() { ' ' } else { c }).collect());
    }
    Cow::Borrowed(word)
}

/// Writes a sentence as (token, followed by white space) pairs.
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

/// Annotation of a token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Annotation {
    pub lemma: String,
    pub tag: String,
    pub feats: String,
    /// Values of further attributes.
    pub further: Vec<String>,
}

/// Annotation of a batch: of each token, and spans over them.
#[derive(Debug, Default)]
pub(super) struct BatchAnnotation {
    pub tokens: Vec<Annotation>,
    pub spans: Vec<TokenSpan>,
}

/// Parser of a tool's output that checks it against the input.
pub(super) struct OutputReader<'a> {
    settings: &'a Settings,
    expected: &'a [Cow<'a, str>],
    annotations: Vec<Annotation>,
    /// Syntactic words of the last multi-word token still to come.
    parts: usize,
    other_lines: usize,
    /// First invalid features, for the warning.
    invalid_feats: Option<String>,
    /// Positions after the last token of each sentence.
    sentence_ends: Vec<usize>,
    spans: OpenSpans,
    /// Names of spans that have begun and not ended.
    open_spans: Vec<String>,
    /// Whether the end of the last sentence was read.
    is_closed: bool,
}

impl<'a> OutputReader<'a> {
    /// Reads the output for these words, in sentences that end at `sentence_ends`.
    pub fn new(settings: &'a Settings, expected: &'a [Cow<'a, str>], sentence_ends: Vec<usize>) -> OutputReader<'a> {
        OutputReader {
            sentence_ends,
            spans: OpenSpans::default(),
            open_spans: Vec::new(),
            is_closed: false,
            settings,
            expected,
            annotations: Vec::with_capacity(expected.len()),
            parts: 0,
            other_lines: 0,
            invalid_feats: None,
        }
    }

    /// Returns true if every token is annotated. A tool that gives spans also writes the end of the
    /// last sentence, because a span may end before it.
    pub fn is_done(&self) -> bool {
        let is_closed = self.settings.spans.is_empty() || self.is_closed;
        self.parts == 0 && self.annotations.len() == self.expected.len() && is_closed
    }

    /// Number of annotated tokens.
    pub fn tokens_read(&self) -> usize {
        self.annotations.len()
    }

    /// First invalid features, if any.
    pub fn invalid_feats(&self) -> Option<&str> {
        self.invalid_feats.as_deref()
    }

    /// Returns the annotation of all tokens.
    pub fn finish(mut self) -> BatchAnnotation {
        let spans = self.spans.finish(self.annotations.len() as u32);
        BatchAnnotation { tokens: self.annotations, spans }
    }

    /// Parses a line; the error describes the mismatch.
    pub fn read_line(&mut self, line: &str) -> Result<(), String> {
        match self.settings.format {
            Format::Vertical => self.read_vertical(line),
            Format::Conllu => self.read_conllu(line),
        }
    }

    fn read_vertical(&mut self, line: &str) -> Result<(), String> {
        let word = line.split('\t').next().unwrap_or_default();
        let is_next = self.expected.get(self.annotations.len()).is_some_and(|expected| expected == word);
        // Some taggers annotate the markup as well.
        let is_other = line.trim().is_empty() || word.starts_with('<') && word.trim_end().ends_with('>');
        if !is_next && is_other {
            if !self.settings.spans.is_empty() {
                self.read_structure(line.trim())?;
            }
            return self.skip_line();
        }
        self.expect(word)?;
        self.check_sentence()?;
        let further = vec![String::new(); self.settings.further.len()];
        let mut annotation = Annotation { further, ..Annotation::default() };
        for (column, text) in self.settings.columns.iter().zip(line.split('\t')) {
            match column {
                Column::Lemma => text.clone_into(&mut annotation.lemma),
                Column::Tag => text.clone_into(&mut annotation.tag),
                Column::Feats => text.clone_into(&mut annotation.feats),
                Column::Further(number) => annotation.further[*number] = self.further_value(*number, text)?,
                Column::Word | Column::Other => {}
            }
        }
        self.push(annotation);
        Ok(())
    }

    /// The value of a further attribute.
    fn further_value(&self, number: usize, text: &str) -> Result<String, String> {
        let layer = &self.settings.further[number];
        let value = if text == "_" { "" } else { text.trim() };
        let is_number = || value.parse::<f64>().is_ok_and(f64::is_finite);
        if layer.kind == LayerKind::Number && !value.is_empty() && !is_number() {
            let (value, name) = (shortened(value), &layer.name);
            return Err(format!("“{value}” in the column {name} is no number; declare the column as {name}:text"));
        }
        Ok(value.to_owned())
    }

    /// Reads a line of markup: a span that begins or ends, or the end of the last sentence.
    fn read_structure(&mut self, line: &str) -> Result<(), String> {
        if line == "</s>" {
            self.is_closed = self.annotations.len() == self.expected.len();
            return if self.is_closed { self.check_closed() } else { Ok(()) };
        }
        let at = self.annotations.len() as u32;
        let mut reader = Reader::new(line.as_bytes(), Path::new(""));
        match reader.next_event() {
            Ok(Some(Event::SpanStart(tag))) if self.settings.spans.contains(&tag.name) => {
                if at as usize == self.expected.len() {
                    return Err(format!("a span {} starts after the last token", tag.name));
                }
                self.check_sentence()?;
                if tag.tokens.is_none() {
                    self.open_spans.push(tag.name.clone());
                }
                self.spans.start(tag, at)
            }
            Ok(Some(Event::SpanEnd(name))) if self.settings.spans.iter().any(|known| known == name) => {
                if let Some(index) = self.open_spans.iter().rposition(|open| open == name) {
                    self.open_spans.remove(index);
                }
                self.spans.end(name, at);
                Ok(())
            }
            // Other structures are not wanted.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Checks at the start of a sentence that all spans of the one before have ended.
    fn check_sentence(&self) -> Result<(), String> {
        let at = self.annotations.len();
        match !self.open_spans.is_empty() && self.sentence_ends.binary_search(&at).is_ok() {
            true => self.check_closed(),
            false => Ok(()),
        }
    }

    fn check_closed(&self) -> Result<(), String> {
        match self.open_spans.last() {
            Some(name) => Err(format!("a span {name} does not end in its sentence; write </{name}> before </s>")),
            None => Ok(()),
        }
    }

    fn read_conllu(&mut self, line: &str) -> Result<(), String> {
        if line.trim().is_empty() || line.starts_with('#') {
            return self.skip_line();
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, word, lemma, tag, ..] = columns[..] else {
            return Err(format!("“{}” is not a CoNLL-U line", shortened(line)));
        };
        if id.contains('.') {
            return self.skip_line(); // An empty node, which has no token in the text.
        }
        let blank = |text: &str| if text == "_" && word != "_" { String::new() } else { text.to_owned() };
        let feats = columns.get(5).copied().unwrap_or("_");
        let annotation =
            Annotation { lemma: blank(lemma), tag: blank(tag), feats: feats.to_owned(), further: Vec::new() };
        if self.parts > 0 {
            // Syntactic word of the multi-word token before: join the annotation.
            self.parts -= 1;
            let whole = self.annotations.last_mut().expect("words follow their multi-word token");
            whole.feats.push_str(if whole.feats.is_empty() { "" } else { "+" });
            whole.feats.push_str(&annotation.feats);
            for (joined, part) in [(&mut whole.lemma, annotation.lemma), (&mut whole.tag, annotation.tag)] {
                if !joined.is_empty() && !part.is_empty() {
                    joined.push('+');
                }
                joined.push_str(&part);
            }
            if self.parts == 0 {
                let whole = self.annotations.pop().expect("the multi-word token was pushed");
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
            _ => Err(format!("“{id}” is not a range of word numbers")),
        }
    }

    fn skip_line(&mut self) -> Result<(), String> {
        self.other_lines += 1;
        match self.other_lines > self.expected.len() * MAX_OTHER_LINES_PER_TOKEN + MAX_OTHER_LINES {
            true => Err("too many lines without a token".to_owned()),
            false => Ok(()),
        }
    }

    fn expect(&self, word: &str) -> Result<(), String> {
        match self.expected.get(self.annotations.len()) {
            Some(expected) if expected == word => Ok(()),
            Some(expected) => Err(format!("“{}” instead of the token “{}”", shortened(word), shortened(expected))),
            None => Err(format!("“{}” after the last token", shortened(word))),
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

/// Shortens a text for an error message.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut shown: String = text.chars().take(MAX_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::LayerDeclaration;

    fn read_all(settings: &Settings, expected: &[&str], text: &str) -> Result<Vec<(String, String)>, String> {
        let expected: Vec<Cow<'_, str>> = expected.iter().map(|word| clean_word(word)).collect();
        let mut reader = OutputReader::new(settings, &expected, vec![expected.len()]);
        text.lines().try_for_each(|line| reader.read_line(line))?;
        match reader.is_done() {
            true => {
                Ok(reader.finish().tokens.into_iter().map(|annotation| (annotation.lemma, annotation.tag)).collect())
            }
            false => Err(format!("{} of {}", reader.tokens_read(), expected.len())),
        }
    }

    #[test]
    fn invalid_features_are_dropped_and_reported() {
        let read = |settings: &Settings, expected: &[&str], text: &str| {
            let expected: Vec<Cow<'_, str>> = expected.iter().map(|word| clean_word(word)).collect();
            let mut reader = OutputReader::new(settings, &expected, vec![expected.len()]);
            text.lines().try_for_each(|line| reader.read_line(line)).unwrap();
            let invalid = reader.invalid_feats().map(str::to_owned);
            (reader.finish().tokens.into_iter().map(|annotation| annotation.feats).collect::<Vec<_>>(), invalid)
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
    fn vertical_columns_may_be_reordered_and_tags_are_mapped() {
        let mut settings = Settings::new(vec!["t".into()]);
        settings.columns = vec![Column::Word, Column::Tag, Column::Lemma];
        settings.tags = [("NN".to_owned(), "NOUN".to_owned()), ("V*".to_owned(), "VERB".to_owned())].into();
        let text = "<s>\nRegen\tNN\tRegen\nfiel\tVVFIN\tfallen\n<b\tXY\t<unknown>\n</s>\n";
        let found = read_all(&settings, &["Regen", "fiel", "<b"], text).unwrap();
        assert_eq!(found, pairs(&[("Regen", "NOUN"), ("fallen", "VERB"), ("<b", "XY")]));
    }

    #[test]
    fn conllu_may_have_comments_multi_word_tokens_and_empty_nodes() {
        let settings = Settings { format: Format::Conllu, ..Settings::new(vec!["t".into()]) };
        let text = "# text = du vin\n1-2\tdu\t_\t_\n1\tde\tde\tADP\n2\tle\tle\tDET\n2.1\tx\tx\tX\n3\tVin\t_\tNOUN\n\n";
        assert_eq!(read_all(&settings, &["du", "Vin"], text).unwrap(), pairs(&[("de+le", "ADP+DET"), ("vin", "NOUN")]));
        assert!(read_all(&settings, &["du"], "1-x\tdu\t_\t_\n").unwrap_err().contains("not a range"));
        assert!(read_all(&settings, &["du"], "du\n").unwrap_err().contains("not a CoNLL-U line"));
    }

    #[test]
    fn wrong_tokens_extra_tokens_and_endless_other_lines_are_errors() {
        let settings = Settings::new(vec!["t".into()]);
        assert_eq!(read_all(&settings, &["a", "b"], "a\tx\nc\tx\n").unwrap_err(), "“c” instead of the token “b”");
        assert_eq!(read_all(&settings, &["a"], "a\tx\nb\n").unwrap_err(), "“b” after the last token");
        assert!(read_all(&settings, &["a"], &"<x>\n".repeat(2000)).unwrap_err().contains("too many lines"));
        assert_eq!(read_all(&settings, &["a", "b"], "a\n").unwrap_err(), "1 of 2");
    }

    fn layered() -> Settings {
        let layer = |name: &str, kind| LayerDeclaration { name: name.to_owned(), kind, origin: String::new() };
        Settings {
            columns: vec![Column::Word, Column::Further(1), Column::Other, Column::Further(0)],
            further: vec![layer("mood", LayerKind::Text), layer("score", LayerKind::Number)],
            spans: vec!["ne".to_owned(), "np".to_owned()],
            ..Settings::new(vec!["t".into()])
        }
    }

    #[test]
    fn further_columns_and_structures_are_layers() {
        let expected: Vec<Cow<'_, str>> = ["Ann", "<ne>", "ran", "Bo"].map(Cow::Borrowed).to_vec();
        let settings = layered();
        let mut reader = OutputReader::new(&settings, &expected, vec![3, 4]);
        let text = "<s>\n<np>\n<ne type=\"PER\">\nAnn\t0.5\tx\tglad\n</ne>\n<ne>\t_\n</np>\n<verb>\nran\n</verb>\n</s>\n<s>\n\
            <ne tokens=\"1\"/>\nBo\t-1\n";
        text.lines().for_each(|line| reader.read_line(line).unwrap());
        assert!(!reader.is_done(), "the end of the sentence is missing");
        reader.read_line("</s>").unwrap();
        assert!(reader.is_done());
        let BatchAnnotation { tokens, spans } = reader.finish();
        let further: Vec<&[String]> = tokens.iter().map(|token| &token.further[..]).collect();
        assert_eq!(further, [["glad", "0.5"], ["", ""], ["", ""], ["", "-1"]]);
        let wanted =
            [TokenSpan::new("np", 0, 2), TokenSpan::new("ne", 0, 1).with("type", "PER"), TokenSpan::new("ne", 3, 4)];
        assert_eq!(spans, wanted);
    }

    #[test]
    fn invalid_layers_are_errors_with_a_remedy() {
        let read = |lines: &[&str]| {
            let expected: Vec<Cow<'_, str>> = ["a", "b"].map(Cow::Borrowed).to_vec();
            let settings = layered();
            let mut reader = OutputReader::new(&settings, &expected, vec![1, 2]);
            lines.iter().try_for_each(|line| reader.read_line(line)).unwrap_err()
        };
        assert_eq!(read(&["a\tmuch"]), "“much” in the column score is no number; declare the column as score:text");
        let open = "a span ne does not end in its sentence; write </ne> before </s>";
        assert_eq!(read(&["<ne>", "a", "</s>", "<s>", "b"]), open);
        assert_eq!(read(&["a", "<ne>", "b", "</s>"]), open);
        assert_eq!(read(&["a", "b", "<ne>"]), "a span ne starts after the last token");
    }

    #[test]
    fn each_token_is_written_as_one_line() {
        let mut out = Vec::new();
        write(Format::Vertical, [("10\u{85}000", true), ("<", false)].into_iter(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "<s>\n10 000\n<\n</s>\n");
        let mut out = Vec::new();
        write(Format::Conllu, [("a", false), (".", true)].into_iter(), &mut out);
        let expected = "1\ta\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
