//! The web interface in a real browser, with the real program and a corpus of known content.
//!
//! These tests are skipped if there is no Chromium. With `TIDINGS_PICTURES=DIR` they write screenshots.

use std::path::PathBuf;

use rustix::process::Signal;
use tidings_testing::until;

use crate::ask::{article, weather};
use crate::axe;
use crate::browser::Browser;
use crate::clean::put;
use crate::serve::Server;
use crate::support::Corpus;

/// A server and a browser on its page.
struct Reader {
    browser: Browser,
    server: Server,
    own: String,
    corpus: Corpus,
}

/// Six months of weather in English, and a few days in Arabic.
fn weather_in_two_languages() -> Corpus {
    let corpus = weather();
    let arabic = |number: usize| {
        let text = "وصلت العاصفة إلى الساحل مساء أمس وأغلقت المدارس أبوابها في جميع أنحاء المدينة. \
                    قال رئيس البلدية إن فرق الإنقاذ عملت طوال الليل لمساعدة السكان. \
                    من المتوقع أن يتحسن الطقس في نهاية الأسبوع وأن تعود الحياة إلى طبيعتها.";
        let mut page = article(90_000 + number, "d.example", &format!("2026-06-{:02}", number + 1), "");
        page.body = format!(
            "<html lang=ar><head><meta charset=utf-8><title>أخبار {number}</title><meta property='article:published_time' \
             content='2026-06-{:02}T08:00:00Z'></head><body><article><h1>أخبار اليوم</h1><p>{text}</p></article></body></html>",
            number + 1
        )
        .into_bytes();
        page
    };
    put(&corpus, "2026-07-02", "c.0", &(0..5).map(arabic).collect::<Vec<_>>());
    for stage in ["clean", "annotate", "compile"] {
        corpus.run(stage).ok();
    }
    corpus
}

/// The same weather with lemmas and parts of speech from a tagger of a dozen words.
fn tagged_weather() -> Corpus {
    let corpus = weather();
    let tagger = r#"
[annotate.external.en]
mode = "batch"
command = ["awk", '''
/^</ { print; next }
{
    lemma = tolower($1); tag = "NOUN"
    if (lemma == "the") tag = "DET"
    if (lemma == "from" || lemma == "over") tag = "ADP"
    if (lemma == "came") { lemma = "come"; tag = "VERB" }
    if ($1 !~ /[A-Za-z0-9]/) tag = "PUNCT"
    print $1 "\t" lemma "\t" tag
}''']
"#;
    let settings = corpus.home().join("tidings.toml");
    std::fs::write(&settings, std::fs::read_to_string(&settings).unwrap() + tagger).unwrap();
    for stage in ["annotate", "compile"] {
        corpus.run(stage).ok();
    }
    corpus
}

impl Reader {
    /// A server of a corpus, and a browser.
    fn of(corpus: impl FnOnce() -> Corpus, args: &str) -> Option<Reader> {
        let browser = Browser::start()?;
        let corpus = corpus();
        let server = Server::start(&corpus, args);
        let own = format!("http://{}/", server.address);
        Some(Reader { browser, server, own, corpus })
    }

    fn new() -> Option<Reader> {
        Reader::of(weather_in_two_languages, "")
    }

    /// Opens a view by its path and query.
    #[track_caller]
    fn view(&mut self, address: &str) {
        self.browser.open(&format!("{}{address}", self.own));
    }

    /// The decoded URL of the current view.
    fn address(&mut self) -> String {
        self.browser.eval("decodeURIComponent(location.search.replaceAll('+', ' '))").as_str().unwrap().to_owned()
    }

    /// Checks that there were no errors and no requests to other hosts since the last call.
    #[track_caller]
    fn is_quiet(&mut self, but: &[&str]) {
        let complaints = self.browser.complaints(&self.own, but);
        assert!(complaints.is_empty(), "{complaints:#?}");
    }

    /// The file saved by a click on a button.
    #[track_caller]
    fn saves(&mut self, button: &str, name: &str) -> Vec<u8> {
        let path = self.browser.downloads().join(name);
        let _ = std::fs::remove_file(&path);
        self.browser.click(button);
        self.browser.await_download();
        std::fs::read(&path).unwrap_or_else(|error| panic!("{name} was not saved: {error}"))
    }

    fn picture(&mut self, name: &str) {
        if let Some(folder) = std::env::var_os("TIDINGS_PICTURES") {
            self.browser.picture(&PathBuf::from(folder).join(format!("{name}.png")));
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.server.signal(Signal::TERM);
    }
}

/// Every view, with something to show.
const VIEWS: &[(&str, &str)] = &[
    ("", "What changed"),
    ("?q=storm", "Concordance"),
    ("?view=search", "Concordance"),
    ("?view=documents", "Documents"),
    ("?view=documents&q=storm", "Documents"),
    ("?view=timeline&q=storm%2C+bakery", "Timeline"),
    ("?view=timeline&q=storm%2C+bakery%2C+the%2C+sea%2C+of", "Timeline"),
    ("?view=trends", "Trends"),
    ("?view=seasons", "Seasons"),
    ("?view=steps&by=day&min=5", "Step changes"),
    ("?view=compare", "Compare"),
    ("?view=new-words", "New words"),
    ("?view=bursts", "Bursts"),
    ("?view=collocations&q=storm", "Collocations"),
    ("?view=collocations&q=storm&positions=true&network=true", "Collocations"),
    ("?view=keywords", "Keywords"),
    ("?view=terms", "Terms"),
    ("?view=meaning", "Change of meaning"),
    ("?view=keywords&filter=date%3D2026-06", "Keywords"),
    ("?view=words", "Word list"),
    ("?view=frequencies&q=storm", "Frequencies"),
    ("?view=groups&q=storm", "Grouped frequencies"),
    ("?view=groups&q=storm&by2=site&side=true", "Grouped frequencies"),
    ("?view=crosstab&q=storm%2C+bakery&by2=month", "Cross table"),
    ("?view=neologisms&since=2026-06-01", "Neologism desk"),
    ("?view=dispersion&q=storm", "Dispersion"),
    ("?view=sketch", "Word sketch"),
    ("?view=sketch-diff&q=storm", "Sketch difference"),
    ("?view=thesaurus&q=storm", "Thesaurus"),
    ("?view=saved", "Saved searches"),
    ("?view=collection", "Collection"),
    ("?view=help", "Help"),
];

#[test]
fn every_view_is_accessible_fits_any_screen_and_sends_no_third_party_requests() {
    let Some(mut reader) = Reader::new() else { return };
    let axe = axe::script();
    let mut violations = Vec::new();
    for (width, scheme) in [(1280, "light"), (380, "dark")] {
        reader.browser.screen(width, 900);
        reader.browser.colours(scheme);
        for (address, title) in VIEWS {
            reader.view(address);
            assert_eq!(reader.browser.eval("document.querySelector('h1').textContent"), *title);
            let shown = reader.browser.text("main");
            assert!(!shown.contains("went wrong") && !shown.contains("undefined") && !shown.contains("NaN"), "{shown}");
            let fits = reader.browser.eval("document.documentElement.scrollWidth <= innerWidth");
            assert!(fits == true, "{address} is wider than {width} pixels");
            // Accessibility: one heading, landmarks, names for all focusable elements.
            let nameless = reader.browser.eval(
                "[...document.querySelectorAll('a, button, input, select, summary, svg')].filter((each) => \
                 !each.textContent.trim() && !each.getAttribute('aria-label') && !each.labels?.length \
                 && !each.closest('[aria-hidden]')).map((each) => each.outerHTML.slice(0, 200))",
            );
            assert_eq!(nameless, serde_json::json!([]), "{address}");
            assert_eq!(
                reader.browser.eval("document.querySelectorAll('h1, main, header, footer, nav#views').length"),
                5
            );
            reader.picture(&format!("{scheme}-{title}"));
            for rule in axe.iter().flat_map(|script| axe::violations(&mut reader.browser, script)) {
                violations.push(format!("{address} in {width} pixels, {scheme}: {rule}"));
            }
            reader.is_quiet(&[]);
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn a_user_searches_reads_and_saves_lines() {
    let Some(mut reader) = Reader::new() else { return };
    reader.view("");
    // The query field has the focus: type, press Enter and read.
    reader.browser.until("document.activeElement?.name === 'q'");
    reader.browser.write("storm");
    reader.browser.press(&["Enter"]);
    reader.browser.until("document.querySelectorAll('.kwic .hit').length === 50");
    assert!(reader.address().contains("q=storm"));
    assert!(reader.browser.text("#message").starts_with("126 hits · "));
    // Facets count the hits by source, and a click filters.
    reader.browser.until("!!document.querySelector('#facets .facet a')");
    reader.browser.eval(
        "[...document.querySelectorAll('#facets a')].find((each) => each.textContent.startsWith('a.example')).click()",
    );
    reader
        .browser
        .until("location.search.includes('site=a.example') && document.querySelectorAll('.kwic .hit').length > 0");
    reader.browser.eval("history.back()");
    reader.browser.until("document.querySelectorAll('.kwic .hit').length === 50");
    let words =
        "[...document.querySelectorAll('.kwic tbody tr')].map((row) => row.querySelector('.before').textContent)";
    assert!(reader.browser.eval(words).as_array().unwrap().iter().all(|text| text.as_str().unwrap().ends_with("The")));
    // Hits are aligned.
    let edges = "new Set([...document.querySelectorAll('.kwic td.node')].map((cell) => Math.round(cell.getBoundingClientRect().x))).size";
    assert_eq!(reader.browser.eval(edges), 1);

    // With the keyboard only: go to the second hit, open its paragraph, close it.
    reader.browser.eval("document.querySelector('.hit').focus()");
    reader.browser.press(&["ArrowDown", "Enter"]);
    reader.browser.until("document.querySelector('.opened mark')?.textContent === 'storm'");
    assert!(reader.browser.text(".opened").contains("The bakery on the corner"), "the paragraph is shown");
    assert_eq!(reader.browser.eval("document.activeElement.getAttribute('aria-expanded')"), "true");
    reader.picture("opened");
    reader.browser.press(&["Escape"]);
    reader.browser.until("!document.querySelector('.opened')");

    // Page by page, and back.
    reader.browser.click(".pages .next");
    reader.browser.until("document.querySelector('.pages span')?.textContent === 'Lines 51 to 100 of 126'");
    reader.browser.eval("history.back()");
    reader.browser.until("document.querySelector('.pages span')?.textContent === 'Lines 1 to 50 of 126'");

    // Filtered documents; the URL contains the whole state, so that it can be shared.
    reader.view("?q=storm&site=a.example&from=2026-03-01&sort=oldest");
    assert!(reader.browser.text("#message").starts_with("36 hits · "), "{}", reader.browser.text("#message"));
    assert_eq!(reader.browser.text(".kwic td.date"), "Mar 2, 2026");
    assert!(
        reader.browser.eval("document.querySelector('.provenance').textContent.includes('api/v1/en/query?q=storm')")
            == true
    );
    let cite = reader.browser.eval("document.querySelector('.cite').textContent").as_str().unwrap().to_owned();
    assert!(cite.contains("English corpus, ") && cite.contains("Tidings "), "{cite}");
    assert!(
        !cite.contains("127.0.0.1") && !cite.contains("localhost"),
        "an address of this machine is no source: {cite}"
    );

    // Syntax errors are shown at their position, and empty results are explained.
    reader.is_quiet(&[]);
    reader.view("?q=%5Blema%3D%22x%22%5D");
    assert!(reader.browser.text(".trouble pre").contains("^^^^"));
    reader.is_quiet(&["400 (Bad Request)"]);
    reader.view("?q=zzz");
    assert!(reader.browser.text(".empty").contains("No hits in these documents"));
    reader.view("?lang=xx");
    assert!(reader.browser.text(".empty").contains("No corpus for language xx"));

    // Text never becomes markup.
    reader.view("?q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E");
    assert_eq!(reader.browser.eval("document.querySelectorAll('main img, main script').length"), 0);
    reader.is_quiet(&["400 (Bad Request)"]);
}

#[test]
fn a_period_of_the_timeline_links_to_its_hits() {
    let Some(mut reader) = Reader::new() else { return };
    reader.view("?view=timeline&q=storm&by=month");
    reader.browser.until("!!document.querySelector('.target')");
    let at = |browser: &mut Browser, kind: &str, share: f64| {
        let script = format!(
            "(() => {{ const target = document.querySelector('.target'), box = target.getBoundingClientRect(); \
             target.dispatchEvent(new PointerEvent('{kind}', {{ clientX: box.x + box.width * {share}, clientY: box.y + 60, \
             bubbles: true, button: 0, pointerId: 1 }})); return true; }})()"
        );
        browser.eval(&script)
    };
    // The tip stands at the pointer.
    reader.browser.eval("Element.prototype.setPointerCapture = () => {}");
    at(&mut reader.browser, "pointermove", 0.97);
    assert!(reader.browser.text(".tip").contains("Jun 2026"), "{}", reader.browser.text(".tip"));
    assert!(reader.browser.text(".tip").contains("36 hits"), "{}", reader.browser.text(".tip"));
    at(&mut reader.browser, "pointerdown", 0.97);
    at(&mut reader.browser, "pointerup", 0.97);
    reader.browser.until("document.querySelector('#message')?.textContent.startsWith('36 hits')");
    assert!(reader.address().contains("from=2026-06-01&to=2026-06-30"), "{}", reader.address());

    // The same with the keyboard: the last period, one to the left, and Enter.
    reader.view("?view=timeline&q=storm&by=month");
    reader.browser.until("!!document.querySelector('.target')");
    reader.browser.eval("document.querySelector('.target').focus()");
    reader.browser.press(&["End", "ArrowLeft"]);
    let spoken = reader.browser.eval("document.activeElement.getAttribute('aria-valuetext')");
    assert!(spoken.as_str().unwrap().starts_with("May 2026"), "{spoken}");
    reader.browser.press(&["Enter"]);
    reader.browser.until("document.querySelector('#message')?.textContent.startsWith('30 hits')");

    // Dragging over periods zooms into them.
    reader.view("?view=timeline&q=storm&by=month");
    reader.browser.until("!!document.querySelector('.target')");
    reader.browser.eval("Element.prototype.setPointerCapture = () => {}");
    at(&mut reader.browser, "pointerdown", 0.4);
    at(&mut reader.browser, "pointermove", 0.6);
    at(&mut reader.browser, "pointerup", 0.6);
    reader.browser.until("location.search.includes('from=2026-03-01') && location.search.includes('to=2026-04-30')");

    // The numbers, as a table and as files.
    reader.view("?view=timeline&q=storm&by=month");
    reader.browser.until("!!document.querySelector('.target')");
    let table = String::from_utf8(reader.saves(".chart .csv", "tidings-timeline.csv")).unwrap();
    assert!(table.contains("period,hits,per_million,low,high"), "{table}");
    assert!(table.lines().nth(6).unwrap().starts_with("2026-06,36,"), "{table}");
    let picture = String::from_utf8(reader.saves(".chart .tools button:nth-child(2)", "tidings-timeline.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("stroke=\"rgb("), "{picture}");
    assert!(!picture.contains("role=\"button\""), "what is for the screen only stays there");
    let grey =
        String::from_utf8(reader.saves(".chart .tools button:nth-child(3)", "tidings-timeline-grey.svg")).unwrap();
    assert!(grey.contains("#000") && !grey.contains("rgb(0, 114, 178)"), "{grey}");
    let png = reader.saves(".chart .tools button:nth-child(4)", "tidings-timeline.png");
    assert!(png.starts_with(b"\x89PNG"), "{} bytes: {:02x?}", png.len(), png.get(..16));
    assert!(png.len() > 5_000, "{} bytes", png.len());
    reader.browser.click(".numbers summary");
    reader.browser.until("document.querySelectorAll('.numbers tbody tr').length === 6");
    reader.is_quiet(&[]);
}

#[test]
fn words_that_change_are_found_and_linked() {
    let Some(mut reader) = Reader::new() else { return };
    // By week, the periods of so small a corpus have too little text.
    reader.view("?view=trends&by=month");
    let words = "[...document.querySelectorAll('.rows tbody th')].map((cell) => cell.textContent)";
    assert!(reader.browser.eval(words).as_array().unwrap().iter().any(|word| word == "storm"));
    assert!(reader.browser.eval("document.querySelectorAll('.spark path').length") != 0);
    let table = String::from_utf8(reader.saves(".csv", "tidings-trends.csv")).unwrap();
    assert!(table.contains("word,kind,log_ratio,shape,hits"), "{table}");

    // A click on a column header sorts, and is announced to screen readers.
    reader.browser.click("thead th:nth-child(6) .sort");
    assert_eq!(
        reader.browser.eval("document.querySelector('thead th:nth-child(6)').getAttribute('aria-sort')"),
        "descending"
    );
    let hits = reader.browser.eval(
        "[...document.querySelectorAll('tbody td:nth-child(6)')].map((cell) => Number(cell.textContent.replaceAll(',', '')))",
    );
    assert!(hits.as_array().unwrap().is_sorted_by(|one, other| one.as_f64() >= other.as_f64()), "{hits}");

    reader.view("?view=compare&before=2026-01..2026-03&after=2026-04..2026-06");
    let risen = "[...document.querySelectorAll('.sides section:first-child tbody th')].map((cell) => cell.textContent)";
    let risen = reader.browser.eval(risen);
    assert!(risen.as_array().unwrap().iter().any(|word| word == "storm"), "{risen}");
    reader.picture("compare");
    reader.view("?view=compare&before=2019&after=2026");
    assert!(reader.browser.text(".empty").contains("No documents in 2019"));

    reader.view("?view=new-words&since=2026-06-01");
    assert!(reader.browser.text(".rows tbody").contains("heatdome"));
    // A word links to its lines.
    reader
        .browser
        .eval("[...document.querySelectorAll('.rows th a')].find((each) => each.textContent === 'heatdome').click()");
    reader.browser.until("document.querySelector('#message')?.textContent.startsWith('36 hits')");

    // A collocate links to the co-occurrences.
    reader.view("?view=collocations&q=storm");
    reader
        .browser
        .eval("[...document.querySelectorAll('.rows th a')].find((each) => each.textContent === 'sea').click()");
    reader.browser.until("document.querySelector('#message')?.textContent.startsWith('126 hits')");
    reader.is_quiet(&[]);
}

#[test]
fn colour_scheme_and_text_direction_are_respected() {
    let Some(mut reader) = Reader::new() else { return };
    let paper = "getComputedStyle(document.body).backgroundColor";
    reader.browser.colours("light");
    reader.view("?q=storm");
    let light = reader.browser.eval(paper);
    reader.browser.colours("dark");
    let dark = reader.browser.eval(paper);
    assert_ne!(light, dark, "the system decides");
    // System, light, dark: the choice of the user is stored.
    reader.browser.click(".theme");
    assert_eq!(reader.browser.eval(paper), light);
    reader.view("?q=storm");
    assert_eq!(reader.browser.eval(paper), light);

    // Arabic is written right to left: the left context is on the right.
    reader.view("?lang=ar&q=%D8%A7%D9%84%D8%B9%D8%A7%D8%B5%D9%81%D8%A9");
    assert!(reader.browser.text("#message").starts_with("5 hits"), "{}", reader.browser.text("#message"));
    let place = |name: &str| format!("document.querySelector('.kwic {name}').getBoundingClientRect().x");
    let mut x = |name: &str| reader.browser.eval(&place(name)).as_f64().unwrap();
    let (before, node, behind) = (x(".before"), x("td.node"), x("td:last-child"));
    assert!(before > node && node > behind, "{before} {node} {behind}");
    reader.picture("arabic");

    // Tab leads to the content without passing all views.
    reader.view("?q=storm");
    reader.browser.eval("document.activeElement.blur(); scrollTo(0, 0)");
    reader.browser.press(&["Tab"]);
    assert_eq!(reader.browser.eval("document.activeElement.className"), "skip");
    reader.browser.press(&["Enter"]);
    reader.browser.until("document.activeElement?.id === 'main'");
    reader.browser.press(&["/"]);
    assert_eq!(reader.browser.eval("document.activeElement.name"), "q");
    reader.is_quiet(&[]);
}

#[test]
fn hits_are_refined_by_their_neighbourhood_and_become_a_query() {
    let Some(mut reader) = Reader::new() else { return };
    reader.view("?q=storm&without=sea&window=10");
    assert_eq!(reader.browser.text("#message"), "No hits.");
    reader.view("?q=the&with=storm&window=1");
    let refined = reader.browser.text("#message");
    assert!(refined.starts_with("126 hits"), "{refined}");
    reader.browser.click("#results p.quiet a");
    reader.browser.until("!new URLSearchParams(location.search).has('with')");
    reader.browser.until("document.querySelector('#message')?.textContent.startsWith('126 hits')");
    reader.is_quiet(&[]);
}

#[test]
fn several_queries_are_counted_by_source_and_time_as_shares_of_documents() {
    let Some(mut reader) = Reader::new() else { return };
    reader.view("?view=crosstab&q=storm%2C+bakery&by=site&by2=month");
    let table = reader.browser.text("#results");
    assert!(table.contains("a.example") && table.contains("storm") && table.contains("bakery"), "{table}");
    assert!(table.contains('%'), "{table}");
    let cells = reader.browser.eval("document.querySelectorAll('#results tbody tr').length");
    assert_eq!(cells, 6, "two queries on three sites");
    reader.view("?view=timeline&q=storm&by=month&measure=documents");
    assert!(reader.browser.text("#results").contains("share of documents with a hit"));
    reader.view("?view=frequencies&q=storm&by=site&measure=documents");
    assert!(reader.browser.text("#results").contains("documents with a hit"));
    reader.is_quiet(&[]);
}

#[test]
fn the_owner_decides_about_a_new_word_and_finds_it_among_the_accepted() {
    let Some(mut reader) = Reader::new() else { return };
    reader.view("?view=neologisms&since=2026-06-01");
    let candidates = reader.browser.text("#results");
    assert!(candidates.contains("heatdome") && candidates.contains("a.example"), "{candidates}");
    reader.browser.eval(
        "[...document.querySelectorAll('#results tbody tr')].find((row) => row.textContent.includes('heatdome'))\
         .querySelector('[data-status=accepted]').click()",
    );
    reader.browser.until("document.querySelector('.decision output')?.textContent === 'accepted'");
    reader.view("?view=neologisms&since=2026-06-01&status=accepted");
    assert!(reader.browser.text("#results tbody").contains("heatdome"));
    assert!(reader.browser.text("#results").contains("History of decisions (1)"));
    reader.view("?view=neologisms&since=2026-06-01");
    assert!(!reader.browser.text("#results").contains("heatdome sea"));
    reader.picture("neologisms");
    reader.is_quiet(&[]);
}

#[test]
fn hits_are_grouped_by_several_values_and_their_dispersion_is_drawn() {
    let Some(mut reader) = Reader::new() else { return };
    reader.view("?view=groups&q=storm&by=lc&by2=right1&by3=site");
    let groups = reader.browser.text("#results");
    assert!(groups.contains("word after") && groups.contains("came") && groups.contains("a.example"), "{groups}");
    assert_eq!(reader.browser.eval("document.querySelectorAll('#results tbody tr').length"), 3);
    // The last value as columns: three sites beside each other.
    reader.view("?view=groups&q=storm&by=right1&by2=site&side=true");
    let cells = "[...document.querySelectorAll('#results tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))";
    assert_eq!(reader.browser.eval(cells), serde_json::json!([["came", "42", "42", "42", "126"]]));
    reader.view("?view=dispersion&q=storm&parts=10");
    assert!(reader.browser.text("#results").contains("ARF"));
    reader.browser.until("document.querySelector('#results figure svg path.bar') !== null");
    // Every sharp step, however likely by chance.
    reader.view("?view=steps&by=day&min=5&fdr=1&effect=1");
    assert!(reader.browser.text("#results").contains("passed the test"), "{}", reader.browser.text("#results"));
    reader.is_quiet(&[]);
}

#[test]
fn lemmas_and_parts_of_speech_are_used_if_available() {
    let Some(mut reader) = Reader::of(tagged_weather, "") else { return };
    reader.view("?q=come");
    assert_eq!(reader.browser.text("#message"), "No hits.");
    reader.browser.eval(
        "document.querySelector('[name=as]').value = 'lemma'; document.querySelector('form.ask').requestSubmit()",
    );
    reader.browser.until("document.querySelector('#message')?.textContent.startsWith('126 hits')");
    assert_eq!(reader.browser.text(".kwic .hit"), "came");

    reader.view("?view=sketch&q=storm");
    let sketch = reader.browser.text("#results");
    assert!(sketch.contains("verbs with storm as subject") && sketch.contains("come"), "{sketch}");
    reader.picture("sketch");
    // The forms come later and move the table down.
    reader.browser.until("document.querySelector('.forms li')?.textContent.startsWith('storm 126')");
    // The number of co-occurrences links to these hits.
    reader.browser.click("#results td.number a");
    reader.browser.until("document.querySelector('#message')?.textContent.startsWith('126 hits')");
    reader.view("?view=sketch-diff&q=storm&other=sea&min=1");
    let difference = reader.browser.text("#results");
    assert!(difference.contains("come") && difference.contains("difference"), "{difference}");
    reader.view("?view=thesaurus&q=storm&min=1");
    // Three sentences are too little text, and the page says so.
    let similar = reader.browser.text("#results");
    assert!(similar.contains("No word has enough contexts in common."), "{similar}");
    reader.view("?view=words&attribute=lemma");
    assert!(reader.browser.text(".rows tbody").contains("come"));
    // The forms of a lemma stand above its sketch.
    reader.view("?view=sketch&q=come&as=lemma");
    reader.browser.until("document.querySelector('.forms li')?.textContent.startsWith('came 126')");
    // Collocates of one part of speech, at their places, and as a network.
    reader.view("?view=collocations&q=storm&pos=VERB&positions=true&network=true&left=1&right=2");
    let cells = "[...document.querySelectorAll('.tabled tbody tr')].map((row) => [...row.cells].slice(0, 6).map((cell) => cell.textContent))";
    assert_eq!(reader.browser.eval(cells), serde_json::json!([["come", "126", "126", "–", "126", "–"]]));
    reader.browser.until("document.querySelector('.chart svg a')?.textContent === 'come'");
    reader.picture("network");
    // Terms of the last two months; a term leads to its lines.
    reader.view("?view=terms&from=2026-06-01&min_documents=1");
    let terms = reader.browser.text("#results");
    assert!(terms.contains("heatdome") || terms.contains("No term"), "{terms}");

    reader.view("?view=meaning&before=2026-01..2026-03&after=2026-04..2026-06&min=1&fdr=1");
    let meaning = reader.browser.text("#results");
    assert!(meaning.contains("collocates gained") || meaning.contains("No word changed"), "{meaning}");
    reader.view("?view=meaning&before=2019&after=2026");
    assert!(reader.browser.text(".empty").contains("No documents in 2019"));
    reader.is_quiet(&[]);
}

#[test]
fn restricted_texts_are_shown_with_a_token() {
    let Some(mut reader) = Reader::of(weather, "--public") else { return };
    let secret = reader.corpus.run("--json token add --name reader").ok().json()["token"].as_str().unwrap().to_owned();
    reader.view("?q=storm");
    let message = reader.browser.text("#message");
    assert!(message.starts_with("124 hits · "), "counts of whole groups are public: {message}");
    assert_eq!(reader.browser.eval("document.querySelectorAll('.hit').length"), 0);
    assert!(reader.browser.text("main").contains("can be read with an access token only"));

    until("the server knows the token", || reader.server.get("/api/v1/en/count?q=storm", Some(&secret)).0 == 200);
    reader.browser.eval(&format!(
        "document.querySelector('#token').value = {secret:?}; document.querySelector('form.token').requestSubmit()"
    ));
    reader.browser.until("document.querySelectorAll('.hit').length === 50");
    // The token is stored in the tab only.
    reader.view("?q=storm&sort=left");
    assert_eq!(reader.browser.eval("document.querySelectorAll('.hit').length"), 50);
    assert_eq!(reader.browser.eval("JSON.stringify(localStorage)"), "{}");
    reader.is_quiet(&["401 (Unauthorized)"]);
}

#[test]
fn an_empty_corpus_is_shown_as_such() {
    let Some(mut reader) = Reader::of(crate::clean::corpus, "") else { return };
    reader.view("");
    assert!(reader.browser.text("main").contains("Start a corpus"));
    reader.view("?view=trends");
    assert!(reader.browser.text(".empty").contains("No index yet"));
    reader.view("?view=collection");
    assert!(reader.browser.text("main").contains("Nothing downloaded yet"));
    reader.view("?view=help");
    assert!(reader.browser.text("main").contains("Citing results"));
    reader.is_quiet(&[]);
}

#[test]
fn a_search_is_saved_and_its_documents_are_read() {
    let Some(mut reader) = Reader::new() else { return };
    reader.view("?q=storm");
    reader.browser.until("!!document.querySelector('.save')");
    reader.browser.eval(
        "document.querySelector('.save').open = true; document.querySelector('#save-name').value = 'storms'; \
         document.querySelector('.save-form').requestSubmit()",
    );
    reader.browser.until("document.querySelector('.save-form a')?.href.endsWith('/searches/storms/feed?format=rss')");
    let (status, _, feed) = reader.server.get("/api/v1/searches/storms/feed", None);
    assert_eq!(status, 200);
    assert!(feed.contains("<rss") && feed.contains("storm"), "{feed}");
    reader.view("?view=saved");
    assert!(reader.browser.text("main").contains("storms"));

    // The document of a hit, with all hits marked.
    reader.view("?q=storm");
    reader.browser.click(".kwic td.site a");
    reader.browser.until("document.querySelectorAll('.text mark').length > 0");
    assert_eq!(reader.browser.text(".text mark"), "storm");
    reader.browser.eval("[...document.querySelectorAll('.hit-navigation button')].at(-1).click()");
    reader.browser.until("!!document.querySelector('mark.current')");
    reader.is_quiet(&[]);
}

#[test]
fn documents_with_hits_become_a_subcorpus_of_all_views() {
    let Some(mut reader) = Reader::new() else { return };
    reader.view("?q=storm&from=2026-05-01");
    assert!(reader.browser.text("#message").starts_with("66 hits"));
    reader.browser.click(".subcorpus");
    reader.browser.until("document.querySelector('#message')?.textContent.startsWith('66 documents')");
    assert!(reader.address().contains("has(") && !reader.address().contains("&q="), "{}", reader.address());
    // Saved under a name, and asked another question.
    reader.browser.eval(
        "document.querySelector('.save').open = true; document.querySelector('#save-name').value = 'stormy'; \
         document.querySelector('.save-form').requestSubmit()",
    );
    reader.browser.until("document.querySelector('.save-form [role=status]')?.textContent.startsWith('Saved')");
    reader.view("?q=heatdome&in=stormy");
    assert!(reader.browser.text("#message").starts_with("36 hits"), "{}", reader.browser.text("#message"));
    reader.is_quiet(&[]);
}

#[test]
fn a_timeline_of_thousands_of_days_draws_fast() {
    let Some(mut reader) = Reader::new() else { return };
    // Ten years by day: the answer of the server with more days before it.
    reader.view("");
    reader.browser.eval(
        "(() => { const original = window.fetch; window.fetch = async (...args) => { \
           const response = await original(...args); \
           if (!String(args[0]).includes('/timeline')) return response; \
           const answer = await response.json(); const first = answer.points[0]; const start = Date.parse('2016-01-01'); \
           answer.points = Array.from({ length: 3653 }, (_, at) => ({ ...first, hits: 20 + at % 17, per_million: 20 + at % 17, \
             bin: new Date(start + at * 86400000).toISOString().slice(0, 10) })); \
           return new Response(JSON.stringify(answer)); }; \
         history.pushState(null, '', '?view=timeline&q=storm&by=day'); dispatchEvent(new Event('routechange')); return true; })()",
    );
    reader.browser.until("!!document.querySelector('.stage .target')");
    // The number of elements bounds the time of drawing, whatever the machine.
    let elements = reader.browser.eval("document.querySelectorAll('.stage svg *').length").as_u64().unwrap();
    assert!(elements < 200, "{elements} elements for 3,653 days");
}
