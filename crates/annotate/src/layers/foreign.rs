//! Code-switching: stretches in another language than the text around them, as spans `foreign` with `lang`.
//!
//! Four kinds of stretches are looked at: paragraphs and sentences, text inside quotation marks, runs of words that are rare
//! in the language of the text, and runs of words in another script. Names and single borrowed words are no code-switching. Precision comes first: a stretch has several
//! words, few of them are frequent in the language of the text, and many are frequent in the other one. The
//! identifier runs only on stretches that pass this test, so that ordinary text costs a lookup per word.

use std::ops::Range;

use tidings_lang::{Hints, Script, StopList, identify, stop_list};
use tidings_model::{Annotated, Token, TokenSpan};

use super::stop_word_index::StopWordIndex;

/// Version of the layer: increased whenever the same annotated document gives different spans.
pub const VERSION: u32 = 2;

/// Name of the spans.
pub const SPAN: &str = "foreign";

/// Fewest words of a sentence or quotation that is identified.
const MIN_WORDS: usize = 4;
/// Fewest words of a run within a sentence, without quotation marks.
const MIN_INNER_WORDS: usize = 5;
/// Fewest words of a run in another script.
const MIN_SCRIPT_WORDS: usize = 2;
/// Fewest letters of a run in another script.
const MIN_SCRIPT_LETTERS: usize = 8;
/// From this share of frequent words of its own language on, a stretch is not identified.
const OWN_SHARE: f32 = 0.2;
/// Smallest share of frequent words of the other language, and by how much it exceeds that of the own one.
const OTHER_SHARE: f32 = 0.3;
const MARGIN: f32 = 0.25;
/// Smallest score of the identifier.
const MIN_SCORE: f32 = 0.9;
/// Smallest score for a run in another script, where the script rules out the language of the text.
const MIN_SCRIPT_SCORE: f32 = 0.5;

/// Finds stretches in another language. Spans are in reading order and do not overlap.
pub fn foreign(document: &Annotated, language: &str) -> Vec<TokenSpan> {
    let mut spans: Vec<TokenSpan> = Vec::new();
    let finder = Finder::new(language);
    let mut start = 0;
    for paragraph in &document.paragraphs {
        let first = start;
        let tokens: usize = paragraph.sentences.iter().map(Vec::len).sum();
        if !paragraph.language.is_empty() && code(&paragraph.language) != code(language) {
            // The paragraph was identified when its text was extracted.
            push(&mut spans, first..first + tokens, &paragraph.language);
            start += tokens;
            continue;
        }
        for sentence in &paragraph.sentences {
            finder.sentence(sentence, start, &mut spans, first);
            start += sentence.len();
        }
    }
    spans
}

fn code(language: &str) -> &str {
    tidings_lang::canonical(language).unwrap_or(language)
}

/// Adds a span, unless it is empty or its offsets do not fit.
fn push(spans: &mut Vec<TokenSpan>, tokens: Range<usize>, language: &str) {
    let (Ok(start), Ok(end)) = (u32::try_from(tokens.start), u32::try_from(tokens.end)) else { return };
    if start < end {
        spans.push(TokenSpan::new(SPAN, start, end).with("lang", language));
    }
}

/// Finds stretches in the sentences of a text.
struct Finder {
    language: &'static str,
    scripts: &'static [Script],
    own: Option<&'static StopList>,
}

impl Finder {
    fn new(language: &str) -> Finder {
        let known = tidings_lang::language(language);
        Finder {
            language: known.map_or("", |known| known.code),
            scripts: known.map_or(&[], |known| &known.scripts),
            own: stop_list(language).filter(|list| !list.is_off()),
        }
    }

    fn sentence(&self, sentence: &[Token], offset: usize, spans: &mut Vec<TokenSpan>, paragraph: usize) {
        let quotes: Vec<(Range<usize>, &'static str)> = quoted(sentence)
            .filter_map(|stretch| Some((stretch.clone(), self.other_language(&sentence[stretch])?)))
            .collect();
        if !self.is_frame(sentence, &quotes)
            && let Some(language) = self.other_language(sentence)
        {
            // Neighbouring sentences of a paragraph are one stretch.
            let adjoins = |span: &&mut TokenSpan| {
                span.end as usize == offset
                    && span.start as usize >= paragraph
                    && span.attribute("lang") == Some(language)
            };
            match (spans.last_mut().filter(adjoins), u32::try_from(offset + sentence.len())) {
                (Some(last), Ok(end)) => last.end = end,
                _ => push(spans, offset..offset + sentence.len(), language),
            }
            return;
        }
        let before = spans.len();
        for (stretch, language) in quotes {
            push(spans, offset + stretch.start..offset + stretch.end, language);
        }
        if spans.len() == before {
            self.rare_words(sentence, offset, spans);
        }
        if spans.len() == before {
            self.other_script(sentence, offset, spans);
        }
    }

    /// Returns true if only quotations of a sentence are in another language: *One passenger muttered, “…”*.
    fn is_frame(&self, sentence: &[Token], quotes: &[(Range<usize>, &'static str)]) -> bool {
        if quotes.is_empty() {
            return false;
        }
        let is_quoted = |at: usize| quotes.iter().any(|(stretch, _)| stretch.contains(&at));
        let rest: Vec<Token> =
            sentence.iter().enumerate().filter(|(at, _)| !is_quoted(*at)).map(|(_, token)| token.clone()).collect();
        self.other_language(&rest).is_none()
    }

    /// Runs of words that are rare in the language of the text.
    fn rare_words(&self, sentence: &[Token], offset: usize, spans: &mut Vec<TokenSpan>) {
        let Some(own) = self.own else { return };
        let is_own = |token: &Token| is_plain_word(token) && own.contains(&token.word);
        let is_rare = |token: &Token| is_plain_word(token) && !own.contains(&token.word);
        let mut index = 0;
        while index < sentence.len() {
            if !is_rare(&sentence[index]) {
                index += 1;
                continue;
            }
            let (mut end, mut next) = (index + 1, index + 1);
            while next < sentence.len() {
                if is_rare(&sentence[next]) {
                    end = next + 1;
                } else if is_own(&sentence[next]) {
                    // A word that both languages have stands alone.
                    let is_alone = sentence.get(next + 1).is_some_and(&is_rare);
                    if !is_alone {
                        break;
                    }
                }
                next += 1;
            }
            if let Some((run, language)) = self.refined(sentence, index..end, own) {
                push(spans, offset + run.start..offset + run.end, language);
                end = end.max(run.end);
            }
            index = end;
        }
    }

    /// The part of a run that is in another language: from the first word that is frequent only there to the last one, and the
    /// content words after it.
    fn refined(&self, sentence: &[Token], run: Range<usize>, own: &StopList) -> Option<(Range<usize>, &'static str)> {
        let words = |run: &Range<usize>| sentence[run.clone()].iter().filter(|token| is_plain_word(token)).count();
        if words(&run) < MIN_INNER_WORDS {
            return None;
        }
        let language = self.other_language(&sentence[run.clone()])?;
        let other = stop_list(language)?;
        let is_only_other = |at: &usize| other.contains(&sentence[*at].word) && !own.contains(&sentence[*at].word);
        let mut start = run.clone().find(is_only_other)?;
        // *I* has a capital.
        while start > 0 && !is_plain_word(&sentence[start - 1]) && is_only_other(&(start - 1)) {
            start -= 1;
        }
        let mut end = run.rev().find(is_only_other)? + 1;
        let is_content = |token: &Token| {
            let is_listed = own.contains(&token.word) || other.contains(&token.word);
            token.word.starts_with(char::is_alphabetic) && !is_listed
        };
        end += sentence[end..].iter().take_while(|token| is_content(token)).count();
        let is_sure =
            words(&(start..end)) >= MIN_INNER_WORDS && self.other_language(&sentence[start..end]) == Some(language);
        is_sure.then_some((start..end, language))
    }

    /// The language of a stretch in the script of the text, if it is surely another one.
    fn other_language(&self, stretch: &[Token]) -> Option<&'static str> {
        let own = self.own?;
        let (mut words, mut frequent) = (0usize, 0usize);
        for token in stretch.iter().filter(|token| is_plain_word(token)) {
            // Runs in another script have limits of their own.
            if self.foreign_script(token).is_some() {
                return None;
            }
            words += 1;
            frequent += usize::from(own.contains(&token.word));
        }
        let share = |part: usize| part as f32 / words.max(1) as f32;
        if words < MIN_WORDS || share(frequent) >= OWN_SHARE {
            return None;
        }
        let plain = || stretch.iter().filter(|token| is_plain_word(token)).map(|token| token.word.as_str());
        let is_enough = |of_other: usize| {
            let of_other = share(of_other);
            of_other >= OTHER_SHARE && of_other >= share(frequent) + MARGIN
        };
        if StopWordIndex::get().is_some_and(|index| !is_enough(index.most(plain()))) {
            return None;
        }
        let guess = identify(&text(stretch), Hints::default());
        if guess.score < MIN_SCORE || !guess.is_known() || guess.lang == self.language {
            return None;
        }
        let other = stop_list(guess.lang).filter(|list| !list.is_off())?;
        is_enough(plain().filter(|word| other.contains(word)).count()).then_some(guess.lang)
    }

    /// Runs of words in a script that the language is not written in.
    fn other_script(&self, sentence: &[Token], offset: usize, spans: &mut Vec<TokenSpan>) {
        if self.scripts.is_empty() {
            return;
        }
        let mut index = 0;
        while index < sentence.len() {
            let Some(script) = self.foreign_script(&sentence[index]) else {
                index += 1;
                continue;
            };
            let (mut end, mut next) = (index + 1, index + 1);
            while next < sentence.len() {
                let word = &sentence[next].word;
                match letter_script(word) {
                    None if !is_quotation_mark(word) || is_apostrophe(word) => {}
                    Some(other) if other == script => end = next + 1,
                    // Chinese characters inside Japanese; after it they may be Chinese.
                    Some(other) if is_of_same_text(script, other) => {}
                    _ => break,
                }
                next += 1;
            }
            let stretch = &sentence[index..end];
            if let Some(language) = self.script_language(script, stretch) {
                push(spans, offset + index..offset + end, language);
            }
            index = end;
        }
    }

    /// Returns true for Japanese and Korean, which are written in several scripts.
    fn mixes_scripts(&self) -> bool {
        self.scripts.iter().any(|own| matches!(own, Script::Kana | Script::Hangul))
    }

    fn foreign_script(&self, token: &Token) -> Option<Script> {
        let script = letter_script(&token.word)?;
        let is_own = self.scripts.contains(&script) || self.mixes_scripts() && is_of_same_text(Script::Han, script);
        (!is_own && script != Script::Other).then_some(script)
    }

    fn script_language(&self, script: Script, stretch: &[Token]) -> Option<&'static str> {
        let is_word = |token: &&Token| letter_script(&token.word).is_some();
        let words = stretch.iter().filter(is_word).count();
        let letters: usize = stretch.iter().map(|token| token.word.chars().filter(|c| c.is_alphabetic()).count()).sum();
        let is_dense = matches!(script, Script::Han | Script::Kana | Script::Hangul);
        let min_letters = if is_dense { MIN_SCRIPT_LETTERS / 2 } else { MIN_SCRIPT_LETTERS };
        if words < MIN_SCRIPT_WORDS || letters < min_letters {
            return None;
        }
        // Capitalised words are names. Latin letters are those of brands in all scripts.
        let min_plain = match script {
            Script::Latin => MIN_WORDS.max(words.div_ceil(2)),
            Script::Cyrillic | Script::Greek | Script::Armenian => MIN_SCRIPT_WORDS,
            _ => 0,
        };
        if stretch.iter().filter(|token| is_plain_word(token)).count() < min_plain {
            return None;
        }
        let guess = identify(&text(stretch), Hints::default());
        (guess.is_known() && guess.score >= MIN_SCRIPT_SCORE && guess.lang != self.language).then_some(guess.lang)
    }
}

/// Japanese and Korean texts mix scripts.
fn is_of_same_text(a: Script, b: Script) -> bool {
    let is_mixed = |script| matches!(script, Script::Han | Script::Kana | Script::Hangul);
    is_mixed(a) && is_mixed(b)
}

/// The script of the first letter of a word.
fn letter_script(word: &str) -> Option<Script> {
    word.chars().find(|letter| letter.is_alphabetic()).and_then(Script::of)
}

/// Returns true for words that are neither names nor numbers: they begin with a lower-case letter.
fn is_plain_word(token: &Token) -> bool {
    token.word.starts_with(char::is_lowercase)
}

fn text(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        text.push_str(&token.word);
        if token.space_after {
            text.push(' ');
        }
    }
    text
}

fn is_quotation_mark(word: &str) -> bool {
    matches!(word, "\"" | "“" | "”" | "„" | "«" | "»" | "‹" | "›" | "‘" | "’" | "‚" | "「" | "」" | "『" | "』" | "'")
}

/// Stretches between neighbouring quotation marks of a sentence, without punctuation at their ends. Whether a mark opens or
/// closes does not matter: text outside of the marks is in the language of the sentence, and is rejected as such.
fn quoted(sentence: &[Token]) -> impl Iterator<Item = Range<usize>> {
    // An apostrophe is no mark if the sentence has others.
    let has_others = sentence.iter().any(|token| is_quotation_mark(&token.word) && !is_apostrophe(&token.word));
    let is_mark = |token: &Token| is_quotation_mark(&token.word) && !(has_others && is_apostrophe(&token.word));
    let marks: Vec<usize> =
        sentence.iter().enumerate().filter(|(_, token)| is_mark(token)).map(|(index, _)| index).collect();
    let pairs: Vec<Range<usize>> = marks.windows(2).map(|pair| trimmed(sentence, pair[0] + 1..pair[1])).collect();
    pairs.into_iter().filter(|stretch| stretch.len() >= MIN_WORDS)
}

fn is_apostrophe(word: &str) -> bool {
    matches!(word, "'" | "’")
}

/// A stretch without the punctuation at its end.
fn trimmed(sentence: &[Token], stretch: Range<usize>) -> Range<usize> {
    let is_word = |token: &Token| token.word.chars().any(char::is_alphanumeric);
    let length = sentence[stretch.clone()].iter().rposition(is_word).map_or(0, |last| last + 1);
    stretch.start..stretch.start + length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Annotators, annotate_texts};
    use tidings_model::AnnotatedParagraph;

    fn document(texts: &[&str], language: &str) -> Annotated {
        let paragraphs = annotate_texts(texts, language, &Annotators::none()).expect("no tool runs");
        let paragraph = |sentences| AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() };
        Annotated { paragraphs: paragraphs.into_iter().map(paragraph).collect(), ..Annotated::default() }
    }

    fn found(texts: &[&str], language: &str) -> Vec<(String, String)> {
        let document = document(texts, language);
        let tokens: Vec<&Token> = document.tokens().collect();
        let spans = foreign(&document, language);
        let words = |span: &TokenSpan| {
            let tokens = &tokens[span.start as usize..span.end as usize];
            tokens.iter().map(|token| token.word.as_str()).collect::<Vec<_>>().join(" ")
        };
        spans.iter().map(|span| (words(span), span.attribute("lang").unwrap_or_default().to_owned())).collect()
    }

    #[test]
    fn sentences_in_another_language_are_one_stretch() {
        let texts =
            ["Der Minister antwortete nicht. We will not be told what to do by them. They have had their chance. \
             Danach verließ er den Saal."];
        let expected = "We will not be told what to do by them . They have had their chance .";
        assert_eq!(found(&texts, "de"), [(expected.to_owned(), "en".to_owned())]);
    }

    #[test]
    fn quotations_in_another_language_are_found_inside_a_sentence() {
        let texts = ["Auf dem Schild stand “we are not going to leave this place” in roten Buchstaben."];
        assert_eq!(found(&texts, "de"), [("we are not going to leave this place".to_owned(), "en".to_owned())]);
    }

    #[test]
    fn runs_of_another_language_are_found_without_marks() {
        let texts = ["Auf dem Plakat stand there is no such thing as a free lunch in großen Buchstaben."];
        assert_eq!(found(&texts, "de"), [("there is no such thing as a free lunch".to_owned(), "en".to_owned())]);
        assert_eq!(found(&["Das Team plante ein Update zum Marketing und viel Fingerfood im Meeting."], "de"), []);
    }

    #[test]
    fn runs_in_another_script_are_found() {
        let texts = ["The banner read мы никогда этого не забудем и никому не простим in large letters."];
        let expected = "мы никогда этого не забудем и никому не простим";
        assert_eq!(found(&texts, "en"), [(expected.to_owned(), "ru".to_owned())]);
    }

    #[test]
    fn names_and_borrowed_words_are_no_code_switching() {
        let texts = [
            "Das Meeting mit dem Chief Executive Officer der Bank of America war ein Highlight.",
            "Sie las „Le Monde diplomatique“ und die „New York Times“.",
            "Владимир Набоков wrote it.",
            "Im Café sang Édith Piaf „La vie en rose“.",
        ];
        assert_eq!(found(&texts, "de"), []);
        assert_eq!(found(&["公司发布了 iPhone 15 Pro Max 和 Galaxy Ultra。"], "zh"), []);
    }

    #[test]
    fn a_paragraph_of_another_language_is_a_stretch() {
        let mut document = document(&["Es regnet.", "Il pleut."], "de");
        document.paragraphs[1].language = "fr".to_owned();
        let spans = foreign(&document, "de");
        assert_eq!((spans[0].start, spans[0].end, spans[0].attribute("lang")), (3, 6, Some("fr")));
        document.paragraphs[1].language = "de-AT".to_owned();
        assert_eq!(foreign(&document, "de"), []);
    }
}
