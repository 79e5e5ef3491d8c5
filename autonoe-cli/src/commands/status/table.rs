//! Text output of `autonoe status`.

use autonoe_app::text::{sanitize_line, shorten};
use autonoe_core::ledger::{LedgerCounts, LedgerState};

use crate::columns::columns_within;

const MAX_BAR_LEN: usize = 40;

/// Formats the ledger as text, for a terminal with `width` columns. `None` means no limit.
pub(super) fn format_table(state: &LedgerState, width: Option<usize>) -> String {
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
    let deprecated = state.ledger.deliverables().iter();
    let deprecated: Vec<_> = deprecated
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
