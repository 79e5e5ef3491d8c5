//! Actions that operators choose in a live view.

use autonoe_dashboard::{FleetAction, FleetIntent};
use autonoe_harness::FleetHome;
use tokio::sync::mpsc;

use super::fleet_selection::{FleetSelection, find_fleet};
use crate::error::CliError;

/// Maximum number of queued actions.
pub(in crate::commands) const QUEUE_LEN: usize = 32;

/// Performs the actions of operators until the sender is dropped.
///
/// Errors are reported to `trouble`.
pub(super) async fn perform_intents(
    home: FleetHome,
    fleet: String,
    mut wanted: mpsc::Receiver<FleetIntent>,
    trouble: impl Fn(&str),
) {
    while let Some(intent) = wanted.recv().await {
        let action = intent.action.name();
        let member = intent.member.clone();
        if let Err(error) = act(&home, &fleet, intent).await {
            trouble(&format!("cannot {action} {member}: {error}"));
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
            // Runs in the background, because `force_kill` takes time and other actions may follow.
            tokio::spawn(async move { handle.force_kill().await });
            Ok(())
        }
        FleetAction::Instruct { text } => handle.send_instruction(text).await.map(|_| ()),
    };
    done.map_err(|error| super::fleet_selection::control_error(&error, &member))
}
