//! The truth of the graph beside what the cleaner of the product finds.

use std::time::Instant;

use tidings_clean::postprocess::PostprocessOptions;
use tidings_clean::{DropReason, Options, clean};
use tidings_model::{Document, Page};
use tidings_simweb::graph::{Graph, GraphSpec, Quality, SiteClass, Truth};

fn cleaned(graph: &Graph, url: &str) -> Result<Document, DropReason> {
    let response = graph.fetch(url);
    assert_eq!(response.status, 200, "{url}");
    let page = Page {
        url: url.to_owned(),
        final_url: url.to_owned(),
        status: 200,
        content_type: response.header("Content-Type").unwrap_or_default().to_owned(),
        downloaded: "2026-03-01T12:00:00Z".to_owned(),
        body: response.body,
        ..Page::default()
    };
    clean(&page, &Options::default(), &PostprocessOptions::default())
}

fn tokens(document: &Document) -> u64 {
    document.text().split_whitespace().count() as u64
}

/// URLs of pages of all sections of the sites of a class.
fn sample(graph: &Graph, keep: impl Fn(SiteClass, Quality) -> bool, per_section: u32) -> Vec<String> {
    let mut urls = Vec::new();
    for site in graph.sites().iter().filter(|site| keep(site.class, site.quality)) {
        for (index, section) in site.sections.iter().enumerate() {
            let step = section.pages / per_section + 1;
            urls.extend((0..section.pages).step_by(step as usize).map(|number| graph.page_url(site, index, number)));
        }
    }
    urls
}

#[test]
fn the_cleaner_finds_the_tokens_of_the_truth() {
    let graph = Graph::new(GraphSpec { seed: 2, sites: 120, ..GraphSpec::default() });
    let truth = Truth::new(&graph);
    let (mut expected, mut found, mut error, mut pages, mut missed, mut false_texts, mut poor) =
        (0, 0, 0.0, 0, 0, 0, 0);
    let mut wrong_language = 0;
    for url in sample(&graph, |class, quality| class != SiteClass::Machine && quality != Quality::Poor, 6) {
        let about = truth.of(&url).expect("a URL of the graph");
        let document = cleaned(&graph, &url);
        if about.tokens == 0 {
            poor += 1;
            false_texts += u64::from(document.is_ok());
            continue;
        }
        pages += 1;
        expected += about.tokens;
        match document {
            Ok(document) => {
                found += tokens(&document);
                error += (tokens(&document) as f64 / about.tokens as f64 - 1.0).abs();
                wrong_language += u64::from(document.language_code() != about.language);
            }
            Err(reason) => {
                missed += 1;
                error += 1.0;
                println!("{url}: {}", reason.name());
            }
        }
    }
    let ratio = found as f64 / expected as f64;
    println!(
        "{pages} pages with {expected} tokens: ratio {ratio:.3}, mean error {:.3}, {missed} missed, {wrong_language} in \
         another language; {false_texts} texts on {poor} pages without",
        error / pages as f64
    );
    assert!(pages > 200 && (0.9..1.1).contains(&ratio), "{ratio}");
    assert!(error / (pages as f64) < 0.1 && wrong_language * 50 < pages);
    assert!(false_texts * 20 < poor, "{false_texts} of {poor}");
}

#[test]
fn the_cleaner_finds_no_text_on_poor_and_parked_sites() {
    let graph = Graph::new(GraphSpec { seed: 3, sites: 120, ..GraphSpec::default() });
    let truth = Truth::new(&graph);
    let mut urls = sample(&graph, |class, _| class == SiteClass::Poor, 3);
    urls.extend(
        graph
            .sites()
            .iter()
            .filter(|site| matches!(site.class, SiteClass::Parked | SiteClass::LinkFarm | SiteClass::Rich))
            .map(|site| graph.url(site, "/")),
    );
    urls.retain(|url| truth.of(url).is_some_and(|about| about.tokens == 0));
    let texts: Vec<&String> = urls.iter().filter(|url| cleaned(&graph, url).is_ok()).collect();
    assert!(urls.len() > 100 && texts.len() * 20 < urls.len(), "{} of {}: {texts:?}", texts.len(), urls.len());
}

#[test]
fn machine_made_text_looks_like_text_and_counts_nothing() {
    let graph = Graph::new(GraphSpec { seed: 4, sites: 200, ..GraphSpec::default() });
    let truth = Truth::new(&graph);
    let urls = sample(&graph, |class, _| class == SiteClass::Machine, 4);
    assert!(urls.iter().any(|url| cleaned(&graph, url).is_ok()));
    assert!(urls.iter().all(|url| truth.of(url).is_some_and(|about| about.tokens == 0)));
}

#[test]
fn a_small_graph_is_ready_at_once() {
    let start = Instant::now();
    let graph = Graph::new(GraphSpec::default());
    assert_eq!(graph.sites().len(), 60);
    println!("{:?}", start.elapsed());
}
