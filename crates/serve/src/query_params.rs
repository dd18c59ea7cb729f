//! The parameters of a request, checked against the parameters of its endpoint.

use hyper::StatusCode;
use serde_json::{Map, Value};
use tidings_query::question::{Cost, Cursor, Parameter, QuestionError, given};
use url::form_urlencoded::Serializer;

use crate::api_error::ApiError;
use crate::endpoint::Endpoint;
use crate::response::Format;

/// The checked parameters of a request.
#[derive(Debug, Clone)]
pub(crate) struct QueryParams {
    endpoint: &'static Endpoint,
    /// The values of the request as they were given.
    pub values: Map<String, Value>,
    /// The request in its canonical form, with its defaults.
    pub canonical: Value,
    /// The work that the answer needs.
    pub cost: Cost,
    pub format: Format,
    /// The frozen state to answer from.
    pub as_of: Option<String>,
    /// Whether the client takes an answer from a part of the shards.
    pub is_partial: bool,
}

impl QueryParams {
    /// Checks the decoded values of the path's braces and the part of an address after the question mark.
    pub fn read(endpoint: &'static Endpoint, path_values: &[String], text: &str) -> Result<QueryParams, ApiError> {
        let mut values = Map::new();
        for (name, value) in endpoint.path_names().zip(path_values) {
            if let Some(parameter) = endpoint.parameters.iter().find(|parameter| parameter.name == name) {
                values.insert(name.to_owned(), parsed(parameter, value)?);
            }
        }
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            let Some(parameter) = endpoint.query_parameters().find(|parameter| parameter.name == name) else {
                return Err(unknown(endpoint, &name));
            };
            let value = parsed(parameter, &value)?;
            match (values.get_mut(&name), value) {
                // A list may be repeated instead of separated by commas.
                (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
                (Some(_), _) => return Err(ApiError::wrong(name.clone(), format!("{name} is given twice"))),
                (None, value) => _ = values.insert(name, value),
            }
        }
        if let Some(missing) = endpoint.parameters.iter().find(|p| p.required && !values.contains_key(&p.name)) {
            let error = format!("{} is missing: {}", missing.name, missing.help);
            return Err(ApiError::wrong(missing.name.clone(), error));
        }
        let format = values.remove("format").and_then(|name| Format::named(name.as_str()?)).unwrap_or(Format::Json);
        let as_of = values.remove("as_of").and_then(|name| name.as_str().map(str::to_owned));
        let cursor = values.get("cursor").and_then(Value::as_str).map(str::parse::<Cursor>).transpose();
        cursor.map_err(ApiError::from)?;
        let (canonical, cost) = (endpoint.canonical)(values.clone())?;
        Ok(QueryParams { endpoint, values, canonical, cost, format, as_of, is_partial: false })
    }

    /// The same for a gateway, where every endpoint has the parameter `partial`.
    pub fn read_for_gateway(
        endpoint: &'static Endpoint,
        path_values: &[String],
        text: &str,
    ) -> Result<QueryParams, ApiError> {
        let is_asked = |pair: &&str| matches!(*pair, "partial=1" | "partial=true");
        let others: Vec<&str> = text.split('&').filter(|pair| !is_asked(pair)).collect();
        let is_partial = text.split('&').any(|pair| is_asked(&pair));
        Ok(QueryParams { is_partial, ..QueryParams::read(endpoint, path_values, &others.join("&"))? })
    }

    /// Whether a parameter was given.
    pub fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The cursor, if there is one.
    pub fn cursor(&self) -> Option<Cursor> {
        self.canonical["cursor"].as_str()?.parse().ok()
    }

    /// The fields of documents that are shown.
    pub fn fields(&self) -> Vec<&str> {
        self.canonical["fields"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The address that asks the same, in one order and without defaults.
    pub fn link(&self, path: &str) -> String {
        let mut query = Serializer::new(String::new());
        let mut canonical = self.canonical.clone();
        canonical["format"] = self.format.name().into();
        canonical["as_of"] = self.as_of.clone().into();
        let parameters: Vec<Parameter> = self.endpoint.query_parameters().cloned().collect();
        given(&parameters, &canonical).iter().for_each(|(name, text)| _ = query.append_pair(name, text));
        let query = query.finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

fn parsed(parameter: &Parameter, text: &str) -> Result<Value, ApiError> {
    let value = parameter.parse(text);
    Ok(value.map_err(|error| QuestionError::of_value(parameter, text, error))?)
}

fn unknown(endpoint: &Endpoint, name: &str) -> ApiError {
    let known: Vec<&str> = endpoint.query_parameters().map(|parameter| parameter.name.as_str()).collect();
    let name: String = name.chars().take(40).collect();
    let error = format!("unknown parameter `{name}`; available: {}", known.join(", "));
    ApiError::new(StatusCode::BAD_REQUEST, error)
}

/// Decodes `%C3%A4` and `+`; bytes that are not UTF-8 are an error.
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

    fn read(path: &str, text: &str) -> Result<QueryParams, ApiError> {
        let (endpoint, values) = Endpoint::find(path).unwrap();
        QueryParams::read(endpoint, &values.into_iter().map(str::to_owned).collect::<Vec<_>>(), text)
    }

    #[test]
    fn addresses_are_decoded_or_refused() {
        assert_eq!(decoded("%C3%A4+b%2B").unwrap(), "ä b+");
        assert!(decoded("%C3").is_err() && decoded("%zz").is_err() && decoded("%").is_err());
    }

    #[test]
    fn a_wrong_value_names_the_parameter_and_what_it_takes() {
        let fault = |text: &str| read("/api/v1/en/colloc", text).unwrap_err().error;
        assert_eq!(fault("q=a&left=1001"), "left = 1001: give a whole number from 0 to 1000");
        assert_eq!(fault("q=a&sentence=yes"), "sentence = yes: give true or false");
        assert_eq!(
            fault("q=a&attribute=a+case"),
            "attribute = a case: give one of word, lc, lemma, tag, feats, a feature such as Case, or a layer of the corpus"
        );
        assert!(fault("q=a&measure=magic").starts_with("measure = magic: give one of log-dice, mi, mi3"));
        assert!(fault("left=3").starts_with("q is missing: "));
        assert!(fault("q=a&wrong=1").contains("unknown parameter `wrong`; available: q, filter"));
        assert_eq!(fault("q=a&q=b"), "q is given twice");
    }

    #[test]
    fn lists_are_separated_by_commas_or_repeated() {
        let link = |text: &str| read("/api/v1/en/timeline", text).unwrap().link("/x");
        assert_eq!(link("q=storm&q=flood,sea&by=month"), link("q=storm,flood,sea&by=month"));
        assert_ne!(link("q=storm&q=flood"), link("q=storm"));
        let wrong = read("/api/v1/en/timeline", "q=storm&q=%5B").unwrap_err();
        assert_eq!(wrong.parameter.as_deref(), Some("q"));
    }

    #[test]
    fn a_link_is_canonical_and_without_defaults() {
        let params = read("/api/v1/en/colloc", "measure=ll&limit=50&q=storm").unwrap();
        assert_eq!(params.link("/x"), "/x?q=%5Bword%3D%3D%22storm%22%25c%5D&measure=log-likelihood");
        let params = read("/api/v1/en/count", "as_of=spring&q=storm").unwrap();
        assert_eq!(params.link("/x"), "/x?q=%5Bword%3D%3D%22storm%22%25c%5D&as_of=spring");
        let params = read("/api/v1/en/timeline", "q=storm&by=10days&format=csv").unwrap();
        assert!(params.link("/x").ends_with("&by=ten-days&format=csv"), "{}", params.link("/x"));
    }

    #[test]
    fn every_example_is_accepted() {
        for endpoint in crate::endpoint::ENDPOINTS.iter() {
            let example = (endpoint.example)();
            let mut query = Serializer::new(String::new());
            let own: Vec<Parameter> = endpoint.query_parameters().cloned().collect();
            given(&own, &example).iter().for_each(|(name, text)| _ = query.append_pair(name, text));
            let path: Vec<String> =
                endpoint.path_names().map(|name| example[name].as_str().unwrap_or("en").to_owned()).collect();
            let params = QueryParams::read(endpoint, &path, &query.finish())
                .unwrap_or_else(|e| panic!("{}: {}", endpoint.name, e.error));
            assert_eq!(params.canonical, example, "{}", endpoint.name);
        }
    }
}
