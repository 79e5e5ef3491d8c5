//! Actions on a run that operators choose in the browser.

use autonoe_core::project::{OperatorRequest, RequestFolder, RunLock};
use autonoe_core::{Project, RunId};
use autonoe_dashboard::{RunFeed, RunIntent, RunPageAction};
use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::error::CliError;

/// Sends the actions of operators to the process of the run until the sender is dropped.
///
/// Errors are reported to `warn`.
pub(super) async fn perform_run_intents(
    project: &Project,
    feed: &RunFeed,
    mut wanted: mpsc::Receiver<RunIntent>,
    warn: impl Fn(&str),
) {
    while let Some(intent) = wanted.recv().await {
        let action = intent.action.name();
        let run = feed.watch().borrow().run.clone();
        if let Err(error) = send(project, run, intent) {
            warn(&format!("cannot {action} the run: {error}"));
        }
    }
}

fn send(project: &Project, run: Option<String>, intent: RunIntent) -> Result<(), CliError> {
    let not_running = || CliError::failure("no run is in progress");
    let run = RunId::new(run.ok_or_else(not_running)?);
    // Checked again, because the view may be older than the end of the process.
    let held = RunLock::held(project)?.ok_or_else(not_running)?;
    if !held.survivors().is_empty() {
        return Err(CliError::failure(held.to_string()));
    }
    let holder = held.holder.ok_or_else(not_running)?;
    let request = match intent.action {
        RunPageAction::Pause => OperatorRequest::Pause,
        RunPageAction::Resume => OperatorRequest::Resume,
        RunPageAction::Stop => OperatorRequest::Stop,
        RunPageAction::Instruct => OperatorRequest::Instruct { text: intent.text },
    };
    let sent = RequestFolder::new(project).send(&holder, &run, request, Timestamp::now());
    sent.map_err(|error| CliError::failure(format!("the request cannot be written: {error}")))?;
    Ok(())
}
