//! Documents of a vertical file of another program or home.

use std::io::BufRead;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use tidings_formats::vertical::{self, Event, OpenSpans};
use tidings_formats::{Error, compressed};
use tidings_model::{Annotated, AnnotatedParagraph, LayerColumn, LayerDeclaration, LayerKind, Token, feats};

use super::source::{NAME, Raw};

/// The maximum number of tokens of a document; a longer one is split.
const MAX_TOKENS: u32 = 1 << 20;
/// The maximum number of further columns.
const MAX_LAYERS: usize = 64;
/// The origin of columns whose annotator is not known.
pub(super) const ORIGIN: &str = "import";

/// The positions of the attributes among the columns of a vertical file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    word: usize,
    lemma: Option<usize>,
    tag: Option<usize>,
    feats: Option<usize>,
    /// Further attributes with their positions.
    layers: Vec<(usize, LayerDeclaration)>,
    /// The number of columns. Those behind them are declared by the file, if at all.
    len: usize,
}

impl Columns {
    /// Finds `word`, `lemma`, `tag` and `feats` among the column names, and further attributes with their kind such as
    /// `syllables:number`; other columns are skipped.
    pub fn of_names(names: &[String]) -> Result<Columns> {
        let position = |name: &str| names.iter().position(|known| known == name);
        let Some(word) = position("word") else { bail!("--columns must contain `word`") };
        let mut layers: Vec<(usize, LayerDeclaration)> = Vec::new();
        for (at, text) in names.iter().enumerate().filter(|(_, text)| text.contains(':')) {
            let layer = declaration(text)?;
            if layers.iter().any(|(_, known)| known.name == layer.name) {
                bail!("--columns: `{}` occurs twice", layer.name);
            }
            layers.push((at, layer));
        }
        let [lemma, tag, feats] = ["lemma", "tag", "feats"].map(position);
        Ok(Columns { word, lemma, tag, feats, layers, len: names.len() })
    }

    /// The token on a line.
    fn token(&self, line: &str) -> Token {
        let mut token = Token { space_after: true, ..Token::default() };
        for (at, cell) in line.split('\t').enumerate() {
            let at = Some(at);
            if at == Some(self.word) {
                token.word = vertical::unescape(cell).into();
            } else if at == self.lemma {
                token.lemma = vertical::unescape(cell).into();
            } else if at == self.tag {
                token.tag = vertical::unescape(cell).into();
            } else if at == self.feats && !cell.is_empty() {
                // A fourth column may be anything in files of other programs.
                token.feats = feats::canonical(&vertical::unescape(cell)).unwrap_or_default().into();
            }
        }
        token
    }
}

/// The declaration of a column `name:kind`.
fn declaration(text: &str) -> Result<LayerDeclaration> {
    let (name, kind) = text.split_once(':').unwrap_or((text, ""));
    let kinds = LayerKind::ALL.map(LayerKind::name).join(", ");
    let kind = LayerKind::parse(kind).with_context(|| format!("--columns: `{kind}` is no kind; kinds: {kinds}"))?;
    if !vertical::is_layer_name(name) {
        bail!("--columns: `{name}` cannot be the name of an attribute; use letters, digits and _");
    }
    Ok(LayerDeclaration { name: name.to_owned(), kind, origin: ORIGIN.to_owned() })
}

/// Assembles the documents of a vertical file.
pub struct Vertical {
    reader: vertical::Reader<Box<dyn BufRead + Send>>,
    columns: Columns,
    number: u64,
    open: Option<OpenDocument>,
    ended: bool,
}

/// A document in progress.
struct OpenDocument {
    document: Annotated,
    spans: OpenSpans,
    tokens: u32,
    /// The position of the column of each further attribute.
    cells: Vec<usize>,
    /// The position of the next column that the file declares.
    next_cell: usize,
    is_glued: bool,
}

impl OpenDocument {
    fn new(document: Annotated, columns: &Columns) -> OpenDocument {
        let column = |(_, layer): &(usize, LayerDeclaration)| LayerColumn { layer: layer.clone(), values: Vec::new() };
        let layers = columns.layers.iter().map(column).collect();
        OpenDocument {
            document: Annotated { columns: layers, ..document },
            spans: OpenSpans::default(),
            tokens: 0,
            cells: columns.layers.iter().map(|(at, _)| *at).collect(),
            next_cell: columns.len,
            is_glued: false,
        }
    }

    /// Adds a column that the file declares; one that is known already is skipped.
    fn declare(&mut self, mut layer: LayerDeclaration) {
        let at = self.next_cell;
        self.next_cell += 1;
        let columns = &mut self.document.columns;
        if columns.len() < MAX_LAYERS && !columns.iter().any(|column| column.layer.name == layer.name) {
            if layer.origin.is_empty() {
                ORIGIN.clone_into(&mut layer.origin);
            }
            columns.push(LayerColumn { layer, values: vec![String::new(); self.tokens as usize] });
            self.cells.push(at);
        }
    }

    fn push(&mut self, line: &str, columns: &Columns) {
        push_token(last_paragraph(&mut self.document), columns.token(line), std::mem::take(&mut self.is_glued));
        self.tokens += 1;
        if !self.cells.is_empty() {
            let cells: Vec<&str> = line.split('\t').collect();
            for (column, at) in self.document.columns.iter_mut().zip(&self.cells) {
                column.values.push(vertical::unescape(cells.get(*at).unwrap_or(&"")).into_owned());
            }
        }
    }

    fn finish(mut self) -> Annotated {
        self.document.spans = self.spans.finish(self.tokens);
        self.document
    }
}

impl Vertical {
    pub(super) fn new(path: &Path, columns: Columns) -> Result<Vertical> {
        let reader = vertical::Reader::new(compressed::open(path)?, path);
        Ok(Vertical { reader, columns, number: 0, open: None, ended: false })
    }

    /// The number of documents so far.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn next(&mut self) -> Result<Option<Raw>> {
        while !self.ended {
            let event = match self.reader.next_event() {
                Ok(Some(event)) => event,
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(fault @ Error::Line { .. }) => {
                    log::debug!("{fault}");
                    return Ok(Some(Raw::LeftOut("bad-line")));
                }
                Err(error) => return Err(error.into()),
            };
            let new = || OpenDocument::new(Annotated::default(), &self.columns);
            match event {
                Event::Document(mut about) => {
                    about.fields.extend(self.reader.value("id").map(|id| (NAME.to_owned(), id)));
                    let document = Annotated { about: *about, ..Annotated::default() };
                    let before = self.open.replace(OpenDocument::new(document, &self.columns));
                    if before.is_some() {
                        return Ok(self.whole(before));
                    }
                }
                Event::End if self.open.is_some() => break,
                Event::End => {}
                Event::Paragraph => {
                    let [kind, language] = ["kind", "lang"].map(|name| self.reader.value(name).unwrap_or_default());
                    let paragraph = AnnotatedParagraph { kind, language, ..AnnotatedParagraph::default() };
                    self.open.get_or_insert_with(new).document.paragraphs.push(paragraph);
                }
                Event::Sentence => {
                    last_paragraph(&mut self.open.get_or_insert_with(new).document).sentences.push(Vec::new());
                }
                Event::Glue => self.open.iter_mut().for_each(|open| open.is_glued = true),
                Event::Layer(layer) => self.open.get_or_insert_with(new).declare(layer),
                // A structure around documents is none of a document.
                Event::SpanStart(_) | Event::SpanEnd(_) if self.open.is_none() => {}
                Event::SpanStart(tag) => {
                    let open = self.open.get_or_insert_with(new);
                    if let Err(fault) = open.spans.start(tag, open.tokens) {
                        log::debug!("{fault}");
                        return Ok(Some(Raw::LeftOut("bad-line")));
                    }
                }
                Event::SpanEnd(name) => {
                    let open = self.open.get_or_insert_with(new);
                    open.spans.end(name, open.tokens);
                }
                Event::Token(line) => {
                    let open = self.open.get_or_insert_with(new);
                    open.push(line, &self.columns);
                    if open.tokens > MAX_TOKENS {
                        return Ok(self.cut());
                    }
                }
            }
        }
        let last = self.open.take();
        Ok(self.whole(last))
    }

    /// Ends the open document and starts another with the same metadata and columns.
    fn cut(&mut self) -> Option<Raw> {
        let before = self.open.take()?;
        let mut about = before.document.about.clone();
        // Pieces of a document are documents of their own.
        about.fields.retain(|(name, _)| name != NAME);
        let columns = before.document.columns.iter();
        let columns = columns.map(|column| LayerColumn { layer: column.layer.clone(), values: Vec::new() });
        self.open = Some(OpenDocument {
            document: Annotated { about, columns: columns.collect(), ..Annotated::default() },
            cells: before.cells.clone(),
            next_cell: before.next_cell,
            ..OpenDocument::new(Annotated::default(), &self.columns)
        });
        self.whole(Some(before))
    }

    fn whole(&mut self, document: Option<OpenDocument>) -> Option<Raw> {
        let document = document?.finish();
        self.number += 1;
        Some(Raw::Annotated(Box::new(document), self.number))
    }
}

/// Appends a token to the last sentence, with or without a space before it.
fn push_token(paragraph: &mut AnnotatedParagraph, token: Token, no_space_before: bool) {
    if paragraph.sentences.is_empty() {
        paragraph.sentences.push(Vec::new());
    }
    let before = paragraph.sentences.iter_mut().rev().find_map(|sentence| sentence.last_mut());
    if let (true, Some(before)) = (no_space_before, before) {
        before.space_after = false;
    }
    paragraph.sentences.last_mut().expect("there is one now").push(token);
}

/// The last paragraph of a document; creates one if there is none.
fn last_paragraph(document: &mut Annotated) -> &mut AnnotatedParagraph {
    if document.paragraphs.is_empty() {
        document.paragraphs.push(AnnotatedParagraph::default());
    }
    document.paragraphs.last_mut().expect("there is one now")
}

#[cfg(test)]
mod tests {
    use super::super::format::ImportFormat;
    use super::super::source::{RecordFilter, RecordSource};
    use super::*;
    use tidings_formats::warc::Position;
    use tidings_model::TokenSpan;

    fn names(list: &str) -> Vec<String> {
        list.split(',').map(str::to_owned).collect()
    }

    fn open(text: &str, columns: &str) -> RecordSource {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.vert");
        std::fs::write(&path, text).unwrap();
        let columns = Columns::of_names(&names(columns)).unwrap();
        RecordSource::open(&path, ImportFormat::Vertical, Position::default(), RecordFilter::default(), &columns)
            .unwrap()
    }

    fn next(source: &mut RecordSource) -> Annotated {
        match source.next().unwrap() {
            Some(Raw::Annotated(document, _)) => *document,
            other => panic!("{other:?} is no document"),
        }
    }

    #[test]
    fn columns_are_found_by_name_and_word_is_required() {
        let columns = Columns::of_names(&names("tag,word,other")).unwrap();
        let token = columns.token("NOUN\tRain &amp; sun\tx");
        assert_eq!((token.word.as_str(), token.tag.as_str(), token.lemma.as_str()), ("Rain & sun", "NOUN", ""));
        assert_eq!(columns.token("NOUN").word, "", "a line may have fewer columns");
        assert!(Columns::of_names(&names("lemma,tag")).is_err());
        for (wrong, fault) in [
            ("word,n:count", "`count` is no kind; kinds: text, code, set, number"),
            ("word,lemma:text", "`lemma` cannot be the name"),
            ("word,n:text,n:code", "`n` occurs twice"),
        ] {
            let error = Columns::of_names(&names(wrong)).unwrap_err().to_string();
            assert!(error.contains(fault), "{error}");
        }
    }

    #[test]
    fn a_vertical_file_without_structures_is_one_document() {
        let mut source = open("<s>\nRain\n<g/>\n.\n</s>\n", "word");
        assert_eq!(next(&mut source).paragraphs[0].text(), "Rain.");
        assert!(source.next().unwrap().is_none());
        assert_eq!(source.place().records, 1);
    }

    #[test]
    fn structures_are_spans_and_further_columns_are_attributes() {
        let text = "<corpus>\n<doc id=\"a\">\n<layer name=\"mood\" kind=\"code\"/>\n<s>\n<ne type=\"PER\">\n\
            Ann\t1\tskipped\tgood\n</ne>\nran\t2\n</s>\n</doc>\n<doc>\n<text lang=\"en\">\nBo\t3\n</doc>\n</corpus>\n";
        let mut source = open(text, "word,n:number,other");
        let first = next(&mut source);
        assert_eq!(first.spans, [TokenSpan::new("ne", 0, 1).with("type", "PER")]);
        let columns: Vec<(&str, &str, Vec<&str>)> = first
            .columns
            .iter()
            .map(|LayerColumn { layer, values }| (&*layer.name, &*layer.origin, values.iter().map(|v| &**v).collect()))
            .collect();
        assert_eq!(columns, [("n", "import", vec!["1", "2"]), ("mood", "import", vec!["good", ""])]);
        let second = next(&mut source);
        assert_eq!((second.columns.len(), second.spans.len()), (1, 1), "a span without an end ends with its document");
    }
}
