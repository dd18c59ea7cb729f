//! The first run of a home, from addresses of newspapers to an index, in the background.
//!
//! [`BackgroundRun`] is what `tidings serve` offers to the owner of a home without a corpus. It does what the commands
//! `discover --add` and `run` do, in one thread: it finds feeds, collects for `FIRST_LOOK`, makes an index so that
//! something can be searched soon, and then does a whole round, which collects the rest. A process that ends in between
//! leaves what every interrupted run leaves, and the next `tidings run` goes on.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use tidings_serve::{FirstRun, FirstRunProgress, FirstRunStep, NewSources};
use tidings_storage::write_atomic;
use tidings_store::{Lock, feeds};

use crate::cancel::{CancelToken, StopReason};
use crate::context::RunContext;
use crate::discover::{self, Options, Task, opml};
use crate::guard::guarded;
use crate::init;
use crate::pipeline::Pipeline;
use crate::reporter::{Event, Reporter};
use crate::round::{RoundOptions, RoundStage, run_round};
use crate::stage::StageId;

/// The time for which pages are downloaded before the first index.
const FIRST_LOOK: Duration = Duration::from_secs(120);
/// The most addresses of one request.
const MAX_SITES: usize = 200;
/// The longest address, and the longest contact.
const MAX_ADDRESS_BYTES: usize = 2000;
/// The interval at which [`BackgroundRun::stop`] looks whether the work has ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The first run of one home.
pub struct BackgroundRun {
    folder: PathBuf,
    progress: Arc<Mutex<FirstRunProgress>>,
    work: Mutex<Option<(CancelToken, JoinHandle<()>)>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic while held")
}

impl BackgroundRun {
    /// The first run of the home in a folder.
    pub fn new(folder: PathBuf) -> BackgroundRun {
        BackgroundRun { folder, progress: Arc::default(), work: Mutex::default() }
    }

    /// Cancels the work and waits until it has ended, for some time at most.
    pub fn stop(&self, grace: Duration) {
        self.cancel();
        let until = Instant::now() + grace;
        while locked(&self.work).as_ref().is_some_and(|(_, thread)| !thread.is_finished()) && Instant::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn try_begin(&self, wanted: NewSources) -> Result<()> {
        let wanted = checked(wanted)?;
        let mut work = locked(&self.work);
        if work.as_ref().is_some_and(|(_, thread)| !thread.is_finished()) {
            bail!("a run that was started here is still active");
        }
        let pipeline = Pipeline::open(&self.folder)?;
        let lock = pipeline.home().lock_rounds()?;
        if pipeline.config().fetch.contact.is_empty() && !wanted.contact.is_empty() {
            let settings = pipeline.home().settings();
            let text = std::fs::read_to_string(&settings)?;
            write_atomic(&settings, init::with_contact(&text, &wanted.contact).as_bytes())?;
        }
        // The settings as they are now.
        let token = CancelToken::new();
        let reporter = ProgressReporter(self.progress.clone());
        let pipeline = Pipeline::open(&self.folder)?.with_reporter(Arc::new(reporter)).with_cancel(token.clone());
        *locked(&self.progress) = FirstRunProgress { step: FirstRunStep::Feeds, ..FirstRunProgress::default() };
        let progress = self.progress.clone();
        let thread = std::thread::Builder::new().name("first run".to_owned()).spawn(move || {
            let ended = guarded(|| collect(&pipeline, &wanted, &progress, lock));
            let mut progress = locked(&progress);
            match ended.unwrap_or_else(|panicked| Err(anyhow!(panicked))) {
                Ok(()) => progress.step = FirstRunStep::Done,
                Err(error) => {
                    log::error!("first run: {error:#}");
                    (progress.step, progress.error) = (FirstRunStep::Failed, Some(format!("{error:#}")));
                }
            }
        })?;
        *work = Some((token, thread));
        Ok(())
    }
}

impl FirstRun for BackgroundRun {
    fn begin(&self, wanted: NewSources) -> Result<(), String> {
        self.try_begin(wanted).map_err(|error| format!("{error:#}"))
    }

    fn progress(&self) -> FirstRunProgress {
        let mut progress = locked(&self.progress).clone();
        if let Ok(pipeline) = Pipeline::open(&self.folder) {
            progress.has_contact = !pipeline.config().fetch.contact.is_empty();
            progress.feeds = feeds::list(pipeline.home()).map_or(0, |list| list.feeds.len() as u64);
        }
        progress
    }

    fn cancel(&self) {
        if let Some((token, _)) = &*locked(&self.work) {
            token.cancel(StopReason::Cancelled("the owner".to_owned()));
        }
    }
}

/// Addresses and contact without blanks; an error if there is nothing to do, or if something cannot be an address.
fn checked(wanted: NewSources) -> Result<NewSources> {
    let NewSources { contact, sites, opml } = wanted;
    let trimmed = |text: &String| text.trim().to_owned();
    let sites: Vec<String> = sites.iter().map(trimmed).filter(|site| !site.is_empty()).collect();
    let contact = contact.trim().to_owned();
    if sites.is_empty() && opml.trim().is_empty() {
        bail!("give the address of at least one newspaper, or an OPML file");
    }
    if sites.len() > MAX_SITES {
        bail!("give at most {MAX_SITES} addresses at once, and longer lists with `tidings discover --sites FILE`");
    }
    let is_clean = |text: &&String| text.len() <= MAX_ADDRESS_BYTES && !text.contains(char::is_control);
    if let Some(wrong) = sites.iter().chain([&contact]).find(|text| !is_clean(text)) {
        bail!("`{}` cannot be an address", wrong.chars().filter(|c| !c.is_control()).take(60).collect::<String>());
    }
    Ok(NewSources { contact, sites, opml })
}

/// Finds feeds, and collects. The lock keeps other rounds away.
fn collect(pipeline: &Pipeline, wanted: &NewSources, progress: &Mutex<FirstRunProgress>, _lock: Lock) -> Result<()> {
    if !wanted.opml.trim().is_empty() {
        let context = RunContext::open(pipeline, "discover")?;
        log::info!("{}", opml::add_text_to_list(&context, "the page", wanted.opml.as_bytes())?.trim_end());
    }
    if !wanted.sites.is_empty() {
        let task = Task::Search(wanted.sites.clone());
        let options = Options { task, probe: None, add: true, again: true, paper_rule: false, seed: None };
        let outcome = discover::run(pipeline, &options)?;
        if let Some(search) = outcome.search {
            let mut progress = locked(progress);
            (progress.without_feed, progress.unreachable) = (search.without_feed, search.unreachable);
        }
    }
    if feeds::list(pipeline.home())?.feeds.is_empty() {
        bail!("no feed was found; give the address of a feed, or of another page of the newspaper");
    }
    let derived = |stage: &StageId| stage.stage().is_derived();
    let stages = |of: &dyn Fn(&StageId) -> bool| StageId::ALL.iter().copied().filter(|stage| of(stage)).collect();
    let first =
        RoundOptions { stages: vec![StageId::Update, StageId::Fetch], time_limit: Some(FIRST_LOOK), from: None };
    let index = RoundOptions { stages: stages(&derived), ..RoundOptions::default() };
    let steps =
        [(FirstRunStep::Collect, first), (FirstRunStep::Process, index), (FirstRunStep::Rest, RoundOptions::default())];
    for (step, options) in steps {
        if pipeline.cancel_token().is_cancelled() {
            bail!("cancelled; `tidings run` goes on from here");
        }
        locked(progress).step = step;
        let outcome = run_round(pipeline, &options, &|_| {}, &|_, _| {})?;
        for (stage, ended) in &outcome.stages {
            if let RoundStage::Failed { error, .. } = ended {
                bail!("{stage}: {error}");
            }
        }
    }
    Ok(())
}

/// Keeps the last event.
struct ProgressReporter(Arc<Mutex<FirstRunProgress>>);

impl Reporter for ProgressReporter {
    fn event(&self, event: &Event<'_>) {
        let mut progress = locked(&self.0);
        match event {
            Event::StageBegan { stage } => {
                progress.stage = stage.name().to_owned();
                (progress.done, progress.total) = (0, None);
                progress.unit.clear();
            }
            Event::Progress(now) => {
                (progress.done, progress.total) = (now.done, now.total);
                if progress.unit != now.unit {
                    progress.unit = now.unit.to_owned();
                }
            }
            Event::ProgressEnded | Event::StageEnded { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(sites: &[&str]) -> NewSources {
        NewSources { sites: sites.iter().map(|site| (*site).to_owned()).collect(), ..NewSources::default() }
    }

    #[test]
    fn wrong_requests_are_refused_with_the_reason() {
        let refusal = |wanted: NewSources| checked(wanted).unwrap_err().to_string();
        assert!(refusal(wanted(&["", "  "])).contains("at least one newspaper"));
        assert!(refusal(wanted(&["a.example"; MAX_SITES + 1])).contains("--sites FILE"));
        assert!(refusal(wanted(&["a.example\nb"])).contains("cannot be an address"));
        assert!(
            refusal(NewSources { contact: "me\n[run]".to_owned(), ..wanted(&["a.example"]) }).contains("`me[run]`")
        );
        assert_eq!(checked(wanted(&[" a.example ", ""])).unwrap().sites, ["a.example"]);
    }

    #[test]
    fn a_home_without_feeds_says_that_none_was_found() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        init::run(&init::Options { folder: home.clone(), ..init::Options::default() }).unwrap();
        let run = BackgroundRun::new(home);
        assert_eq!(run.progress().step, FirstRunStep::Idle);
        run.begin(NewSources {
            contact: "me@example.org".to_owned(),
            opml: "<opml/>".to_owned(),
            ..NewSources::default()
        })
        .unwrap();
        let thread = locked(&run.work).take().unwrap().1;
        thread.join().unwrap();
        let progress = run.progress();
        assert_eq!((progress.step, progress.feeds, progress.has_contact), (FirstRunStep::Failed, 0, true));
        assert!(progress.error.unwrap().contains("no feed was found"));
    }
}
