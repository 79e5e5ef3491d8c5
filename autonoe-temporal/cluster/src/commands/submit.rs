//! The command `autonoe-cluster submit`: submits a run, and optionally waits for it.

use std::pin::Pin;

use autonoe_app::text::{exit_hint, report_text, sanitize_line};
use autonoe_app::{AppError, exit_code};
use autonoe_core::RunId;
use autonoe_core::engine::{RunEnding, RunOutcome, RunSpec, RunView, SessionsRun};
use autonoe_core::event::TraceContext;
use autonoe_core::project::JournalEntry;
use autonoe_core::run::JournalLine;
use autonoe_core::time::{IdSource, RandomIds};
use jiff::Timestamp;
use serde::Serialize;

use super::CommandContext;
use super::fleet::{fleet_report, fleet_spec, fleet_text, read_roadmap};
use super::follow::Unreadable;
use super::journal_formatter::JournalFormatter;
use super::remote_journal::RemoteJournal;
use super::status::{ended, report};
use super::view_changes::{ViewChange, ViewChanges};
use crate::args::{OutputFormat, SubmitArgs};
use crate::output::ReaderState;

/// Output of `autonoe-cluster submit --output json`.
#[derive(Serialize)]
struct Submitted<'a> {
    run: &'a RunId,
}

/// The last line of `autonoe-cluster submit --wait --output json`.
#[derive(Serialize)]
struct Ended<'a, R> {
    run: &'a RunId,
    report: &'a R,
}

/// Describes the run. Without a trace of the caller it starts one of its own, which the sessions on
/// all hosts share.
pub(super) fn spec(args: &SubmitArgs, trace: Option<TraceContext>) -> Result<RunSpec, AppError> {
    let ids = RandomIds::new().map_err(|error| AppError::failure(error.to_string()))?;
    let ids: &dyn IdSource = &ids;
    let id = args.run.clone().unwrap_or_else(|| ids.run_id());
    let trace = trace.unwrap_or_else(|| TraceContext::from(&ids.root_span()));
    match (&args.project, args.fleet()) {
        (Some(project), _) => {
            let run = SessionsRun::on_project(project, args.limits());
            let spec = run.trace(trace).to_spec(id);
            spec.map_err(|error| AppError::failure(error.to_string()))
        }
        (None, Some(options)) => {
            let roadmap = read_roadmap(options.roadmap)?;
            fleet_spec(&options, &roadmap, id, (&args.limits(), trace))
        }
        // The parser requires one of them.
        (None, None) => Err(AppError::usage("name a project or a roadmap")),
    }
}

impl CommandContext<'_> {
    /// Submits a run, and waits for it if `--wait` is given.
    pub(super) async fn submit(
        &self,
        args: &SubmitArgs,
        spec: RunSpec,
        mut interrupted: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<u8, AppError> {
        let run = &spec.id.clone();
        let hints = self.run_hints(run);
        tokio::select! {
            biased;
            () = &mut interrupted => {
                self.output.note(&format!(
                    "it is unknown whether the run {run} was submitted; if it was, {hints}"
                ));
                return Ok(exit_code::INTERRUPTED);
            }
            submitted = self.cluster.submit(spec, args.placement()) => submitted?,
        };
        if args.wait {
            return self.wait(args, run, interrupted).await;
        }
        let submitted = format!("the run {run} was submitted; {hints}");
        let printed = match args.output {
            OutputFormat::Json => self.output.json(&Submitted { run }),
            OutputFormat::Text => self.print(&format!("{run}\n")),
        };
        printed.map_err(|error| error.with_hint(submitted.clone()))?;
        self.note(args, &submitted);
        Ok(0)
    }

    /// Formats the commands that follow and cancel a run.
    fn run_hints(&self, run: &RunId) -> String {
        let follow = self.hint(&format!("logs {run} --follow"));
        let cancel = self.hint(&format!("cancel {run}"));
        format!("{follow} follows it, {cancel} ends it")
    }

    /// Prints a line that is not a result, unless `--quiet` is given.
    fn note(&self, args: &SubmitArgs, line: &str) {
        if !args.quiet {
            self.output.note(line);
        }
    }

    /// Waits for the end of the run, and prints its journal meanwhile.
    async fn wait(
        &self,
        args: &SubmitArgs,
        run: &RunId,
        interrupted: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<u8, AppError> {
        self.note(args, &format!("Run {run} was submitted"));
        let mut formatter = JournalFormatter::new(args.output == OutputFormat::Json);
        let mut changes = ViewChanges::default();
        // A fleet has no project, and no journal of its own.
        let mut journal = RemoteJournal::new(self.cluster, args.project.clone(), run.clone());
        let on_update = |view: &RunView, entries: &[JournalEntry]| {
            let printed = self.print_entries(args, entries, &mut formatter);
            for change in changes.update(view, Timestamp::now()) {
                match change {
                    ViewChange::Info(line) => self.note(args, &line),
                    ViewChange::Warning(line) => self.output.note(&format!("warning: {line}")),
                }
            }
            printed
        };
        let followed = tokio::select! {
            biased;
            () = interrupted => Ok(None),
            followed = self.follow(&mut journal, Unreadable::Tolerated, on_update) => followed,
        };
        let hints = self.run_hints(run);
        match followed {
            Ok(Some(RunView {
                outcome: Some(outcome),
                ..
            })) => self.print_end(args, run, &outcome),
            Ok(_) => {
                self.output
                    .note(&format!("the run {run} continues; {hints}"));
                Ok(exit_code::INTERRUPTED)
            }
            Err(error) => Err(error.with_hint(format!("the run {run} may continue; {hints}"))),
        }
    }

    /// Prints entries: JSON lines as results, sentences on standard error.
    fn print_entries(
        &self,
        args: &SubmitArgs,
        entries: &[JournalEntry],
        formatter: &mut JournalFormatter,
    ) -> Result<ReaderState, AppError> {
        if args.output == OutputFormat::Json {
            return self.output.result(&formatter.format(entries)?);
        }
        for entry in entries {
            // The summary of the run follows as the result.
            if !matches!(entry.line, JournalLine::RunEnded { .. }) {
                let text = formatter.format(std::slice::from_ref(entry))?;
                text.lines().for_each(|line| self.note(args, line));
            }
        }
        Ok(ReaderState::Open)
    }

    /// Prints the outcome of the run as `autonoe run` does, and returns its exit code.
    fn print_end(
        &self,
        args: &SubmitArgs,
        run: &RunId,
        outcome: &RunOutcome,
    ) -> Result<u8, AppError> {
        let mut code = match &outcome.ending {
            RunEnding::Succeeded => 0,
            RunEnding::Failed { .. } => exit_code::FAILURE,
            RunEnding::Cancelled { reason } => {
                if !reason.is_empty() {
                    let warning = format!("warning: the run was cancelled: {reason}");
                    self.output.note(&sanitize_line(&warning));
                }
                exit_code::INTERRUPTED
            }
        };
        let is_json = args.output == OutputFormat::Json;
        let mut hint = None;
        let text = if let Some(report) = fleet_report(outcome) {
            if is_json {
                end_line(run, &report)?
            } else {
                fleet_text(run, &report).join("\n") + "\n"
            }
        } else if let Some(report) = report(outcome) {
            code = exit_code::for_run(&report.exit);
            hint = exit_hint(&report.exit);
            if is_json {
                end_line(run, &report)?
            } else {
                report_text(&report)
            }
        } else {
            let message = ended(run, outcome).join("; ");
            let error = AppError::failure(format!("the run {run} returned no report: {message}"));
            // A success without a report is a failure of the command.
            return Err(error.with_code(code.max(exit_code::FAILURE)));
        };
        let status = self.hint(&format!("status {run}"));
        let stored = format!("the outcome is stored: {status} shows it");
        self.print(&text).map_err(|error| error.with_hint(stored))?;
        if let Some(hint) = hint {
            self.output
                .note(&format!("  hint: {}", sanitize_line(&hint)));
        }
        Ok(code)
    }
}

/// Formats the last line of `autonoe-cluster submit --wait --output json`.
fn end_line(run: &RunId, report: &impl Serialize) -> Result<String, AppError> {
    let line = serde_json::to_string(&Ended { run, report });
    line.map(|line| line + "\n")
        .map_err(|error| AppError::failure(error.to_string()))
}
