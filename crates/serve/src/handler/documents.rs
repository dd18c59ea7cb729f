//! Documents: what is known about them, and their text where it may be seen.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Value, json};
use tidings_model::{Annotated, Token};
use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, KwicToken};
use tidings_query::engine::Order;

use super::{ApiRequest, LONGEST_CONTEXT, answer_schema, token_schema};
use crate::api_error::ApiError;
use crate::endpoint::RequestError;
use crate::response::ResponseWriter;
use crate::rights::{Availability, FIELD};
use crate::schema::{Schema, list, map, maybe, object};

const USUAL_SIZE: u64 = 20;
const LONGEST_PAGE: u64 = 10_000;

const AVAILABILITIES: Schema = Schema::Words(&["open", "kwic", "metadata"]);

/// The properties of a document in [`known`].
fn known_properties() -> [(&'static str, Schema); 8] {
    [
        ("id", Schema::Text),
        ("date", Schema::Text),
        ("seen", Schema::Text),
        ("title", Schema::Text),
        ("url", Schema::Text),
        ("tokens", Schema::Integer),
        ("availability", AVAILABILITIES),
        ("fields", map(Schema::Text)),
    ]
}

pub(crate) fn many_schema() -> Schema {
    answer_schema([
        ("documents", Schema::Integer),
        ("tokens", Schema::Integer),
        ("first", Schema::Integer),
        ("next", maybe(Schema::Text)),
        ("rows", list(object(known_properties()))),
    ])
}

pub(crate) fn many(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let params = &request.params;
    let engine = request.engine();
    let part = request.part()?;
    let order = if params.text("order") == Some("oldest") { Order::Oldest } else { Order::Newest };
    let size = params.number("size").unwrap_or(if response.is_stream() { 1_000_000 } else { USUAL_SIZE });
    if size > LONGEST_PAGE && !response.is_stream() {
        let error =
            format!("a page has at most {LONGEST_PAGE} rows; ask for more as a stream, with format=jsonl or csv");
        return Err(ApiError::wrong("size", error).into());
    }
    let page = engine.page_of_documents(&part, order, request.first as usize, size as usize);
    response.about(request.about(MatchRule::default(), Exactness::Exact));
    response.set("documents", engine.documents(&part));
    response.set("tokens", engine.tokens(&part));
    response.set("first", request.first);
    response.set("next", request.next(page.len() as u64, size));
    let fields = params.names("fields");
    for (segment, document) in page {
        let mut row = known(request, segment, document)?;
        if let Some(Value::Object(all)) = row.get_mut("fields") {
            all.retain(|name, _| fields.contains(&name.as_str()));
        }
        response.row(row)?;
    }
    Ok(())
}

/// All that is known about a document, without its text.
fn known(request: &ApiRequest<'_>, segment: usize, document: u32) -> Result<Value, ApiError> {
    let snapshot = request.engine().snapshot();
    let segment = snapshot.segments()[segment].segment();
    let about = segment.document(document)?;
    let told = about.fields.iter().find(|(name, _)| name == FIELD).map(|(_, value)| value.as_str());
    let availability = Availability::of_field(told, request.right.default);
    let fields: BTreeMap<&String, &String> = about.fields.iter().map(|(name, value)| (name, value)).collect();
    Ok(json!({
        "id": format!("{:032x}", about.id),
        "date": about.day.to_string(),
        "seen": about.seen.to_string(),
        "title": about.title,
        "url": about.url,
        "tokens": segment.tokens_of(document).len(),
        "availability": availability.name(),
        "fields": fields,
    }))
}

pub(crate) fn one_schema() -> Schema {
    let own = [("restricted", Schema::Flag), ("?paragraphs", list(Schema::Text))];
    answer_schema(known_properties().into_iter().chain(own))
}

/// The document that is asked for, as segment and number.
fn asked(request: &ApiRequest<'_>) -> Result<(usize, u32), ApiError> {
    let unknown = || ApiError::unknown("there is no document of this id; an id has 32 hexadecimal digits");
    let is_id = request.id.len() == 32 && request.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = u128::from_str_radix(&request.id, 16).ok().filter(|_| is_id).ok_or_else(unknown)?;
    request.engine().snapshot().find_document(id).pop().ok_or_else(unknown)
}

pub(crate) fn one(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let snapshot = request.engine().snapshot();
    let (segment, document) = asked(request)?;
    let body = known(request, segment, document)?;
    let availability = availability_of(request, &body);
    response.about(request.about(MatchRule::default(), Exactness::Exact));
    let shown = request.right.shows_text(availability);
    response.set("restricted", !shown);
    if shown {
        let annotated = snapshot.annotated(segment, document)?;
        let paragraphs = annotated.paragraphs.iter().map(|paragraph| {
            let mut text = String::new();
            for token in paragraph.sentences.iter().flatten() {
                text.push_str(&token.word);
                text.push_str(if token.space_after { " " } else { "" });
            }
            text.trim_end().to_owned()
        });
        response.set("paragraphs", paragraphs.collect::<Vec<String>>());
    }
    Ok(response.body(body)?)
}

fn availability_of(request: &ApiRequest<'_>, known: &Value) -> Availability {
    Availability::of_field(known["availability"].as_str(), request.right.default)
}

pub(crate) fn context_schema() -> Schema {
    let sentence =
        object([("paragraph", Schema::Integer), ("position", Schema::Integer), ("tokens", list(token_schema()))]);
    answer_schema([
        ("document", Schema::Text),
        ("availability", AVAILABILITIES),
        ("restricted", Schema::Flag),
        ("shortened", Schema::Flag),
        ("sentences", list(sentence)),
    ])
}

/// What stands around a token of a document: sentences or paragraphs, no farther than lines may show if that is the right.
pub(crate) fn context(request: &ApiRequest<'_>, response: &mut ResponseWriter) -> Result<(), RequestError> {
    let params = &request.params;
    let (segment, document) = asked(request)?;
    let body = known(request, segment, document)?;
    let availability = availability_of(request, &body);
    response.about(request.about(MatchRule::default(), Exactness::Exact));
    response.set("document", &body["id"]);
    response.set("availability", availability.name());
    let right = request.right;
    let is_shown = right.shows_lines(availability) || right.shows_text(availability);
    response.set("restricted", !is_shown);
    if !is_shown {
        response.set("shortened", false);
        return Ok(());
    }
    let position = params.number("position").unwrap_or(0);
    let annotated = request.engine().snapshot().annotated(segment, document)?;
    let sentences = sentences_of(&annotated);
    let place = sentences.iter().position(|sentence| sentence.tokens.contains(&(position as usize)));
    let place = place
        .ok_or_else(|| ApiError::wrong("position", "the document has no token of this number; they count from 0"))?;
    let around = params.number("around").unwrap_or(1) as usize;
    let wanted = |at: usize, sentence: &Sentence<'_>| match params.text("unit") {
        Some("sentence") => at.abs_diff(place) <= around,
        _ => sentence.paragraph.abs_diff(sentences[place].paragraph) <= around,
    };
    // Who may see lines sees no more of a document at once than a line of the longest context.
    let reach = match right.shows_text(availability) {
        true => 0..usize::MAX,
        false => (position.saturating_sub(LONGEST_CONTEXT) as usize)..(position + LONGEST_CONTEXT + 1) as usize,
    };
    let (mut shortened, mut rows) = (false, Vec::new());
    for (_, sentence) in sentences.iter().enumerate().filter(|(at, sentence)| wanted(*at, sentence)) {
        let shown = sentence.tokens.start.max(reach.start)..sentence.tokens.end.min(reach.end);
        shortened |= shown != sentence.tokens;
        if !shown.is_empty() {
            let first = sentence.tokens.start;
            let tokens = &sentence.text[shown.start - first..shown.end - first];
            let tokens: Vec<KwicToken> = tokens.iter().map(token_of).collect();
            rows.push(json!({ "paragraph": sentence.paragraph, "position": shown.start, "tokens": tokens }));
        }
    }
    response.set("shortened", shortened);
    rows.into_iter().try_for_each(|row| Ok(response.row(row)?))
}

/// A sentence of a document: its paragraph, the numbers of its tokens, and these.
struct Sentence<'a> {
    paragraph: usize,
    tokens: Range<usize>,
    text: &'a [Token],
}

fn sentences_of(document: &Annotated) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let mut next = 0;
    for (paragraph, part) in document.paragraphs.iter().enumerate() {
        for text in &part.sentences {
            sentences.push(Sentence { paragraph, tokens: next..next + text.len(), text });
            next += text.len();
        }
    }
    sentences
}

fn token_of(token: &Token) -> KwicToken {
    let Token { word, lemma, tag, feats, space_after } = token.clone();
    KwicToken { word, lemma, tag, feats, space_after }
}
