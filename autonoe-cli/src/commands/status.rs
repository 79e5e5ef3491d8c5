//! `autonoe status`.

use std::process::ExitCode;

use autonoe_core::{
    Deliverable, DeliverableStatus, FileDeliverableRepository, LedgerCounts, LedgerState, RunLock,
};
use jiff::civil::Date;
use serde::Serialize;

use crate::args::StatusArgs;
use crate::columns::columns;
use crate::error::CliError;
use crate::present::shorten;
use crate::surroundings::Surroundings;

/// Shows the deliverables and how far they are.
pub(crate) fn status(args: &StatusArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let ledger = FileDeliverableRepository::at(project.status_path()).load_now()?;
    let state = ledger.map(|snapshot| snapshot.state);
    if args.json {
        surroundings.say_json(&Status::of(state.as_ref()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = match &state {
        None => "There are no deliverables yet.\n\
            `autonoe run` plans them from SPEC.md; `autonoe init` begins a SPEC.md.\n"
            .to_owned(),
        Some(state) => shown(state),
    };
    if let Some(held) = RunLock::held(&project)? {
        let since = held.holder.map_or_else(String::new, |holder| {
            format!(" (process {}, since {})", holder.pid, holder.started_at)
        });
        text.push_str(&format!(
            "\nA run is under way{since}: `autonoe log --follow` tells it.\n"
        ));
    }
    surroundings.say(&text);
    Ok(ExitCode::SUCCESS)
}

/// Writes the ledger for people.
fn shown(state: &LedgerState) -> String {
    let counts = state.ledger.counts();
    let verified = state.view().verified;
    let mut text = summary(&counts, verified);
    let active: Vec<_> = state.ledger.active().collect();
    if !active.is_empty() {
        text.push('\n');
        text.push_str(&bar(&counts));
        let head = ["STATUS", "ID", "DESCRIPTION"].map(str::to_owned);
        let rows = active.iter().map(|deliverable| {
            let is_verified = state.verification.is_verified(deliverable.id());
            row(deliverable, is_verified)
        });
        let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
        text.push('\n');
        text.push_str(&columns(2, &rows));
    }
    let deprecated = state.ledger.deliverables().iter();
    let deprecated: Vec<_> = deprecated
        .filter_map(|deliverable| {
            let day = deliverable.deprecated_at()?;
            let about = format!("{} (since {day})", shorten(deliverable.description()));
            Some([shorten(deliverable.id().as_str()), about])
        })
        .collect();
    if !deprecated.is_empty() {
        text.push_str("\nNo longer asked for:\n");
        text.push_str(&columns(2, &deprecated));
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

/// Draws how many of the deliverables passed, and how many are blocked.
fn bar(counts: &LedgerCounts) -> String {
    const WIDTH: usize = 40;
    let part = |count: usize| count * WIDTH / counts.total.max(1);
    let (passed, blocked) = (part(counts.passed), part(counts.blocked));
    let percent = counts.passed * 100 / counts.total.max(1);
    format!(
        "  [{}{}{}] {percent}%\n",
        "#".repeat(passed),
        "!".repeat(blocked),
        ".".repeat(WIDTH - passed - blocked)
    )
}

fn row(deliverable: &Deliverable, is_verified: bool) -> [String; 3] {
    let status = match is_verified {
        true => format!("{}, verified", deliverable.status()),
        false => deliverable.status().to_string(),
    };
    [
        status,
        shorten(deliverable.id().as_str()),
        shorten(deliverable.description()),
    ]
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    /// Whether there is a ledger at all.
    exists: bool,
    total: usize,
    passed: usize,
    blocked: usize,
    pending: usize,
    verified: usize,
    deprecated: usize,
    created_at: Option<Date>,
    updated_at: Option<Date>,
    deliverables: Vec<Row<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    id: &'a str,
    description: &'a str,
    acceptance_criteria: &'a [String],
    status: DeliverableStatus,
    verified: bool,
    deprecated_at: Option<Date>,
}

impl<'a> Status<'a> {
    fn of(state: Option<&'a LedgerState>) -> Self {
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
