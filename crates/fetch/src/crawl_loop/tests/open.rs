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
