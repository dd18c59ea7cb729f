//! `tidings why`: the fate of one thing, stage by stage, with the rule that decided; with `--all` that nothing vanished.
//!
//! Nothing is kept for this: every stage writes down what it did anyway. The plan tells when an entry was seen, the logs of
//! runs when it was asked for and so in which file its page lies, and from there the day leads on.

mod conservation;
mod page;
mod source;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tidings_model::address;
use tidings_store::feeds;

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "An address with :// is a page, or a feed if it is one of ours; 32 hexadecimal digits are a document; anything else is a host.\n\
    --all holds the numbers of all stages against each other: what went in came out or was left out for a named reason. It ends with \
    exit code 1 if something vanished. What waits for its stage is not lost."
)]
pub struct Args {
    /// The address of a page or a feed, the id of a document, or a host
    #[arg(value_name = "URL|FEED|ID|HOST", required_unless_present = "all", conflicts_with = "all")]
    thing: Option<String>,
    /// Check that nothing vanished: at every stage, items in = items out + items left out by reason
    #[arg(long)]
    all: bool,
    /// With --all: item by item, reading every document, instead of by the counts in the recipes
    #[arg(long, requires = "all")]
    items: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let Some(thing) = args.thing.as_deref().map(str::trim) else {
        return conservation::run(&home, args.items);
    };
    let is_id = thing.len() == 32 && thing.bytes().all(|byte| byte.is_ascii_hexdigit());
    let story = if is_id {
        page::of_document(&home, &config, &thing.to_ascii_lowercase())?
    } else if thing.contains("://") {
        let url = address::normalise(thing, None);
        let Some(url) = url else { bail!("{thing} is no address of a web page") };
        let is_feed = |feed: &str| feed == thing || address::normalise(feed, None).as_deref() == Some(&url);
        let known = feeds::states(&home)?.into_keys().find(|feed| is_feed(feed));
        let listed =
            || Ok::<_, anyhow::Error>(feeds::list(&home)?.feeds.into_iter().map(|feed| feed.url).find(|f| is_feed(f)));
        match known.map_or_else(listed, |feed| Ok(Some(feed)))? {
            Some(feed) => source::of_feed(&home, &feed)?,
            None => page::of_address(&home, &config, &url)?,
        }
    } else if thing.contains('/') {
        bail!("give an address with http:// or https://, such as https://{thing}")
    } else {
        source::of_host(&home, &thing.to_ascii_lowercase())?
    };
    Ok(story.report())
}

/// What happened to a thing, in the order of time.
struct Story {
    about: Value,
    /// What became of it in the end, in one word.
    fate: &'static str,
    events: Vec<Event>,
}

/// One thing that happened.
struct Event {
    /// When, as far as that is known: a time or a day.
    at: String,
    stage: &'static str,
    says: String,
    facts: Value,
}

impl Story {
    fn new(about: Value) -> Story {
        Story { about, fate: "unknown", events: Vec::new() }
    }

    fn tell(&mut self, at: &str, stage: &'static str, says: impl Into<String>, facts: Value) {
        self.events.push(Event { at: at.to_owned(), stage, says: says.into(), facts });
    }

    fn report(self) -> Report {
        let mut text = String::new();
        for event in &self.events {
            // To the minute is enough for a story; programs get all of it.
            let at = match (event.at.get(..10), event.at.get(11..16)) {
                (Some(day), Some(minute)) => format!("{day} {minute}"),
                (Some(day), None) => day.to_owned(),
                _ => String::new(),
            };
            let says: String = event.says.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            text.push_str(&format!("{at:<16}  {:<8}  {says}\n", event.stage));
        }
        let events: Vec<Value> = self
            .events
            .iter()
            .map(|event| {
                let mut json = json!({ "at": event.at, "stage": event.stage, "says": event.says });
                if let Value::Object(facts) = &event.facts {
                    facts.iter().for_each(|(name, fact)| json[name] = fact.clone());
                }
                json
            })
            .collect();
        let is_known = self.fate != "unknown";
        let json = json!({ "done": is_known, "about": self.about, "fate": self.fate, "events": events });
        Report { text, json, failed: !is_known, ..Report::default() }
    }
}
