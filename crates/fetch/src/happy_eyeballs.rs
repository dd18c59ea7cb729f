//! Happy Eyeballs (RFC 8305): connection attempts to several addresses of a host, staggered in time.
//!
//! One dead address must not use up the time for a connection: on a machine with a broken IPv6 route, every host with
//! addresses of both families would be unreachable. An attempt starts when the one before fails or takes longer than
//! [`STAGGER`]; the first connection wins, and the other attempts are dropped.

use std::future::{Future, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

/// The Connection Attempt Delay of RFC 8305, section 5.
pub(crate) const STAGGER: Duration = Duration::from_millis(250);

/// The largest number of addresses that are tried.
const MAX_ADDRESSES: usize = 4;

/// The order of attempts: families alternate, beginning with that of the first address (RFC 8305, section 4).
pub(crate) fn attempt_order(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let Some(first) = addresses.first().copied() else { return addresses };
    let (mut own, mut other): (Vec<IpAddr>, Vec<IpAddr>) =
        addresses.into_iter().partition(|ip| ip.is_ipv4() == first.is_ipv4());
    own.reverse();
    other.reverse();
    let mut order = Vec::new();
    while !own.is_empty() || !other.is_empty() {
        order.extend(own.pop());
        order.extend(other.pop());
    }
    order.truncate(MAX_ADDRESSES);
    order
}

/// Connects to the first address that accepts. `connect` starts an attempt, `stagger` is the delay before the next.
/// Fails with the failures of all attempts, or at once with one that `is_fatal`.
pub(crate) async fn race<S, C, T>(
    addresses: Vec<IpAddr>,
    connect: impl Fn(IpAddr) -> C,
    stagger: impl Fn() -> T,
    is_fatal: impl Fn(&io::Error) -> bool,
) -> Result<(S, IpAddr), Vec<(IpAddr, io::Error)>>
where
    C: Future<Output = io::Result<S>>,
    T: Future<Output = ()>,
{
    let mut waiting = addresses.into_iter();
    let mut attempts: Vec<(IpAddr, Pin<Box<C>>)> = Vec::new();
    let mut failures = Vec::new();
    loop {
        match waiting.next() {
            Some(ip) => attempts.push((ip, Box::pin(connect(ip)))),
            None if attempts.is_empty() => return Err(failures),
            None => {}
        }
        let mut delay = pin!(stagger());
        let ended = poll_fn(|context| {
            for at in 0..attempts.len() {
                if let Poll::Ready(result) = attempts[at].1.as_mut().poll(context) {
                    return Poll::Ready(Some((attempts.swap_remove(at).0, result)));
                }
            }
            match waiting.len() > 0 && delay.as_mut().poll(context).is_ready() {
                true => Poll::Ready(None),
                false => Poll::Pending,
            }
        })
        .await;
        match ended {
            Some((ip, Ok(stream))) => return Ok((stream, ip)),
            Some((ip, Err(error))) if is_fatal(&error) => return Err(vec![(ip, error)]),
            Some((ip, Err(error))) => failures.push((ip, error)),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::{pending, ready};
    use std::task::{Context, Waker};

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// The result of a race between addresses `10.0.0.N`: N is accepted, refused or hangs as its word says. A delay is
    /// over at once, or never. `None` if the race does not end. The second value is the addresses that were tried.
    fn raced(words: &[&'static str], is_delay_over: bool) -> (Option<Result<String, usize>>, Vec<String>) {
        let addresses: Vec<IpAddr> = (0..words.len()).map(|n| ip(&format!("10.0.0.{n}"))).collect();
        let tried = RefCell::new(Vec::new());
        let connect = |ip: IpAddr| {
            tried.borrow_mut().push(ip.to_string());
            let IpAddr::V4(address) = ip else { panic!("IPv4 only") };
            let word = words[usize::from(address.octets()[3])];
            async move {
                match word {
                    "accepts" => Ok(()),
                    "refuses" => Err(io::ErrorKind::ConnectionRefused.into()),
                    "shortage" => Err(io::ErrorKind::OutOfMemory.into()),
                    _ => pending().await,
                }
            }
        };
        let stagger = || async move { if is_delay_over { ready(()).await } else { pending().await } };
        let is_fatal = |error: &io::Error| error.kind() == io::ErrorKind::OutOfMemory;
        let mut race = Box::pin(race(addresses, connect, stagger, is_fatal));
        let result = match race.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => Some(result.map(|((), ip)| ip.to_string()).map_err(|failures| failures.len())),
            Poll::Pending => None,
        };
        drop(race);
        (result, tried.into_inner())
    }

    #[test]
    fn one_dead_address_does_not_keep_the_host_from_being_reached() {
        assert_eq!(raced(&["hangs", "accepts"], true).0, Some(Ok("10.0.0.1".to_owned())));
        assert_eq!(raced(&["hangs", "hangs", "refuses", "accepts"], true).0, Some(Ok("10.0.0.3".to_owned())));
    }

    #[test]
    fn the_next_attempt_waits_for_the_delay_or_a_failure() {
        assert_eq!(raced(&["hangs", "accepts"], false), (None, vec!["10.0.0.0".to_owned()]));
        let refused = raced(&["refuses", "accepts", "accepts"], false);
        assert_eq!(refused, (Some(Ok("10.0.0.1".to_owned())), vec!["10.0.0.0".to_owned(), "10.0.0.1".to_owned()]));
    }

    #[test]
    fn a_race_without_a_winner_has_all_failures_and_a_fatal_one_ends_it() {
        assert_eq!(raced(&["refuses", "refuses"], true).0, Some(Err(2)));
        assert_eq!(raced(&[], true).0, Some(Err(0)));
        assert_eq!(raced(&["shortage", "accepts"], false), (Some(Err(1)), vec!["10.0.0.0".to_owned()]));
        assert_eq!(raced(&["refuses", "hangs"], true).0, None, "the timeout of the connection ends it");
    }

    #[test]
    fn address_families_alternate() {
        let order = |texts: &[&str]| {
            let order = attempt_order(texts.iter().map(|text| ip(text)).collect());
            order.iter().map(IpAddr::to_string).collect::<Vec<_>>()
        };
        assert_eq!(order(&["::1", "::2", "::3", "10.0.0.1"]), ["::1", "10.0.0.1", "::2", "::3"]);
        assert_eq!(order(&["10.0.0.1", "10.0.0.2", "::1"]), ["10.0.0.1", "::1", "10.0.0.2"]);
        assert_eq!(order(&["::1", "::2", "::3", "::4", "::5"]).len(), MAX_ADDRESSES);
        assert!(order(&[]).is_empty());
    }
}
