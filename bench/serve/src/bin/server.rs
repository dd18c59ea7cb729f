//! The server alone, over the indexes of a home: for measuring it without building everything else.
//!
//! `server HOME PORT [HEAVY [public]]`; it says how long it took to begin, and ends with its standard input. A public server
//! shows all lines to clients without a token.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use tidings_serve::{Availability, Server, Settings};
use tidings_store::Home;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(folder), Some(Ok(port))) = (args.first(), args.get(1).map(|port| port.parse())) else {
        eprintln!("usage: server HOME PORT [HEAVY [public]]");
        return ExitCode::from(2);
    };
    let began = Instant::now();
    let mut settings = Settings { port, ..Settings::default() };
    if let Some(heavy) = args.get(2).and_then(|heavy| heavy.parse().ok()) {
        settings.heavy_requests = heavy;
    }
    if args.get(3).is_some_and(|word| word == "public") {
        settings.public = true;
        settings.default_availability = Availability::Open;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads can be started");
    let served = runtime.block_on(async {
        let home = Home::at(Path::new(folder)).map_err(|error| error.to_string())?;
        let server = Server::bind(home, settings).await.map_err(|error| error.to_string())?;
        eprintln!("listening at http://{}/ after {:.3} s", server.address(), began.elapsed().as_secs_f64());
        let stop = tokio::task::spawn_blocking(|| drop(std::io::stdin().read_to_end(&mut Vec::new())));
        server.run(async { drop(stop.await) }).await;
        Ok::<(), String>(())
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
