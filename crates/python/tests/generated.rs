//! The Python methods of questions, and a test that they are up to date.
//!
//! `TIDINGS_BLESS=1 cargo test -p tidings-python --test generated` writes `python/tidings/_questions.py` again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use tidings_query::question::{About, Parameter, ParameterKind, QUESTIONS, QuestionInfo};

const BLESS: &str = "TIDINGS_BLESS=1 cargo test -p tidings-python --test generated";
const FILE: &str = "python/tidings/_questions.py";
/// The longest line of a docstring.
const WIDTH: usize = 100;

#[test]
fn the_methods_of_questions_are_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let expected = module();
    if std::fs::read_to_string(&path).unwrap_or_default() == expected {
        return;
    }
    assert!(std::env::var_os("TIDINGS_BLESS").is_some(), "{FILE} is out of date; run {BLESS} and commit it");
    std::fs::write(&path, expected).unwrap();
}

/// The module.
fn module() -> String {
    let mut text = format!(
        "\"\"\"The questions that a corpus answers, as methods.\n\nGenerated from the request and answer types; do not edit.\n\
         {BLESS} writes it again.\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         import datetime\n\
         from collections.abc import Sequence\n\
         from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict\n\n\
         if TYPE_CHECKING:\n    from .answer import Answer\n\n\n"
    );
    text.push_str(
        "class Parameter(NamedTuple):\n    \"\"\"A parameter of a question.\"\"\"\n\n    name: str\n    kind: str\n    \
         default: Any\n\n\n\
         class Question(NamedTuple):\n    \"\"\"A question.\"\"\"\n\n    name: str\n    path: str\n    rows: str\n    \
         parameters: dict[str, Parameter]\n    is_paged: bool\n\n",
    );
    text.push_str(&types());
    text.push_str("\n\nQUESTIONS: dict[str, Question] = {\n");
    for question in QUESTIONS {
        table_row(question, &mut text);
    }
    text.push_str("}\n\n\n");
    text.push_str(
        "class Questions:\n    \"\"\"The questions that a corpus answers.\"\"\"\n\n    \
         def _ask(self, method: str, parameters: dict[str, Any]) -> Answer[Any]:\n        raise NotImplementedError\n",
    );
    for question in QUESTIONS {
        method(question, &mut text);
    }
    text
}

/// Whether rows come in pages. Answers of Python turn them, so that their methods have no cursor.
fn is_paged(question: &QuestionInfo) -> bool {
    (question.parameters)().iter().any(|parameter| parameter.name == "cursor")
}

/// The parameters of the method.
fn parameters_of(question: &QuestionInfo) -> Vec<Parameter> {
    let is_paged = is_paged(question);
    let mut parameters = (question.parameters)();
    parameters.retain(|parameter| parameter.name != "cursor");
    for parameter in parameters.iter_mut().filter(|parameter| is_paged && parameter.name == "size") {
        parameter.help = "Maximum rows; all if it is not given".to_owned();
    }
    parameters
}

/// The name of the method.
fn method_name(question: &QuestionInfo) -> String {
    match question.name {
        "query" => "concordance".to_owned(),
        name => name.replace('-', "_"),
    }
}

/// Keywords of Python, which cannot be names of arguments.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
];

/// The name of the argument: a keyword gets an underscore, as `from_` and `import_` have it elsewhere.
fn argument(parameter: &Parameter) -> String {
    match parameter.name.as_str() {
        "in" => "in_corpus".to_owned(),
        name if KEYWORDS.contains(&name) => format!("{name}_"),
        name => name.to_owned(),
    }
}

fn kind_name(kind: &ParameterKind) -> &'static str {
    match kind {
        ParameterKind::Text => "text",
        ParameterKind::Cql => "query",
        ParameterKind::Filter => "filter",
        ParameterKind::Date => "date",
        ParameterKind::Attribute => "attribute",
        ParameterKind::Integer(_) => "integer",
        ParameterKind::Number(_) => "number",
        ParameterKind::Flag => "flag",
        ParameterKind::Names => "names",
        ParameterKind::Queries => "queries",
        ParameterKind::Choice { .. } => "choice",
    }
}

fn table_row(question: &QuestionInfo, text: &mut String) {
    let _ = writeln!(
        text,
        "    {}: Question(\n        name={},\n        path={},\n        rows={},\n        parameters={{",
        literal(&method_name(question).into()),
        literal(&question.name.into()),
        literal(&question.path.into()),
        literal(&question.rows.into()),
    );
    for parameter in parameters_of(question) {
        let _ = writeln!(
            text,
            "            {}: Parameter({}, {}, {}),",
            literal(&argument(&parameter).into()),
            literal(&parameter.name.clone().into()),
            literal(&kind_name(&parameter.kind).into()),
            default(&parameter),
        );
    }
    let _ = writeln!(text, "        }},\n        is_paged={},\n    ),", literal(&is_paged(question).into()));
}

fn method(question: &QuestionInfo, text: &mut String) {
    let parameters = parameters_of(question);
    let _ = writeln!(text, "\n    def {}(\n        self,", method_name(question));
    let (positional, named): (Vec<&Parameter>, Vec<&Parameter>) = parameters.iter().partition(|known| known.positional);
    let declared = |parameter: &Parameter| {
        let value = if parameter.required { String::new() } else { format!(" = {}", default(parameter)) };
        format!("        {}: {}{value},\n", argument(parameter), annotation(parameter))
    };
    let (required, optional): (Vec<&Parameter>, Vec<&Parameter>) =
        positional.into_iter().partition(|known| known.required);
    required.into_iter().chain(optional).for_each(|parameter| text.push_str(&declared(parameter)));
    if !named.is_empty() {
        text.push_str("        *,\n");
    }
    named.into_iter().for_each(|parameter| text.push_str(&declared(parameter)));
    let _ = writeln!(text, "    ) -> Answer[{}]:", row_type(question));
    let _ = writeln!(text, "        \"\"\"{}.", escaped(question.summary));
    text.push_str("\n        Args:\n");
    for parameter in &parameters {
        let help = escaped(&parameter.help);
        text.push_str(&wrapped(&format!("{}: {help}.{}", argument(parameter), limits(parameter)), 12));
    }
    text.push_str("        \"\"\"\n");
    let _ = writeln!(text, "        return self._ask(");
    let _ = writeln!(text, "            {},", literal(&method_name(question).into()));
    text.push_str("            {\n");
    for parameter in &parameters {
        let _ = writeln!(text, "                {0:?}: {0},", argument(parameter));
    }
    text.push_str("            },\n        )\n");
}

/// A docstring has neither its own end nor escape sequences.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"")
}

/// The limits of a number.
fn limits(parameter: &Parameter) -> String {
    match &parameter.kind {
        ParameterKind::Integer(range) if *range.end() < u64::MAX => {
            format!(" From {} to {}.", range.start(), range.end())
        }
        ParameterKind::Integer(range) if *range.start() > 0 => format!(" At least {}.", range.start()),
        ParameterKind::Number(range) if *range.end() < f64::MAX => {
            format!(" From {} to {}.", range.start(), range.end())
        }
        _ => String::new(),
    }
}

/// Text in lines, the first with an indent, the others with a deeper one.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![" ".repeat(indent)];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a first line");
        if last.chars().count() + 1 + word.chars().count() > WIDTH && !last.trim().is_empty() {
            lines.push(" ".repeat(indent + 4) + word);
            continue;
        }
        if !last.trim().is_empty() {
            last.push(' ');
        }
        last.push_str(word);
    }
    lines.join("\n") + "\n"
}

fn annotation(parameter: &Parameter) -> String {
    let own = match &parameter.kind {
        ParameterKind::Integer(_) => "int".to_owned(),
        ParameterKind::Number(_) => "float".to_owned(),
        ParameterKind::Flag => "bool".to_owned(),
        ParameterKind::Names | ParameterKind::Queries => "str | Sequence[str]".to_owned(),
        ParameterKind::Date => "str | datetime.date".to_owned(),
        ParameterKind::Choice { names, .. } => {
            let names: Vec<String> = names.iter().map(|name| literal(&name.as_str().into())).collect();
            format!("Literal[{}]", names.join(", "))
        }
        _ => "str".to_owned(),
    };
    let may_be_none = !parameter.required && default(parameter) == "None";
    if may_be_none { format!("{own} | None") } else { own }
}

fn default(parameter: &Parameter) -> String {
    match (&parameter.default, &parameter.kind) {
        (Some(Value::Number(number)), ParameterKind::Integer(_)) => number.as_u64().unwrap_or_default().to_string(),
        (Some(value), ParameterKind::Names) => {
            let names: Vec<String> = value.as_array().into_iter().flatten().map(literal).collect();
            match names.as_slice() {
                [one] => format!("({one},)"),
                names => format!("({})", names.join(", ")),
            }
        }
        (Some(value), _) => literal(value),
        (None, _) => "None".to_owned(),
    }
}

/// A JSON value as Python writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

/// The types of rows and of all that they contain.
fn types() -> String {
    let (definitions, _) = definitions();
    let mut text = String::new();
    for (name, schema) in &definitions {
        if schema["properties"].is_object() {
            continue;
        }
        let _ = write!(text, "\n{name} = {}\n", type_of(schema));
    }
    for (name, schema) in &definitions {
        if !schema["properties"].is_object() {
            continue;
        }
        typed_dict(name, schema, &mut text);
    }
    text
}

fn typed_dict(name: &str, schema: &Value, text: &mut String) {
    let about = schema["description"].as_str().unwrap_or("Values by name");
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let total = if required.len() == schema["properties"].as_object().map_or(0, serde_json::Map::len) {
        ""
    } else {
        ", total=False"
    };
    let _ = write!(text, "\n\nclass {name}(TypedDict{total}):\n");
    text.push_str(&wrapped(&format!("\"\"\"{}\"\"\"", escaped(&about)), 4));
    text.push('\n');
    for field in order(schema) {
        let property = &schema["properties"][field];
        let _ = writeln!(text, "    {field}: {}", type_of(property));
    }
}

fn order(schema: &Value) -> Vec<&str> {
    match schema["x-order"].as_array() {
        Some(order) => order.iter().filter_map(Value::as_str).collect(),
        None => schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect(),
    }
}

/// The type of a question's rows.
fn row_type(question: &QuestionInfo) -> String {
    let (_, rows) = definitions();
    rows[question.name].clone()
}

/// The schemas of rows and of all that they name, and the row type of each question.
fn definitions() -> (BTreeMap<String, Value>, BTreeMap<&'static str, String>) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = SchemaGenerator::from(settings);
    let (mut rows, mut wanted, mut whole) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    for question in QUESTIONS {
        let answer = (question.answer_schema)(&mut generator).to_value();
        if question.rows.is_empty() {
            let name = pascal_case(&method_name(question)) + "Answer";
            wanted.push(answer.clone());
            whole.insert(name.clone(), answer);
            rows.insert(question.name, name);
        } else {
            let item = answer["properties"][question.rows]["items"].clone();
            rows.insert(question.name, type_of(&item));
            wanted.push(item);
        }
    }
    generator.subschema_for::<About>();
    let all = generator.take_definitions(true);
    let mut found = whole;
    while let Some(schema) = wanted.pop() {
        references(&schema, &mut |name| {
            if !found.contains_key(name) {
                found.insert(name.to_owned(), all[name].clone());
                wanted.push(all[name].clone());
            }
        });
    }
    (found, rows)
}

fn references(value: &Value, see: &mut dyn FnMut(&str)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, see)),
        Value::Object(object) => {
            if let Some(name) = reference(value) {
                see(name);
            }
            object.values().for_each(|value| references(value, see));
        }
        _ => {}
    }
}

fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn pascal_case(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// A schema as a type.
fn type_of(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return name.to_owned();
    }
    if let Some(shapes) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return shapes.iter().map(type_of).collect::<Vec<_>>().join(" | ");
    }
    if !schema["const"].is_null() {
        return format!("Literal[{}]", literal(&schema["const"]));
    }
    if let Some(names) = schema["enum"].as_array() {
        return format!("Literal[{}]", names.iter().map(literal).collect::<Vec<_>>().join(", "));
    }
    match &schema["type"] {
        Value::Array(kinds) => {
            let kinds = kinds.iter().map(|kind| basic(kind.as_str().unwrap_or_default()));
            kinds.collect::<Vec<_>>().join(" | ")
        }
        Value::String(kind) if kind == "array" => format!("list[{}]", type_of(&schema["items"])),
        Value::String(kind) if kind == "object" && schema["additionalProperties"].is_object() => {
            format!("dict[str, {}]", type_of(&schema["additionalProperties"]))
        }
        Value::String(kind) => basic(kind),
        _ => "Any".to_owned(),
    }
}

fn basic(kind: &str) -> String {
    match kind {
        "integer" => "int",
        "number" => "float",
        "boolean" => "bool",
        "null" => "None",
        "string" => "str",
        "object" => "dict[str, Any]",
        _ => "Any",
    }
    .to_owned()
}
