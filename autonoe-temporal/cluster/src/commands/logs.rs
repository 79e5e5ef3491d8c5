//! The command `autonoe-cluster logs`: prints the journal of a run.

use std::time::Duration;

use autonoe_app::AppError;
use autonoe_core::RunId;
use autonoe_core::engine::{RunOutcome, RunPhase, RunView};
use autonoe_core::project::JournalEntry;

use super::CommandContext;
use super::follow::Unreadable;
use super::journal_formatter::{JournalFormatter, Progress};
use super::remote_journal::{JournalUpdate, RemoteJournal};
use super::status::{cancelled, ended, project, sessions, stall_reason};
use crate::args::LogsArgs;

impl CommandContext<'_> {
    /// Prints the journal of a run.
    pub(super) async fn logs(&self, args: &LogsArgs) -> Result<(), AppError> {
        let run = &args.run.id;
        let view = self.cluster.status(run).await?;
        let Some(project) = sessions(&view).and_then(|run| project(&run)) else {
            return Err(AppError::failure(format!(
                "the run {run} does not work on a project, so it has no journal"
            )));
        };
        let mut journal = RemoteJournal::new(self.cluster, Some(project), run.clone());
        let mut formatter = JournalFormatter::new(args.json);
        let mut print =
            |_: &RunView, entries: &[JournalEntry]| self.output.result(&formatter.format(entries)?);
        let view = if args.follow {
            let followed = self.follow(&mut journal, Unreadable::Fails, &mut print);
            let Some(view) = followed.await? else {
                return Ok(());
            };
            view
        } else {
            let JournalUpdate {
                view,
                entries,
                error,
            } = journal.update(Duration::ZERO).await?;
            print(&view, &entries)?;
            if let Some(error) = error {
                return Err(error.into());
            }
            view
        };
        if !args.json {
            return self.print(&self.format_state(run, &view, formatter.progress()));
        }
        if formatter.progress() == Progress::Nothing {
            self.output.note("the run has recorded nothing yet");
            if let Some(stall_reason) = stall_reason(&view) {
                self.output.note(&stall_reason);
            }
        }
        Ok(())
    }

    /// Formats the state of the run that follows the journal.
    fn format_state(&self, run: &RunId, view: &RunView, printed: Progress) -> String {
        let mut lines = Vec::new();
        if printed == Progress::Nothing {
            lines.push(format!("The run {run} has recorded nothing yet."));
        }
        lines.extend(stall_reason(view));
        match (&view.outcome, view.phase) {
            (Some(outcome), _) => lines.extend(unreported_end(run, outcome, printed)),
            (None, RunPhase::Waiting) if view.host.is_none() => {
                lines.push("No host has started it yet.".to_owned());
            }
            (None, _) => {
                let follow = self.hint(&format!("logs {run} --follow"));
                lines.push(format!("The run is in progress; {follow} follows it."));
            }
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }
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
    use autonoe_core::run::{RunLimits, RunMachine};
    use autonoe_core::{ExitReason, Mode};
    use jiff::Timestamp;

    use super::*;

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
}
