//! Response headers: entity tags, CORS, security headers, and the headers of errors.

use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use crate::api_error::ApiError;
use crate::response::{Body, json_response};
use crate::settings::Settings;

/// Sets the ETag of a response.
pub(crate) fn with_etag(mut response: Response<Body>, tag: &str) -> Response<Body> {
    response.headers_mut().extend(HeaderValue::from_str(tag).ok().map(|tag| (header::ETAG, tag)));
    response
}

/// 304 for a client that has the current answer.
pub(crate) fn not_modified(tag: &str) -> Response<Body> {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    with_etag(response, tag)
}

/// The response of an error, with the headers its status asks for.
pub(crate) fn error_response(error: &ApiError) -> Response<Body> {
    let mut response = json_response(error.status, &error.json());
    let headers = response.headers_mut();
    if let Some(seconds) = error.retry_after_s {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if error.status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"invalid_token\""));
    }
    if error.status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

/// The answer to a CORS preflight request.
pub(crate) fn preflight() -> Response<Body> {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Sets the security headers (CSP, nosniff, CORP) and CORS.
pub(crate) fn security_headers(response: &mut Response<Body>, settings: &Settings) {
    const SECURITY: [(HeaderName, &str); 5] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
             base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "Accept-Encoding, Authorization, Origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in SECURITY {
        // Assets set their own Cache-Control.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    let origin = settings.cors.as_deref().and_then(|origin| HeaderValue::from_str(origin).ok());
    match origin {
        Some(origin) => _ = headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin),
        None => {
            let name = HeaderName::from_static("cross-origin-resource-policy");
            headers.insert(name, HeaderValue::from_static("same-origin"));
        }
    }
}
