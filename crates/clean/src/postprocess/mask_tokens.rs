//! Masking of imported tokens along with their text.
//!
//! Annotation made by others is kept: the placeholder replaces the form of the token with the personal data, its lemma
//! if that repeats the data, and nothing else. Data of several tokens becomes one token with the annotation of the
//! first. Further layers follow their tokens; their values are masked on their own.

use std::borrow::Cow;
use std::ops::Range;

use tidings_lang::MaskRule;
use tidings_model::{Paragraph, Token};

/// Applies replacements in the text of a paragraph to its sentences. `paragraph` has the text before masking. Sentences
/// that do not match this text are dropped, because they may contain what the mask removes.
pub fn mask_tokens(paragraph: &mut Paragraph, found: &[(MaskRule, Range<usize>)], rules: &[MaskRule]) {
    if paragraph.sentences.is_empty() || found.is_empty() {
        return;
    }
    if paragraph.aligned_sentences().is_none() {
        paragraph.clear_sentences();
        return;
    }
    let Paragraph { text, sentences, .. } = paragraph;
    let mut masker = TokenMasker { text, found, rules, at: 0 };
    let mut is_kept = Vec::new();
    for sentence in sentences.iter_mut() {
        let mut kept: Vec<Token> = Vec::with_capacity(sentence.len());
        for mut token in sentence.drain(..) {
            let change = masker.mask(&mut token);
            is_kept.push(!matches!(change, Change::Swallowed));
            match change {
                Change::None | Change::Masked => kept.push(token),
                Change::Rest => {
                    if let Some(before) = kept.last_mut() {
                        before.space_after = false;
                    }
                    kept.push(token);
                }
                Change::Swallowed => {
                    if let Some(before) = kept.last_mut() {
                        before.space_after = token.space_after;
                    }
                }
            }
        }
        *sentence = kept;
    }
    sentences.retain(|sentence| !sentence.is_empty());
    paragraph.retain_layers(&is_kept);
}

/// Masks the values of further layers, such as the attributes of a span.
pub fn mask_layers(paragraph: &mut Paragraph, rules: &[MaskRule]) {
    let values = paragraph.columns.iter_mut().flat_map(|column| &mut column.values);
    let attributes = paragraph.token_spans.iter_mut().flat_map(|part| &mut part.span.attributes);
    for value in values.chain(attributes.map(|(_, value)| value)) {
        if let Cow::Owned(masked) = tidings_lang::mask(value, rules).text {
            *value = masked;
        }
    }
}

/// The effect of masking on a token.
enum Change {
    /// It has no personal data.
    None,
    /// A placeholder replaces a part of it or all of it.
    Masked,
    /// Its start belongs to the placeholder of the token before it.
    Rest,
    /// All of it belongs to the placeholder of the token before it.
    Swallowed,
}

struct TokenMasker<'a> {
    /// The text before masking.
    text: &'a str,
    found: &'a [(MaskRule, Range<usize>)],
    rules: &'a [MaskRule],
    /// The end of the previous token.
    at: usize,
}

impl TokenMasker<'_> {
    /// Masks the next token.
    fn mask(&mut self, token: &mut Token) -> Change {
        let rest = &self.text[self.at..];
        let start = self.at + rest.len() - rest.trim_start().len();
        let end = start + token.word.len();
        self.at = end;
        let behind = self.found.partition_point(|(_, range)| range.end <= start);
        self.found = &self.found[behind..];
        if self.found.first().is_none_or(|(_, range)| range.start >= end) {
            return Change::None;
        }
        let (mut word, mut place) = (String::new(), start);
        let mut private = Vec::new();
        let begins_inside = self.found[0].1.start < start;
        for (rule, range) in self.found.iter().take_while(|(_, range)| range.start < end) {
            if range.start >= start {
                word.push_str(&self.text[place..range.start]);
                word.push_str(rule.token());
            }
            place = range.end.min(end);
            private.push(&self.text[range.start.max(start)..place]);
        }
        word.push_str(&self.text[place..end]);
        if word.is_empty() {
            return Change::Swallowed;
        }
        let lemma = self.masked_lemma(token, &word, &private);
        (token.word, token.lemma) = (word.into(), lemma.into());
        if begins_inside { Change::Rest } else { Change::Masked }
    }

    /// The lemma of a token whose form becomes `word`: the same if it has nothing of the private parts.
    fn masked_lemma(&self, token: &Token, word: &str, private: &[&str]) -> String {
        let lemma = token.lemma.to_lowercase();
        if private.iter().any(|part| lemma.contains(&part.to_lowercase())) {
            return word.to_owned();
        }
        tidings_lang::mask(&token.lemma, self.rules).text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::{LayerColumn, LayerDeclaration, LayerKind, SpanPart, TokenSpan};

    /// Masks a paragraph of one sentence, given as `word|lemma` separated by blanks; `_` before a word glues it to the
    /// previous one. Returns the text and the tokens.
    fn masked(tokens: &str) -> (String, Vec<(String, String)>) {
        let mut sentence: Vec<Token> = Vec::new();
        let mut text = String::new();
        for token in tokens.split(' ') {
            let (glued, token) = token.strip_prefix('_').map_or((false, token), |token| (true, token));
            let (word, lemma) = token.split_once('|').unwrap_or((token, token));
            match sentence.last_mut() {
                Some(before) if glued => before.space_after = false,
                Some(_) => text.push(' '),
                None => {}
            }
            text.push_str(word);
            sentence.push(Token::new(word, lemma, "X"));
        }
        let mut paragraph = Paragraph { text, sentences: vec![sentence], ..Paragraph::default() };
        let masked = tidings_lang::mask(&paragraph.text, &MaskRule::ALL);
        let (text, found) = (masked.text.into_owned(), masked.found);
        mask_tokens(&mut paragraph, &found, &MaskRule::ALL);
        paragraph.text = text;
        let aligned = paragraph.aligned_sentences().expect("the tokens match the masked text");
        let spelled: Vec<Token> = aligned.iter().flat_map(|(_, tokens)| tokens.iter().cloned()).collect();
        let joined: String =
            spelled.iter().map(|token| token.word.clone() + if token.space_after { " " } else { "" }).collect();
        assert_eq!(joined.trim_end(), paragraph.text, "spaces match the text");
        (paragraph.text, spelled.into_iter().map(|token| (token.word.into(), token.lemma.into())).collect())
    }

    fn words(tokens: &[(String, String)]) -> Vec<&str> {
        tokens.iter().map(|(word, _)| word.as_str()).collect()
    }

    #[test]
    fn the_form_and_the_lemma_of_a_masked_token_are_replaced_and_the_others_stay() {
        let (text, tokens) = masked("Ask|ask Ann@Example.org|ann@example.org now _.");
        assert_eq!(text, "Ask [EMAIL] now.");
        assert_eq!(words(&tokens), ["Ask", "[EMAIL]", "now", "."]);
        assert_eq!((tokens[0].1.as_str(), tokens[1].1.as_str()), ("ask", "[EMAIL]"));
        // A lemma without the data is annotation.
        assert_eq!(masked("Ask ann@example.org|@email@ now").1[1].1, "@email@");
    }

    #[test]
    fn data_of_several_tokens_becomes_one_token() {
        let (text, tokens) = masked("call +49 30 901820|@card@ today");
        assert_eq!((text.as_str(), words(&tokens)), ("call [PHONE] today", vec!["call", "[PHONE]", "today"]));
        let (text, tokens) = masked("call +49 30 _/ _901820 _. Then");
        assert_eq!((text.as_str(), words(&tokens)), ("call [PHONE]. Then", vec!["call", "[PHONE]", ".", "Then"]));
    }

    #[test]
    fn parts_of_a_token_outside_of_the_data_stay() {
        let (text, tokens) = masked("see mailto:ann@example.org, today");
        assert_eq!(text, "see mailto:[EMAIL], today");
        assert_eq!(words(&tokens), ["see", "mailto:[EMAIL],", "today"]);
        let (text, tokens) = masked("see ann@ _example.org,bob|x today");
        assert_eq!(text, "see [EMAIL],bob today");
        assert_eq!(words(&tokens), ["see", "[EMAIL]", ",bob", "today"]);
        assert_eq!(tokens[2].1, "x");
    }

    #[test]
    fn further_layers_follow_their_tokens_and_are_masked() {
        let span =
            |start, end, by: &str| SpanPart { span: TokenSpan::new("ne", start, end).with("by", by), part_of: 0 };
        let layer = LayerDeclaration { name: "n".into(), kind: LayerKind::Text, origin: String::new() };
        let mut paragraph = Paragraph {
            text: "call +49 30 901820 today".into(),
            sentences: vec![["call", "+49", "30", "901820", "today"].map(|word| Token::new(word, "", "")).to_vec()],
            columns: vec![LayerColumn { layer, values: ["a", "b", "c", "d", "e"].map(String::from).to_vec() }],
            token_spans: vec![span(1, 4, "ann@example.org"), span(2, 3, "x"), span(3, 5, "y")],
            ..Paragraph::default()
        };
        mask_tokens(&mut paragraph, &[(MaskRule::Phone, 5..18)], &MaskRule::ALL);
        mask_layers(&mut paragraph, &MaskRule::ALL);
        assert_eq!(paragraph.sentences[0].len(), 3);
        assert_eq!(paragraph.columns[0].values, ["a", "b", "e"]);
        assert_eq!(paragraph.token_spans, [span(1, 2, "[EMAIL]"), span(2, 3, "y")]);
    }

    #[test]
    fn sentences_that_do_not_match_the_text_are_dropped() {
        let sentences = vec![vec![Token::new("ann@example.org", "", "")]];
        let mut paragraph = Paragraph { text: "Ask ann@example.org".into(), sentences, ..Paragraph::default() };
        mask_tokens(&mut paragraph, &[(MaskRule::Email, 4..19)], &MaskRule::ALL);
        assert!(paragraph.sentences.is_empty(), "they would keep the address");
    }

    #[test]
    fn a_sentence_inside_of_masked_data_vanishes() {
        let sentences =
            vec![vec![Token::new("+49", "", "")], vec![Token::new("30", "", ""), Token::new("901820", "", "")]];
        let mut paragraph = Paragraph { text: "+49 30 901820".into(), sentences, ..Paragraph::default() };
        mask_tokens(&mut paragraph, &[(MaskRule::Phone, 0..13)], &MaskRule::ALL);
        assert_eq!(paragraph.sentences, [[Token::new("[PHONE]", "", "")]]);
    }
}
