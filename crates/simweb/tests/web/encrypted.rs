//! The second port, tried with both versions of HTTP.

use std::sync::Arc;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tidings_simweb::{Host, RequestKind, SimWeb, Spec};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Requests an https URL with the given protocol; returns status and body.
async fn ask(web: &SimWeb, url: &str, protocol: &[u8]) -> (u16, Vec<u8>) {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(web.authority_pem().unwrap().as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let rest = url.strip_prefix("https://").unwrap();
    let host = &rest[..rest.find('/').unwrap()];
    let stream = TcpStream::connect(host).await.unwrap();
    let name = ServerName::try_from(host.split(':').next().unwrap().to_string()).unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol));
    let io = TokioIo::new(stream);
    let request = |uri: &str| hyper::Request::get(uri).header("host", host).body(Empty::<Bytes>::new()).unwrap();
    let answer = if protocol == b"h2" {
        let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request(url)).await.unwrap()
    } else {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request(&rest[host.len()..])).await.unwrap()
    };
    let status = answer.status().as_u16();
    (status, answer.into_body().collect().await.unwrap().to_bytes().to_vec())
}

#[test]
fn the_first_sites_support_tls_with_both_versions_of_http() {
    let web = SimWeb::start(Spec { sites: 66, items_per_feed: 3, tls: true, ..Spec::default() }).unwrap();
    let site = web.site(3);
    assert!(web.site(64).url("/").starts_with("http://") && site.plain_url("/").starts_with("http://"));
    let article = site.listed().next().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (status, modern) = runtime.block_on(ask(&web, &article.url, b"h2"));
    assert_eq!(status, 200);
    let (status, classic) = runtime.block_on(ask(&web, &article.url, b"http/1.1"));
    assert_eq!(status, 200);
    assert!(modern == classic && modern.len() > 1000);
    let (status, feed) = runtime.block_on(ask(&web, &site.feed(), b"h2"));
    assert!(status == 200 && String::from_utf8_lossy(&feed).contains("https://127.1.0.4:"));
    let requests = web.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.host == Host::Site(3) && request.status == 200));
    assert_eq!((requests[0].kind, requests[2].kind), (RequestKind::Page, RequestKind::Feed));
}
