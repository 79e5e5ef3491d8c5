//! `autonoe harness serve`: shows a fleet in a browser. Performs the actions of its operators.

use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use autonoe_app::text::sanitize_line;
use autonoe_core::Project;
use autonoe_dashboard::web::{ViewToken, serve as serve_page};
use autonoe_dashboard::{DashboardFeed, FleetAction, FleetIntent};
use autonoe_harness::{FleetHome, MemberHandle};
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use super::fleet_selection::{FleetSelection, control_error, find_fleet, fleet_home, select_fleet};
use super::snapshot::Watcher;
use crate::args::HarnessServeArgs;
use crate::cli_env::CliEnv;
use crate::commands::runtime::block_on;
use crate::commands::serve::listen;
use crate::commands::signals;
use crate::error::{CliError, OrFailure};

/// Serves the view of a fleet on loopback until it is interrupted.
pub(super) fn serve(args: &HarnessServeArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    block_on(async {
        let chosen = select_fleet(&args.selection, env).await?;
        let mut watcher = Watcher::new(&chosen.home, chosen.name());
        let first = watcher.build_snapshot(&chosen.fleet, Timestamp::now())?;
        let feed = DashboardFeed::new(first);
        let (intents, intent_receiver) = mpsc::channel(QUEUE_LEN);
        let listener = listen(Ipv4Addr::LOCALHOST.into(), args.port).await?;
        let token = ViewToken::random().or_failure()?;
        let served = serve_page(listener, token, Arc::new(feed.clone()), intents);
        let server = served.or_failure()?;
        env.print(&format!("{}\n", server.url()))?;
        env.print_note(&format!(
            "anyone with this address can watch and control the fleet {}; press Ctrl-C to stop \
             the server",
            chosen.name()
        ));
        let (home, fleet) = (chosen.home.clone(), chosen.name().to_owned());
        let warn = |message: &str| env.print_note(&format!("warning: {}", sanitize_line(message)));
        tokio::select! {
            () = signals::wait_for_stop() => {}
            () = watcher.push_to(feed) => {}
            () = perform_intents(home, || Some(fleet.clone()), intent_receiver, warn) => {}
        }
        server.shutdown().await;
        Ok(ExitCode::SUCCESS)
    })
}

/// Returns an error if the project has no fleet of this name.
pub(in crate::commands) async fn check_fleet(
    project: &Project,
    name: &str,
) -> Result<(), CliError> {
    find_fleet(&fleet_home(project), Some(name)).await?;
    Ok(())
}

/// Poll interval of the fleets of a project.
const FLEET_INTERVAL: Duration = Duration::from_secs(2);

/// Pushes snapshots of the named fleet of `project` to `feed`, and performs the actions of
/// operators, for as long as this future is polled.
///
/// Without a name, it shows the running fleet, or else the last one, and switches to a newer fleet
/// when one starts.
pub(in crate::commands) async fn show_fleet(
    project: &Project,
    name: Option<&str>,
    feed: DashboardFeed,
    intent_receiver: mpsc::Receiver<FleetIntent>,
    warn: impl Fn(&str),
) {
    let home = fleet_home(project);
    let (selection, selected) = watch::channel(None);
    let displayed = selected.clone();
    tokio::join!(
        follow_selection(&home, name, &selection),
        push_selected(&home, selected, feed),
        perform_intents(
            home.clone(),
            || displayed.borrow().clone(),
            intent_receiver,
            warn
        )
    );
}

/// Writes the name of the fleet to show to `selection`.
async fn follow_selection(
    home: &FleetHome,
    name: Option<&str>,
    selection: &watch::Sender<Option<String>>,
) {
    loop {
        let current = selection.borrow().clone();
        let newest = fleet_to_show(home, name, current.as_deref()).await;
        // A fleet stays on the page while the state cannot be read.
        if newest.is_some() && newest != current {
            selection.send_replace(newest);
        }
        tokio::time::sleep(FLEET_INTERVAL).await;
    }
}

/// Returns the fleet to show. A running fleet stays, so that an action never hits another fleet
/// than the one that the operator sees.
async fn fleet_to_show(
    home: &FleetHome,
    name: Option<&str>,
    current: Option<&str>,
) -> Option<String> {
    let is_running = |fleet: &str| matches!(home.coordinator(fleet), Ok(Some(_)));
    if let Some(fleet) = current.filter(|fleet| is_running(fleet)) {
        return Some(fleet.to_owned());
    }
    // Reading the state of fleets would create it.
    if !home.path().join("meta_state.db").exists() {
        return None;
    }
    let fleet = find_fleet(home, name).await.ok()?;
    Some(fleet.id)
}

/// Pushes snapshots of the selected fleet to `feed`.
async fn push_selected(
    home: &FleetHome,
    mut selected: watch::Receiver<Option<String>>,
    feed: DashboardFeed,
) {
    loop {
        let fleet = selected.borrow_and_update().clone();
        let snapshots = async {
            match &fleet {
                Some(fleet) => Watcher::new(home, fleet).push_to(feed.clone()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = snapshots => {}
            changed = selected.changed() => if changed.is_err() {
                return;
            },
        }
    }
}

/// Maximum number of queued actions.
pub(in crate::commands) const QUEUE_LEN: usize = 32;

/// Performs the actions of operators until the sender is dropped. `fleet` returns the name of the
/// fleet that they see.
///
/// Errors are reported to `warn`.
pub(super) async fn perform_intents(
    home: FleetHome,
    fleet: impl Fn() -> Option<String>,
    mut intent_receiver: mpsc::Receiver<FleetIntent>,
    warn: impl Fn(&str),
) {
    while let Some(intent) = intent_receiver.recv().await {
        let action = intent.action.name();
        let member = intent.member.clone();
        let performed = match fleet() {
            Some(fleet) => act(&home, &fleet, intent).await,
            None => Err(CliError::failure("there is no fleet")),
        };
        if let Err(error) = performed {
            warn(&format!("cannot {action} {member}: {error}"));
        }
    }
}

async fn act(home: &FleetHome, fleet: &str, intent: FleetIntent) -> Result<(), CliError> {
    let chosen = FleetSelection {
        home: home.clone(),
        fleet: find_fleet(home, Some(fleet)).await?,
    };
    let member = chosen.member(intent.member.as_str())?;
    let handle = chosen.handle(&member)?;
    let done = match &intent.action {
        FleetAction::Pause => handle.pause().await,
        FleetAction::Resume => handle.resume().await,
        FleetAction::Stop => handle.stop("requested by a user").await,
        FleetAction::Kill => {
            // Runs in the background, because a kill takes time and other actions may follow.
            tokio::spawn(async move { handle.kill(MemberHandle::KILL_TIMEOUT).await });
            Ok(())
        }
        FleetAction::Instruct { text } => handle.send_instruction(text).await.map(|_| ()),
    };
    done.map_err(|error| control_error(&error, &member))
}
