//! One behaviour per test.

use super::*;

#[test]
fn a_crawl_without_jobs_finishes_at_once() {
    let mut crawl = Setup::pages(&[]).with_replies(vec![]);
    assert!(!crawl.run().stopped);
    assert!(crawl.sent.is_empty());
}

#[test]
fn robots_txt_is_fetched_before_the_first_page() {
    let mut crawl = Setup::pages(&["a/1"]).with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/robots.txt"), (11, "a/1")]);
    assert_eq!(crawl.statuses(), [(0, "200".to_owned())]);
}

#[test]
fn pages_need_tdmrep_too_and_feeds_do_not() {
    let mut setup = Setup::pages(&["a/1"]);
    setup.kind = CrawlKind::Page;
    let mut crawl = setup.with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/robots.txt"), (11, "a/.well-known/tdmrep.json"), (22, "a/1")]);
}

#[test]
fn policy_files_are_fetched_once_per_origin() {
    let mut crawl = Setup::pages(&["a/1", "a/2", "a/3", "b/1"]).with_replies(vec![]);
    crawl.run();
    let policies: Vec<_> = crawl.sent.iter().filter(|sent| sent.url.ends_with("robots.txt")).collect();
    assert_eq!(policies.len(), 2);
    assert_eq!(crawl.results.len(), 4);
}

#[test]
fn a_policy_of_an_earlier_crawl_is_not_fetched_again_and_its_age_is_recorded() {
    let mut crawl = Setup::pages(&["a/1"]).know_robots("a", "User-agent: *\nDisallow: /x").with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/1")]);
    assert_eq!(crawl.records()[0].robots_age, Some(SECOND * 3600));
    assert_eq!(crawl.results[0].robots.as_ref().map(|robots| robots.digest.as_str()), Some("digest"));
}

#[test]
fn feeds_that_robots_txt_does_not_govern_are_fetched_at_once() {
    let mut setup = Setup::pages(&["a/feed"]);
    setup.settings.obey_robots = false;
    let mut crawl = setup.with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/feed")]);
}

#[test]
fn a_forbidden_page_is_refused_without_a_request() {
    let known = Setup::pages(&["a/x/1", "a/2"]).know_robots("a", "User-agent: *\nDisallow: /x");
    let mut crawl = known.with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/2")]);
    assert_eq!(crawl.statuses(), [(0, "robots".to_owned()), (1, "200".to_owned())]);
}

#[test]
fn an_unreachable_robots_txt_refuses_all_pages_of_its_origin() {
    let mut crawl = Setup::pages(&["a/1", "a/2"]).with_replies(vec![("a/robots.txt", Reply::status(500))]);
    let outcome = crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/robots.txt")]);
    let refused = "robots-unreachable".to_owned();
    assert_eq!(crawl.statuses(), [(0, refused.clone()), (1, refused)]);
    assert!(outcome.given_up.is_empty());
}

#[test]
fn network_failures_of_robots_txt_do_not_give_up_the_host() {
    let mut crawl = Setup::pages(&["a/1", "a:81/2"])
        .with_replies(vec![("a/robots.txt", Reply::failed("timeout")), ("a:81/robots.txt", Reply::failed("timeout"))]);
    let outcome = crawl.run();
    assert!(outcome.given_up.is_empty());
    assert_eq!(crawl.statuses(), [(0, "timeout".to_owned()), (1, "timeout".to_owned())]);
}

#[test]
fn a_damaged_robots_txt_refuses_pages() {
    let reply = Reply { decoded: Err(Status::failed("encoding")), ..Reply::with(200, &[], "x") };
    let mut crawl = Setup::pages(&["a/1"]).with_replies(vec![("a/robots.txt", reply)]);
    crawl.run();
    assert_eq!(crawl.statuses(), [(0, "robots-unreachable".to_owned())]);
    assert_eq!(crawl.records()[0].status, "200");
}

#[test]
fn the_pause_runs_from_the_end_of_a_response() {
    let slow = Reply::status(200).after(SECOND * 20);
    let setup = Setup::pages(&["a/1", "a/2", "a/3"]).know_robots("a", "");
    let mut crawl = setup.with_replies(vec![("a/1", slow)]);
    crawl.run();
    let ends: Vec<Duration> = crawl.sent.iter().map(|sent| sent.ended).collect();
    assert_eq!(crawl.sent[1].at, ends[0] + SECOND * 10);
    assert_eq!(crawl.sent[2].at, ends[1] + SECOND * 10);
}

#[test]
fn a_crawl_delay_lengthens_the_pause_up_to_the_limit() {
    let delay_of = |robots: &str| {
        let mut crawl = Setup::pages(&["a/1", "a/2"]).know_robots("a", robots).with_replies(vec![]);
        crawl.run();
        crawl.sent[1].at.as_secs() - 1
    };
    assert_eq!(delay_of("User-agent: *\nCrawl-delay: 25"), 25);
    assert_eq!(delay_of("User-agent: *\nCrawl-delay: 2"), 10);
    assert_eq!(delay_of("User-agent: *\nCrawl-delay: 999"), 60);
}

#[test]
fn retry_after_postpones_the_next_request_and_is_recorded() {
    let reply = Reply::with(429, &[("retry-after", "100")], "");
    let setup = Setup::pages(&["a/1", "a/2"]).know_robots("a", "");
    let mut crawl = setup.with_replies(vec![("a/1", reply), ("a/2", Reply::with(503, &[("retry-after", "100")], ""))]);
    crawl.run();
    assert_eq!(crawl.sent[1].at, SECOND * 101);
    let until = crawl.events.iter().find_map(|event| match event {
        CrawlEvent::RetryAfter { host, until } => Some((host.as_str(), until.to_string())),
        _ => None,
    });
    assert_eq!(until, Some(("a", "2026-03-01T12:01:41Z".to_owned())));
}

#[test]
fn a_retry_after_beyond_the_limit_gives_the_host_up() {
    let always = |_: &HttpRequest| Reply::with(503, &[("retry-after", "9999")], "");
    let mut crawl = Setup::pages(&["a/1", "a/2"]).know_robots("a", "").simulate(always);
    let outcome = crawl.run();
    assert_eq!(outcome.given_up, [("a".to_owned(), "Retry-After exceeds the limit")]);
    assert_eq!((crawl.sent.len(), crawl.jobs_left()), (1, 1));
    assert_eq!(outcome.hosts[0].not_before.unwrap().to_string(), "2026-03-01T14:46:40Z");
}

#[test]
fn a_throttling_host_gets_longer_pauses_and_is_given_up_at_the_third_time() {
    let mut crawl = Setup::pages(&["a/1", "a/2", "a/3", "a/4"]).know_robots("a", "").simulate(|_| Reply::status(429));
    let outcome = crawl.run();
    let pauses: Vec<u64> = crawl.records().iter().map(|record| record.delay.as_secs()).collect();
    assert_eq!(pauses, [20, 40, 60]);
    assert_eq!(outcome.given_up.len(), 1);
    assert_eq!((crawl.results.len(), crawl.jobs_left()), (3, 1));
}

#[test]
fn a_host_that_refuses_three_times_is_given_up() {
    let mut crawl = Setup::pages(&["a/1", "a/2", "a/3", "a/4", "b/1"])
        .know_robots("a", "")
        .simulate(|request| Reply::status(if request.url.host_str() == Some("a") { 403 } else { 200 }));
    let outcome = crawl.run();
    assert_eq!(outcome.given_up, [("a".to_owned(), "it rejects requests (403, 429 or 503)")]);
    assert_eq!(crawl.statuses().last(), Some(&(4, "200".to_owned())));
}

#[test]
fn pages_of_a_host_that_refuses_are_passed_over_without_a_request() {
    let pages = ["a/1", "a/2", "a/3", "a/4", "a/5", "a/secret"];
    let setup = Setup { kind: CrawlKind::Page, ..Setup::pages(&pages) };
    let mut crawl = setup
        .know_robots("a", "User-agent: *\nDisallow: /secret\n")
        .simulate(|request| Reply::status(if request.url.path().ends_with("tdmrep.json") { 404 } else { 403 }));
    let outcome = crawl.run();
    assert_eq!(outcome.given_up, [("a".to_owned(), "it rejects requests (403, 429 or 503)")]);
    let pages = crawl.records().iter().filter(|record| record.kind == "page").count();
    assert_eq!(pages, 3, "no further page is requested");
    let unsent = crawl.results.iter().filter(|result| !result.requested);
    let unsent: Vec<(&str, String)> = unsent
        .map(|result| (result.url.as_str(), result.result.as_ref().err().map(|(status, _)| status.to_string())))
        .map(|(url, status)| (url, status.unwrap_or_default()))
        .collect();
    let refused = unsent.iter().filter(|(_, status)| status == "403").count();
    assert_eq!(refused, 2, "{unsent:?}");
    assert!(unsent.iter().all(|(url, status)| !url.ends_with("/secret") || status == "robots"), "{unsent:?}");
}

#[test]
fn pages_of_an_overloaded_host_are_not_passed_over() {
    let mut turn = 0;
    let mut crawl = Setup::pages(&["a/1", "a/2", "a/3", "a/4", "a/5"]).know_robots("a", "").simulate(|_| {
        turn += 1;
        Reply::status(if turn < 3 { 403 } else { 429 })
    });
    crawl.run();
    assert!(crawl.results.iter().all(|result| result.requested));
}

#[test]
fn a_success_between_refusals_resets_the_count() {
    let mut turn = 0;
    let mut crawl = Setup::pages(&["a/1", "a/2", "a/3", "a/4", "a/5"]).know_robots("a", "").simulate(|_| {
        turn += 1;
        Reply::status(if turn == 3 { 200 } else { 403 })
    });
    assert!(crawl.run().given_up.is_empty());
    assert_eq!(crawl.results.len(), 5);
}

#[test]
fn two_network_failures_in_a_row_give_the_host_up() {
    let mut crawl = Setup::pages(&["a/1", "a/2", "a/3"]).know_robots("a", "").simulate(|_| Reply::failed("connect"));
    let outcome = crawl.run();
    assert_eq!(outcome.given_up, [("a".to_owned(), "it is unreachable or does not respond")]);
    assert_eq!((crawl.results.len(), crawl.jobs_left()), (2, 1));
    assert_eq!(outcome.hosts[0].trouble.as_deref(), Some("connect: simulated"));
    assert_eq!(crawl.crawl.stats.answering_hosts.load(Relaxed), 0);
}

#[test]
fn failures_that_are_not_of_the_network_do_not_count() {
    let mut crawl =
        Setup::pages(&["a/1", "a/2", "a/3", "a/4"]).know_robots("a", "").simulate(|_| Reply::failed("too-large"));
    assert!(crawl.run().given_up.is_empty());
    assert_eq!(crawl.results.len(), 4);
}

#[test]
fn a_redirect_is_fetched_from_the_queue_of_its_target_after_the_policy_there() {
    let setup = Setup::pages(&["a/1"]).know_robots("a", "");
    let mut crawl = setup.with_replies(vec![("a/1", Reply::redirect("http://b/2"))]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/1"), (1, "b/robots.txt"), (12, "b/2")]);
    let result = &crawl.results[0];
    assert_eq!(result.url, "http://b/2");
    assert_eq!(result.redirects, [Redirect { status: 302, to: "http://b/2".to_owned() }]);
}

#[test]
fn a_redirect_waits_for_the_pause_of_its_target() {
    let setup = Setup::pages(&["a/1", "b/1"]).know_robots("a", "").know_robots("b", "");
    let mut crawl = setup.with_replies(vec![("a/1", Reply::redirect("http://b/2"))]);
    crawl.run();
    assert_eq!(crawl.sent.last().map(|sent| (sent.at.as_secs(), sent.url.as_str())), Some((11, "http://b/2")));
}

#[test]
fn a_redirect_to_a_forbidden_page_is_refused() {
    let setup = Setup::pages(&["a/1"]).know_robots("a", "").know_robots("b", "User-agent: *\nDisallow: /");
    let mut crawl = setup.with_replies(vec![("a/1", Reply::redirect("http://b/2"))]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/1")]);
    assert_eq!(crawl.statuses(), [(0, "robots".to_owned())]);
    assert_eq!(crawl.results[0].redirects.len(), 1);
}

#[test]
fn a_redirect_chain_ends_at_the_limit() {
    let mut count = 0;
    let mut crawl = Setup::pages(&["a/0"]).know_robots("a", "").simulate(|_| {
        count += 1;
        Reply::redirect(&format!("/{count}"))
    });
    crawl.run();
    assert_eq!(crawl.statuses(), [(0, "redirects".to_owned())]);
    assert_eq!(crawl.sent.len(), 6);
}

#[test]
fn pages_wait_for_a_policy_that_is_redirected_to_another_host() {
    let mut crawl = Setup::pages(&["a/1"]).with_replies(vec![
        ("a/robots.txt", Reply::redirect("http://b/robots.txt")),
        ("b/robots.txt", Reply::with(200, &[], "User-agent: *\nDisallow: /1").after(SECOND * 50)),
    ]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/robots.txt"), (1, "b/robots.txt")]);
    assert_eq!(crawl.statuses(), [(0, "robots".to_owned())]);
}

#[test]
fn two_hosts_that_redirect_their_policies_to_each_other_do_not_deadlock() {
    let mut crawl = Setup::pages(&["a/1", "b/1"]).with_replies(vec![
        ("a/robots.txt", Reply::redirect("http://b/other.txt")),
        ("b/robots.txt", Reply::redirect("http://a/other.txt")),
    ]);
    crawl.run();
    assert_eq!(crawl.statuses(), [(0, "200".to_owned()), (1, "200".to_owned())]);
}

#[test]
fn a_policy_redirected_to_a_private_address_is_called_unreachable() {
    let mut crawl = Setup::pages(&["a/1"]).with_replies(vec![
        ("a/robots.txt", Reply::redirect("http://10.0.0.1/")),
        ("10.0.0.1/", Reply::failed("private")),
    ]);
    crawl.run();
    assert_eq!(crawl.statuses(), [(0, "robots-unreachable".to_owned())]);
    let mut direct = Setup::pages(&["a/1"]).with_replies(vec![("a/robots.txt", Reply::failed("private"))]);
    direct.run();
    assert_eq!(direct.statuses(), [(0, "private".to_owned())]);
}

#[test]
fn a_request_lost_to_a_stale_connection_is_retried_once_after_the_pause() {
    let setup = Setup::pages(&["a/1"]).know_robots("a", "");
    let mut crawl = setup.with_replies(vec![("a/1", Reply::stale())]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/1"), (11, "a/1")]);
    assert_eq!(crawl.statuses(), [(0, "200".to_owned())]);
    let mut twice = Setup::pages(&["a/1"]).know_robots("a", "").simulate(|_| Reply::stale());
    twice.run();
    assert_eq!((twice.sent.len(), twice.statuses()), (2, vec![(0, "cut".to_owned())]));
}

#[test]
fn a_lack_of_sockets_lowers_the_limits_and_does_not_count_as_a_request() {
    let setup = Setup::pages(&["a/1"]).know_robots("a", "");
    let mut crawl = setup.with_replies(vec![("a/1", Reply::error(RequestError::OutOfSockets).after(Duration::ZERO))]);
    let outcome = crawl.run();
    assert_eq!(crawl.sent[1].at, dispatch::SOCKET_RETRY);
    assert_eq!(crawl.crawl.max_open(), 999);
    assert_eq!((crawl.records().len(), outcome.hosts[0].requests), (1, 1));
}

#[test]
fn concurrency_is_bounded() {
    let mut setup = Setup::pages(&["a/1", "b/1", "c/1", "d/1"]);
    setup.settings.concurrency = 2;
    setup.settings.obey_robots = false;
    let mut crawl = setup.with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.sent.iter().map(|sent| sent.at.as_secs()).collect::<Vec<_>>(), [0, 0, 1, 1]);
}

#[test]
fn concurrency_never_exceeds_the_open_files() {
    let mut setup = Setup::pages(&["a/1", "b/1", "c/1"]);
    (setup.max_open, setup.settings.obey_robots) = (1, false);
    let mut crawl = setup.with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.sent.iter().map(|sent| sent.at.as_secs()).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_result_that_the_consumer_has_not_taken_holds_its_place() {
    let mut setup = Setup::pages(&["a/1", "b/1"]);
    (setup.settings.concurrency, setup.settings.obey_robots) = (1, false);
    let mut crawl = setup.with_replies(vec![]);
    crawl.consumer = SECOND * 30;
    crawl.run();
    assert_eq!(crawl.sent.iter().map(|sent| sent.at.as_secs()).collect::<Vec<_>>(), [0, 31]);
}

#[test]
fn the_pause_is_not_lengthened_by_a_slow_consumer() {
    let mut crawl = Setup::pages(&["a/1", "a/2"]).know_robots("a", "").with_replies(vec![]);
    crawl.consumer = SECOND * 7;
    crawl.run();
    assert_eq!(crawl.sent[1].at, SECOND * 11);
}

#[test]
fn stop_ends_the_crawl_with_requests_in_flight() {
    let mut crawl = Setup::pages(&["a/1", "a/2", "b/1"]).with_replies(vec![]);
    assert!(!crawl.run_until(SECOND / 2));
    crawl.crawl.handle(Input::Stop);
    assert!(matches!(crawl.settle(), Ok(None)));
    assert!(crawl.crawl.outcome().stopped);
    assert_eq!((crawl.results.len(), crawl.jobs_left()), (0, 3));
}

#[test]
fn a_consumer_that_is_gone_ends_the_crawl() {
    let mut crawl = Setup::pages(&["a/1", "b/1"]).with_replies(vec![]);
    assert!(!crawl.run_until(SECOND * 5));
    crawl.crawl.handle(Input::ResultsClosed);
    assert!(matches!(crawl.settle(), Ok(None)));
    assert!(crawl.crawl.outcome().stopped);
}

#[test]
fn a_lost_request_gives_up_its_host_and_no_other() {
    let setup = Setup::pages(&["a/1", "a/2", "b/1"]).know_robots("a", "").know_robots("b", "");
    let mut crawl = setup.with_replies(vec![]);
    crawl.settle().unwrap();
    let at = crawl.reports.iter().position(|report| &*crawl.crawl.frontier.get(report.2).name == "a").unwrap();
    let (_, _, host, _) = crawl.reports.swap_remove(at);
    crawl.crawl.handle(Input::Lost(host));
    let outcome = crawl.run();
    assert_eq!(outcome.given_up, [("a".to_owned(), "internal error in a request")]);
    assert_eq!(crawl.statuses(), [(2, "200".to_owned())]);
}

#[test]
fn a_job_without_a_valid_url_is_rejected_without_a_request() {
    let mut setup = Setup::pages(&["a/1", "a/2", "a/3"]).know_robots("a", "");
    setup.jobs = ["mailto:x@a", "not a url", "http://a/3"].map(str::to_owned).to_vec();
    let mut crawl = setup.with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/3")]);
    let bad = "bad-url".to_owned();
    assert_eq!(crawl.statuses(), [(0, bad.clone()), (1, bad), (2, "200".to_owned())]);
}

#[test]
fn refusals_are_handed_out_one_at_a_time() {
    let urls: Vec<String> = (0..500).map(|n| format!("a/{n}")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let mut crawl = Setup::pages(&urls).know_robots("a", "User-agent: *\nDisallow: /").with_replies(vec![]);
    for _ in 0..500 {
        let action = crawl.crawl.next_action(crawl.now()).unwrap();
        assert!(matches!(action, Action::Deliver(None, _)));
        assert!(crawl.crawl.actions.is_empty());
    }
    assert!(matches!(crawl.crawl.next_action(crawl.now()), Ok(Action::Finish)));
}

#[test]
fn a_job_that_cannot_be_loaded_ends_the_crawl_with_an_error() {
    let mut setup = Setup::pages(&["a/1"]);
    setup.jobs.clear();
    let error = setup.with_replies(vec![]).settle().expect_err("there is no such job");
    assert_eq!(error.to_string(), "cannot load a fetch job: no such job");
}

#[test]
fn a_host_contacted_by_an_earlier_crawl_gets_the_rest_of_its_delay() {
    let mut setup = Setup::pages(&["a/1", "b/1"]).know_robots("a", "").know_robots("b", "");
    setup.queue("a").idle_for = Some(SECOND * 4);
    setup.queue("b").idle_for = Some(SECOND * 400);
    let mut crawl = setup.with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "b/1"), (6, "a/1")]);
}

#[test]
fn a_redirect_to_a_host_of_an_earlier_crawl_waits_too() {
    let mut setup = Setup::pages(&["a/1"]).know_robots("a", "").know_robots("b", "");
    setup.queue("b").idle_for = Some(SECOND * 4);
    let mut crawl = setup.with_replies(vec![("a/1", Reply::redirect("http://b/2"))]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(0, "a/1"), (6, "b/2")]);
}

#[test]
fn after_a_crash_all_hosts_get_the_rest_of_their_pause() {
    let mut setup = Setup::pages(&["a/1"]).know_robots("a", "");
    setup.all_hosts_idle_for = Some(SECOND * 3);
    let mut crawl = setup.with_replies(vec![]);
    crawl.run();
    assert_eq!(crawl.timeline(), [(7, "a/1")]);
}

#[test]
fn a_blocked_host_is_contacted_later_or_by_a_later_crawl() {
    let mut setup = Setup::pages(&["a/1", "b/1"]).know_robots("a", "").know_robots("b", "");
    setup.queue("a").blocked_for = Some(SECOND * 100);
    setup.queue("b").blocked_for = Some(SECOND * 121);
    let mut crawl = setup.with_replies(vec![]);
    let outcome = crawl.run();
    assert_eq!(crawl.timeline(), [(100, "a/1")]);
    assert_eq!(outcome.given_up, [("b".to_owned(), "Retry-After or backoff of an earlier run")]);
}

#[test]
fn the_order_follows_from_the_seed_and_not_from_hosts_without_jobs() {
    let order = |seed: u64, history: bool| {
        let urls: Vec<String> = (0..12).map(|n| format!("h{}/{n}", n % 4)).collect();
        let mut setup = Setup::pages(&urls.iter().map(String::as_str).collect::<Vec<_>>());
        (setup.settings.seed, setup.settings.obey_robots) = (seed, false);
        if history {
            setup.queues.insert(0, HostQueue { host: "x".to_owned(), ..HostQueue::default() });
        }
        let mut crawl = setup.with_replies(vec![]);
        crawl.run();
        crawl.sent.iter().map(|sent| sent.url.clone()).collect::<Vec<_>>()
    };
    assert_eq!(order(7, false), order(7, true));
    assert_ne!(order(7, false), order(8, false));
}

#[test]
fn the_outcome_has_the_host_states_for_the_next_crawl() {
    let mut crawl = Setup::pages(&["a/1"]).know_robots("a", "").with_replies(vec![]);
    let outcome = crawl.run();
    let [note] = &outcome.hosts[..] else { panic!("one host was asked") };
    assert_eq!((note.host.as_str(), note.requests, note.served), ("a", 1, true));
    assert_eq!(note.last_request.to_string(), "2026-03-01T12:00:01Z");
    assert_eq!(note.not_before.unwrap().to_string(), "2026-03-01T12:00:11Z");
}

#[test]
fn counters_follow_requests_and_results() {
    let mut crawl = Setup::pages(&["a/1", "b/1"]).with_replies(vec![("a/1", Reply::with(200, &[], "twelve bytes"))]);
    crawl.run();
    let stats = &crawl.crawl.stats;
    let counts = [&stats.requests, &stats.delivered, &stats.bytes, &stats.answering_hosts, &stats.in_flight];
    assert_eq!(counts.map(|count| count.load(Relaxed)), [4, 2, 12, 2, 0]);
}

#[test]
fn the_reservation_of_tdmrep_is_part_of_the_result() {
    let mut setup = Setup::pages(&["a/1"]).know_robots("a", "");
    setup.kind = CrawlKind::Page;
    let tdmrep = r#"[{"location":"/","tdm-reservation":1,"tdm-policy":"http://a/p"}]"#;
    let mut crawl = setup.with_replies(vec![("a/.well-known/tdmrep.json", Reply::with(200, &[], tdmrep))]);
    crawl.run();
    assert_eq!(crawl.results[0].tdm, (Some("1".to_owned()), Some("http://a/p".to_owned())));
}

#[test]
fn a_host_that_serves_no_job_is_in_trouble_with_the_reason() {
    let trouble = |replies| {
        let mut simulation = Setup::pages(&["a/1", "a/2"]).with_replies(replies);
        let outcome = simulation.run();
        let requested: Vec<bool> = simulation.results.iter().map(|result| result.requested).collect();
        (outcome.hosts[0].trouble.clone(), outcome.hosts[0].served, requested)
    };
    let robots = trouble(vec![("a/robots.txt", Reply::status(500))]);
    assert_eq!(robots.0.as_deref(), Some("robots-unreachable: HTTP status 500 for robots.txt"));
    assert_eq!((robots.1, robots.2), (false, vec![false, false]), "no page was requested");
    let busy = trouble(vec![("a/1", Reply::status(503)), ("a/2", Reply::status(503))]);
    assert_eq!(
        (busy.0.as_deref(), busy.1, busy.2),
        (Some("HTTP status 503 Service Unavailable"), false, vec![true; 2])
    );
    let recovered = trouble(vec![("a/1", Reply::failed("timeout"))]);
    assert_eq!((recovered.0, recovered.1), (None, true), "the other page was served");
    let refused = trouble(vec![("a/robots.txt", Reply::failed("private"))]);
    assert_eq!((refused.0, refused.1), (None, false), "a private address is a verdict");
}

/// Start and end of the requests to two hosts, in the order of sending.
fn spans<W>(simulation: &Simulation<W>) -> Vec<(Duration, Duration)> {
    simulation.sent.iter().map(|sent| (sent.at, sent.ended)).collect()
}

#[test]
fn two_names_of_one_address_are_asked_one_after_the_other_with_a_pause() {
    let setup = Setup::pages(&["a.org/1", "b.org/1"]).at_one_address(&["a.org", "b.org"]);
    let mut simulation = setup.with_replies(vec![]);
    simulation.run();
    let half = SECOND / 2;
    let expected = [0, 3, 22, 25].map(|halves| (half * halves, half * halves + SECOND));
    assert_eq!(spans(&simulation), expected, "{:?}", simulation.timeline());
    assert!(simulation.records().iter().all(|record| record.address_delay == Some(half) && record.peer.is_some()));
}

#[test]
fn hosts_of_different_addresses_are_asked_at_once() {
    let mut simulation = Setup::pages(&["a.org/1", "b.org/1", "c.org/1"]).with_replies(vec![]);
    simulation.run();
    assert!(spans(&simulation)[..3].iter().all(|span| *span == (Duration::ZERO, SECOND)));
}

#[test]
fn an_address_of_a_shared_network_has_no_limit() {
    let mut setup = Setup::pages(&["a.org/1", "b.org/1"]).at_one_address(&["a.org", "b.org"]);
    setup.settings.shared_networks = vec!["192.0.2.0/24".parse().unwrap()];
    let mut simulation = setup.with_replies(vec![]);
    simulation.run();
    assert!(spans(&simulation)[..2].iter().all(|span| *span == (Duration::ZERO, SECOND)));
    assert!(simulation.records().iter().all(|record| record.address_delay.is_none()));
}

#[test]
fn hosts_that_wait_for_an_address_hold_no_place_of_other_hosts() {
    let names = ["a.org", "b.org", "c.org", "d.org"];
    let urls = ["a.org/1", "b.org/1", "c.org/1", "d.org/1", "other.org/1"];
    let mut setup = Setup::pages(&urls).at_one_address(&names);
    setup.settings.concurrency = 2;
    let mut simulation = setup.with_replies(vec![]);
    simulation.run();
    let other = simulation.sent.iter().find(|sent| sent.url.contains("other.org")).unwrap();
    assert_eq!(other.at, Duration::ZERO, "{:?}", simulation.timeline());
}

#[test]
fn a_redirect_to_another_name_of_the_address_waits_for_the_pause() {
    let setup = Setup::pages(&["a.org/1"]).know_robots("a.org", "").know_robots("b.org", "");
    let mut simulation =
        setup.at_one_address(&["a.org", "b.org"]).with_replies(vec![("a.org/1", Reply::redirect("http://b.org/2"))]);
    simulation.run();
    assert_eq!(spans(&simulation), [(Duration::ZERO, SECOND), (SECOND * 3 / 2, SECOND * 5 / 2)]);
}

#[test]
fn a_connection_to_another_address_waits_until_that_one_is_free() {
    let setup = Setup::pages(&["a.org/1", "b.org/1"]).know_robots("a.org", "").know_robots("b.org", "");
    let mut simulation = setup.with_replies(vec![]);
    // The first address of b.org does not answer, and its second one is the address of a.org.
    let ip = simulation.address_of("a.org");
    simulation.connects_to.insert("b.org".to_owned(), ip);
    simulation.run();
    assert_eq!(spans(&simulation), [(Duration::ZERO, SECOND), (SECOND * 3 / 2, SECOND * 5 / 2)]);
    assert!(simulation.sent.iter().all(|sent| sent.ip == ip));
    assert_eq!(simulation.records().len(), 2, "an attempt that only found the address is no request");
}

#[test]
fn the_pause_of_addresses_also_holds_after_an_earlier_crawl() {
    let mut setup = Setup::pages(&["a.org/1"]).know_robots("a.org", "");
    setup.queue("b.org").idle_for = Some(SECOND / 5);
    let mut simulation = setup.with_replies(vec![]);
    simulation.run();
    assert_eq!(spans(&simulation)[0].0, SECOND * 3 / 10);
}

#[test]
fn names_of_an_address_that_accepts_no_connection_are_postponed() {
    let names = ["a.org", "b.org", "c.org", "d.org", "e.org"];
    let urls = names.map(|name| format!("{name}/1"));
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let mut setup = Setup::pages(&urls).at_one_address(&names);
    setup.settings.obey_robots = false;
    let mut simulation = setup.simulate(|_: &HttpRequest| Reply::failed("timeout").after(SECOND * 15));
    simulation.unanswered = true;
    let outcome = simulation.run();
    assert_eq!(simulation.sent.len(), 3);
    let reason = "its IP address accepts no connection";
    assert_eq!(outcome.given_up.iter().filter(|row| row.1 == reason).count(), 2, "{:?}", outcome.given_up);
}
