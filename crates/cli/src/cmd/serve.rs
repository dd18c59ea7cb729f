//! `tidings serve`: the corpus for browsers and programs.

use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::json;
use tidings_serve::Server;
use tokio::signal::unix::{SignalKind, signal};

use super::{Report, open_home};
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The server only reads, and notices by itself when `compile` has published something new. By default it \
    answers this machine only; with --public, or at another address than loopback, text needs a token (tidings token add)."
)]
pub struct Args {
    /// The address to listen at [default: serve.bind of the settings, 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<IpAddr>,
    /// The port; 0 takes a free one [default: serve.port of the settings, 7878]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Others than the owner of this machine ask: text needs a token
    #[arg(long)]
    public: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = open_home(global)?;
    let mut settings = config.serve.settings()?;
    settings.bind = args.bind.unwrap_or(settings.bind);
    settings.port = args.port.unwrap_or(settings.port);
    settings.public |= args.public;
    settings.contact = Some(config.fetch.contact.clone()).filter(|contact| !contact.is_empty());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the server")?;
    let stopped_by = runtime.block_on(async {
        let server = Server::bind(home, settings).await?;
        if server.corpora().is_empty() {
            log::warn!("nothing is searchable yet; run `tidings compile`, and it will be there");
        }
        // Whoever started us may wait for this line to learn the port.
        console::print(&match global.json {
            true => format!("{}\n", json!({ "listening": format!("http://{}/", server.address()) })),
            false => format!("listening at http://{}/\n", server.address()),
        });
        if args.open {
            open(server.address());
        }
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut name = "";
        let stop = async {
            name = tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            };
            log::info!("{name}: finishing what is in hand");
        };
        server.run(stop).await;
        anyhow::Ok(name)
    })?;
    // A question that does not look at the clock is not waited for.
    runtime.shutdown_background();
    log::info!("stopped by {stopped_by}");
    Ok(Report::default())
}

/// Asks the system to show the page. A server runs well without a browser, so that trouble is told and no more.
fn open(address: SocketAddr) {
    let host = if address.ip().is_unspecified() { "localhost".to_owned() } else { address.ip().to_string() };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let page = format!("http://{host}:{}/", address.port());
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = || Stdio::null();
    match Command::new(program).arg(&page).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn() {
        // Whoever opens browsers comes back at once or never; nobody waits for them.
        Ok(mut opener) => drop(std::thread::spawn(move || opener.wait())),
        Err(error) => log::warn!("no browser could be opened ({program}: {error}); the page is at {page}"),
    }
}
