//! The parameters of a request, read by the table of the endpoint.

use hyper::StatusCode;
use tidings_query::cql::Attribute;
use url::form_urlencoded::Serializer;

use crate::api_error::ApiError;
use crate::endpoint::Endpoint;
use crate::handler::ATTRIBUTES;

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A whole number from one to another.
    Number(u64, u64),
    /// A number from one to another.
    Share(f64, f64),
    /// `true` or `false`.
    Flag,
    /// Names with commas between.
    Names,
    /// An attribute of tokens: one of some words, or a feature.
    Attribute,
    /// One of some words.
    Choice(&'static [&'static str]),
}

/// A parameter of an endpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Param {
    pub name: &'static str,
    pub kind: Kind,
    /// What is taken if it is absent; `None` if nothing is.
    pub default: Option<&'static str>,
    pub required: bool,
    pub about: &'static str,
}

/// The parameters of a request, each of its kind.
#[derive(Debug, Clone)]
pub(crate) struct QueryParams {
    values: Vec<(&'static Param, String)>,
    params: Vec<&'static Param>,
}

impl QueryParams {
    /// Reads the part of an address behind the request mark.
    pub fn read(endpoint: &'static Endpoint, text: &str) -> Result<QueryParams, ApiError> {
        let params: Vec<&'static Param> = endpoint.params().collect();
        let mut values: Vec<(&'static Param, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            let Some(param) = params.iter().find(|param| param.name == name) else {
                let known: Vec<&str> = params.iter().map(|param| param.name).collect();
                let name: String = name.chars().take(40).collect();
                let error = format!("there is no parameter `{name}`; there are {}", known.join(", "));
                return Err(ApiError::new(StatusCode::BAD_REQUEST, error));
            };
            if values.iter().any(|(known, _)| known.name == param.name) {
                return Err(ApiError::wrong(param.name, format!("{} is given twice", param.name)));
            }
            param.kind.check(&value).map_err(|wanted| {
                ApiError::wrong(param.name, format!("{} = {}: give {wanted}", param.name, shortened(&value)))
            })?;
            values.push((param, value));
        }
        if let Some(missing) =
            params.iter().find(|param| param.required && !values.iter().any(|(v, _)| v.name == param.name))
        {
            return Err(ApiError::wrong(missing.name, format!("{} is missing: {}", missing.name, missing.about)));
        }
        Ok(QueryParams { values, params })
    }

    /// A parameter, or its default.
    pub fn text(&self, name: &str) -> Option<&str> {
        let params = self.values.iter().find(|(param, _)| param.name == name).map(|(_, value)| value.as_str());
        params.or_else(|| self.params.iter().find(|param| param.name == name)?.default)
    }

    /// A whole number, if it is given or has a default.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(|text| text.parse().ok())
    }

    /// A number; parameters that are asked so have a default.
    pub fn share(&self, name: &str) -> f64 {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or_default()
    }

    /// Whether something is wanted.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// Names with commas between.
    pub fn names(&self, name: &str) -> Vec<&str> {
        self.text(name).unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
    }

    /// Puts another text in place of a parameter's, in its canonical form.
    pub fn replace(&mut self, name: &str, text: String) {
        if let Some((_, value)) = self.values.iter_mut().find(|(param, _)| param.name == name) {
            *value = text;
        }
    }

    /// The address that asks the same, in one order and without what goes without saying.
    pub fn link(&self, path: &str) -> String {
        let mut query = Serializer::new(String::new());
        for param in &self.params {
            let value =
                self.values.iter().find(|(params, _)| params.name == param.name).map(|(_, value)| value.as_str());
            if let Some(value) = value.filter(|value| Some(*value) != param.default) {
                query.append_pair(param.name, value);
            }
        }
        let query = query.finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

impl Kind {
    /// Whether a text is of this kind; otherwise what would be.
    fn check(self, text: &str) -> Result<(), String> {
        match self {
            Kind::Text | Kind::Names => Ok(()),
            Kind::Number(from, to) => match text.parse::<u64>() {
                Ok(number) if (from..=to).contains(&number) => Ok(()),
                _ => Err(format!("a whole number from {from} to {to}")),
            },
            Kind::Share(from, to) => match text.parse::<f64>() {
                Ok(number) if (from..=to).contains(&number) => Ok(()),
                _ => Err(format!("a number from {from} to {to}")),
            },
            Kind::Flag => matches!(text, "true" | "false").then_some(()).ok_or_else(|| "true or false".to_owned()),
            Kind::Attribute => match Attribute::named(text) {
                Some(_) => Ok(()),
                None => Err(format!("one of {}, or a feature such as Case", ATTRIBUTES.join(", "))),
            },
            Kind::Choice(words) => {
                words.contains(&text).then_some(()).ok_or_else(|| format!("one of {}", words.join(", ")))
            }
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Undoes `%C3%A4` and `+`. What is no UTF-8 is a mistake of the client's, not to be guessed at.
pub(crate) fn decoded(text: &str) -> Result<String, ApiError> {
    let wrong = |what: &str| ApiError::new(StatusCode::BAD_REQUEST, format!("the address is wrong: {what}"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
                match (digit(), digit()) {
                    (Some(high), Some(low)) => (high * 16 + low) as u8,
                    _ => return Err(wrong("two hexadecimal digits must follow a percent sign")),
                }
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_decoded_or_refused() {
        assert_eq!(decoded("%C3%A4+b%2B").unwrap(), "ä b+");
        assert!(decoded("%C3").is_err() && decoded("%zz").is_err() && decoded("%").is_err());
    }

    #[test]
    fn kinds_say_what_they_want() {
        assert!(Kind::Number(1, 5).check("5").is_ok());
        assert_eq!(Kind::Number(1, 5).check("6"), Err("a whole number from 1 to 5".to_owned()));
        assert!(Kind::Share(0.0, 1.0).check("NaN").is_err());
        assert_eq!(Kind::Choice(&["a", "b"]).check("c"), Err("one of a, b".to_owned()));
        assert!(Kind::Flag.check("yes").is_err());
        assert!(Kind::Attribute.check("Number[psor]").is_ok() && Kind::Attribute.check("feats").is_ok());
        let wanted = "one of word, lc, lemma, tag, feats, or a feature such as Case";
        assert_eq!(Kind::Attribute.check("case"), Err(wanted.to_owned()));
    }
}
