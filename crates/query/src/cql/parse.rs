//! Reads a query, by recursive descent.

use super::ast::*;
use super::{MAX_BYTES, MAX_REPEAT, check};
use crate::filter;
use crate::syntax::{Cursor, Logic, Span, SyntaxError, ValueMatcher, read_logic, unescape};

/// Signs that make a text CQL. Without any of them it is plain words, whatever they are.
const SIGNS: &[char] = &['[', ']', '(', ')', '{', '}', '<', '>', '"', '|'];
/// Signs that end a bare word among CQL.
const NOT_IN_BARE_WORDS: &[char] = &['&', '?', '*', '+', ':', '=', '!', '%', '\\'];

/// Reads a query: CQL, bare words, or a phrase in quotes.
pub fn parse(text: &str) -> Result<Query, SyntaxError> {
    if text.len() > MAX_BYTES {
        let span = Span::new(0, 0);
        return Err(SyntaxError::new(span, format!("the query is longer than {MAX_BYTES} bytes")));
    }
    let query = if text.contains(SIGNS) { read_query(text)? } else { plain_words(text)? };
    check::check(&query)?;
    Ok(query)
}

/// Words without any sign of CQL: one token each, exactly so, in this order.
fn plain_words(text: &str) -> Result<Query, SyntaxError> {
    let pattern = phrase(text, 0, str::to_owned)
        .ok_or_else(|| SyntaxError::new(Span::new(0, 0), "the query is empty").help("write a word, or [] for any"))?;
    Ok(Query { pattern, restrictions: Vec::new(), constraints: Vec::new() })
}

/// The words of a text that begins at a byte of the query.
fn phrase(text: &str, offset: usize, meaning: impl Fn(&str) -> String) -> Option<Pattern> {
    let words = text.split_whitespace().map(|word| {
        let from = offset + (word.as_ptr() as usize - text.as_ptr() as usize);
        let span = Span::new(from, from + word.len());
        word_pattern(ValueMatcher::typed(&meaning(word)), span)
    });
    one_or(words.collect(), PatternKind::Sequence)
}

fn word_pattern(value: ValueMatcher, span: Span) -> Pattern {
    let test = TokenTest { attribute: Attribute::Word, negated: false, value, span };
    Pattern { kind: PatternKind::Token(Logic::Test(test)), span }
}

fn one_or(mut parts: Vec<Pattern>, many: fn(Vec<Pattern>) -> PatternKind) -> Option<Pattern> {
    let span = Span::new(parts.first()?.span.start, parts.last()?.span.end);
    if parts.len() == 1 { parts.pop() } else { Some(Pattern { kind: many(parts), span }) }
}

fn read_query(text: &str) -> Result<Query, SyntaxError> {
    let mut cursor = Cursor::new(text);
    let pattern = read_alternatives(&mut cursor)?;
    let mut restrictions = Vec::new();
    while let Some(restriction) = read_restriction(&mut cursor)? {
        restrictions.push(restriction);
    }
    let mut constraints = Vec::new();
    if cursor.eat("::") {
        constraints.push(read_constraint(&mut cursor)?);
        while cursor.eat("&") {
            constraints.push(read_constraint(&mut cursor)?);
        }
    }
    // CQP ends its queries with a semicolon, and people copy them.
    cursor.eat(";");
    if !cursor.is_done() {
        return Err(cursor.unexpected("a token, within, containing, :: or the end"));
    }
    Ok(Query { pattern, restrictions, constraints })
}

fn read_alternatives(cursor: &mut Cursor<'_>) -> Result<Pattern, SyntaxError> {
    cursor.deeper(|cursor| {
        let mut alternatives = vec![read_sequence(cursor)?];
        while cursor.eat("|") {
            alternatives.push(read_sequence(cursor)?);
        }
        Ok(one_or(alternatives, PatternKind::Alternatives).expect("one was read"))
    })
}

fn read_sequence(cursor: &mut Cursor<'_>) -> Result<Pattern, SyntaxError> {
    let mut parts = Vec::new();
    loop {
        let is_string = cursor.peek() == Some('"');
        match read_part(cursor)? {
            // A phrase that nothing repeats is as good as its words.
            Some(Pattern { kind: PatternKind::Sequence(words), .. }) if is_string => parts.extend(words),
            Some(part) => parts.push(part),
            None => break,
        }
    }
    one_or(parts, PatternKind::Sequence)
        .ok_or_else(|| cursor.unexpected("a token such as [lemma=\"go\"], \"go\" or go"))
}

/// An atom with its label and its repetition.
fn read_part(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    cursor.skip_blanks();
    let from = cursor.at();
    let label = read_label(cursor);
    let Some(mut pattern) = read_atom(cursor)? else {
        return match label {
            Some(label) => Err(cursor.unexpected(&format!("a token behind the label {label}:"))),
            None => Ok(None),
        };
    };
    if let Some(label) = label {
        let span = cursor.span_from(from);
        if !matches!(pattern.kind, PatternKind::Any | PatternKind::Token(_)) {
            return Err(SyntaxError::new(span, format!("the label {label} stands before more than one token")));
        }
        pattern = Pattern { kind: PatternKind::Labelled { label, token: Box::new(pattern) }, span };
    }
    if let Some((at_least, at_most)) = read_repetition(cursor)? {
        let kind = PatternKind::Repeat { of: Box::new(pattern), at_least, at_most };
        pattern = Pattern { kind, span: cursor.span_from(from) };
        if matches!(cursor.peek(), Some('?' | '*' | '+' | '{')) {
            return Err(cursor.unexpected("no second repetition").help("put parentheses around the first"));
        }
    }
    Ok(Some(pattern))
}

/// `a:`, but not the first half of `::`.
fn read_label(cursor: &mut Cursor<'_>) -> Option<String> {
    let name = cursor.peek_name();
    let behind = cursor.rest()[name.len()..].trim_start();
    if name.is_empty() || !behind.starts_with(':') || behind.starts_with("::") {
        return None;
    }
    let label = name.to_owned();
    cursor.name("a label").ok()?;
    cursor.eat(":");
    Some(label)
}

fn read_atom(cursor: &mut Cursor<'_>) -> Result<Option<Pattern>, SyntaxError> {
    let next = cursor.peek();
    let from = cursor.at();
    let kind = match next {
        Some('[') => read_token(cursor)?,
        Some('"') => return read_string(cursor).map(Some),
        Some('(') => {
            cursor.eat("(");
            let inner = read_alternatives(cursor)?;
            if keyword(cursor).is_some() {
                return Err(cursor
                    .unexpected(") to close the group")
                    .help("within and containing stand behind the whole query"));
            }
            cursor.expect(")", "to close the group")?;
            return Ok(Some(Pattern { span: cursor.span_from(from), ..inner }));
        }
        Some('<') => read_tag(cursor)?,
        Some(c) if c.is_whitespace() || SIGNS.contains(&c) || NOT_IN_BARE_WORDS.contains(&c) || c == ';' => {
            return Ok(None);
        }
        None => return Ok(None),
        Some(_) if keyword(cursor).is_some() => return Ok(None),
        Some(_) => {
            let word = cursor.take_while(|c| {
                !c.is_whitespace() && !SIGNS.contains(&c) && !NOT_IN_BARE_WORDS.contains(&c) && c != ';'
            });
            return Ok(Some(word_pattern(ValueMatcher::typed(word), cursor.span_from(from))));
        }
    };
    Ok(Some(Pattern { kind, span: cursor.span_from(from) }))
}

/// A word that belongs to the language. In quotes it is an ordinary word.
fn keyword(cursor: &mut Cursor<'_>) -> Option<Inclusion> {
    match cursor.peek_name() {
        "within" => Some(Inclusion::Within),
        "containing" => Some(Inclusion::Containing),
        _ => None,
    }
}

fn read_token(cursor: &mut Cursor<'_>) -> Result<PatternKind, SyntaxError> {
    cursor.eat("[");
    if cursor.eat("]") {
        return Ok(PatternKind::Any);
    }
    let condition = read_logic(cursor, false, &mut read_token_test)?;
    cursor.expect("]", "to close the token, or & or |")?;
    Ok(PatternKind::Token(condition))
}

fn read_token_test(cursor: &mut Cursor<'_>) -> Result<TokenTest, SyntaxError> {
    cursor.skip_blanks();
    let from = cursor.at();
    if cursor.peek() == Some('"') {
        let (value, _) = ValueMatcher::read(cursor, false)?;
        return Ok(TokenTest { attribute: Attribute::Word, negated: false, value, span: cursor.span_from(from) });
    }
    let attribute = read_attribute(cursor)?;
    let (negated, exact) = read_equality(cursor)?;
    let (value, _) = ValueMatcher::read(cursor, exact)?;
    Ok(TokenTest { attribute, negated, value, span: cursor.span_from(from) })
}

fn read_attribute(cursor: &mut Cursor<'_>) -> Result<Attribute, SyntaxError> {
    let (plain, mut span) = cursor.name("an attribute such as word, lemma or tag")?;
    let mut name = plain.to_owned();
    // `Number[psor]`: a feature may have a layer.
    if plain.starts_with(|c: char| c.is_ascii_uppercase()) && cursor.rest().starts_with('[') {
        cursor.eat("[");
        let (layer, _) = cursor.name("the layer of a feature, as in Number[psor]")?;
        cursor.expect("]", "to close the layer")?;
        name = format!("{plain}[{layer}]");
        span = cursor.span_from(span.start);
    }
    Attribute::named(&name).ok_or_else(|| {
        let known: Vec<&str> = ATTRIBUTES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        SyntaxError::new(span, format!("there is no attribute {name}")).help(suggest(&name, &known))
    })
}

/// Names the likeliest of the known names, or all of them.
fn suggest(name: &str, known: &[&str]) -> String {
    const TYPOS: usize = 2;
    let name = name.to_lowercase();
    let distance = |candidate: &&str| strsim::damerau_levenshtein(candidate, &name);
    match known.iter().copied().min_by_key(distance).filter(|likely| distance(likely) <= TYPOS) {
        Some(likely) => format!("did you mean {likely}?"),
        None => format!("there are {}, and features such as Case or Number", known.join(", ")),
    }
}

/// `=`, `!=`, `==`, `!==`: negated?, exact?
fn read_equality(cursor: &mut Cursor<'_>) -> Result<(bool, bool), SyntaxError> {
    for (sign, meaning) in [("!==", (true, true)), ("==", (false, true)), ("!=", (true, false)), ("=", (false, false))]
    {
        if cursor.eat(sign) {
            return Ok(meaning);
        }
    }
    Err(cursor.unexpected("=, !=, == or !=="))
}

/// A string among tokens: one token, or a phrase if it has blanks.
fn read_string(cursor: &mut Cursor<'_>) -> Result<Pattern, SyntaxError> {
    let from = cursor.at();
    let mut ahead = Cursor::new(cursor.rest());
    let raw = ahead
        .quoted()
        .map_err(|error| SyntaxError { span: Span::new(from + error.span.start, from + error.span.end), ..error })?;
    if raw.trim().contains(char::is_whitespace) {
        let pattern =
            phrase(raw, from + 1, |word| unescape(word, true)).expect("there is something between the blanks");
        cursor.quoted()?;
        if cursor.looks_at("%") {
            return Err(cursor.unexpected("no flag behind a phrase").help("give each word its own quotes"));
        }
        return Ok(pattern);
    }
    if raw.trim().is_empty() {
        let span = Span::new(from, from + raw.len() + 2);
        return Err(SyntaxError::new(span, "the string is empty").help("[] is any token"));
    }
    let (value, _) = ValueMatcher::read(cursor, false)?;
    Ok(word_pattern(value, cursor.span_from(from)))
}

/// `<s>`, `</s>`, `<s/>`, `<doc …/>`
fn read_tag(cursor: &mut Cursor<'_>) -> Result<PatternKind, SyntaxError> {
    cursor.eat("<");
    let closes = cursor.eat("/");
    let structure = read_structure(cursor)?;
    if closes {
        cursor.expect(">", "to close the tag")?;
        return Ok(PatternKind::End(structure));
    }
    if cursor.eat(">") {
        return Ok(PatternKind::Start(structure));
    }
    Ok(PatternKind::Whole(read_region(cursor, structure)?))
}

fn read_structure(cursor: &mut Cursor<'_>) -> Result<Structure, SyntaxError> {
    let (name, span) = cursor.name("a structure: s, p or doc")?;
    Structure::named(name)
        .ok_or_else(|| SyntaxError::new(span, format!("there is no structure {name}")).help("there are s, p and doc"))
}

/// What follows the name: fields and `/>`.
fn read_region(cursor: &mut Cursor<'_>, structure: Structure) -> Result<Region, SyntaxError> {
    if cursor.eat("/>") {
        return Ok(Region { structure, filter: None });
    }
    cursor.skip_blanks();
    let from = cursor.at();
    let filter = filter::read(cursor)?;
    if structure != Structure::Document {
        let message = format!("<{}> has no attributes", structure.name());
        return Err(SyntaxError::new(cursor.span_from(from), message).help("fields belong to <doc …/>"));
    }
    cursor.expect("/>", "to close the structure, or & or |")?;
    Ok(Region { structure, filter: Some(filter) })
}

fn read_repetition(cursor: &mut Cursor<'_>) -> Result<Option<(u32, Option<u32>)>, SyntaxError> {
    for (sign, times) in [("?", (0, Some(1))), ("*", (0, None)), ("+", (1, None))] {
        if cursor.eat(sign) {
            return Ok(Some(times));
        }
    }
    cursor.skip_blanks();
    let from = cursor.at();
    if !cursor.eat("{") {
        return Ok(None);
    }
    let at_least = if cursor.looks_at(",") { 0 } else { cursor.number()? };
    let at_most = match cursor.eat(",") {
        false => Some(at_least),
        true if cursor.looks_at("}") => None,
        true => Some(cursor.number()?),
    };
    cursor.expect("}", "to close the repetition")?;
    let span = cursor.span_from(from);
    let largest = at_most.unwrap_or(at_least).max(at_least);
    if at_most.is_some_and(|most| most < at_least) {
        return Err(SyntaxError::new(span, "the repetition ends before it begins").help("write {least,most}"));
    }
    if largest > MAX_REPEAT {
        return Err(SyntaxError::new(span, format!("more than {MAX_REPEAT} repetitions")));
    }
    if at_most == Some(0) {
        return Err(SyntaxError::new(span, "repeated zero times there is nothing left"));
    }
    Ok(Some((at_least, at_most)))
}

fn read_restriction(cursor: &mut Cursor<'_>) -> Result<Option<Restriction>, SyntaxError> {
    cursor.skip_blanks();
    let from = cursor.at();
    let negated = cursor.eat("!");
    let Some(relation) = keyword(cursor) else {
        return if negated { Err(cursor.unexpected("within or containing behind !")) } else { Ok(None) };
    };
    cursor.name("within or containing")?;
    let target = read_target(cursor)?;
    Ok(Some(Restriction { relation, negated, target, span: cursor.span_from(from) }))
}

fn read_target(cursor: &mut Cursor<'_>) -> Result<Target, SyntaxError> {
    // CQP writes `within s`.
    if let Some(structure) = Structure::named(cursor.peek_name()) {
        cursor.name("a structure")?;
        return Ok(Target::Region(Region { structure, filter: None }));
    }
    let pattern = read_alternatives(cursor)?;
    Ok(match pattern.kind {
        PatternKind::Whole(region) => Target::Region(region),
        _ => Target::Pattern(pattern),
    })
}

fn read_constraint(cursor: &mut Cursor<'_>) -> Result<Constraint, SyntaxError> {
    cursor.skip_blanks();
    let from = cursor.at();
    let left = read_reference(cursor)?;
    let (negated, exact) = read_equality(cursor)?;
    let right = match cursor.peek() {
        Some('"') => Comparand::Value(ValueMatcher::read(cursor, exact)?.0),
        _ => Comparand::Reference(read_reference(cursor)?),
    };
    Ok(Constraint { left, negated, right, span: cursor.span_from(from) })
}

fn read_reference(cursor: &mut Cursor<'_>) -> Result<Reference, SyntaxError> {
    let (label, _) = cursor.name("a label, as in a.lemma = b.lemma")?;
    cursor.expect(".", "and an attribute behind the label")?;
    Ok(Reference { label: label.to_owned(), attribute: read_attribute(cursor)? })
}
