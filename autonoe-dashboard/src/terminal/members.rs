//! The table of members.

use std::iter;

use autonoe_core::format_duration;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table};

use super::columns::{ASKS, QUIET, SELECTED, TITLE, of_phase, of_status};
use super::columns::{Column, columns, progress_width};
use super::harmless::harmless;
use super::state::{Pane, ViewState};
use crate::{Dashboard, Member, Progress, cost_words, token_words};

/// Draws as many members as there is room for, with the selected one among them.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, dashboard: &Dashboard, state: &ViewState) {
    let columns = columns(area.width);
    let selected = state.place(dashboard);
    let rows_high = usize::from(area.height.saturating_sub(1));
    let first = first_row(dashboard.members.len(), rows_high, selected.unwrap_or(0));
    let shown = dashboard.members.iter().enumerate();
    let rows = shown.skip(first).take(rows_high).map(|(place, member)| {
        let cells = columns
            .iter()
            .map(|column| cell(*column, member, area.width));
        let (mark, style) = match selected == Some(place) {
            true => ("▸", SELECTED),
            false => (" ", Style::new()),
        };
        Row::new(iter::once(Cell::from(mark)).chain(cells)).style(style)
    });
    let titles = columns.iter().map(|column| column.title());
    let titles = iter::once("").chain(titles);
    let widths = columns.iter().map(|column| column.constraint(area.width));
    let widths = iter::once(Constraint::Length(1)).chain(widths);
    let table = Table::new(rows, widths)
        .header(Row::new(titles).style(QUIET))
        .column_spacing(1);
    frame.render_widget(table, area);
}

/// Returns which member comes first so that the selected one is in the middle, where it can be.
fn first_row(members: usize, rows: usize, selected: usize) -> usize {
    let last_first = members.saturating_sub(rows);
    selected.saturating_sub(rows / 2).min(last_first)
}

fn cell(column: Column, member: &Member, width: u16) -> Cell<'static> {
    match column {
        Column::Member => Cell::from(harmless(member.id.as_str())),
        Column::Status => Cell::from(member.status.to_string()).style(of_status(member.status)),
        Column::Progress => {
            let bar = bar(member.progress, progress_width(width));
            Cell::from(bar).style(of_status(member.status))
        }
        Column::Cost => Cell::from(Line::from(cost_words(&member.cost)).right_aligned()),
        Column::Iteration => Cell::from(Line::from(member.iteration.to_string()).right_aligned()),
        Column::Tokens => {
            let tokens = token_words(member.tokens.total());
            Cell::from(Line::from(tokens).right_aligned())
        }
        Column::Backend => {
            let model = member.model.iter().map(String::as_str);
            let parts: Vec<_> = iter::once(member.backend.as_str()).chain(model).collect();
            Cell::from(harmless(&parts.join(" ")))
        }
        Column::Task => {
            // A question waits for a person, and an error matters more than the task.
            if let Some(question) = &member.question {
                return Cell::from(format!("asks: {}", harmless(question))).style(ASKS);
            }
            let text = member.error.as_ref().or(member.task.as_ref());
            Cell::from(harmless(text.map(String::as_str).unwrap_or_default()))
        }
    }
}

/// Writes a bar with its percents, so many cells wide.
pub(super) fn bar(progress: Progress, width: u16) -> String {
    let cells = usize::from(width.saturating_sub(5));
    // Like the percents, it is full only when it is done.
    let full = (progress.share() * cells as f64).floor() as usize;
    let full = full.min(cells);
    let (full, rest) = ("█".repeat(full), "░".repeat(cells - full));
    format!("{full}{rest} {progress:>4}")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_only_when_it_is_done() {
        for (share, shown) in [
            (0.0, "░░░░░   0%"),
            (0.5, "██░░░  50%"),
            (0.9999, "████░  99%"),
            (1.0, "█████ 100%"),
        ] {
            assert_eq!(bar(Progress::of(share), 10), shown);
        }
        assert_eq!(bar(Progress::DONE, 0), " 100%");
    }

    #[test]
    fn the_selected_row_is_always_among_those_shown() {
        for members in 0..40 {
            for rows in 1..12 {
                for selected in 0..members {
                    let first = first_row(members, rows, selected);
                    let last = first + rows;
                    assert!((first..last).contains(&selected));
                    assert!(first == 0 || last <= members, "no room is wasted");
                }
            }
        }
    }
}
