//! IPv4 and IPv6 addresses, told from numbers of sections and versions.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::continues_word;
use super::cues::{Before, Cue};

/// The end of the IP address that begins at `start`.
pub fn ip_address(text: &str, start: usize) -> Option<usize> {
    let rest = &text.as_bytes()[start..];
    // Fast path: most words that begin with a hexadecimal digit have no colon or dot near.
    if !rest.iter().take(5).any(|byte| matches!(byte, b':' | b'.')) {
        return None;
    }
    let mut len =
        rest.iter().take(46).take_while(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')).count();
    while len > 0 && (rest[len - 1] == b'.' || rest[len - 1] == b':' && !rest[..len].ends_with(b"::")) {
        len -= 1;
    }
    let end = start + len;
    if continues_word(&rest[len..]) || rest.get(len) == Some(&b'-') {
        return None;
    }
    let word = &text[start..end];
    let before = || Before::read(text, start);
    if let Some((four, port)) = word.split_once(':') {
        if four.parse::<Ipv4Addr>().is_ok() && port.parse::<u16>().is_ok() {
            return (!before().says(Cue::NotIp)).then_some(start + four.len());
        }
        // `::` and `a::b` are more likely source code: an address has two groups and two digits.
        let groups = word.split(':').filter(|group| !group.is_empty()).count();
        let numbered = word.bytes().filter(u8::is_ascii_digit).count() >= 2;
        return (word.parse::<Ipv6Addr>().is_ok() && groups >= 2 && numbered).then_some(end);
    }
    let address: Ipv4Addr = word.parse().ok()?;
    let before = before();
    let is_masked = !before.says(Cue::NotIp) && (before.says(Cue::Ip) || is_typical(address));
    is_masked.then_some(end)
}

/// Returns true for addresses that numbers of sections and versions do not look like: those count from one and do not
/// reach a hundred.
fn is_typical(address: Ipv4Addr) -> bool {
    let parts = address.octets();
    let is_local = matches!(parts[0], 10 | 127) && parts[1..].contains(&0);
    parts.iter().any(|part| *part >= 100) || is_local || parts[1..].iter().all(|part| *part == parts[0])
}
