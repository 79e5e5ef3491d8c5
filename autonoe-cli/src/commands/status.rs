//! `autonoe status`: prints the deliverables, as a table or as JSON.

use std::path::Path;
use std::process::ExitCode;

use autonoe_app::text::{sanitize_line, shorten};
use autonoe_core::ledger::{LedgerCounts, LedgerState};
use autonoe_core::project::{FileDeliverableRepository, RunLock, StatusRecord};
use autonoe_core::{DeliverableStatus, Project};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::run::InterruptedRun;
use crate::args::StatusArgs;
use crate::cli_env::CliEnv;
use crate::columns::columns_within;
use crate::error::CliError;

/// Prints the deliverables and their status.
pub(crate) fn status(args: &StatusArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let ledger = FileDeliverableRepository::from_path(project.status_path()).load_now()?;
    if ledger.is_none() {
        project.check_journal_has_no_deliverables()?;
    }
    let state = ledger.map(|snapshot| snapshot.state);
    for warning in state.iter().flat_map(StatusRecord::field_warnings) {
        env.print_note(&format!(
            "warning: status.json: {}",
            sanitize_line(&warning)
        ));
    }
    if args.json {
        env.print_json(&Status::new(state.as_ref()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = match &state {
        None => "There are no deliverables yet.\n\
            `autonoe run` plans them from SPEC.md; `autonoe init` creates a SPEC.md.\n"
            .to_owned(),
        Some(state) => format_table(state, env.columns),
    };
    if let Some(held) = RunLock::held(&project)? {
        let note = match (held.survivors(), &held.holder) {
            ([_, ..], _) => format!("An agent of a killed run is still alive: {held}."),
            ([], Some(run)) => {
                format!("A run is in progress ({run}): follow it with `autonoe log --follow`.")
            }
            ([], None) => "A run is in progress: follow it with `autonoe log --follow`.".to_owned(),
        };
        text.push_str(&format!("\n{note}\n"));
    } else if let Some(interrupted) = InterruptedRun::find(&project) {
        text.push_str(&format!("\n{}\n", interrupted.note(&project)));
    }
    if state.is_none()
        && let Some(note) = missing_project_note(&project, PROJECT_FILES)
    {
        text.push_str(&format!("\n{note}\n"));
    }
    env.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Files that make a directory a project.
pub(super) const PROJECT_FILES: &[&str] = &["SPEC.md", ".autonoe"];

/// Returns a note about a directory without any of these files: most likely a wrong one.
pub(super) fn missing_project_note(project: &Project, files: &[&str]) -> Option<String> {
    let is_project = |folder: &Path| files.iter().any(|file| folder.join(file).exists());
    let root = project.root();
    if is_project(root) {
        return None;
    }
    let mut parents = root.ancestors().skip(1);
    let hint = match parents.find(|parent| is_project(parent)) {
        Some(parent) => format!(
            ", but {} is a project: change to it, or pass it with -p",
            parent.display()
        ),
        None => String::new(),
    };
    let (root, files) = (root.display(), files.join(" and no "));
    Some(format!("{root} has no {files}{hint}."))
}

/// Output of `autonoe status --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status<'a> {
    /// Whether there is a ledger at all.
    exists: bool,
    /// Number of deliverables, without deprecated ones.
    total: usize,
    /// Number of passed deliverables.
    passed: usize,
    /// Number of blocked deliverables.
    blocked: usize,
    /// Number of deliverables that are neither passed nor blocked.
    pending: usize,
    /// Number of deliverables that a sync has verified.
    verified: usize,
    /// Number of deprecated deliverables.
    deprecated: usize,
    /// The day on which the ledger was created.
    created_at: Option<Date>,
    /// The day of the last change of the ledger.
    updated_at: Option<Date>,
    /// All deliverables, including deprecated ones, in the order of their creation.
    deliverables: Vec<Row<'a>>,
}

/// A deliverable and its status.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeliverableRow")]
struct Row<'a> {
    id: &'a str,
    /// The description.
    description: &'a str,
    /// Its acceptance criteria.
    acceptance_criteria: &'a [String],
    status: DeliverableStatus,
    /// Whether a sync has verified it.
    verified: bool,
    /// The day on which it was deprecated.
    deprecated_at: Option<Date>,
}

impl<'a> Status<'a> {
    fn new(state: Option<&'a LedgerState>) -> Self {
        let view = state.map(LedgerState::view).unwrap_or_default();
        let ledger = state.map(|state| &state.ledger);
        let deliverables = state.into_iter().flat_map(|state| {
            let all = state.ledger.deliverables().iter();
            all.map(|deliverable| Row {
                id: deliverable.id().as_str(),
                description: deliverable.description(),
                acceptance_criteria: deliverable.acceptance_criteria(),
                status: deliverable.status(),
                verified: state.verification.is_verified(deliverable.id()),
                deprecated_at: deliverable.deprecated_at(),
            })
        });
        Self {
            exists: state.is_some(),
            total: view.counts.total,
            passed: view.counts.passed,
            blocked: view.counts.blocked,
            pending: view.counts.pending(),
            verified: view.verified,
            deprecated: view.counts.deprecated,
            created_at: ledger.and_then(|ledger| ledger.created_at()),
            updated_at: ledger.and_then(|ledger| ledger.updated_at()),
            deliverables: deliverables.collect(),
        }
    }
}

const MAX_BAR_LEN: usize = 40;

/// Formats the ledger as text, for a terminal with `width` columns. `None` means no limit.
fn format_table(state: &LedgerState, width: Option<usize>) -> String {
    // Output to a program or a file is never shortened.
    let cell = |text: &str| match width {
        Some(_) => shorten(text),
        None => sanitize_line(text.trim()),
    };
    let counts = state.ledger.counts();
    let verified = state.view().verified;
    let mut text = summary(&counts, verified);
    let active: Vec<_> = state.ledger.active().collect();
    if !active.is_empty() {
        text.push('\n');
        text.push_str(&bar(&counts, width));
        let head = ["STATUS", "ID", "DESCRIPTION"].map(str::to_owned);
        let rows = active.iter().map(|deliverable| {
            let status = if state.verification.is_verified(deliverable.id()) {
                format!("{}, verified", deliverable.status())
            } else {
                deliverable.status().to_string()
            };
            let (id, description) = (deliverable.id().as_str(), deliverable.description());
            [status, cell(id), cell(description)]
        });
        let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
        text.push('\n');
        text.push_str(&columns_within(2, &rows, width));
    }
    let deprecated: Vec<_> = state
        .ledger
        .deliverables()
        .iter()
        .filter_map(|deliverable| {
            let day = deliverable.deprecated_at()?;
            let about = format!("{} (since {day})", cell(deliverable.description()));
            Some([cell(deliverable.id().as_str()), about])
        })
        .collect();
    if !deprecated.is_empty() {
        text.push_str("\nDeprecated:\n");
        text.push_str(&columns_within(2, &deprecated, width));
    }
    text
}

fn summary(counts: &LedgerCounts, verified: usize) -> String {
    if counts.is_empty() {
        return "The ledger is empty: the next `autonoe run` plans the deliverables.\n".to_owned();
    }
    let mut parts = vec![format!(
        "{} of {} deliverables passed",
        counts.passed, counts.total
    )];
    for (count, word) in [
        (counts.blocked, "blocked"),
        (counts.pending(), "pending"),
        (verified, "verified"),
        (counts.deprecated, "deprecated"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    format!("{}\n", parts.join(", "))
}

/// Draws the shares of passed and blocked deliverables as a bar.
fn bar(counts: &LedgerCounts, width: Option<usize>) -> String {
    // The rest of the line is `  [] 100%`.
    let length = width.map_or(MAX_BAR_LEN, |width| {
        width.saturating_sub(9).clamp(10, MAX_BAR_LEN)
    });
    let part = |count: usize| count * length / counts.total.max(1);
    let (passed, blocked) = (part(counts.passed), part(counts.blocked));
    let percent = counts.passed * 100 / counts.total.max(1);
    format!(
        "  [{}{}{}] {percent}%\n",
        "#".repeat(passed),
        "!".repeat(blocked),
        ".".repeat(length - passed - blocked)
    )
}
