//! `tidings serve`: the web interface and the HTTP API.

use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use serde_json::json;
use tidings_pipeline::Pipeline;
use tidings_pipeline::config::shard_addresses;
use tidings_pipeline::first_run::BackgroundRun;
use tidings_pipeline::health::metrics;
use tidings_serve::{FirstRunHandle, HomeMetrics, Server};
use tokio::signal::unix::{SignalKind, signal};

use super::{Report, open_home};
use crate::args::Global;
use crate::console;

/// The time that a first run gets to finish its current piece of work.
const FIRST_RUN_GRACE: Duration = Duration::from_secs(10);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The server only reads the corpus and picks up new versions of the index by itself; the owner on this machine can save \
    searches and start the first run. By default it listens on this machine only. \
    With --public, or on an address other than loopback, reading text requires an access token (tidings token add)."
)]
pub struct Args {
    /// IP address to listen on [default: setting serve.bind, 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<IpAddr>,
    /// Port; 0 picks a free one [default: setting serve.port, 7878]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Open the web interface in a browser
    #[arg(long)]
    open: bool,
    /// Require an access token for text on all connections
    #[arg(long)]
    public: bool,
    /// Answer from these servers, each with other sites of the corpus, instead of from this home [default: setting serve.shards]
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    shards: Vec<String>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = open_home(global)?;
    let mut settings = config.serve.settings()?;
    settings.bind = args.bind.unwrap_or(settings.bind);
    settings.port = args.port.unwrap_or(settings.port);
    settings.public |= args.public;
    if let Some(files) = &mut settings.tls {
        files.certificate = home.root().join(&files.certificate);
        files.key = home.root().join(&files.key);
    }
    settings.contact = Some(config.fetch.contact.clone()).filter(|contact| !contact.is_empty());
    if !args.shards.is_empty() {
        settings.shards = shard_addresses(&args.shards).map_err(|error| anyhow!("--shards: {error}"))?;
    }
    let token_file = &config.serve.shard_token_file;
    if !token_file.as_os_str().is_empty() {
        let path = home.root().join(token_file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read serve.shard_token_file {}", path.display()))?;
        settings.shard_token = Some(text.trim().to_owned().into());
    }
    let is_gateway = !settings.shards.is_empty();
    let folder = home.root().to_owned();
    let pipeline = Pipeline::new(home.clone(), config.clone());
    settings.home_metrics = Some(HomeMetrics(Arc::new(move || metrics::of_home(&pipeline))));
    let first_run = Arc::new(BackgroundRun::new(folder));
    settings.first_run = Some(FirstRunHandle(first_run.clone()));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the server")?;
    let stopped_by = runtime.block_on(async {
        let server = Server::bind(home, settings).await?;
        if server.corpora().is_empty() && !is_gateway {
            log::warn!("the corpus has no index yet; start with the page, or run `tidings run`, and it appears here");
        }
        // Callers parse this line to learn the port.
        console::print(&match global.json {
            true => format!("{}\n", json!({ "listening": server.url() })),
            false => format!("listening at {}\n", server.url()),
        });
        if args.open {
            open(server.address(), server.url().starts_with("https"));
        }
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut name = "";
        let stop = async {
            name = tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            };
            log::info!("{name}: finishing open requests");
        };
        server.run(stop).await;
        anyhow::Ok(name)
    })?;
    first_run.stop(FIRST_RUN_GRACE);
    // Do not wait for queries that do not check their deadline.
    runtime.shutdown_background();
    log::info!("stopped by {stopped_by}");
    Ok(Report::default())
}

/// Opens the web interface in the default browser. Failure is only a warning.
fn open(address: SocketAddr, has_tls: bool) {
    let host = if address.ip().is_unspecified() { "localhost".to_owned() } else { address.ip().to_string() };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let page = format!("{}://{host}:{}/", if has_tls { "https" } else { "http" }, address.port());
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = || Stdio::null();
    match Command::new(program).arg(&page).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn() {
        // The opener may run as long as the browser.
        Ok(mut opener) => drop(std::thread::spawn(move || opener.wait())),
        Err(error) => log::warn!("cannot open a browser ({program}: {error}); the web interface is at {page}"),
    }
}
