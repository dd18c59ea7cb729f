//! Address filter against server-side request forgery (SSRF): only public IP addresses may be contacted.
//!
//! Feeds and redirects are untrusted. One that leads to `169.254.169.254` or to a device in the local network would
//! make the crawler read private data, so every address is checked: in the URL, in DNS responses, after each redirect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A block of addresses, written as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    base: IpAddr,
    prefix: u8,
}

impl Network {
    /// Returns true if an address is in the network.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let same = |a: u128, b: u128, width: u32| self.prefix == 0 || (a ^ b) >> (width - u32::from(self.prefix)) == 0;
        match (self.base, ip) {
            (IpAddr::V4(a), IpAddr::V4(b)) => same(a.to_bits().into(), b.to_bits().into(), 32),
            (IpAddr::V6(a), IpAddr::V6(b)) => same(a.to_bits(), b.to_bits(), 128),
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let fault = || format!("`{text}` is not a network; write it as 127.0.0.0/8 or ::1/128");
        let (base, prefix) = match text.split_once('/') {
            Some((base, prefix)) => (base, Some(prefix.parse().map_err(|_| fault())?)),
            None => (text, None),
        };
        let base: IpAddr = base.parse().map_err(|_| fault())?;
        let width = if base.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.unwrap_or(width);
        if prefix > width { Err(fault()) } else { Ok(Network { base, prefix }) }
    }
}

/// Filter of the addresses that may be contacted.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Networks that are allowed in addition to public addresses.
    pub allowed: Vec<Network>,
}

impl Guard {
    /// True if an address may be contacted.
    pub fn allows(&self, ip: IpAddr) -> bool {
        is_public(ip) || self.allowed.iter().any(|network| network.contains(ip.to_canonical()))
    }
}

/// True if an address is globally reachable (IANA special-purpose address registries).
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let special = match a {
        0 | 10 | 127 => true,
        100 => (64..128).contains(&b),
        169 => b == 254,
        172 => (16..32).contains(&b),
        192 => matches!((b, c), (168, _) | (0, 0) | (0, 2) | (88, 99)),
        198 => matches!((b, c), (18 | 19, _) | (51, 100)),
        203 => (b, c) == (0, 113),
        224.. => true,
        _ => false,
    };
    !special
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let s = ip.segments();
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    if let Some(v4) = ip.to_ipv4_mapped() {
        return is_public_v4(v4);
    }
    match s[0] {
        // Translated addresses (NAT64, 6to4) are as public as the address they translate to.
        0x64 if s[1] == 0xFF9B && s[2..6] == [0; 4] => embedded(s[6], s[7]),
        0x2002 => embedded(s[1], s[2]),
        // Teredo tunnels, documentation, benchmarking, and ORCHIDs.
        0x2001 => !matches!(s[1], 0x0 | 0x2 | 0xDB8 | 0x10..=0x2F),
        0x3FFF => s[1] >= 0x1000,
        first => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        let public =
            ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "100.128.0.1", "172.32.0.1", "64:ff9b::8.8.8.8"];
        let special = [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "172.16.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "2002:7f00:1::",
            "2001::1",
            "ff02::1",
            "::127.0.0.1",
            "2001:db8::1",
        ];
        for ip in public {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in special {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
    }

    #[test]
    fn an_allowed_network_is_allowed_and_no_more() {
        let guard = Guard { allowed: vec!["127.0.0.0/9".parse().unwrap()] };
        let allows = |ip: &str| guard.allows(ip.parse().unwrap());
        assert!(allows("127.1.2.3") && allows("::ffff:127.0.0.1") && allows("1.1.1.1"));
        assert!(!allows("127.255.0.1") && !allows("10.0.0.1"));
        assert!("127.0.0.0/33".parse::<Network>().is_err() && "x".parse::<Network>().is_err());
    }
}
