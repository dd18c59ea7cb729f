//! Writers of CoNLL-U and of CoNLL-U Plus with three running numbers.
//!
//! Each word has ten columns; unknown values are `_`. The last column records whether a space follows a token, so that
//! the text can be reconstructed. A token for several words (`zum`, with the lemma `zu+der`) is a range. CoNLL-U Plus
//! does not split tokens and adds the number of the token, its sentence and its text, counted through the whole corpus:
//! stand-off files about sentences, texts and alignment refer to these numbers.

use tidings_model::{Annotated, Token};

use super::layers::{self, LAYER, PlusLayers, SPANS, SpanCells};

/// The line that names the columns of CoNLL-U Plus without further layers.
pub(super) const COLUMNS: &str = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC \
    TIDINGS:TOKEN TIDINGS:SENTENCE TIDINGS:TEXT\n";

/// The values of UPOS; other tags are language-specific and written to XPOS.
const UPOS: [&str; 17] = [
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X",
];

/// The next numbers of a corpus; they begin with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// Of the next token.
    pub token: u64,
    /// Of the next sentence.
    pub sentence: u64,
    /// Of the next text.
    pub text: u64,
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers { token: 1, sentence: 1, text: 1 }
    }
}

/// Appends a document to `out`, with further layers in MISC.
pub fn write(document: &Annotated, out: &mut String) {
    let mut cells = LayerCells::new(document);
    document_with(document, out, |sentence, out| {
        sentence_with(sentence, out, |token| cells.misc(token));
    });
}

/// Writes a document with the next numbers and increments them. Further layers are the columns that the header of the
/// file names.
pub fn write_plus(document: &Annotated, numbers: &mut Numbers, plus: &PlusLayers, out: &mut String) {
    let mut cells = LayerCells::new(document);
    document_with(document, out, |sentence, out| {
        comment("text", &text_of(sentence), out);
        for (index, token) in (1..).zip(sentence) {
            let own = [numbers.token, numbers.sentence, numbers.text].map(|number| number.to_string());
            row(&format!("{index}"), &token.word, known(token), space(token), out);
            out.push_str(&format!("\t{}", own.join("\t")));
            cells.columns(plus, out);
            out.push('\n');
            numbers.token += 1;
        }
        out.push('\n');
        numbers.sentence += 1;
    });
    numbers.text += 1;
}

/// Writes the comments of a document and its sentences.
fn document_with(document: &Annotated, out: &mut String, mut write: impl FnMut(&[Token], &mut String)) {
    let about = &document.about;
    let id = format!("{:032x}", about.id);
    comment("newdoc id", &id, out);
    let own = [("url", &about.url), ("title", &about.title), ("date", &about.date), ("seen", &about.seen)];
    own.iter().filter(|(_, value)| !value.is_empty()).for_each(|(name, value)| comment(name, value, out));
    about.fields.iter().for_each(|(name, value)| comment(name, value, out));
    document.columns.iter().for_each(|column| comment(LAYER, &layers::declaration(&column.layer), out));
    let mut sentences = 0;
    for (place, paragraph) in (1..).zip(&document.paragraphs) {
        for (at, sentence) in paragraph.sentences.iter().enumerate() {
            sentences += 1;
            if at == 0 {
                comment("newpar id", &format!("{id}-p{place}"), out);
                let more = [("kind", &paragraph.kind), ("par_lang", &paragraph.language)];
                more.iter().filter(|(_, value)| !value.is_empty()).for_each(|(name, value)| comment(name, value, out));
            }
            comment("sent_id", &format!("{id}-s{sentences}"), out);
            write(sentence, out);
        }
    }
}

/// Cells of further layers, token by token.
struct LayerCells<'d> {
    document: &'d Annotated,
    spans: SpanCells<'d>,
    /// The number of the next token.
    at: u32,
}

impl<'d> LayerCells<'d> {
    fn new(document: &'d Annotated) -> LayerCells<'d> {
        LayerCells { document, spans: SpanCells::new(document), at: 0 }
    }

    /// The MISC column of the next token.
    fn misc(&mut self, token: &Token) -> String {
        let mut misc = if token.space_after { String::new() } else { space(token).to_owned() };
        let mut add = |name: &str, value: &str, is_encoded: bool| {
            if !value.is_empty() {
                misc.push_str(if misc.is_empty() { "" } else { "|" });
                misc.push_str(name);
                misc.push('=');
                if is_encoded { misc.push_str(value) } else { layers::encode(value, &mut misc) }
            }
        };
        for column in &self.document.columns {
            add(&column.layer.name, column.values.get(self.at as usize).map_or("", String::as_str), false);
        }
        add(SPANS, &self.spans.cell(self.at), true);
        self.at += 1;
        if misc.is_empty() { "_".to_owned() } else { misc }
    }

    /// The further columns of the next token in CoNLL-U Plus.
    fn columns(&mut self, plus: &PlusLayers, out: &mut String) {
        for name in &plus.columns {
            let column = self.document.columns.iter().find(|column| column.layer.name == *name);
            let value = column.and_then(|column| column.values.get(self.at as usize)).map_or("", String::as_str);
            out.push('\t');
            if value.is_empty() { out.push('_') } else { layers::encode(value, out) }
        }
        let cell = self.spans.cell(self.at);
        if plus.has_spans {
            out.push('\t');
            out.push_str(if cell.is_empty() { "_" } else { &cell });
        }
        self.at += 1;
    }
}

/// Writes a sentence with its text and the following empty line.
pub fn write_sentence(sentence: &[Token], out: &mut String) {
    sentence_with(sentence, out, |token| space(token).to_owned());
}

fn sentence_with(sentence: &[Token], out: &mut String, mut misc: impl FnMut(&Token) -> String) {
    comment("text", &text_of(sentence), out);
    let mut number = 0;
    for token in sentence {
        let parts = parts(token);
        let misc = misc(token);
        if let [only] = parts[..] {
            number += 1;
            row(&number.to_string(), &token.word, only, &misc, out);
        } else {
            let range = format!("{}-{}", number + 1, number + parts.len());
            row(&range, &token.word, WordAnnotation::default(), &misc, out);
            for part in parts {
                number += 1;
                out.push('\n');
                // The form of a part is unknown, only its lemma and tag.
                row(&number.to_string(), "", part, "_", out);
            }
        }
        out.push('\n');
    }
    out.push('\n');
}

/// Lemma, tag and features of a word.
#[derive(Debug, Clone, Copy, Default)]
struct WordAnnotation<'t> {
    lemma: &'t str,
    tag: &'t str,
    feats: &'t str,
}

fn known(token: &Token) -> WordAnnotation<'_> {
    WordAnnotation { lemma: &token.lemma, tag: &token.tag, feats: &token.feats }
}

/// The words of a token: one, or as many as its lemma and tag have, joined by `+`.
fn parts(token: &Token) -> Vec<WordAnnotation<'_>> {
    let [lemmas, tags, mut feats] =
        [&token.lemma, &token.tag, &token.feats].map(|joined| joined.split('+').collect::<Vec<&str>>());
    if tags.len() < 2 || tags.len() != lemmas.len() {
        return vec![known(token)];
    }
    // Features whose word is unknown are omitted.
    if feats.len() != tags.len() {
        feats = vec![""; tags.len()];
    }
    let words = lemmas.into_iter().zip(tags).zip(feats);
    words.map(|((lemma, tag), feats)| WordAnnotation { lemma, tag, feats }).collect()
}

fn space(token: &Token) -> &'static str {
    if token.space_after { "_" } else { "SpaceAfter=No" }
}

/// A line without its end.
fn row(
    number: &str,
    word: &str,
    WordAnnotation { lemma, tag, feats }: WordAnnotation<'_>,
    misc: &str,
    out: &mut String,
) {
    let (upos, xpos) = if UPOS.contains(&tag) { (tag, "") } else { ("", tag) };
    out.push_str(number);
    for value in [word, lemma, upos, xpos, feats] {
        out.push('\t');
        column(value, out);
    }
    out.push_str("\t_\t_\t_\t");
    out.push_str(misc);
}

/// The text of the sentence, with single spaces.
pub fn text_of(sentence: &[Token]) -> String {
    let mut text = String::new();
    for (index, token) in sentence.iter().enumerate() {
        push_clean(&token.word, &mut text);
        if token.space_after && index + 1 < sentence.len() {
            text.push(' ');
        }
    }
    text
}

fn comment(name: &str, value: &str, out: &mut String) {
    out.push_str("# ");
    out.push_str(name);
    out.push_str(" = ");
    push_clean(value, out);
    out.push('\n');
}

fn column(value: &str, out: &mut String) {
    if value.is_empty() {
        out.push('_');
    }
    push_clean(value, out);
}

/// Replaces characters that would end the line or the column.
fn push_clean(value: &str, out: &mut String) {
    out.extend(value.chars().map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c }));
}

/// Attributes as a column: `a=v|b=w`, or `_`. Special characters are escaped as in the `MISC` column of CoNLL-U.
pub fn misc<'v>(pairs: impl IntoIterator<Item = (&'v str, &'v str)>) -> String {
    let mut out = String::new();
    for (name, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
        if !out.is_empty() {
            out.push('|');
        }
        out.push_str(name);
        out.push('=');
        for c in value.chars() {
            match c {
                '|' => out.push_str("\\p"),
                '\\' => out.push_str("\\\\"),
                c if c.is_control() => out.push(' '),
                c => out.push(c),
            }
        }
    }
    if out.is_empty() { "_".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::{AnnotatedParagraph, Attributes};

    fn token(word: &str, lemma: &str, tag: &str, space_after: bool) -> Token {
        Token { space_after, ..Token::new(word, lemma, tag) }
    }

    fn document() -> Annotated {
        let rain =
            vec![token("It", "it", "PRON", true), token("rains", "rain", "VVZ", false), token(".", "", "", true)];
        let yes = vec![token("Yes", "", "", true)];
        Annotated {
            about: Attributes { id: 7, url: "http://e.org/\n".into(), ..Attributes::default() },
            paragraphs: vec![AnnotatedParagraph {
                kind: "p".into(),
                language: "fr".into(),
                sentences: vec![rain, yes],
            }],
            ..Annotated::default()
        }
    }

    #[test]
    fn sentences_have_ten_columns_and_their_text() {
        let mut out = String::new();
        write(&document(), &mut out);
        let id = format!("{:032x}", 7);
        let expected = format!(
            "# newdoc id = {id}\n# url = http://e.org/ \n# newpar id = {id}-p1\n# kind = p\n# par_lang = fr\n# sent_id = {id}-s1\n# text = It rains.\n\
             1\tIt\tit\tPRON\t_\t_\t_\t_\t_\t_\n2\trains\train\t_\tVVZ\t_\t_\t_\t_\tSpaceAfter=No\n3\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n\
             # sent_id = {id}-s2\n# text = Yes\n1\tYes\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        );
        assert_eq!(out, expected);
    }

    #[test]
    fn a_token_for_several_words_is_a_range() {
        let mut sentence =
            [token("du", "de+le", "ADP+DET", true), token("vin", "vin", "NOUN", false), token("+", "+", "", true)];
        sentence[0].feats = "+Definite=Def|Number=Sing".into();
        sentence[1].feats = "Gender=Masc|Number=Sing".into();
        let wanted = "# text = du vin+\n\
            1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n\
            1\t_\tde\tADP\t_\t_\t_\t_\t_\t_\n\
            2\t_\tle\tDET\t_\tDefinite=Def|Number=Sing\t_\t_\t_\t_\n\
            3\tvin\tvin\tNOUN\t_\tGender=Masc|Number=Sing\t_\t_\t_\tSpaceAfter=No\n\
            4\t+\t+\t_\t_\t_\t_\t_\t_\t_\n\n";
        let mut out = String::new();
        write_sentence(&sentence, &mut out);
        assert_eq!(out, wanted);
    }

    #[test]
    fn three_numbers_run_through_all_documents() {
        let (mut numbers, mut out) = (Numbers::default(), String::new());
        write_plus(&document(), &mut numbers, &PlusLayers::default(), &mut out);
        write_plus(&document(), &mut numbers, &PlusLayers::default(), &mut out);
        let rows: Vec<&str> = out.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect();
        assert!(rows[3].ends_with("\t4\t2\t1") && rows[4].ends_with("\t5\t3\t2"), "{rows:?}");
        assert_eq!(numbers, Numbers { token: 9, sentence: 5, text: 3 });
        assert!(COLUMNS.split(' ').count() == 3 + 13);
    }

    #[test]
    fn values_of_attributes_are_escaped() {
        assert_eq!(misc([("a", "x|y"), ("b", ""), ("c", "\\")]), "a=x\\py|c=\\\\");
        assert_eq!(misc([]), "_");
    }
}
