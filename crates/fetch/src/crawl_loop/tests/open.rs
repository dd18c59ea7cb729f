//! Open crawls: arriving queues, returned jobs, eviction.

use super::*;

fn queue(host: &str, jobs: &[JobId]) -> Input {
    Input::Queue(HostQueue { host: host.to_owned(), jobs: jobs.to_vec(), ..HostQueue::default() })
}

/// An open crawl without queues at the start.
fn open(urls: &[&str], replies: Vec<(&'static str, Reply)>) -> Simulation<impl FnMut(&HttpRequest) -> Reply + use<>> {
    let mut setup = Setup::pages(urls);
    setup.queues.clear();
    let mut simulation = setup.with_replies(replies);
    simulation.crawl.is_open = true;
    simulation
}

/// Runs until nothing is to come.
fn settle_all<W: FnMut(&HttpRequest) -> Reply>(simulation: &mut Simulation<W>) {
    while let Some(until) = simulation.settle().expect("jobs exist") {
        if simulation.reports.is_empty() && until.is_none() {
            return;
        }
        simulation.advance(until);
    }
}

#[test]
fn queues_arrive_while_the_loop_waits_and_it_ends_when_they_are_closed() {
    let mut crawl = open(&["a.org/1", "a.org/2", "b.org/1"], Vec::new());
    settle_all(&mut crawl);
    assert!(crawl.sent.is_empty());
    crawl.crawl.handle(queue("a.org", &[0, 1]));
    settle_all(&mut crawl);
    crawl.crawl.handle(queue("b.org", &[2]));
    crawl.crawl.handle(Input::QueuesClosed);
    crawl.run();
    assert_eq!(crawl.statuses(), [(0, "200".into()), (1, "200".into()), (2, "200".into())]);
    let pages: Vec<(u64, &str)> = crawl.timeline().into_iter().filter(|(_, url)| !url.contains("robots")).collect();
    assert_eq!(pages.iter().map(|(_, url)| *url).collect::<Vec<_>>(), ["a.org/1", "a.org/2", "b.org/1"]);
    assert!(pages[1].0 >= pages[0].0 + 11, "the delay of a host holds between queues: {pages:?}");
}

#[test]
fn jobs_of_a_postponed_host_are_returned_also_those_that_arrive_later() {
    let replies = vec![("a.org/1", Reply::failed("timeout")), ("a.org/2", Reply::failed("timeout"))];
    let mut crawl = open(&["a.org/1", "a.org/2", "a.org/3", "a.org/4"], replies);
    crawl.crawl.handle(queue("a.org", &[0, 1, 2]));
    settle_all(&mut crawl);
    crawl.crawl.handle(queue("a.org", &[3]));
    settle_all(&mut crawl);
    let statuses: Vec<String> = crawl.statuses().into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, ["timeout", "timeout", "postponed", "postponed"]);
    assert_eq!(crawl.jobs_left(), 0);
}

#[test]
fn idle_hosts_are_evicted_with_their_policies_and_meet_their_delay_again() {
    let urls: Vec<String> = (0..40).map(|n| format!("h{n}.org/1")).chain(["h0.org/2".to_owned()]).collect();
    let mut crawl = open(&urls.iter().map(String::as_str).collect::<Vec<_>>(), Vec::new());
    crawl.crawl.evict_above = 10;
    for job in 0..40 {
        crawl.crawl.handle(queue(&format!("h{job}.org"), &[job]));
    }
    settle_all(&mut crawl);
    crawl.now += SECOND * 3600;
    crawl.crawl.evict_above = 10;
    settle_all(&mut crawl);
    assert_eq!((crawl.crawl.frontier.len(), crawl.evicted.len()), (0, 40));
    assert!(crawl.crawl.policies.is_empty());
    let notes = crawl.events.iter().filter(|event| matches!(event, CrawlEvent::Host(note) if note.served)).count();
    assert_eq!(notes, 40, "what is known of a host is recorded");
    crawl.crawl.handle(queue("h0.org", &[40]));
    settle_all(&mut crawl);
    assert_eq!(crawl.results.len(), 41);
    assert_eq!(crawl.sent.iter().filter(|sent| sent.url.contains("h0.org/robots.txt")).count(), 2);
}

/// A partition by the first letter of a host, and by the last bit of its address.
#[derive(Debug)]
struct Letters;

impl crate::Partition for Letters {
    fn owns_host(&self, host: &str) -> bool {
        host.starts_with('a')
    }

    fn owns_address(&self, _: &str, ip: IpAddr) -> bool {
        matches!(ip, IpAddr::V4(ip) if ip.octets()[3] % 2 == 1)
    }
}

/// An open crawl of a part of the web.
fn part(urls: &[&str], replies: Vec<(&'static str, Reply)>) -> Simulation<impl FnMut(&HttpRequest) -> Reply + use<>> {
    let mut setup = Setup::pages(urls);
    setup.queues.clear();
    setup.settings.partition = Some(Arc::new(Letters));
    let mut simulation = setup.with_replies(replies);
    simulation.crawl.is_open = true;
    simulation
}

#[test]
fn a_redirect_to_a_host_of_another_shard_ends_the_job_without_asking_it() {
    let replies = vec![
        ("a1.org/x", Reply::redirect("http://b.org/y")),
        ("a1.org/z", Reply::redirect("http://a1.org/own")),
        ("a1.org/robots.txt", Reply::redirect("http://b.org/robots.txt")),
    ];
    let mut crawl = part(&["a1.org/x", "a1.org/z"], replies);
    crawl.crawl.handle(queue("a1.org", &[0, 1]));
    settle_all(&mut crawl);
    assert_eq!(crawl.statuses(), [(0, "moved-shard".into()), (1, "200".into())]);
    let moved = &crawl.results[0];
    assert_eq!((moved.url.as_str(), moved.redirects.len(), moved.requested), ("http://b.org/y", 1, true));
    let foreign: Vec<&str> =
        crawl.sent.iter().map(|sent| sent.url.as_str()).filter(|url| url.contains("b.org")).collect();
    assert_eq!(foreign, ["http://b.org/robots.txt"], "policy files are read wherever they are");
}

#[test]
fn a_host_whose_address_belongs_to_another_shard_is_not_asked() {
    let mut crawl = part(&["a1.org/x", "a1.org/y", "a2.org/x"], Vec::new());
    crawl.names.insert("a1.org".into(), "10.0.0.2".parse().unwrap());
    crawl.names.insert("a2.org".into(), "10.0.0.3".parse().unwrap());
    crawl.crawl.handle(queue("a1.org", &[0, 1]));
    crawl.crawl.handle(queue("a2.org", &[2]));
    settle_all(&mut crawl);
    assert_eq!(crawl.statuses(), [(0, "moved-shard".into()), (1, "moved-shard".into()), (2, "200".into())]);
    assert!(crawl.results.iter().all(|result| result.requested == (result.job == 2)));
    assert!(crawl.sent.iter().all(|sent| sent.url.contains("a2.org")), "{:?}", crawl.sent);
    assert_eq!(crawl.jobs_left(), 0);
}
