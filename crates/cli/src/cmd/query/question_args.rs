//! Flags and arguments of a question, made of the parameters of its request.

use std::ffi::OsStr;
use std::fmt;
use std::marker::PhantomData;

use anyhow::Result;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};
use tidings_query::cql::split_queries;
use tidings_query::question::{Parameter, ParameterKind, QuestionError, Request, request};

/// The flags and arguments of a request.
pub struct QuestionArgs<R> {
    values: Map<String, Value>,
    parameters: &'static [Parameter],
    request: PhantomData<fn() -> R>,
}

impl<R> fmt::Debug for QuestionArgs<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("QuestionArgs").field(&self.values).finish()
    }
}

impl<R: Request> QuestionArgs<R> {
    /// The request; an error in a query or a filter points at its position.
    pub fn request(&self) -> Result<R> {
        Ok(request(checked(self.parameters, &self.values)?)?)
    }
}

impl<R: Request> clap::FromArgMatches for QuestionArgs<R> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let parameters = leaked(R::parameters());
        Ok(QuestionArgs { values: values(parameters, matches), parameters, request: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = QuestionArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<R: Request> clap::Args for QuestionArgs<R> {
    fn augment_args(command: Command) -> Command {
        augment(command, leaked(R::parameters()))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Parameters for the life of the program, as flags need them; there are few, and it ends soon.
pub fn leaked(parameters: Vec<Parameter>) -> &'static [Parameter] {
    Vec::leak(parameters)
}

/// Adds the flags and arguments of parameters to a command.
pub fn augment(command: Command, parameters: &'static [Parameter]) -> Command {
    parameters
        .iter()
        .filter(|parameter| !parameter.api_only)
        .fold(command, |command, parameter| command.arg(arg(parameter)))
}

fn arg(parameter: &'static Parameter) -> Arg {
    let mut arg = Arg::new(parameter.name.as_str()).help(parameter.help.as_str()).required(parameter.required);
    if !parameter.positional {
        let name: &'static str = parameter.name.replace('_', "-").leak();
        arg = match name {
            // A page has rows as every other answer.
            "size" => arg.long("limit").alias(name),
            _ => arg.long(name),
        };
    }
    if parameter.kind == ParameterKind::Flag && parameter.default == Some(Value::Bool(false)) {
        return arg.action(ArgAction::SetTrue);
    }
    if let Some(default) = &parameter.default {
        let default: &'static str = parameter.text(default).leak();
        arg = arg.default_value(default);
    }
    let is_list = matches!(parameter.kind, ParameterKind::Names | ParameterKind::Queries);
    if is_queries(parameter) && parameter.positional {
        arg = arg.num_args(1..);
    }
    let action = if is_list { ArgAction::Append } else { ArgAction::Set };
    arg.action(action).value_name(parameter.value_name.as_str()).value_parser(ParameterParser(parameter))
}

/// The values that were given; defaults are left to the request.
pub fn values(parameters: &[Parameter], matches: &ArgMatches) -> Map<String, Value> {
    use clap::parser::ValueSource;
    let given = |parameter: &&Parameter| {
        !parameter.api_only && matches.value_source(&parameter.name) == Some(ValueSource::CommandLine)
    };
    let value = |parameter: &Parameter| match parameter.kind {
        ParameterKind::Flag => Value::Bool(true),
        ParameterKind::Names | ParameterKind::Queries => {
            let lists = matches.get_many::<Value>(&parameter.name).into_iter().flatten();
            lists.filter_map(Value::as_array).flatten().cloned().collect()
        }
        _ => matches.get_one::<Value>(&parameter.name).cloned().unwrap_or_default(),
    };
    parameters.iter().filter(given).map(|parameter| (parameter.name.clone(), value(parameter))).collect()
}

/// Checks the queries and filters among values, which are parsed when the command runs: their errors need several lines.
pub fn checked(parameters: &[Parameter], values: &Map<String, Value>) -> Result<Map<String, Value>, QuestionError> {
    for parameter in parameters {
        if let (ParameterKind::Cql | ParameterKind::Filter, Some(Value::String(text))) =
            (&parameter.kind, values.get(&parameter.name))
        {
            parameter.parse(text).map_err(|error| QuestionError::of_value(parameter, text, error))?;
        }
        let queries = values.get(&parameter.name).and_then(Value::as_array);
        for text in queries.into_iter().flatten().filter_map(Value::as_str).filter(|_| is_queries(parameter)) {
            parameter.parse(text).map_err(|error| QuestionError::of_value(parameter, text, error))?;
        }
    }
    Ok(values.clone())
}

fn is_queries(parameter: &Parameter) -> bool {
    parameter.kind == ParameterKind::Queries
}

/// Parses the value of a parameter; an error names the flag and the values that it takes.
#[derive(Clone)]
struct ParameterParser(&'static Parameter);

impl TypedValueParser for ParameterParser {
    type Value = Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Value, clap::Error> {
        let parameter = self.0;
        let parse = move |text: String| match parameter.kind {
            ParameterKind::Cql | ParameterKind::Filter => Ok(Value::String(text)),
            ParameterKind::Queries => Ok(split_queries(&text).into_iter().map(Value::from).collect()),
            _ => parameter.parse(&text),
        };
        StringValueParser::new().try_map(parse).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        match &self.0.kind {
            ParameterKind::Choice { names, .. } => {
                Some(Box::new(names.iter().map(|name| PossibleValue::new(name.as_str()))))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_query::question::{CollocRequest, ConcordanceRequest, NewWordsRequest, QUESTIONS, SketchRequest};

    fn parsed<R: Request>(words: &[&str]) -> Result<R, String> {
        let command = <QuestionArgs<R> as clap::Args>::augment_args(Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(words).map_err(|error| error.to_string())?;
        let args = <QuestionArgs<R> as clap::FromArgMatches>::from_arg_matches(&matches).unwrap();
        args.request().map_err(|error| error.to_string())
    }

    #[test]
    fn former_spellings_stand_for_the_canonical_names() {
        for (former, name) in [("ll", "log-likelihood"), ("logdice", "log-dice"), ("t_score", "t-score")] {
            let request: CollocRequest = parsed(&["storm", "--measure", former]).unwrap();
            assert_eq!(request.measure.name(), name);
        }
    }

    #[test]
    fn a_wrong_value_names_the_flag_and_what_it_takes() {
        let error = parsed::<CollocRequest>(&["storm", "--left", "1001"]).unwrap_err();
        assert!(error.contains("--left <N>") && error.contains("a whole number from 0 to 1000"), "{error}");
        let error = parsed::<CollocRequest>(&["storm", "--measure", "magic"]).unwrap_err();
        assert!(error.contains("--measure <MEASURE>") && error.contains("log-dice"), "{error}");
        let error = parsed::<NewWordsRequest>(&["--since", "soon"]).unwrap_err();
        assert!(error.contains("a day, month or year such as 2026-03-01"), "{error}");
        let error = parsed::<CollocRequest>(&["[lemma=\"x\""]).unwrap_err();
        assert!(error.contains("invalid query") && error.contains("^"), "{error}");
    }

    #[test]
    fn rows_are_limited_by_one_flag_everywhere() {
        for words in [["storm", "--limit", "3"], ["storm", "--size", "3"]] {
            assert_eq!(parsed::<ConcordanceRequest>(&words).unwrap().page.size, Some(3), "{words:?}");
            assert_eq!(parsed::<SketchRequest>(&words).unwrap().size, 3, "{words:?}");
        }
        for question in QUESTIONS {
            let command = augment(Command::new("test"), leaked((question.parameters)()));
            let shown: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
            assert!(!shown.contains(&"size") && !shown.contains(&"top"), "{}: {shown:?}", question.name);
        }
    }

    #[test]
    fn every_example_request_can_be_given_as_flags() {
        for question in QUESTIONS {
            let parameters = leaked((question.parameters)());
            let example = (question.example)();
            let mut words = Vec::new();
            for (name, text) in tidings_query::question::given(parameters, &example) {
                let parameter = parameters.iter().find(|parameter| parameter.name == name).unwrap();
                match parameter.positional {
                    true => words.push(text),
                    false => words.extend([format!("--{}", name.replace('_', "-")), text]),
                }
            }
            let command = augment(Command::new("test").no_binary_name(true), parameters);
            let matches = command.try_get_matches_from(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
            let (canonical, _) = (question.canonical)(values(parameters, &matches)).unwrap();
            assert_eq!(canonical, example, "{}", question.name);
        }
    }
}
