//! Documents: what is known about them, and their text where it may be seen.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidings_query::Rule;
use tidings_query::answer::Exactness;
use tidings_query::engine::Order;

use super::{Question, answer_schema};
use crate::endpoint::Stop;
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::rights::{Availability, FIELD};
use crate::schema::{Schema, list, map, maybe, object};

const USUAL_SIZE: u64 = 20;
const LONGEST_PAGE: u64 = 10_000;

const AVAILABILITIES: Schema = Schema::Words(&["open", "kwic", "metadata"]);

pub(crate) fn many_schema() -> Schema {
    let row = object([
        ("id", Schema::Text),
        ("date", Schema::Text),
        ("seen", Schema::Text),
        ("title", Schema::Text),
        ("url", Schema::Text),
        ("tokens", Schema::Integer),
        ("availability", AVAILABILITIES),
        ("fields", map(Schema::Text)),
    ]);
    answer_schema([
        ("documents", Schema::Integer),
        ("tokens", Schema::Integer),
        ("first", Schema::Integer),
        ("next", maybe(Schema::Text)),
        ("rows", list(row)),
    ])
}

pub(crate) fn many(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let given = &question.given;
    let engine = question.engine();
    let part = question.part()?;
    let order = if given.text("order") == Some("oldest") { Order::Oldest } else { Order::Newest };
    let size = given.number("size").unwrap_or(if reply.is_stream() { 1_000_000 } else { USUAL_SIZE });
    if size > LONGEST_PAGE && !reply.is_stream() {
        let error =
            format!("a page has at most {LONGEST_PAGE} rows; ask for more as a stream, with format=jsonl or csv");
        return Err(Refusal::wrong("size", error).into());
    }
    let page = engine.page_of_documents(&part, order, question.first as usize, size as usize);
    reply.about(question.about(Rule::default(), Exactness::Exact));
    reply.say("documents", engine.documents(&part));
    reply.say("tokens", engine.tokens(&part));
    reply.say("first", question.first);
    reply.say("next", question.next(page.len() as u64, size));
    let fields = given.names("fields");
    for (segment, document) in page {
        let mut row = known(question, segment, document)?;
        if let Some(Value::Object(all)) = row.get_mut("fields") {
            all.retain(|name, _| fields.contains(&name.as_str()));
        }
        reply.row(row)?;
    }
    Ok(())
}

/// All that is known about a document, without its text.
fn known(question: &Question<'_>, segment: usize, document: u32) -> Result<Value, Refusal> {
    let snapshot = question.engine().snapshot();
    let segment = snapshot.segments()[segment].segment();
    let about = segment.document(document)?;
    let told = about.fields.iter().find(|(name, _)| name == FIELD).map(|(_, value)| value.as_str());
    let availability = Availability::of_field(told, question.right.default);
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
    answer_schema([
        ("id", Schema::Text),
        ("date", Schema::Text),
        ("seen", Schema::Text),
        ("title", Schema::Text),
        ("url", Schema::Text),
        ("tokens", Schema::Integer),
        ("availability", AVAILABILITIES),
        ("fields", map(Schema::Text)),
        ("restricted", Schema::Flag),
        ("?paragraphs", list(Schema::Text)),
    ])
}

pub(crate) fn one(question: &Question<'_>, reply: &mut Reply) -> Result<(), Stop> {
    let unknown = || Refusal::unknown("there is no document of this id; an id has 32 hexadecimal digits");
    let is_id = question.id.len() == 32 && question.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = u128::from_str_radix(&question.id, 16).ok().filter(|_| is_id).ok_or_else(unknown)?;
    let snapshot = question.engine().snapshot();
    let (segment, document) = snapshot.find_document(id).pop().ok_or_else(unknown)?;
    let body = known(question, segment, document)?;
    let availability = Availability::of_field(body["availability"].as_str(), question.right.default);
    reply.about(question.about(Rule::default(), Exactness::Exact));
    let shown = question.right.shows_text(availability);
    reply.say("restricted", !shown);
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
        reply.say("paragraphs", paragraphs.collect::<Vec<String>>());
    }
    Ok(reply.body(body)?)
}
