//! Failures of object stores: which request failed, why, and what to do.

use std::{fmt, io};

use tidings_model::{Cause, Context as _};

use crate::object_url::{ObjectUrl, Scheme};

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFailure {
    /// There is no such object.
    NotFound,
    /// There is no such bucket.
    NoBucket,
    /// The object exists, and it should not be replaced.
    AlreadyExists,
    /// The object was replaced while it was read.
    Changed,
    /// The store rejects the credentials.
    Denied,
    /// There are no credentials.
    NoCredentials,
    /// The store does not answer, or broke off in spite of retries.
    Unavailable,
    /// This program was built without object storage.
    NotBuilt,
    /// Any other answer.
    Other,
}

/// A failed request to an object store. It is the inner error of an [`io::Error`].
#[derive(Debug, Clone)]
pub struct ObjectFault {
    /// The object or bucket; empty if the error around it names it.
    pub url: String,
    /// The kind.
    pub failure: ObjectFailure,
    /// What the store or the connection said.
    pub detail: String,
    /// What to do, if that is known.
    remedy: &'static str,
}

impl ObjectFault {
    /// A failure of a request about an object.
    pub fn new(url: &ObjectUrl, failure: ObjectFailure, detail: impl Into<String>) -> ObjectFault {
        ObjectFault { url: url.to_string(), failure, detail: detail.into(), remedy: remedy(url.scheme, failure) }
    }

    /// The failure in an I/O error, if an object store is its cause.
    pub fn of(error: &io::Error) -> Option<&ObjectFault> {
        // Decompressors and parsers wrap the error of their input.
        let first: &(dyn std::error::Error + 'static) = error.get_ref()?;
        std::iter::successors(Some(first), |error| (*error).source()).find_map(|error| {
            let fault = error.downcast_ref::<ObjectFault>();
            let io = || error.downcast_ref::<io::Error>().or(error.downcast_ref::<Cause>().map(|cause| &cause.0));
            fault.or_else(|| ObjectFault::of(io()?))
        })
    }
}

/// The result of a request with its address and what was being done.
pub fn about<T>(done: Result<T, ObjectFault>, doing: &'static str, url: &ObjectUrl) -> crate::Result<T> {
    let named = |fault: ObjectFault| io::Error::from(ObjectFault { url: String::new(), ..fault });
    Ok(done.map_err(named).context(doing, &url.to_path())?)
}

impl From<ObjectFault> for io::Error {
    fn from(fault: ObjectFault) -> io::Error {
        let kind = match fault.failure {
            ObjectFailure::NotFound => io::ErrorKind::NotFound,
            ObjectFailure::AlreadyExists => io::ErrorKind::AlreadyExists,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, fault)
    }
}

impl fmt::Display for ObjectFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = match self.failure {
            ObjectFailure::NotFound => "there is no such object",
            ObjectFailure::NoBucket => "there is no such bucket",
            ObjectFailure::AlreadyExists => "it exists already",
            ObjectFailure::Changed => "it was replaced or deleted while it was read",
            ObjectFailure::Denied => "access denied",
            ObjectFailure::NoCredentials => "no credentials",
            ObjectFailure::Unavailable => "the object store does not answer",
            ObjectFailure::NotBuilt => "this program was built without object storage",
            ObjectFailure::Other => "the object store refused",
        };
        if !self.url.is_empty() {
            write!(f, "{}: ", self.url)?;
        }
        f.write_str(cause)?;
        if !self.detail.is_empty() {
            write!(f, " ({})", self.detail)?;
        }
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", self.remedy) }
    }
}

impl std::error::Error for ObjectFault {}

fn remedy(scheme: Scheme, failure: ObjectFailure) -> &'static str {
    match (failure, scheme) {
        (ObjectFailure::NoCredentials, Scheme::Gs) => {
            "set GOOGLE_APPLICATION_CREDENTIALS to a file with a service account, or GOOGLE_SKIP_SIGNATURE=true for public \
             data"
        }
        (ObjectFailure::NoCredentials, Scheme::Az) => {
            "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY (or a token), or AZURE_SKIP_SIGNATURE=true for \
             public data"
        }
        (ObjectFailure::NoCredentials, _) => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or AWS_SKIP_SIGNATURE=true for public data"
        }
        (ObjectFailure::Denied, _) => "check that the credentials are right and may read or write this bucket and key",
        (ObjectFailure::NoBucket, Scheme::S3) => {
            "create the bucket, or check its name, AWS_REGION and AWS_ENDPOINT_URL"
        }
        (ObjectFailure::NoBucket, _) => "create the bucket, or check its name",
        (ObjectFailure::Unavailable, Scheme::S3) => {
            "check the network and AWS_ENDPOINT_URL, and run again: nothing acknowledged is lost"
        }
        (ObjectFailure::Unavailable, _) => "check the network and run again: nothing acknowledged is lost",
        (ObjectFailure::Changed, _) => "run again",
        (ObjectFailure::NotBuilt, _) => "build it with the feature `object-storage`",
        (ObjectFailure::NotFound | ObjectFailure::AlreadyExists | ObjectFailure::Other, _) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_object_the_cause_and_the_remedy_and_is_found_in_io_errors() {
        let url = ObjectUrl::parse("s3://corpora/a.warc.gz").unwrap().unwrap();
        let error: io::Error = ObjectFault::new(&url, ObjectFailure::Denied, "403 Forbidden").into();
        let text = error.to_string();
        assert!(text.starts_with("s3://corpora/a.warc.gz: access denied (403 Forbidden); check that"), "{text}");
        let wrapped = io::Error::other(error);
        assert_eq!(ObjectFault::of(&wrapped).map(|fault| fault.failure), Some(ObjectFailure::Denied));
        let named =
            tidings_model::Context::context(Err::<(), _>(wrapped), "read", std::path::Path::new("a")).unwrap_err();
        assert!(ObjectFault::of(&io::Error::other(named)).is_some());
        assert!(ObjectFault::of(&io::Error::other("no store")).is_none());
        let missing: io::Error = ObjectFault::new(&url, ObjectFailure::NotFound, "").into();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
