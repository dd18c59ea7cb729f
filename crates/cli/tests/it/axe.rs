//! axe-core: the rules of accessibility that a program can check, run in the page that a browser shows.
//!
//! The version is pinned in `ui/package.json`; `npm ci` in `ui/` installs it. The script is evaluated over the DevTools
//! protocol, so that the content security policy of the page stays as strict as it is.

use std::path::Path;

use crate::browser::Browser;

/// The script, or `None`, with a message, if it is not installed.
pub fn script() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/node_modules/axe-core/axe.min.js");
    let script = std::fs::read_to_string(path);
    if script.is_err() {
        tidings_testing::skip("axe-core not found; run npm ci in ui/");
    }
    script.ok()
}

/// The violations of WCAG 2.2 (levels A and AA) and of best practices in the page as it is shown: rule, and elements.
#[track_caller]
pub fn violations(browser: &mut Browser, script: &str) -> Vec<String> {
    browser.eval(&format!("{script};typeof axe === 'object'"));
    let found = browser.eval(
        "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations.map((rule) => \
         rule.id + ': ' + rule.nodes.map((node) => node.failureSummary.split('\\n').at(-1).trim() + ' in ' + \
         node.html.slice(0, 160)).slice(0, 5).join(' | ')))",
    );
    found.as_array().expect("axe answers with a list").iter().map(|rule| rule.as_str().unwrap().to_owned()).collect()
}
