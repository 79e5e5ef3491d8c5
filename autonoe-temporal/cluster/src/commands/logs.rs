//! The command `autonoe-cluster logs`: prints the journal of a run.

use autonoe_app::AppError;
use autonoe_app::text::sanitize_line;
use autonoe_core::RunId;
use autonoe_core::engine::{RunOutcome, RunPhase, RunView};

use super::Cluster;
use super::command_hint::command_hint;
use super::fetch_error::{FetchError, Outage};
use super::journal_formatter::{JournalFormatter, Progress};
use super::remote_journal::{JournalUpdate, PAUSE, RemoteJournal};
use super::status::{cancelled, ended, project, sessions, stall_reason};
use super::watch::watch;
use crate::args::{LogsArgs, ServerArgs};
use crate::output::{Output, ReaderState};

/// Prints the journal of a run.
pub(super) async fn logs(
    args: &LogsArgs,
    server: &ServerArgs,
    cluster: &dyn Cluster,
    output: &Output,
) -> Result<(), AppError> {
    let run = &args.which.run;
    let view = cluster.status(run).await?;
    let project = sessions(&view).and_then(|run| project(&run));
    let Some(project) = project else {
        return Err(AppError::failure(format!(
            "the run {run} does not work on a project, so it has no journal"
        )));
    };
    let mut journal = RemoteJournal::new(cluster, project, run.clone());
    let mut formatter = JournalFormatter::new(args.json);
    let view = if args.follow {
        let followed = follow(cluster, run, &mut journal, &mut formatter, output).await?;
        let Some(view) = followed else {
            return Ok(());
        };
        view
    } else {
        let journal_update = journal.rest().await?;
        output.result(&formatter.format(&journal_update.entries?)?)?;
        journal_update.view
    };
    if !args.json {
        output.result(&format_state(run, server, &view, formatter.progress()))?;
    } else if formatter.progress() == Progress::Nothing {
        output.note("the run has recorded nothing yet");
        if let Some(stall_reason) = stall_reason(&view) {
            output.note(&stall_reason);
        }
    }
    Ok(())
}

/// Prints the journal of a run until it has ended, and returns its last state. `None` if the
/// reader is gone.
async fn follow(
    cluster: &dyn Cluster,
    run: &RunId,
    journal: &mut RemoteJournal<'_>,
    formatter: &mut JournalFormatter,
    output: &Output,
) -> Result<Option<RunView>, AppError> {
    let mut outage = Outage::default();
    let mut on_update = |journal_update: Result<JournalUpdate, FetchError>| match journal_update
        .and_then(|journal_update| journal_update.entries)
    {
        Ok(entries) => {
            outage.end();
            output.result(&formatter.format(&entries)?)
        }
        Err(error) => {
            if let Some(error) = outage.record_error(error)? {
                let message = format!("cannot read the journal for now: {error}");
                output.note(&sanitize_line(&message));
            }
            Ok(ReaderState::Open)
        }
    };
    if watch(cluster, run, journal, &mut on_update)
        .await?
        .is_none()
    {
        return Ok(None);
    }
    loop {
        let rest = journal.rest().await;
        let read = rest
            .as_ref()
            .ok()
            .filter(|journal_update| journal_update.entries.is_ok());
        let view = read.map(|journal_update| journal_update.view.clone());
        match (on_update(rest)?, view) {
            (ReaderState::Closed, _) => return Ok(None),
            (ReaderState::Open, Some(view)) => return Ok(Some(view)),
            (ReaderState::Open, None) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Formats the state of the run that follows the journal.
fn format_state(run: &RunId, server: &ServerArgs, view: &RunView, printed: Progress) -> String {
    let mut text = match printed {
        Progress::Nothing => format!("The run {run} has recorded nothing yet.\n"),
        Progress::Lines | Progress::End => String::new(),
    };
    if let Some(stall_reason) = stall_reason(view) {
        text.push_str(&format!("{stall_reason}\n"));
    }
    match (&view.outcome, view.phase) {
        (Some(outcome), _) => {
            for line in unreported_end(run, outcome, printed) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        (None, RunPhase::Waiting) if view.host.is_none() => {
            text.push_str("No host has started it yet.\n");
        }
        (None, _) => {
            let follow = command_hint(&format!("logs {run} --follow"), server);
            text.push_str(&format!("The run is in progress; {follow} follows it.\n"));
        }
    }
    text
}

/// Formats what the journal does not contain of the run's end.
fn unreported_end(run: &RunId, outcome: &RunOutcome, printed: Progress) -> Vec<String> {
    match printed {
        Progress::End => cancelled(outcome).into_iter().collect(),
        Progress::Nothing | Progress::Lines => ended(run, outcome),
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::engine::ProjectName;
    use autonoe_core::run::{RunLimits, RunMachine};
    use autonoe_core::{ExitReason, Mode};
    use jiff::Timestamp;

    use super::super::tests::Printed;
    use super::super::tests::unreachable_cluster::UnreachableCluster;
    use super::*;

    /// Follows a run, and returns the printed notes.
    async fn followed(
        cluster: &UnreachableCluster,
    ) -> (Result<Option<RunView>, AppError>, Vec<String>) {
        let shop = ProjectName::new("shop").expect("a name");
        let run = RunId::new("shop-1");
        let mut journal = RemoteJournal::new(cluster, shop, run.clone());
        let printed = Printed::default();
        let mut formatter = JournalFormatter::new(false);
        let output = printed.output();
        let view = follow(cluster, &run, &mut journal, &mut formatter, &output).await;
        let noted = printed.notes();
        (view, noted.lines().map(ToOwned::to_owned).collect())
    }

    #[test]
    fn the_end_is_reported_once_by_the_journal_or_after_it() {
        let machine = RunMachine::new(RunLimits::new(Mode::Run));
        let run = RunId::new("shop-1");
        let report = machine.report(&run, ExitReason::Interrupted, Timestamp::UNIX_EPOCH);
        let output = serde_json::to_value(&report).expect("JSON");
        let outcome = RunOutcome::cancelled("enough").with_output(output);

        let [not_yet, by_journal] =
            [Progress::Lines, Progress::End].map(|it| unreported_end(&run, &outcome, it));

        assert_eq!(by_journal, ["It was cancelled: enough"]);
        assert_eq!(not_yet[..1], by_journal);
        assert!(not_yet[1].starts_with("Run shop-1 ended:"), "{not_yet:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_unreachable_server_is_reported_once_and_retried_for_a_while() {
        let words = "cannot read the journal for now: the engine failed: the server is away";

        let (back, noted) = followed(&UnreachableCluster::for_times(3)).await;
        let (unreachable, noted_too) = followed(&UnreachableCluster::for_ever()).await;

        let view = back.expect("it has come back").expect("somebody listens");
        assert_eq!(view.phase, RunPhase::Ended);
        assert_eq!((noted, noted_too), (vec![words.into()], vec![words.into()]));
        assert!(unreachable.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn unavailable_run_end_is_noted_once() {
        let (back, noted) = followed(&UnreachableCluster::for_times(3).reporting_status()).await;
        let (unreachable, noted_too) =
            followed(&UnreachableCluster::for_ever().reporting_status()).await;

        assert!(back.expect("it has come back").is_some());
        assert_eq!((noted.len(), noted_too.len()), (1, 1), "{noted_too:?}");
        assert!(unreachable.is_err());
    }
}
