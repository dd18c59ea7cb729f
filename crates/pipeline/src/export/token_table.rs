//! Parquet with tokens: a row per document, with lists of its tokens, their attributes and its spans.

use std::collections::BTreeMap;

use jiff::civil::{Date, date};
use serde_json::{Map, Value as Json};
use tidings_formats::parquet::{Field, Table, Type, Value};
use tidings_model::{Annotated, TextLayers};

use super::Options;
use super::documents::Partitions;
use super::selection::ExportItem;

/// The fields of a span.
const SPAN: [(&str, Type); 5] = [
    ("name", Type::Texts),
    ("start", Type::Numbers),
    ("end", Type::Numbers),
    ("text", Type::Texts),
    ("attributes", Type::Texts),
];

/// Files by language and month. All documents of a language have the same columns.
pub fn partitions(options: &Options) -> Partitions {
    let layers: BTreeMap<String, TextLayers> = options.layers.clone();
    Partitions::new(move |language| Table::of(fields(layers.get(language))), push)
}

fn fields(layers: Option<&TextLayers>) -> Vec<Field> {
    let column = |(name, kind): (&str, Type)| Field::Column(name.to_owned(), kind);
    let mut fields: Vec<Field> = [
        ("id", Type::Text),
        ("url", Type::Text),
        ("site", Type::Text),
        ("title", Type::OptionalText),
        ("date", Type::OptionalDay),
        ("word", Type::Texts),
        ("lemma", Type::Texts),
        ("tag", Type::Texts),
        ("feats", Type::Texts),
        ("space_after", Type::Numbers),
        ("sentence", Type::Numbers),
        ("paragraph", Type::Numbers),
    ]
    .map(column)
    .into();
    let names = layers.into_iter().flat_map(|layers| layers.columns.keys());
    fields.extend(names.map(|name| Field::Column(format!("layer_{name}"), Type::Texts)));
    fields.push(Field::Records("spans".to_owned(), SPAN.to_vec()));
    fields
}

/// Columns of the tokens of a document.
#[derive(Default)]
struct TokenColumns {
    texts: [Vec<String>; 4],
    space_after: Vec<u32>,
    /// The number of its sentence and of its paragraph.
    sentence: Vec<u32>,
    paragraph: Vec<u32>,
}

impl TokenColumns {
    fn of(document: &Annotated) -> TokenColumns {
        let mut columns = TokenColumns::default();
        let mut sentences = 0;
        for (number, paragraph) in (0..).zip(&document.paragraphs) {
            for sentence in &paragraph.sentences {
                for token in sentence {
                    let texts = [&token.word, &token.lemma, &token.tag, &token.feats];
                    columns.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text.to_string()));
                    columns.space_after.push(token.space_after.into());
                    columns.sentence.push(sentences);
                    columns.paragraph.push(number);
                }
                sentences += 1;
            }
        }
        columns
    }
}

/// Columns of the spans of a document.
#[derive(Default)]
struct SpanColumns {
    names: Vec<String>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    texts: Vec<String>,
    /// Attributes as an object in JSON.
    attributes: Vec<String>,
}

impl SpanColumns {
    fn of(document: &Annotated) -> SpanColumns {
        let tokens: Vec<_> = document.tokens().collect();
        let mut columns = SpanColumns::default();
        for span in &document.spans {
            let covered = tokens.get(span.start as usize..span.end as usize).unwrap_or_default();
            let spaced =
                covered.iter().flat_map(|token| [token.word.as_str(), if token.space_after { " " } else { "" }]);
            let object: Map<String, Json> =
                span.attributes.iter().map(|(name, value)| (name.clone(), Json::from(value.as_str()))).collect();
            columns.names.push(span.name.clone());
            columns.starts.push(span.start);
            columns.ends.push(span.end);
            columns.texts.push(spaced.collect::<String>().trim_end().to_owned());
            columns.attributes.push(Json::Object(object).to_string());
        }
        columns
    }
}

fn push(table: &mut Table, item: &ExportItem) {
    let Some(document) = &item.text else { return };
    let layers = table.columns_with_prefix("layer_");
    let about = &document.about;
    let day = about.date.parse::<Date>().ok().and_then(|day| day.since(date(1970, 1, 1)).ok());
    let TokenColumns { texts, space_after, sentence, paragraph } = TokenColumns::of(document);
    let none = vec![String::new(); space_after.len()];
    let further: Vec<&[String]> = layers
        .iter()
        .map(|name| {
            let column = document.columns.iter().find(|column| column.layer.name == *name);
            column.map_or(&none[..], |column| &column.values)
        })
        .collect();
    let spans = SpanColumns::of(document);
    let mut row = vec![
        Value::Text(&item.document.id),
        Value::Text(&about.url),
        Value::Text(about.field("site").unwrap_or_default()),
        if about.title.is_empty() { Value::Nothing } else { Value::Text(&about.title) },
        day.map_or(Value::Nothing, |span| Value::Day(span.get_days())),
    ];
    row.extend(texts.iter().map(|texts| Value::Texts(texts)));
    row.extend([&space_after, &sentence, &paragraph].map(|numbers| Value::Numbers(numbers)));
    row.extend(further.into_iter().map(Value::Texts));
    row.extend([
        Value::Texts(&spans.names),
        Value::Numbers(&spans.starts),
        Value::Numbers(&spans.ends),
        Value::Texts(&spans.texts),
        Value::Texts(&spans.attributes),
    ]);
    table.push(&row);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::{AnnotatedParagraph, LayerColumn, LayerDeclaration, LayerKind, Token, TokenSpan};

    #[test]
    fn a_document_is_a_row_of_lists() {
        let mut sentence: Vec<Token> = ["Ann", "ran", "."].map(|word| Token::new(word, "", "")).to_vec();
        sentence[1].space_after = false;
        let sentences = vec![sentence, vec![Token::new("Yes", "", "")]];
        let layer = |name: &str| LayerDeclaration { name: name.into(), kind: LayerKind::Number, origin: String::new() };
        let document = Annotated {
            paragraphs: vec![AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() }],
            columns: vec![LayerColumn { layer: layer("n"), values: vec!["1".into(); 4] }],
            spans: vec![TokenSpan::new("q", 1, 4).with("by", "\"A\"")],
            ..Annotated::default()
        };
        let tokens = TokenColumns::of(&document);
        assert_eq!((tokens.space_after, tokens.sentence), (vec![1, 0, 1, 1], vec![0, 0, 0, 1]));
        let spans = SpanColumns::of(&document);
        assert_eq!((&*spans.texts[0], &*spans.attributes[0]), ("ran. Yes", r#"{"by":"\"A\""}"#));
        let mut layers = TextLayers::of(&document);
        layers.columns.insert("other".to_owned(), LayerKind::Text);
        let mut table = Table::of(fields(Some(&layers)));
        push(&mut table, &ExportItem { text: Some(document), ..ExportItem::default() });
        push(&mut table, &ExportItem::default());
        assert_eq!(table.rows(), 1, "a document without new text is no row");
    }
}
