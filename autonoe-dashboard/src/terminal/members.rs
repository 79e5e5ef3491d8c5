//! Member table, summary lines and key line of the terminal view.

use std::iter;

use autonoe_core::time::format_duration;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table};

use super::columns::{Column, columns, progress_width};
use super::columns::{DIM, QUESTION, SELECTED, TITLE, phase_style, status_style};
use super::sanitize::sanitize;
use super::state::{Pane, ViewState};
use crate::{Dashboard, MemberRow, Progress, format_cost, format_tokens};

/// Draws as many members as fit, including the selected one.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, dashboard: &Dashboard, state: &ViewState) {
    let columns = columns(area.width);
    let selected = state.selected_index(dashboard);
    let rows_high = usize::from(area.height.saturating_sub(1));
    let first = first_row(dashboard.members.len(), rows_high, selected.unwrap_or(0));
    let visible = dashboard.members.iter().enumerate();
    let rows = visible.skip(first).take(rows_high).map(|(place, member)| {
        let cells = columns
            .iter()
            .map(|column| cell(*column, member, area.width));
        let (mark, style) = if selected == Some(place) {
            ("▸", SELECTED)
        } else {
            (" ", Style::new())
        };
        Row::new(iter::once(Cell::from(mark)).chain(cells)).style(style)
    });
    let titles = columns.iter().map(|column| column.title());
    let titles = iter::once("").chain(titles);
    let widths = columns.iter().map(|column| column.constraint(area.width));
    let widths = iter::once(Constraint::Length(1)).chain(widths);
    let table = Table::new(rows, widths)
        .header(Row::new(titles).style(DIM))
        .column_spacing(1);
    frame.render_widget(table, area);
}

/// Returns the index of the first visible member, which centres the selected one where possible.
fn first_row(members: usize, rows: usize, selected: usize) -> usize {
    let last_first = members.saturating_sub(rows);
    selected.saturating_sub(rows / 2).min(last_first)
}

fn cell(column: Column, member: &MemberRow, width: u16) -> Cell<'static> {
    match column {
        Column::Member => Cell::from(sanitize(member.id.as_str())),
        Column::Status => Cell::from(member.status.to_string()).style(status_style(member.status)),
        Column::Progress => {
            let bar = bar(member.progress, progress_width(width));
            Cell::from(bar).style(status_style(member.status))
        }
        Column::Cost => Cell::from(Line::from(format_cost(&member.cost)).right_aligned()),
        Column::Iteration => Cell::from(Line::from(member.iteration.to_string()).right_aligned()),
        Column::Tokens => {
            let tokens = format_tokens(member.tokens.total());
            Cell::from(Line::from(tokens).right_aligned())
        }
        Column::Backend => {
            let model = member.model.iter().map(String::as_str);
            let parts: Vec<_> = iter::once(member.backend.as_str()).chain(model).collect();
            Cell::from(sanitize(&parts.join(" ")))
        }
        Column::Task => {
            // A question needs a human, and an error is more important than the task.
            if let Some(question) = &member.question {
                return Cell::from(format!("asks: {}", sanitize(question))).style(QUESTION);
            }
            let text = member.error.as_ref().or(member.task.as_ref());
            Cell::from(sanitize(text.map(String::as_str).unwrap_or_default()))
        }
    }
}

/// Formats a progress bar with percents, `width` cells wide.
pub(super) fn bar(progress: Progress, width: u16) -> String {
    let cells = usize::from(width.saturating_sub(5));
    // Rounded down like the percents: full only if everything is done.
    let full = (progress.share() * cells as f64).floor() as usize;
    let full = full.min(cells);
    let (full, rest) = ("█".repeat(full), "░".repeat(cells - full));
    format!("{full}{rest} {progress:>4}")
}

/// Returns the line with the fleet's objective.
pub(super) fn objective(dashboard: &Dashboard) -> Line<'static> {
    Line::styled(sanitize(&dashboard.objective), TITLE)
}

/// Returns the line with phase, elapsed time and strategy.
pub(super) fn status_line(dashboard: &Dashboard) -> Line<'static> {
    let phase = Span::styled(dashboard.phase.to_string(), phase_style(dashboard.phase));
    let strategy = sanitize(&dashboard.strategy);
    let elapsed = format_duration(dashboard.elapsed);
    Line::from(vec![
        phase,
        Span::raw(format!(" · {elapsed} · ")),
        Span::styled(strategy, DIM),
    ])
}

/// Returns the line with the totals.
pub(super) fn totals(dashboard: &Dashboard) -> Line<'static> {
    let totals = &dashboard.totals;
    let mut parts = vec![format!("{} of {} done", totals.done, totals.total)];
    if totals.lost > 0 {
        parts.push(format!("{} lost", totals.lost));
    }
    parts.push(format_cost(&totals.cost));
    parts.push(format!("{} tokens", format_tokens(totals.tokens.total())));
    Line::styled(parts.join(" · "), TITLE)
}

/// Returns the last line: the keys, or the note about the last key.
pub(super) fn last_line(state: &ViewState) -> Line<'static> {
    if let Some(note) = &state.note {
        return Line::styled(sanitize(note), TITLE);
    }
    let keys = match &state.pane {
        Pane::Fleet => {
            "? help · q quit · ↑↓ select · ⏎ details · p pause · r resume · s stop · k kill"
        }
        Pane::Details => "⏎ back · q quit · ↑↓ select · p pause · r resume · s stop · k kill",
        Pane::Help => "any key: back · q quit",
        Pane::ConfirmKill(_) => "y: kill it · any other key: cancel",
    };
    Line::styled(keys, DIM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_only_when_it_is_done() {
        for (share, visible) in [
            (0.0, "░░░░░   0%"),
            (0.5, "██░░░  50%"),
            (0.9999, "████░  99%"),
            (1.0, "█████ 100%"),
        ] {
            assert_eq!(bar(Progress::new(share), 10), visible);
        }
        assert_eq!(bar(Progress::DONE, 0), " 100%");
    }

    #[test]
    fn the_selected_row_is_always_visible() {
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
