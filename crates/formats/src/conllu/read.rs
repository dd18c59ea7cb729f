//! CoNLL-U and CoNLL-U Plus: one token per line in ten columns, an empty line after each sentence, comments with `#`.
//!
//! Reads the surface tokens: a multiword token (`zum` → `zu dem`) is one token whose lemma, tag and features are those
//! of its words, joined by `+`; empty nodes and invalid Universal Dependencies features are ignored, and so are
//! dependencies. Further columns of CoNLL-U Plus are further attributes of tokens.

use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use tidings_model::{Annotated, AnnotatedParagraph, Attributes, LayerColumn, LayerDeclaration, Token, feats};

use super::layers::{self, LAYER, MAX_LAYERS, SPAN_COLUMN, SPANS, SpanReader};
use crate::error::{Context, Result};
use crate::vertical::{MAX_FIELDS, is_name};

/// The maximum length of a line.
const MAX_LINE_BYTES: usize = 1 << 20;
/// The maximum number of tokens of a document; a file without documents is split after as many.
const MAX_TOKENS: usize = 200_000;
/// The maximum number of tokens of a sentence.
const MAX_SENTENCE: usize = 10_000;

/// The positions of the columns.
#[derive(Debug, Clone)]
struct Columns {
    id: usize,
    form: usize,
    lemma: Option<usize>,
    tag: Option<usize>,
    feats: Option<usize>,
    own_tag: Option<usize>,
    misc: Option<usize>,
    spans: Option<usize>,
    /// Further attributes of tokens.
    layers: Vec<(usize, LayerDeclaration)>,
}

impl Default for Columns {
    fn default() -> Columns {
        Columns {
            id: 0,
            form: 1,
            lemma: Some(2),
            tag: Some(3),
            own_tag: Some(4),
            feats: Some(5),
            misc: Some(9),
            spans: None,
            layers: Vec::new(),
        }
    }
}

/// Reads documents.
pub struct Reader<R> {
    input: R,
    path: PathBuf,
    line: Vec<u8>,
    columns: Columns,
    /// The metadata of the next document.
    next: Option<Attributes>,
    /// Whether comments belong to the head of the document, and the attributes of the next paragraph.
    is_heading: bool,
    paragraph: AnnotatedParagraph,
    /// The layers that the document declares.
    declared: Vec<LayerDeclaration>,
    ended: bool,
    /// Sentences that could not be read.
    pub bad_sentences: u64,
}

/// Cells of a token with further layers.
#[derive(Default)]
struct TokenCells {
    /// The value of each layer.
    values: Vec<String>,
    spans: String,
}

/// The position of the values of a layer.
enum LayerSource {
    /// A column. Values are encoded if the document declares the layer.
    Column { at: usize, is_encoded: bool },
    /// A key of MISC.
    Misc,
}

/// A document in progress.
struct PartialDocument {
    document: Annotated,
    sources: Vec<LayerSource>,
    spans: SpanReader,
    tokens: u32,
    starts_paragraph: bool,
}

impl PartialDocument {
    fn new(about: Attributes) -> PartialDocument {
        PartialDocument {
            document: Annotated { about, ..Annotated::default() },
            sources: Vec::new(),
            spans: SpanReader::default(),
            tokens: 0,
            starts_paragraph: true,
        }
    }

    /// Begins the layers of the document, before its first token.
    fn set_layers(&mut self, columns: &Columns, declared: &[LayerDeclaration]) {
        if self.tokens > 0 || !self.sources.is_empty() {
            return;
        }
        let mut layers: Vec<(LayerDeclaration, LayerSource)> = Vec::new();
        for (at, layer) in &columns.layers {
            let known = declared.iter().find(|known| known.name == layer.name);
            let source = LayerSource::Column { at: *at, is_encoded: known.is_some() };
            layers.push((known.unwrap_or(layer).clone(), source));
        }
        for layer in declared {
            if !layers.iter().any(|(known, _)| known.name == layer.name) {
                layers.push((layer.clone(), LayerSource::Misc));
            }
        }
        // The order of declarations is the order in the document.
        let rank = |layer: &LayerDeclaration| declared.iter().position(|known| known.name == layer.name);
        layers.sort_by_key(|(layer, _)| rank(layer).unwrap_or(MAX_LAYERS));
        layers.truncate(MAX_LAYERS);
        for (layer, source) in layers {
            self.document.columns.push(LayerColumn { layer, values: Vec::new() });
            self.sources.push(source);
        }
    }

    /// The document with its layers; undeclared columns without a value are left out.
    fn finish(self, declared: &[LayerDeclaration]) -> Annotated {
        let mut document = self.document;
        document.spans = self.spans.finish(self.tokens);
        let is_declared = |layer: &LayerDeclaration| declared.iter().any(|known| known.name == layer.name);
        document
            .columns
            .retain(|column| is_declared(&column.layer) || column.values.iter().any(|value| !value.is_empty()));
        document
    }
}

/// A sentence in progress.
#[derive(Default)]
struct PartialSentence {
    tokens: Vec<Token>,
    /// The cells of further layers of each token.
    cells: Vec<TokenCells>,
    /// The first and the last syntactic word of a multiword token, and the index of the token.
    within: Option<(u32, u32, usize)>,
    is_bad: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`; `path` names it in errors.
    pub fn new(input: R, path: &Path) -> Reader<R> {
        Reader {
            input,
            path: path.to_owned(),
            line: Vec::new(),
            columns: Columns::default(),
            next: None,
            is_heading: true,
            paragraph: AnnotatedParagraph::default(),
            declared: Vec::new(),
            ended: false,
            bad_sentences: 0,
        }
    }

    /// The next document with at least one token; `None` at the end. The field `newdoc` of its attributes is its name
    /// in the file.
    pub fn next_document(&mut self) -> Result<Option<Annotated>> {
        let mut partial = PartialDocument::new(self.next.take().unwrap_or_default());
        let mut sentence = PartialSentence::default();
        while !self.ended {
            let Some(line) = self.read_line()? else {
                self.ended = true;
                self.finish(sentence, &mut partial);
                break;
            };
            if line.trim().is_empty() {
                self.finish(std::mem::take(&mut sentence), &mut partial);
                if partial.tokens as usize >= MAX_TOKENS {
                    let mut about = partial.document.about.clone();
                    // Pieces of a document are documents of their own.
                    about.fields.retain(|(name, _)| name != "newdoc");
                    self.next = Some(about);
                    return Ok(Some(partial.finish(&self.declared)));
                }
            } else if let Some(comment) = line.strip_prefix('#') {
                let (name, value) = comment.split_once('=').unwrap_or((comment, ""));
                if let Some(about) = self.comment(name.trim(), value.trim(), &mut partial) {
                    let document = partial.finish(&self.declared);
                    self.declared.clear();
                    if !document.paragraphs.is_empty() {
                        self.next = Some(about);
                        return Ok(Some(document));
                    }
                    partial = PartialDocument::new(about);
                }
            } else {
                partial.set_layers(&self.columns, &self.declared);
                sentence.push(&line, &self.columns, &partial);
            }
        }
        let document = partial.finish(&self.declared);
        Ok(Some(document).filter(|document| !document.paragraphs.is_empty()))
    }

    /// Reads a comment; returns the attributes of the next document if one begins.
    fn comment(&mut self, name: &str, value: &str, partial: &mut PartialDocument) -> Option<Attributes> {
        let new_paragraph = &mut partial.starts_paragraph;
        match name {
            "global.columns" => self.columns = columns(value),
            "newpar" | "newpar id" => (*new_paragraph, self.is_heading) = (true, false),
            "sent_id" | "text" => self.is_heading = false,
            "kind" if !self.is_heading && *new_paragraph => value.clone_into(&mut self.paragraph.kind),
            "par_lang" if *new_paragraph => value.clone_into(&mut self.paragraph.language),
            LAYER if self.is_heading && partial.tokens == 0 && self.declared.len() < MAX_LAYERS => {
                let layer = layers::parse_declaration(value);
                let is_new = |layer: &LayerDeclaration| !self.declared.iter().any(|known| known.name == layer.name);
                let layer = layer.filter(is_new);
                self.declared.extend(layer);
            }
            "newdoc" | "newdoc id" => {
                self.is_heading = true;
                let fields = vec![("newdoc".to_owned(), value.to_owned())];
                return Some(Attributes { fields, ..Attributes::default() });
            }
            _ => note(name, value, self.is_heading, &mut partial.document.about),
        }
        None
    }

    fn finish(&mut self, sentence: PartialSentence, partial: &mut PartialDocument) {
        if sentence.is_bad {
            self.bad_sentences += 1;
        } else if !sentence.tokens.is_empty() {
            let PartialSentence { mut tokens, cells, .. } = sentence;
            for token in tokens.iter_mut().filter(|token| !token.feats.is_empty()) {
                token.feats = feats::canonical(&token.feats).unwrap_or_default().into();
            }
            for TokenCells { values, spans } in cells {
                partial.document.columns.iter_mut().zip(values).for_each(|(column, value)| column.values.push(value));
                if !spans.is_empty() {
                    partial.spans.read(&spans, partial.tokens);
                }
                partial.tokens += 1;
            }
            let paragraphs = &mut partial.document.paragraphs;
            if std::mem::take(&mut partial.starts_paragraph) {
                paragraphs.push(std::mem::take(&mut self.paragraph));
            }
            paragraphs.last_mut().expect("pushed above").sentences.push(tokens);
        }
    }

    /// The next line without its end; a line that is too long or not UTF-8 invalidates its sentence.
    fn read_line(&mut self) -> Result<Option<String>> {
        self.line.clear();
        let read = (&mut self.input).take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut self.line);
        if read.context("read", &self.path)? == 0 {
            return Ok(None);
        }
        if self.line.last() != Some(&b'\n') && self.line.len() == MAX_LINE_BYTES {
            self.input.skip_until(b'\n').context("read", &self.path)?;
            return Ok(Some("?".to_owned()));
        }
        let text = std::str::from_utf8(&self.line).unwrap_or("?");
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

/// Reads document metadata from a comment. Names without a convention count only in the head.
fn note(name: &str, value: &str, is_heading: bool, about: &mut Attributes) {
    let place = match name {
        "url" | "source_url" | "meta::url" => &mut about.url,
        "title" | "meta::title" => &mut about.title,
        "date" | "meta::date" => &mut about.date,
        "seen" => &mut about.seen,
        _ => {
            let is_name = is_name(name) && about.field(name).is_none() && about.fields.len() < MAX_FIELDS;
            if is_heading && is_name && !value.is_empty() {
                about.fields.push((name.to_owned(), value.to_owned()));
            }
            return;
        }
    };
    if place.is_empty() {
        value.clone_into(place);
    }
}

fn columns(names: &str) -> Columns {
    /// The columns of CoNLL-U, and the numbers that exports of a home add.
    const KNOWN: [&str; 14] = [
        "ID",
        "FORM",
        "LEMMA",
        "UPOS",
        "XPOS",
        "FEATS",
        "HEAD",
        "DEPREL",
        "DEPS",
        "MISC",
        "TIDINGS:TOKEN",
        "TIDINGS:SENTENCE",
        "TIDINGS:TEXT",
        SPAN_COLUMN,
    ];
    let names: Vec<&str> = names.split_whitespace().collect();
    let is_further = |name: &&str| !KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name));
    let further = names.iter().enumerate().filter(|(_, name)| is_further(name));
    let layers = further.filter_map(|(at, name)| Some((at, layers::of_column(name)?))).take(MAX_LAYERS).collect();
    let place = |name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
    Columns {
        id: place("ID").unwrap_or(usize::MAX),
        form: place("FORM").unwrap_or(usize::MAX),
        lemma: place("LEMMA"),
        tag: place("UPOS"),
        own_tag: place("XPOS"),
        feats: place("FEATS"),
        misc: place("MISC"),
        spans: place(SPAN_COLUMN),
        layers,
    }
}

impl PartialSentence {
    fn push(&mut self, line: &str, columns: &Columns, document: &PartialDocument) {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell =
            |at: Option<usize>| at.and_then(|at| cells.get(at)).copied().filter(|cell| *cell != "_").unwrap_or("");
        let (Some(id), Some(form)) = (cells.get(columns.id), cells.get(columns.form)) else {
            self.is_bad = true;
            return;
        };
        // An empty node.
        if id.contains('.') {
            return;
        }
        let (first, last) = id.split_once('-').unwrap_or((id, id));
        let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else {
            self.is_bad = true;
            return;
        };
        let [lemma, feats] = [columns.lemma, columns.feats].map(cell);
        let tag = Some(cell(columns.tag)).filter(|tag| !tag.is_empty()).unwrap_or_else(|| cell(columns.own_tag));
        if let Some((begin, end, at)) = self.within.filter(|(_, end, _)| first <= *end) {
            let token = &mut self.tokens[at];
            // The position tells to which word features belong, so a word without any has an empty part.
            if token.feats.len() <= feats::MAX_BYTES {
                token.feats.push_str(if first > begin { "+" } else { "" });
                token.feats.push_str(feats);
            }
            for (sum, part) in [(&mut token.lemma, lemma), (&mut token.tag, tag)] {
                if !sum.is_empty() && !part.is_empty() {
                    sum.push('+');
                }
                sum.push_str(part);
            }
            self.within = Some((begin, end, at)).filter(|_| last < end);
            return;
        }
        if last > first {
            self.within = Some((first, last, self.tokens.len()));
        }
        let feats = if last > first { "" } else { feats };
        // An underscore may be a form: then it is a lemma too.
        let word = if form.is_empty() { "_" } else { form };
        let misc = cell(columns.misc);
        let space_after = !misc.split('|').any(|note| note == "SpaceAfter=No");
        self.cells.push(token_cells(&cells, misc, columns, document));
        self.tokens.push(Token {
            word: word.into(),
            lemma: lemma.into(),
            tag: tag.into(),
            feats: feats.into(),
            space_after,
        });
        self.is_bad |= self.tokens.len() > MAX_SENTENCE;
    }
}

/// The cells of further layers of a token.
fn token_cells(cells: &[&str], misc: &str, columns: &Columns, document: &PartialDocument) -> TokenCells {
    let of_misc =
        |name: &str| misc.split('|').find_map(|note| note.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default();
    let cell = |at: usize| cells.get(at).copied().filter(|cell| *cell != "_").unwrap_or_default();
    let value = |(column, source): (&LayerColumn, &LayerSource)| match source {
        LayerSource::Column { at, is_encoded: true } => layers::decode(cell(*at)),
        LayerSource::Column { at, is_encoded: false } => cell(*at).to_owned(),
        LayerSource::Misc => layers::decode(of_misc(&column.layer.name)),
    };
    let values = document.document.columns.iter().zip(&document.sources).map(value).collect();
    let spans = match columns.spans {
        Some(at) => cell(at),
        None => of_misc(SPANS),
    };
    TokenCells { values, spans: spans.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::TokenSpan;

    fn read(text: &str) -> (Vec<Annotated>, u64) {
        let mut reader = Reader::new(text.as_bytes(), Path::new("test.conllu"));
        let mut documents = Vec::new();
        while let Some(document) = reader.next_document().unwrap() {
            documents.push(document);
        }
        (documents, reader.bad_sentences)
    }

    #[test]
    fn surface_tokens_of_a_treebank_are_read() {
        let text = "# newdoc id = d1\n# newpar\n# sent_id = 1\n# text = Zum Haus.\n\
            1-2\tZum\t_\t_\t_\t_\t_\t_\t_\t_\n1\tZu\tzu\tADP\t_\t_\t_\t_\t_\t_\n2\tdem\tder\tDET\t_\tNumber=Sing|Case=Dat\t_\t_\t_\t_\n\
            3\tHaus\tHaus\tNOUN\t_\tCase=Dat|Number=Sing\t_\t_\t_\tSpaceAfter=No\n3.1\tx\tx\tX\t_\t_\t_\t_\t_\t_\n4\t.\t.\tPUNCT\t_\tnonsense\t_\t_\t_\t_\n\n\
            # newdoc id = d2\n1\tEnde\tEnde\tNOUN\t_\t_\t_\t_\t_\t_\n\n";
        let (documents, bad) = read(text);
        assert_eq!((documents.len(), bad), (2, 0));
        let words: Vec<_> = documents[0].paragraphs[0].sentences[0]
            .iter()
            .map(|token| (token.word.as_str(), token.lemma.as_str(), token.tag.as_str(), token.space_after))
            .collect();
        assert_eq!(
            words,
            [("Zum", "zu+der", "ADP+DET", true), ("Haus", "Haus", "NOUN", false), (".", ".", "PUNCT", true)]
        );
        let feats: Vec<&str> = documents[0].paragraphs[0].sentences[0].iter().map(|token| &*token.feats).collect();
        assert_eq!(feats, ["+Case=Dat|Number=Sing", "Case=Dat|Number=Sing", ""]);
        assert_eq!(documents[1].about.field("newdoc"), Some("d2"));
    }

    #[test]
    fn further_columns_of_conllu_plus_are_layers() {
        let text = "# global.columns = ID FORM UPOS PARSEME:MWE syllables mood\n\
            1\ta\tDET\t*\t1\t_\n2-3\tdog's\t_\t1:VID\t_\t_\n2\tdog\tNOUN\t9\t9\t_\n3\t's\tPART\t9\t9\t_\n\n";
        let (documents, bad) = read(text);
        assert_eq!(bad, 0);
        let columns: Vec<(&str, Vec<&str>)> = documents[0]
            .columns
            .iter()
            .map(|column| (&*column.layer.name, column.values.iter().map(|value| &**value).collect()))
            .collect();
        assert_eq!(columns, [("PARSEME_MWE", vec!["*", "1:VID"]), ("syllables", vec!["1", ""])]);
    }

    #[test]
    fn spans_may_cross_sentences_and_an_invalid_sentence_is_left_out_of_them() {
        let text =
            "# global.columns = ID FORM TIDINGS:SPANS\n1\ta\t(1:q[by=Bo]\n\nnonsense\n\n1\tb\t1),(2:ne)\n2\tc\t_\n\n";
        let (documents, bad) = read(text);
        let spans = [TokenSpan::new("q", 0, 2).with("by", "Bo"), TokenSpan::new("ne", 1, 2)];
        assert_eq!((&documents[0].spans[..], bad), (&spans[..], 1));
    }

    #[test]
    fn other_columns_are_read_and_an_invalid_sentence_is_skipped() {
        let text = "# global.columns = ID FORM UPOS\n1\ta\tDET\n2\tdog\tNOUN\n\nnonsense\n\n1\tcat\tNOUN\n";
        let (documents, bad) = read(text);
        assert_eq!((documents.len(), bad), (1, 1));
        assert_eq!(documents[0].paragraphs[0].sentences.len(), 2);
        assert_eq!(documents[0].paragraphs[0].sentences[0][1].tag, "NOUN");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(# newdoc\n|# global.columns = [A-Z ]{0,9}\n|\n|[0-9]{0,10}[-.]?[0-9]\t[a-z_]?\t[a-z_]?\n){0,12}") {
            let _ = read(&text);
        }
    }
}
