//! A bucket: requests with bounded retries, and errors that name the object, the cause and the remedy.

use std::collections::HashMap;
use std::env;
use std::error::Error as _;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode,
    PutPayload, RetryConfig,
};

use super::http::Connector;
use super::{ObjectAbout, ObjectFailure, ObjectFault, credentials, runtime};
use crate::object_url::{ObjectUrl, Scheme};

/// The result of a request.
pub(super) type Result<T> = std::result::Result<T, ObjectFault>;

/// Objects of a listing, at most: each is in memory.
const MAX_LISTED: usize = 1_000_000;
/// Repeated requests, and the time after which none is repeated.
const MAX_RETRIES: usize = 5;
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

/// A bucket with its connections.
#[derive(Debug)]
pub struct Bucket {
    /// The address of the bucket.
    root: ObjectUrl,
    pub(super) store: Arc<dyn ObjectStore>,
}

type BucketKey = (Scheme, String);

/// The buckets of this process. They share connections and credentials, which are read once.
static BUCKETS: LazyLock<Mutex<HashMap<BucketKey, Arc<Bucket>>>> = LazyLock::new(Mutex::default);

impl Bucket {
    /// The bucket of an address.
    pub fn of(url: &ObjectUrl) -> Result<Arc<Bucket>> {
        let mut buckets = BUCKETS.lock().expect("no panic while held");
        let key = (url.scheme, url.bucket.clone());
        if let Some(bucket) = buckets.get(&key) {
            return Ok(Arc::clone(bucket));
        }
        let root = url.with_key("");
        let bucket = Arc::new(Bucket { store: connect(&root)?, root });
        buckets.insert(key, Arc::clone(&bucket));
        Ok(bucket)
    }

    /// The address of a key.
    pub(super) fn url(&self, key: &str) -> ObjectUrl {
        self.root.with_key(key)
    }

    /// The path of a key as `object_store` wants it, without escapes.
    pub(super) fn key(&self, key: &str) -> Result<Key> {
        Key::parse(key).map_err(|error| ObjectFault::new(&self.url(key), ObjectFailure::Other, error.to_string()))
    }

    pub(super) fn fault(&self, key: &str, error: &object_store::Error) -> ObjectFault {
        let (failure, detail) = explain(error, self.root.scheme);
        ObjectFault::new(&self.url(key), failure, detail)
    }

    /// Size and tag of an object; `None` if it is missing.
    pub fn stat(&self, key: &str) -> Result<Option<ObjectAbout>> {
        let (store, path) = (Arc::clone(&self.store), self.key(key)?);
        match runtime::wait(async move { store.head(&path).await }) {
            Ok(meta) => Ok(Some(about(meta))),
            Err(error) => match self.fault(key, &error) {
                fault if fault.failure == ObjectFailure::NotFound => Ok(None),
                fault => Err(fault),
            },
        }
    }

    /// Starts to read a range of an object, which must have the tag.
    pub(super) fn start_range(
        &self,
        key: &Key,
        range: Range<u64>,
        tag: Option<&str>,
    ) -> runtime::Pending<object_store::Result<Bytes>> {
        let (store, key) = (Arc::clone(&self.store), key.clone());
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            if_match: tag.map(str::to_owned),
            ..GetOptions::default()
        };
        runtime::start(async move { store.get_opts(&key, options).await?.bytes().await })
    }

    /// Reads a small object; `None` if it is missing.
    pub fn read(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let (store, path) = (Arc::clone(&self.store), self.key(key)?);
        match runtime::wait(async move { store.get(&path).await?.bytes().await }) {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(error) => match self.fault(key, &error) {
                fault if fault.failure == ObjectFailure::NotFound => Ok(None),
                fault => Err(fault),
            },
        }
    }

    /// Writes a small object. With `is_new` an existing one is not replaced, and the failure is
    /// [`ObjectFailure::AlreadyExists`]: of several writers one succeeds.
    pub fn put(&self, key: &str, bytes: &[u8], is_new: bool) -> Result<()> {
        let (store, path) = (Arc::clone(&self.store), self.key(key)?);
        let payload = PutPayload::from(bytes.to_vec());
        let mode = if is_new { PutMode::Create } else { PutMode::Overwrite };
        let put = runtime::wait(async move { store.put_opts(&path, payload, mode.into()).await });
        put.map(drop).map_err(|error| self.fault(key, &error))
    }

    /// Deletes an object if it exists.
    pub fn delete(&self, key: &str) -> Result<()> {
        let (store, path) = (Arc::clone(&self.store), self.key(key)?);
        match runtime::wait(async move { store.delete(&path).await }) {
            Ok(()) => Ok(()),
            Err(error) => match self.fault(key, &error) {
                fault if fault.failure == ObjectFailure::NotFound => Ok(()),
                fault => Err(fault),
            },
        }
    }

    /// The objects below a prefix that ends at a slash, by key; all for an empty prefix.
    pub fn list(&self, prefix: &str) -> Result<Vec<ObjectAbout>> {
        let store = Arc::clone(&self.store);
        let below = if prefix.is_empty() { None } else { Some(self.key(prefix)?) };
        let listed = runtime::wait(async move {
            let mut found = Vec::new();
            let mut pages = store.list(below.as_ref());
            while let Some(meta) = pages.try_next().await? {
                found.push(about(meta));
                if found.len() > MAX_LISTED {
                    break;
                }
            }
            Ok(found)
        });
        let mut listed = listed.map_err(|error| self.fault(prefix, &error))?;
        if listed.len() > MAX_LISTED {
            let detail = format!("more than {MAX_LISTED} objects; give a longer prefix");
            return Err(ObjectFault::new(&self.url(prefix), ObjectFailure::Other, detail));
        }
        listed.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(listed)
    }
}

fn about(meta: ObjectMeta) -> ObjectAbout {
    let modified = meta.last_modified.into();
    ObjectAbout { key: meta.location.to_string(), bytes: meta.size, modified, tag: meta.e_tag }
}

/// Connects to the store of a bucket with the credentials of the environment.
fn connect(root: &ObjectUrl) -> Result<Arc<dyn ObjectStore>> {
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            base: 2.,
        },
        max_retries: MAX_RETRIES,
        retry_timeout: RETRY_TIMEOUT,
    };
    let refused = |error: object_store::Error| {
        ObjectFault::new(root, ObjectFailure::Other, format!("its settings in the environment are wrong: {error}"))
    };
    let store: Arc<dyn ObjectStore> = match root.scheme {
        Scheme::S3 => {
            let mut builder = AmazonS3Builder::from_env();
            let profile = credentials::profile()
                .map_err(|detail| ObjectFault::new(root, ObjectFailure::NoCredentials, detail))?;
            for (key, value) in profile {
                if builder.get_config_value(&key).is_none() {
                    builder = builder.with_config(key, value);
                }
            }
            if let Some(detail) = credentials::missing(&builder) {
                return Err(ObjectFault::new(root, ObjectFailure::NoCredentials, detail));
            }
            // An endpoint without TLS was chosen by the user; object stores themselves have none.
            let endpoint = builder.get_config_value(&AmazonS3ConfigKey::S3Endpoint);
            let endpoint = endpoint.or_else(|| builder.get_config_value(&AmazonS3ConfigKey::Endpoint));
            let is_plain = endpoint.is_some_and(|url| url.starts_with("http://"));
            let options = ClientOptions::new().with_allow_http(is_plain);
            let builder = builder.with_client_options(options).with_bucket_name(&root.bucket).with_retry(retry);
            Arc::new(builder.with_http_connector(Connector).build().map_err(refused)?)
        }
        Scheme::Gs => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(&root.bucket).with_retry(retry);
            Arc::new(builder.with_http_connector(Connector).build().map_err(refused)?)
        }
        Scheme::Az => {
            let is_plain = env::var("AZURE_STORAGE_ENDPOINT").is_ok_and(|url| url.starts_with("http://"));
            let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(&root.bucket).with_retry(retry);
            if is_plain {
                builder = builder.with_allow_http(true);
            }
            Arc::new(builder.with_http_connector(Connector).build().map_err(refused)?)
        }
        #[cfg(test)]
        Scheme::Memory => Arc::new(object_store::memory::InMemory::new()),
    };
    Ok(store)
}

/// The kind of a failure and what the store said, without the name of the object, which is known.
fn explain(error: &object_store::Error, scheme: Scheme) -> (ObjectFailure, String) {
    use object_store::Error;
    let said = said(error);
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let failure = match error {
        // Machines of a cloud get credentials from a server of their own, which is asked if there are none.
        _ if says(&["169.254.169.254", "metadata.google.internal"]) => ObjectFailure::NoCredentials,
        // A request about an object of a bucket that does not exist may be answered so too.
        _ if says(&["NoSuchBucket", "ContainerNotFound"]) => ObjectFailure::NoBucket,
        Error::NotFound { .. } => ObjectFailure::NotFound,
        Error::AlreadyExists { .. } => ObjectFailure::AlreadyExists,
        Error::Precondition { .. } => ObjectFailure::Changed,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => ObjectFailure::Denied,
        _ if says(&["401 Unauthorized", "403 Forbidden"]) => ObjectFailure::Denied,
        _ if is_unanswered(error, &said) => ObjectFailure::Unavailable,
        _ => ObjectFailure::Other,
    };
    let detail = match (failure, scheme) {
        (ObjectFailure::NotFound, _) => String::new(),
        // A bucket in another region is answered by a redirect, which would go to a server without a signature for it.
        (ObjectFailure::Other, Scheme::S3) if said.contains("301") || said.contains("PermanentRedirect") => {
            format!("the bucket is in another region, set AWS_REGION: {}", shortened(&said))
        }
        _ => shortened(&said),
    };
    (failure, detail)
}

/// The messages of an error and of its deepest cause, in one line.
fn said(error: &object_store::Error) -> String {
    let deepest = std::iter::successors(error.source(), |error| (*error).source()).last().map(ToString::to_string);
    let (outer, deepest) = (error.to_string(), deepest.unwrap_or_default());
    // Outer messages have the status, inner ones the cause of a broken connection.
    let said = if outer.contains(&deepest) { outer } else { format!("{outer}: {deepest}") };
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What matters of it: the code and the message of an answer in XML, or what followed the description of the request.
fn shortened(said: &str) -> String {
    const MAX_CHARS: usize = 200;
    let element = |name: &str| said.split_once(&format!("<{name}>"))?.1.split("</").next();
    let short = match (element("Code"), element("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        _ => said.rsplit(" - ").next().unwrap_or(said).to_owned(),
    };
    short.trim_end_matches([':', ' ']).chars().take(MAX_CHARS).collect()
}

/// Whether a request failed because of the connection or of the server, in spite of retries.
fn is_unanswered(error: &object_store::Error, said: &str) -> bool {
    let causes = std::iter::successors(error.source(), |error| (*error).source());
    let mut http = causes.filter_map(|error| error.downcast_ref::<HttpError>());
    let is_broken = http.any(|error| !matches!(error.kind(), HttpErrorKind::Decode | HttpErrorKind::Unknown));
    is_broken
        || ["code: 500", "code: 502", "code: 503", "code: 504", "code: 429"].iter().any(|code| said.contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(name: &str) -> Arc<Bucket> {
        Bucket::of(&ObjectUrl::parse(&format!("memory://{name}")).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn of_several_writers_of_a_new_object_one_succeeds() {
        let bucket = bucket("claims");
        bucket.put("home", b"first", true).unwrap();
        let refused = bucket.put("home", b"second", true).unwrap_err();
        assert_eq!(refused.failure, ObjectFailure::AlreadyExists);
        assert_eq!(bucket.read("home").unwrap().unwrap(), b"first");
        bucket.put("home", b"third", false).unwrap();
        assert_eq!(bucket.read("home").unwrap().unwrap(), b"third");
    }

    #[test]
    fn objects_are_listed_below_a_prefix_and_deleted_repeatably() {
        let bucket = bucket("lists");
        for key in ["a/2", "a/1", "ab/1", "a/b/1"] {
            bucket.put(key, key.as_bytes(), true).unwrap();
        }
        let keys = |prefix: &str| -> Vec<String> {
            bucket.list(prefix).unwrap().into_iter().map(|object| object.key).collect()
        };
        assert_eq!(keys("a"), ["a/1", "a/2", "a/b/1"]);
        assert_eq!(keys("").len(), 4);
        bucket.delete("a/1").unwrap();
        bucket.delete("a/1").unwrap();
        assert_eq!((bucket.stat("a/1").unwrap(), bucket.read("a/1").unwrap()), (None, None));
        assert_eq!(bucket.stat("a/2").unwrap().unwrap().bytes, 3);
    }

    #[test]
    fn failures_are_told_apart_by_what_the_store_said() {
        let generic = |text: &str| {
            let error = object_store::Error::Generic { store: "S3", source: text.to_owned().into() };
            explain(&error, Scheme::S3)
        };
        let missing = "Error performing GET http://h/b in 3ms - Server returned non-2xx status code: 404 Not Found: \
                       <Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>";
        assert_eq!(
            generic(missing),
            (ObjectFailure::NoBucket, "NoSuchBucket: The specified bucket does not exist".into())
        );
        let role = "Error performing PUT http://169.254.169.254/latest/api/token in 2ms - HTTP error: timed out";
        assert_eq!(generic(role), (ObjectFailure::NoCredentials, "HTTP error: timed out".into()));
        assert_eq!(generic("GET - Server returned non-2xx status code: 403 Forbidden: ").0, ObjectFailure::Denied);
        assert_eq!(generic("GET - Server returned error status code: 503 Slow Down").0, ObjectFailure::Unavailable);
        let moved = generic("GET - Received redirect without LOCATION, 301 Moved Permanently");
        assert!(moved.0 == ObjectFailure::Other && moved.1.contains("AWS_REGION"), "{moved:?}");
    }

    #[test]
    fn keys_are_not_escaped() {
        let bucket = bucket("escapes");
        bucket.put("CC-MAIN 50% [a].warc.gz", b"x", true).unwrap();
        assert_eq!(bucket.list("").unwrap()[0].key, "CC-MAIN 50% [a].warc.gz");
        assert!(bucket.read("a//b").is_err());
    }
}
