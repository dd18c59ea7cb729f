//! The page that asks the API: a few files inside the program. Nothing is asked of anybody else.

use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderValue};

use crate::reply::Body;

const FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", include_str!("../assets/index.html")),
    ("/app.css", "text/css; charset=utf-8", include_str!("../assets/app.css")),
    ("/app.js", "text/javascript; charset=utf-8", include_str!("../assets/app.js")),
];

/// The file of a path.
pub(crate) fn find(path: &str) -> Option<Response<Body>> {
    let (_, kind, text) = FILES.iter().find(|file| file.0 == path)?;
    let mut response = Response::new(Body::of(*text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Some(response)
}
