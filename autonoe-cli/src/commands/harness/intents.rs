//! Actions that operators choose in a live view.

use autonoe_dashboard::{FleetAction, FleetIntent};
use autonoe_harness::{FleetHome, HarnessHandle};
use tokio::sync::mpsc;

use super::which::{Chosen, find};
use crate::error::CliError;

/// The most actions that wait.
pub(super) const ROOM: usize = 32;

/// Performs the actions of operators until the sender is dropped.
///
/// Errors are reported to `trouble`.
pub(super) async fn carry_out(
    home: FleetHome,
    fleet: String,
    mut wanted: mpsc::Receiver<FleetIntent>,
    trouble: impl Fn(&str),
) {
    while let Some(intent) = wanted.recv().await {
        let action = intent.action.name();
        let member = intent.member.clone();
        if let Err(error) = act(&home, &fleet, intent).await {
            trouble(&format!("{member} cannot be asked to {action}: {error}"));
        }
    }
}

async fn act(home: &FleetHome, fleet: &str, intent: FleetIntent) -> Result<(), CliError> {
    let chosen = Chosen {
        home: home.clone(),
        fleet: find(home, Some(fleet)).await?,
    };
    let member = chosen.member(intent.member.as_str())?;
    let handle = chosen.handle(&member)?;
    let done = match &intent.action {
        FleetAction::Pause => handle.pause().await,
        FleetAction::Resume => handle.resume().await,
        FleetAction::Stop => handle.stop("a person stopped it").await,
        FleetAction::Kill => {
            // Others may want something meanwhile.
            tokio::spawn(async move { handle.force_kill().await });
            Ok(())
        }
        FleetAction::Instruct { text } => handle.send_instruction(text).await.map(|_| ()),
    };
    done.map_err(|error| super::which::not_led(&error, &member))
}
