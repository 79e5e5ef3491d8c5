//! `autonoe harness serve`.

use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;

use autonoe_dashboard::DashboardFeed;
use autonoe_dashboard::web::{ViewToken, serve as serve_page};
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::intents::{ROOM, carry_out};
use super::snapshot::Watcher;
use super::which::chosen;
use super::{broken, waiting};
use crate::args::HarnessServeArgs;
use crate::commands::signals;
use crate::error::CliError;
use crate::present::harmless_line;
use crate::surroundings::Surroundings;

/// Shows a fleet in a browser until it is interrupted.
pub(super) fn serve(
    args: &HarnessServeArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    waiting(async {
        let chosen = chosen(&args.which, surroundings).await?;
        let mut watcher = Watcher::new(&chosen.home, chosen.name());
        let first = watcher.show(&chosen.fleet, Timestamp::now())?;
        let feed = DashboardFeed::new(first);
        let (intents, wanted) = mpsc::channel(ROOM);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await;
        let listener = listener.map_err(|error| {
            let message = format!("port {} cannot be had: {error}", args.port);
            CliError::failure(message).with_hint("without --port, a free one is taken")
        })?;
        let token = ViewToken::random().map_err(|error| broken(&error))?;
        let served = serve_page(listener, token, Arc::new(feed.clone()), intents);
        let server = served.map_err(|error| broken(&error))?;
        surroundings.say(&format!("{}\n", server.url()))?;
        surroundings.note(&format!(
            "whoever has this address can watch and lead the fleet {}; interrupt to end it",
            chosen.name()
        ));
        let (home, fleet) = (chosen.home.clone(), chosen.name().to_owned());
        let trouble = |why: &str| surroundings.note(&format!("warning: {}", harmless_line(why)));
        tokio::select! {
            () = signals::asked() => {}
            () = watcher.show_in(feed) => {}
            () = carry_out(home, fleet, wanted, trouble) => {}
        }
        server.shutdown().await;
        Ok(ExitCode::SUCCESS)
    })
}
