//! Builders of the columns that have structure: pages, sentences, tokens.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, ListArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use tidings_model::Licence;
use tidings_pipeline::filter::extract::{Answer, Comment};
use tidings_pipeline::filter::tag::TaggedWord;

/// The name of the values of a list, as Arrow libraries have it.
const ITEM: &str = "item";

fn list_type(values: DataType) -> DataType {
    DataType::List(Arc::new(Field::new(ITEM, values, true)))
}

/// The columns of `extract_batch`.
#[derive(Default)]
pub struct ExtractColumns {
    url: StringBuilder,
    text: StringBuilder,
    reason: StringBuilder,
    title: StringBuilder,
    author: StringBuilder,
    authors: ListBuilder<StringBuilder>,
    date: StringBuilder,
    date_source: StringBuilder,
    modified: StringBuilder,
    language: StringBuilder,
    declared_language: StringBuilder,
    description: StringBuilder,
    page_type: StringBuilder,
    sitename: StringBuilder,
    site: StringBuilder,
    categories: ListBuilder<StringBuilder>,
    tags: ListBuilder<StringBuilder>,
    licence: LicenceColumn,
    canonical: StringBuilder,
    image: StringBuilder,
    comments: StringBuilder,
    comment_list: CommentColumn,
    extractor: StringBuilder,
    /// Why a row could not be read.
    pub error: StringBuilder,
}

impl ExtractColumns {
    /// The columns in order; those of comments only if they are extracted.
    pub fn fields(comments: bool) -> Vec<Field> {
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let list = |name: &str| Field::new(name, list_type(DataType::Utf8), true);
        let mut fields = vec![
            text("url"),
            text("text"),
            text("reason"),
            text("title"),
            text("author"),
            list("authors"),
            text("date"),
            text("date_source"),
            text("modified"),
            text("language"),
            text("declared_language"),
            text("description"),
            text("page_type"),
            text("sitename"),
            text("site"),
            list("categories"),
            list("tags"),
            Field::new("licence", DataType::Struct(LicenceColumn::fields()), true),
            text("canonical"),
            text("image"),
        ];
        if comments {
            fields.extend([text("comments"), CommentColumn::field()]);
        }
        fields.extend([text("extractor"), text("error")]);
        fields
    }

    /// Adds a page without its error.
    pub fn push(&mut self, answer: Answer<'_>) {
        self.url.append_value(answer.url);
        self.text.append_value(answer.text);
        self.reason.append_option(answer.reason);
        self.title.append_value(answer.title);
        self.author.append_value(answer.author);
        self.authors.append_value(answer.authors.iter().map(Some));
        self.date.append_option(answer.date);
        self.date_source.append_option(answer.date_source);
        self.modified.append_value(answer.modified);
        self.language.append_value(answer.language);
        self.declared_language.append_option(Some(answer.declared_language).filter(|language| !language.is_empty()));
        self.description.append_value(answer.description);
        self.page_type.append_value(answer.page_type);
        self.sitename.append_value(answer.sitename);
        self.site.append_value(answer.site);
        self.categories.append_value(answer.categories.iter().map(Some));
        self.tags.append_value(answer.tags.iter().map(Some));
        self.licence.push(answer.licence.as_ref());
        self.canonical.append_value(answer.canonical);
        self.image.append_value(answer.image);
        self.comments.append_option(answer.comments);
        self.comment_list.push(answer.comment_list.as_deref());
        self.extractor.append_value(answer.extractor);
    }

    /// Adds a row that could not be read, without its error.
    pub fn push_null(&mut self) {
        self.texts().for_each(StringBuilder::append_null);
        [&mut self.authors, &mut self.categories, &mut self.tags].into_iter().for_each(ListBuilder::append_null);
        self.licence.push(None);
        self.comment_list.push(None);
    }

    fn texts(&mut self) -> impl Iterator<Item = &mut StringBuilder> {
        [
            &mut self.url,
            &mut self.text,
            &mut self.reason,
            &mut self.title,
            &mut self.author,
            &mut self.date,
            &mut self.date_source,
            &mut self.modified,
            &mut self.language,
            &mut self.declared_language,
            &mut self.description,
            &mut self.page_type,
            &mut self.sitename,
            &mut self.site,
            &mut self.canonical,
            &mut self.image,
            &mut self.comments,
            &mut self.extractor,
        ]
        .into_iter()
    }

    /// The arrays in the order of [`ExtractColumns::fields`].
    pub fn finish(mut self, comments: bool) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(self.url.finish()),
            Arc::new(self.text.finish()),
            Arc::new(self.reason.finish()),
            Arc::new(self.title.finish()),
            Arc::new(self.author.finish()),
            Arc::new(self.authors.finish()),
            Arc::new(self.date.finish()),
            Arc::new(self.date_source.finish()),
            Arc::new(self.modified.finish()),
            Arc::new(self.language.finish()),
            Arc::new(self.declared_language.finish()),
            Arc::new(self.description.finish()),
            Arc::new(self.page_type.finish()),
            Arc::new(self.sitename.finish()),
            Arc::new(self.site.finish()),
            Arc::new(self.categories.finish()),
            Arc::new(self.tags.finish()),
            self.licence.finish()?,
            Arc::new(self.canonical.finish()),
            Arc::new(self.image.finish()),
        ];
        if comments {
            arrays.push(Arc::new(self.comments.finish()));
            arrays.push(self.comment_list.finish()?);
        }
        arrays.push(Arc::new(self.extractor.finish()));
        arrays.push(Arc::new(self.error.finish()));
        Ok(arrays)
    }
}

/// A column of licences.
struct LicenceColumn {
    name: StringBuilder,
    url: StringBuilder,
    evidence: StringBuilder,
    known: NullBufferBuilder,
}

impl Default for LicenceColumn {
    fn default() -> LicenceColumn {
        let [name, url, evidence] = [(); 3].map(|()| StringBuilder::new());
        LicenceColumn { name, url, evidence, known: NullBufferBuilder::new(0) }
    }
}

impl LicenceColumn {
    fn fields() -> Fields {
        ["name", "url", "evidence"].map(|name| Field::new(name, DataType::Utf8, true)).into_iter().collect()
    }

    fn push(&mut self, licence: Option<&Licence>) {
        self.name.append_option(licence.map(|licence| &licence.name));
        self.url.append_option(licence.map(|licence| &licence.url));
        self.evidence.append_option(licence.map(|licence| &licence.evidence));
        self.known.append(licence.is_some());
    }

    fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let arrays: Vec<ArrayRef> =
            vec![Arc::new(self.name.finish()), Arc::new(self.url.finish()), Arc::new(self.evidence.finish())];
        Ok(Arc::new(StructArray::try_new(LicenceColumn::fields(), arrays, self.known.finish())?))
    }
}

/// A column of reader comments: lists of author, date and text.
struct CommentColumn {
    author: StringBuilder,
    date: StringBuilder,
    text: StringBuilder,
    /// The number of comments of each page.
    lengths: Vec<usize>,
    known: NullBufferBuilder,
}

impl Default for CommentColumn {
    fn default() -> CommentColumn {
        let [author, date, text] = [(); 3].map(|()| StringBuilder::new());
        CommentColumn { author, date, text, lengths: Vec::new(), known: NullBufferBuilder::new(0) }
    }
}

impl CommentColumn {
    fn fields() -> Fields {
        ["author", "date", "text"].map(|name| Field::new(name, DataType::Utf8, true)).into_iter().collect()
    }

    fn field() -> Field {
        Field::new("comment_list", list_type(DataType::Struct(CommentColumn::fields())), true)
    }

    fn push(&mut self, comments: Option<&[Comment]>) {
        self.known.append(comments.is_some());
        let comments = comments.unwrap_or_default();
        self.lengths.push(comments.len());
        for comment in comments {
            self.author.append_value(&comment.author);
            self.date.append_option(comment.date.as_deref());
            self.text.append_value(&comment.text);
        }
    }

    fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let arrays: Vec<ArrayRef> =
            vec![Arc::new(self.author.finish()), Arc::new(self.date.finish()), Arc::new(self.text.finish())];
        let comments: ArrayRef = Arc::new(StructArray::try_new(CommentColumn::fields(), arrays, None)?);
        let field = Arc::new(Field::new(ITEM, comments.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        Ok(Arc::new(ListArray::try_new(field, offsets, comments, self.known.finish())?))
    }
}

/// A column of texts as lists of sentences, which are lists of words or tokens.
pub struct SentenceColumn {
    /// The number of values in each sentence.
    sentences: Vec<usize>,
    /// The number of sentences in each text.
    texts: Vec<usize>,
    known: NullBufferBuilder,
}

impl Default for SentenceColumn {
    fn default() -> SentenceColumn {
        SentenceColumn { sentences: Vec::new(), texts: Vec::new(), known: NullBufferBuilder::new(0) }
    }
}

impl SentenceColumn {
    /// The column over values of a type.
    pub fn field(values: DataType) -> Field {
        Field::new("sentences", list_type(list_type(values)), true)
    }

    /// Adds a text, given as the lengths of its sentences; `None` if it could not be read.
    pub fn push(&mut self, lengths: Option<impl Iterator<Item = usize>>) {
        let before = self.sentences.len();
        self.known.append(lengths.is_some());
        self.sentences.extend(lengths.into_iter().flatten());
        self.texts.push(self.sentences.len() - before);
    }

    /// The array over the values of all sentences.
    pub fn finish(mut self, values: ArrayRef) -> Result<ArrayRef, ArrowError> {
        let list = |values: ArrayRef, lengths: Vec<usize>, known| {
            let field = Arc::new(Field::new(ITEM, values.data_type().clone(), true));
            ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), values, known)
        };
        let sentences: ArrayRef = Arc::new(list(values, self.sentences, None)?);
        Ok(Arc::new(list(sentences, self.texts, self.known.finish())?))
    }
}

/// The columns of tokens.
#[derive(Default)]
pub struct TokenColumns {
    form: StringBuilder,
    lemma: StringBuilder,
    upos: StringBuilder,
    feats: StringBuilder,
    space: BooleanBuilder,
}

impl TokenColumns {
    fn fields() -> Fields {
        let text = ["form", "lemma", "upos", "feats"].map(|name| Field::new(name, DataType::Utf8, true));
        text.into_iter().chain([Field::new("space", DataType::Boolean, true)]).collect()
    }

    /// The type of a token.
    pub fn data_type() -> DataType {
        DataType::Struct(TokenColumns::fields())
    }

    /// Adds a token.
    pub fn push(&mut self, token: &TaggedWord) {
        self.form.append_value(&token.form);
        self.lemma.append_value(&token.lemma);
        self.upos.append_value(&token.upos);
        self.feats.append_value(&token.feats);
        self.space.append_value(token.space);
    }

    /// The array of tokens.
    pub fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.form.finish()),
            Arc::new(self.lemma.finish()),
            Arc::new(self.upos.finish()),
            Arc::new(self.feats.finish()),
            Arc::new(self.space.finish()),
        ];
        Ok(Arc::new(StructArray::try_new(TokenColumns::fields(), arrays, None)?))
    }
}
