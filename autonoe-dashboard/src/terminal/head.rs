//! The lines around the table: what the fleet is for, what it came to, which keys there are.

use autonoe_core::format_duration;
use ratatui::text::{Line, Span};

use super::harmless::harmless;
use super::state::{Pane, ViewState};
use super::style::{QUIET, TITLE, of_phase};
use crate::{Dashboard, cost_words, token_words};

/// What the fleet is for.
pub(super) fn objective(dashboard: &Dashboard) -> Line<'static> {
    Line::styled(harmless(&dashboard.objective), TITLE)
}

/// How it goes about it.
pub(super) fn standing(dashboard: &Dashboard) -> Line<'static> {
    let phase = Span::styled(dashboard.phase.to_string(), of_phase(dashboard.phase));
    let strategy = harmless(&dashboard.strategy);
    let elapsed = format_duration(dashboard.elapsed);
    Line::from(vec![
        phase,
        Span::raw(format!(" · {elapsed} · ")),
        Span::styled(strategy, QUIET),
    ])
}

/// What it came to.
pub(super) fn totals(dashboard: &Dashboard) -> Line<'static> {
    let totals = &dashboard.totals;
    let mut parts = vec![format!("{} of {} done", totals.done, totals.total)];
    if totals.lost > 0 {
        parts.push(format!("{} lost", totals.lost));
    }
    parts.push(cost_words(&totals.cost));
    parts.push(format!("{} tokens", token_words(totals.tokens.total())));
    Line::styled(parts.join(" · "), TITLE)
}

/// Which keys there are, or what came of the last one.
pub(super) fn last_line(state: &ViewState) -> Line<'static> {
    if let Some(note) = &state.note {
        return Line::styled(harmless(note), TITLE);
    }
    let keys = match &state.pane {
        Pane::Fleet => {
            "? help · q quit · ↑↓ select · ⏎ details · p pause · r resume · s stop · k kill"
        }
        Pane::Details => "⏎ back · q quit · ↑↓ select · p pause · r resume · s stop · k kill",
        Pane::Help => "any key: back · q quit",
        Pane::ConfirmKill(_) => "y: kill it · any other key: do not",
    };
    Line::styled(keys, QUIET)
}
