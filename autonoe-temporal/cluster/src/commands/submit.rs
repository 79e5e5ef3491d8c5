//! The command `autonoe-cluster submit`: submits a run, and optionally waits for it.

use std::pin::{Pin, pin};

use autonoe_app::text::{exit_hint, report_text, sanitize_line};
use autonoe_app::{AppError, exit_code};
use autonoe_core::RunId;
use autonoe_core::engine::{RunEnding, RunOutcome, RunSpec, SessionsRun};
use autonoe_core::event::TraceContext;
use autonoe_core::project::JournalEntry;
use autonoe_core::run::JournalLine;
use autonoe_core::time::{IdSource, RandomIds};
use autonoe_harness::FleetReport;
use jiff::Timestamp;
use serde::Serialize;

use super::Cluster;
use super::command_hint::command_hint;
use super::fetch_error::FetchError;
use super::fleet::{fleet_report, fleet_spec, fleet_text, read_roadmap};
use super::journal_formatter::JournalFormatter;
use super::remote_journal::{JournalUpdate, RemoteJournal};
use super::status::{ended, report};
use super::view_changes::{ViewChange, ViewChanges};
use super::watch::watch;
use crate::args::{OutputFormat, ServerArgs, SubmitArgs, SubmittedWork};
use crate::output::{Output, ReaderState};

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

/// Submits a run on a project below the trace of the caller, and waits for it if `--wait` is given.
pub(super) async fn submit<C: Cluster>(
    args: &SubmitArgs,
    server: &ServerArgs,
    trace: Option<TraceContext>,
    connect: impl Future<Output = Result<C, AppError>>,
    output: &Output,
    interrupted: impl Future<Output = ()>,
) -> Result<u8, AppError> {
    let spec = spec(args, trace)?;
    let run = spec.id.clone();
    let mut interrupted = pin!(interrupted);
    let submitting = async {
        let cluster = connect.await?;
        cluster.submit(spec, args.place()).await?;
        Ok::<_, AppError>(cluster)
    };
    let submission = Submission {
        args,
        server,
        run,
        output,
    };
    let cluster = tokio::select! {
        biased;
        () = &mut interrupted => {
            let (run, command_hints) = (&submission.run, submission.command_hints());
            output.note(&format!(
                "it is unknown whether the run {run} was submitted; if it was, {command_hints}"
            ));
            return Ok(exit_code::INTERRUPTED);
        }
        submitted = submitting => submitted?,
    };
    if args.wait {
        submission.wait(&cluster, interrupted).await
    } else {
        submission.print_id()
    }
}

/// Describes the run. Without a trace of the caller it starts one of its own, which the sessions on
/// all hosts share.
fn spec(args: &SubmitArgs, trace: Option<TraceContext>) -> Result<RunSpec, AppError> {
    let ids = RandomIds::new().map_err(|error| AppError::failure(error.to_string()))?;
    let ids: &dyn IdSource = &ids;
    let id = args.run.clone().unwrap_or_else(|| ids.run_id());
    let trace = trace.unwrap_or_else(|| TraceContext::from(&ids.root_span()));
    match args.work() {
        SubmittedWork::Project(project) => {
            let run = SessionsRun::on_project(project, args.limits());
            let spec = run.trace(trace).to_spec(id);
            spec.map_err(|error| AppError::failure(error.to_string()))
        }
        SubmittedWork::Fleet(options) => {
            let roadmap = read_roadmap(options.roadmap)?;
            fleet_spec(&options, &roadmap, id, (&args.limits(), trace))
        }
        SubmittedWork::Nothing => Err(AppError::usage("name a project or a roadmap")),
    }
}

/// A run that was submitted.
struct Submission<'a> {
    args: &'a SubmitArgs,
    server: &'a ServerArgs,
    run: RunId,
    output: &'a Output,
}

impl Submission<'_> {
    /// Formats the commands that follow and cancel the run.
    fn command_hints(&self) -> String {
        let follow = command_hint(&format!("logs {} --follow", self.run), self.server);
        let cancel = command_hint(&format!("cancel {}", self.run), self.server);
        format!("{follow} follows it, {cancel} ends it")
    }

    fn print_id(&self) -> Result<u8, AppError> {
        let run = &self.run;
        let submitted = format!("the run {run} was submitted; {}", self.command_hints());
        let printed = match self.args.output {
            OutputFormat::Json => self.output.json(&Submitted { run }),
            OutputFormat::Text => self.output.result(&format!("{run}\n")),
        };
        printed.map_err(|error| error.with_hint(submitted.clone()))?;
        self.note(&submitted);
        Ok(0)
    }

    /// Prints a line that is not a result, unless `--quiet` is given.
    fn note(&self, line: &str) {
        if !self.args.quiet {
            self.output.note(line);
        }
    }

    /// Waits for the end of the run, and prints its journal meanwhile.
    async fn wait(
        &self,
        cluster: &dyn Cluster,
        interrupted: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<u8, AppError> {
        let Self { args, run, .. } = self;
        self.note(&format!("Run {run} was submitted"));
        let mut formatter = JournalFormatter::new(args.output == OutputFormat::Json);
        let mut changes = ViewChanges::default();
        // A fleet has no journal of its own.
        let project = match args.work() {
            SubmittedWork::Project(project) => Some(project.clone()),
            SubmittedWork::Fleet(_) | SubmittedWork::Nothing => None,
        };
        let mut journal = RemoteJournal::new(cluster, project, run.clone());
        let mut is_unreadable = false;
        let mut on_update = |journal_update: Result<JournalUpdate, FetchError>| {
            let printed = journal_update.and_then(|JournalUpdate { view, entries }| {
                let printed = entries.map(|entries| self.print(&entries, &mut formatter));
                for change in changes.update(&view, Timestamp::now()) {
                    match change {
                        ViewChange::Info(line) => self.note(&line),
                        ViewChange::Warning(line) => self.output.note(&format!("warning: {line}")),
                    }
                }
                printed
            });
            match printed {
                Ok(reader) => {
                    is_unreadable = false;
                    reader
                }
                // The run itself is not affected. The warning comes once until a page is read.
                Err(error) => {
                    if !is_unreadable {
                        let warning = format!("warning: cannot read the journal for now: {error}");
                        self.output.note(&sanitize_line(&warning));
                    }
                    is_unreadable = true;
                    Ok(ReaderState::Open)
                }
            }
        };
        let watched = tokio::select! {
            biased;
            () = interrupted => None,
            watched = async {
                let ended = watch(cluster, run, &mut journal, &mut on_update).await?;
                on_update(journal.last().await)?;
                Ok::<_, AppError>(ended)
            } => Some(watched),
        };
        let printed = self.print(&journal.left(), &mut formatter);
        match watched {
            None | Some(Ok(None)) => {
                printed?;
                self.output.note(&format!(
                    "the run {run} continues; {}",
                    self.command_hints()
                ));
                Ok(exit_code::INTERRUPTED)
            }
            // The outcome matters more than lines that cannot be written.
            Some(Ok(Some(outcome))) => self.print_end(&outcome),
            Some(Err(error)) => {
                let hint = format!("the run {run} may continue; {}", self.command_hints());
                Err(error.with_hint(hint))
            }
        }
    }

    /// Prints entries: JSON lines as results, sentences on standard error.
    fn print(
        &self,
        entries: &[JournalEntry],
        formatter: &mut JournalFormatter,
    ) -> Result<ReaderState, AppError> {
        if self.args.output == OutputFormat::Json {
            return self.output.result(&formatter.format(entries)?);
        }
        for entry in entries {
            // The summary of the run follows as the result.
            if !matches!(entry.line, JournalLine::RunEnded { .. }) {
                let text = formatter.format(std::slice::from_ref(entry))?;
                text.lines().for_each(|line| self.note(line));
            }
        }
        Ok(ReaderState::Open)
    }

    /// Prints the report of a fleet.
    fn print_fleet(&self, outcome: &RunOutcome, report: &FleetReport) -> Result<u8, AppError> {
        let run = &self.run;
        let text = match self.args.output {
            OutputFormat::Json => {
                let line = serde_json::to_string(&Ended { run, report });
                line.map_err(|error| AppError::failure(error.to_string()))? + "\n"
            }
            OutputFormat::Text => fleet_text(run, report).join("\n") + "\n",
        };
        self.output.result(&text)?;
        Ok(match outcome.ending {
            RunEnding::Succeeded => 0,
            RunEnding::Failed { .. } => exit_code::FAILURE,
            RunEnding::Cancelled { .. } => exit_code::INTERRUPTED,
        })
    }

    /// Prints the outcome of the run as `autonoe run` does.
    fn print_end(&self, outcome: &RunOutcome) -> Result<u8, AppError> {
        let run = &self.run;
        if let RunEnding::Cancelled { reason } = &outcome.ending
            && !reason.is_empty()
        {
            let warning = format!("warning: the run was cancelled: {reason}");
            self.output.note(&sanitize_line(&warning));
        }
        if let Some(report) = fleet_report(outcome) {
            return self.print_fleet(outcome, &report);
        }
        let Some(report) = report(outcome) else {
            let message = ended(run, outcome).join("; ");
            let error = AppError::failure(format!("the run {run} returned no report: {message}"));
            return Err(match outcome.ending {
                RunEnding::Cancelled { .. } => error.with_code(exit_code::INTERRUPTED),
                RunEnding::Succeeded | RunEnding::Failed { .. } => error,
            });
        };
        let text = match self.args.output {
            OutputFormat::Json => {
                let report = &report;
                let line = serde_json::to_string(&Ended { run, report });
                line.map_err(|error| AppError::failure(error.to_string()))? + "\n"
            }
            OutputFormat::Text => report_text(&report),
        };
        let status = command_hint(&format!("status {run}"), self.server);
        let hint = format!("the outcome is stored: {status} shows it");
        let printed = self.output.result(&text);
        printed.map_err(|error| error.with_hint(hint))?;
        if let Some(hint) = exit_hint(&report.exit) {
            self.output
                .note(&format!("  hint: {}", sanitize_line(&hint)));
        }
        Ok(exit_code::for_run(&report.exit))
    }
}
