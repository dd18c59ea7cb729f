//! Parses the head of a request: only the fields that are used here.

/// The maximum length of a head.
pub const MAX_HEAD_BYTES: usize = 16 * 1024;

/// The relevant parts of a request head, borrowed from the buffer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Head<'a> {
    pub method: &'a str,
    /// The host with its port, as the client names it.
    pub host: &'a str,
    /// The path with its query; never empty.
    pub target: &'a str,
    pub if_none_match: Option<&'a str>,
    pub if_modified_since: Option<&'a str>,
    pub user_agent: &'a str,
    pub accept_encoding: &'a str,
    /// Whether the client requests to close the connection, or uses HTTP/1.0.
    pub close: bool,
    /// Bytes of a body that follow, to be thrown away.
    pub body_bytes: u64,
}

impl Head<'_> {
    /// Whether the request is conditional.
    pub fn conditional(&self) -> bool {
        self.if_none_match.is_some() || self.if_modified_since.is_some()
    }

    /// Whether the client accepts a coding.
    pub fn accepts(&self, coding: &str) -> bool {
        self.accept_encoding.split(',').any(|choice| {
            let (name, quality) = choice.split_once(';').unwrap_or((choice, ""));
            name.trim().eq_ignore_ascii_case(coding) && !matches!(quality.trim(), "q=0" | "q=0.0")
        })
    }
}

/// The length of the head at the start of the buffer, including the empty line, once it is complete.
pub fn length(buffer: &[u8]) -> Option<usize> {
    let at = buffer.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some(at + 4)
}

/// Understands a head, or does not.
pub fn read(bytes: &[u8]) -> Option<Head<'_>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.split("\r\n");
    let mut request_line = lines.next()?.split(' ');
    let mut head = Head { method: request_line.next()?, target: request_line.next()?, ..Head::default() };
    head.close = match request_line.next()? {
        "HTTP/1.1" => false,
        "HTTP/1.0" => true,
        _ => return None,
    };
    // A client that treats the server as a proxy sends the absolute URL.
    if let Some(rest) = head.target.strip_prefix("http://") {
        (head.host, head.target) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    }
    if !head.target.starts_with('/') {
        return None;
    }
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        match name.len() {
            // The host of an absolute URL takes precedence.
            4 if name.eq_ignore_ascii_case("host") && head.host.is_empty() => head.host = value,
            13 if name.eq_ignore_ascii_case("if-none-match") => head.if_none_match = Some(value),
            17 if name.eq_ignore_ascii_case("if-modified-since") => head.if_modified_since = Some(value),
            10 if name.eq_ignore_ascii_case("user-agent") => head.user_agent = value,
            15 if name.eq_ignore_ascii_case("accept-encoding") => head.accept_encoding = value,
            10 if name.eq_ignore_ascii_case("connection") => head.close |= value.eq_ignore_ascii_case("close"),
            14 if name.eq_ignore_ascii_case("content-length") => head.body_bytes = value.parse().ok()?,
            _ => {}
        }
    }
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normal_head_is_parsed() {
        let bytes = b"GET /a?b HTTP/1.1\r\nHost: x\r\nuser-agent: me\r\nIF-NONE-MATCH: \"e\"\r\nAccept-Encoding: gzip, br;q=0\r\n\r\nrest";
        assert_eq!(length(bytes), Some(bytes.len() - 4));
        let head = read(bytes).unwrap();
        assert_eq!((head.method, head.host, head.target, head.user_agent), ("GET", "x", "/a?b", "me"));
        assert!(head.conditional() && head.accepts("gzip") && !head.accepts("br") && !head.close);
    }

    #[test]
    fn the_url_of_a_request_to_a_proxy_names_the_host() {
        let head = read(b"GET http://a.test:80/b HTTP/1.1\r\nHost: proxy\r\n\r\n").unwrap();
        assert_eq!((head.host, head.target), ("a.test:80", "/b"));
    }

    #[test]
    fn an_invalid_head_is_rejected() {
        assert_eq!(read(b"HELLO\r\n\r\n"), None);
        assert_eq!(read(b"GET x HTTP/1.1\r\n\r\n"), None);
        assert_eq!(read(b"GET / HTTP/2\r\n\r\n"), None);
    }
}
