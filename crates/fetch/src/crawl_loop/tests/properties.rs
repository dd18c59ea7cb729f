//! Invariants over random webs.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;

/// A web that follows from a seed: hosts with latencies, failures, redirects and policies.
struct RandomWeb {
    random: fastrand::Rng,
    hosts: usize,
    /// Per host, the chance in percent of a network failure, and of a 403, 429 or 503.
    failing: Vec<(u8, u8)>,
}

impl RandomWeb {
    fn new(seed: u64, hosts: usize) -> RandomWeb {
        let mut random = fastrand::Rng::with_seed(seed);
        let chance = |random: &mut fastrand::Rng| *random.choice(&[0, 0, 5, 30, 90]).expect("not empty");
        let failing = (0..hosts).map(|_| (chance(&mut random), chance(&mut random))).collect();
        RandomWeb { random, hosts, failing }
    }

    fn any_url(&mut self) -> String {
        let port = if self.random.u8(..10) == 0 { ":8080" } else { "" };
        format!("http://h{}{port}/{}", self.random.usize(..self.hosts), self.random.u8(..8))
    }

    fn reply(&mut self, request: &HttpRequest) -> Reply {
        let latency = Duration::from_millis(*self.random.choice(&[0, 10, 900, 20_000]).expect("not empty"));
        let host = request.url.host_str().and_then(|name| name[1..].parse::<usize>().ok()).expect("a host of this web");
        let (failing, throttling) = self.failing[host];
        let reply = if self.random.u8(..100) < failing {
            match self.random.u8(..4) {
                0 => Reply::stale(),
                1 => Reply::error(RequestError::OutOfSockets),
                2 => Reply::failed("too-large"),
                _ => Reply::failed("timeout"),
            }
        } else if self.random.u8(..100) < throttling {
            let wait = self.random.u8(..200).to_string();
            let status = *self.random.choice(&[403, 429, 503]).expect("not empty");
            if self.random.bool() { Reply::with(status, &[("retry-after", &wait)], "") } else { Reply::status(status) }
        } else if self.random.u8(..5) == 0 {
            Reply::redirect(&self.any_url())
        } else if request.decode {
            let robots =
                ["", "User-agent: *\nDisallow: /1", "User-agent: *\nCrawl-delay: 17", "User-agent: *\nDisallow: /"];
            let body = *self.random.choice(&robots).expect("not empty");
            Reply::with(*self.random.choice(&[200, 200, 404, 500]).expect("not empty"), &[], body)
        } else {
            Reply::status(*self.random.choice(&[200, 200, 200, 404, 500]).expect("not empty"))
        };
        reply.after(latency)
    }
}

/// The trace of a simulated crawl.
struct Trace {
    sent: Vec<Sent>,
    statuses: Vec<(JobId, String)>,
    records: Vec<RequestRecord>,
    jobs_left: usize,
    concurrency: usize,
    in_flight_at_end: usize,
    stuck: usize,
}

fn crawl(seed: u64, hosts: usize, jobs: usize, stop_at: Option<Duration>) -> Trace {
    let mut web = RandomWeb::new(seed, hosts);
    let mut setup = Setup::pages(&[]);
    setup.settings.seed = seed;
    setup.settings.concurrency = 1 + web.random.usize(..6);
    // Three hosts share each address.
    for host in 0..hosts {
        setup.names.insert(format!("h{host}"), IpAddr::from([192, 0, 2, (host / 3) as u8]));
    }
    setup.kind = if web.random.bool() { CrawlKind::Page } else { CrawlKind::Feed };
    for job in 0..jobs {
        let url = web.any_url();
        let host = Url::parse(&url).ok().and_then(|url| url.host_str().map(str::to_owned)).expect("a web address");
        setup.queue(&host).jobs.push(job as JobId);
        setup.jobs.push(url);
    }
    let concurrency = setup.settings.concurrency;
    let consumer = Duration::from_millis(web.random.u64(..3000));
    let mut simulation = setup.simulate(|request: &HttpRequest| web.reply(request));
    simulation.consumer = consumer;
    let limit = stop_at.unwrap_or(SECOND * 10_000_000);
    while let Some(until) = simulation.settle().expect("jobs exist") {
        // No host that is due waits while there is a free place.
        let free = simulation.crawl.active < simulation.crawl.concurrency;
        assert!(!free || simulation.crawl.frontier.next_turn().is_none_or(|at| at > simulation.now));
        assert!(simulation.crawl.active <= concurrency);
        let next = simulation.reports.iter().map(|report| report.0).chain(until).min().expect("something is to come");
        if next > limit {
            assert!(stop_at.is_some(), "the crawl does not end");
            simulation.crawl.handle(Input::Stop);
            assert!(matches!(simulation.settle(), Ok(None)), "a stopped crawl goes on");
            break;
        }
        simulation.advance(until);
    }
    let able = |host: &&crate::frontier::Host| {
        let stranded = host.front_queue.front().is_some_and(|first| !first.is_policy()) && host.waiting_for_policy;
        host.has_work() && !stranded
    };
    Trace {
        statuses: simulation.statuses(),
        records: simulation.records().into_iter().cloned().collect(),
        jobs_left: simulation.jobs_left(),
        concurrency,
        in_flight_at_end: simulation.crawl.active,
        stuck: simulation.crawl.frontier.iter().filter(able).count(),
        sent: std::mem::take(&mut simulation.sent),
    }
}

fn most_at_once(sent: &[Sent]) -> usize {
    let open_at = |at: Duration| sent.iter().filter(|one| one.at <= at && at < one.ended).count();
    sent.iter().map(|one| open_at(one.at)).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn every_job_ends_exactly_once_or_is_left(seed: u64, hosts in 1usize..9, jobs in 0usize..60) {
        let trace = crawl(seed, hosts, jobs, None);
        let ended: HashSet<JobId> = trace.statuses.iter().map(|(job, _)| *job).collect();
        prop_assert_eq!(ended.len(), trace.statuses.len(), "a job ended twice");
        prop_assert_eq!(ended.len() + trace.jobs_left, jobs);
        prop_assert_eq!(trace.in_flight_at_end, 0);
        prop_assert_eq!(trace.stuck, 0, "a host with work was forgotten");
    }

    #[test]
    fn a_host_gets_one_request_at_a_time_with_the_recorded_pause(seed: u64, hosts in 1usize..9, jobs in 0usize..60) {
        let trace = crawl(seed, hosts, jobs, None);
        let mut last: HashMap<HostId, Duration> = HashMap::new();
        for sent in &trace.sent {
            if let Some(ended) = last.insert(sent.host, sent.ended) {
                prop_assert!(sent.at >= ended, "two requests at once: {:?}", sent);
            }
        }
        // Requests that found no socket have no record and no delay.
        let mut rested: HashMap<&str, Duration> = HashMap::new();
        for record in &trace.records {
            if let Some(until) = rested.insert(&record.host, record.ended + record.delay) {
                prop_assert!(record.sent >= until, "{} was requested before its delay was over", record.url);
            }
            prop_assert!(record.delay >= SECOND * 10);
        }
    }

    #[test]
    fn an_address_gets_one_request_at_a_time_with_its_pause(seed: u64, hosts in 1usize..9, jobs in 0usize..60) {
        let trace = crawl(seed, hosts, jobs, None);
        let mut last: HashMap<IpAddr, Duration> = HashMap::new();
        for sent in &trace.sent {
            if let Some(ended) = last.insert(sent.ip, sent.ended) {
                prop_assert!(sent.at >= ended, "two requests at once: {:?}", sent);
            }
        }
        let mut rested: HashMap<IpAddr, Duration> = HashMap::new();
        for record in &trace.records {
            let peer = record.peer.expect("all requests of this web are sent");
            let delay = record.address_delay.expect("no network of this web is shared");
            if let Some(until) = rested.insert(peer, record.ended + delay) {
                prop_assert!(record.sent >= until, "{} was requested before the pause was over", record.url);
            }
            prop_assert_eq!(delay, Duration::from_millis(500));
        }
    }

    #[test]
    fn no_page_is_requested_before_the_policy_of_its_origin(seed: u64, hosts in 1usize..9, jobs in 0usize..60) {
        let trace = crawl(seed, hosts, jobs, None);
        let is_policy = |kind: &str| matches!(kind, "robots" | "tdmrep");
        let mut robots_asked: HashMap<String, Duration> = HashMap::new();
        for record in &trace.records {
            let origin = origin(&Url::parse(&record.url).expect("a web address"));
            if record.url.ends_with("/robots.txt") && is_policy(record.kind) {
                robots_asked.entry(origin).or_insert(record.ended);
            } else if !is_policy(record.kind) {
                let asked = robots_asked.get(&origin);
                prop_assert!(asked.is_some_and(|ended| *ended <= record.sent), "{} before its policy", record.url);
                prop_assert!(record.robots_age.is_some());
            }
        }
    }

    #[test]
    fn concurrency_is_bounded_at_every_moment(seed: u64, hosts in 1usize..9, jobs in 0usize..60) {
        let trace = crawl(seed, hosts, jobs, None);
        prop_assert!(most_at_once(&trace.sent) <= trace.concurrency);
    }

    #[test]
    fn a_stopped_crawl_ends_and_loses_no_job(seed: u64, hosts in 1usize..9, jobs in 1usize..60, at in 0u64..300) {
        let trace = crawl(seed, hosts, jobs, Some(SECOND * at as u32));
        let ended: HashSet<JobId> = trace.statuses.iter().map(|(job, _)| *job).collect();
        prop_assert_eq!(ended.len(), trace.statuses.len());
        prop_assert_eq!(ended.len() + trace.jobs_left, jobs);
        prop_assert!(trace.sent.iter().all(|sent| sent.at <= SECOND * at as u32));
    }

    #[test]
    fn a_crawl_follows_from_its_seed(seed: u64, hosts in 1usize..9, jobs in 0usize..60) {
        let (one, two) = (crawl(seed, hosts, jobs, None), crawl(seed, hosts, jobs, None));
        prop_assert_eq!(one.sent, two.sent);
        prop_assert_eq!(one.statuses, two.statuses);
    }
}
