//! Columns of the member table by available width, and the colours of the view.

use Column::{Backend, Cost, Iteration, Member, Progress, Status, Task, Tokens};
use ratatui::layout::Constraint;
use ratatui::style::{Color, Modifier, Style};

use crate::{AlertSeverity, FleetPhase, MemberRowStatus};

/// Column of the member table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Member,
    Status,
    Progress,
    Cost,
    Iteration,
    Tokens,
    Backend,
    Task,
}

/// Returns the columns for a table of this width in cells. Narrow tables keep the most important
/// ones.
pub(super) fn columns(width: u16) -> &'static [Column] {
    match width {
        0..20 => &[Member],
        20..34 => &[Member, Progress],
        34..48 => &[Member, Status, Progress],
        48..70 => &[Member, Status, Progress, Cost],
        70..100 => &[Member, Status, Progress, Cost, Iteration, Task],
        100..130 => &[Member, Status, Progress, Cost, Iteration, Tokens, Task],
        130.. => &[
            Member, Status, Progress, Cost, Iteration, Tokens, Backend, Task,
        ],
    }
}

impl Column {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Member => "Member",
            Self::Status => "Status",
            Self::Progress => "Progress",
            Self::Cost => "Cost",
            Self::Iteration => "Iter",
            Self::Tokens => "Tokens",
            Self::Backend => "Backend",
            Self::Task => "Task",
        }
    }

    pub(super) fn constraint(self, width: u16) -> Constraint {
        match self {
            Self::Member if width < 34 => Constraint::Min(6),
            Self::Member => Constraint::Fill(2),
            Self::Status => Constraint::Length(9),
            Self::Progress => Constraint::Length(progress_width(width)),
            Self::Cost => Constraint::Length(10),
            Self::Iteration => Constraint::Length(4),
            Self::Tokens => Constraint::Length(8),
            Self::Backend => Constraint::Fill(2),
            Self::Task => Constraint::Fill(4),
        }
    }
}

/// Returns the width of a progress bar including its percents.
pub(super) fn progress_width(width: u16) -> u16 {
    match width {
        0..48 => 10,
        48..100 => 14,
        100.. => 20,
    }
}

pub(super) const TITLE: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const DIM: Style = Style::new().fg(Color::DarkGray);
pub(super) const QUESTION: Style = Style::new().fg(Color::Yellow);
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);

pub(super) fn status_style(status: MemberRowStatus) -> Style {
    Style::new().fg(match status {
        MemberRowStatus::Pending => Color::DarkGray,
        MemberRowStatus::Running => Color::Cyan,
        MemberRowStatus::Paused => Color::Yellow,
        MemberRowStatus::Completed => Color::Green,
        MemberRowStatus::Failed => Color::Red,
        MemberRowStatus::Stopped => Color::Magenta,
    })
}

pub(super) fn phase_style(phase: FleetPhase) -> Style {
    Style::new().fg(match phase {
        FleetPhase::Waiting => Color::DarkGray,
        FleetPhase::Running => Color::Cyan,
        FleetPhase::Paused | FleetPhase::Stopping => Color::Yellow,
        FleetPhase::Succeeded => Color::Green,
        FleetPhase::Failed => Color::Red,
        FleetPhase::Stopped => Color::Magenta,
    })
}

pub(super) fn severity_style(severity: AlertSeverity) -> Style {
    match severity {
        AlertSeverity::Info => Style::new().fg(Color::Blue),
        AlertSeverity::Warning => Style::new().fg(Color::Yellow),
        AlertSeverity::Critical => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
        AlertSeverity::Success => Style::new().fg(Color::Green),
        AlertSeverity::Error => Style::new().fg(Color::Red),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_table_has_all_columns_of_a_narrower_one() {
        let mut before = columns(0);
        for width in 1..200 {
            let now = columns(width);
            assert!(before.iter().all(|column| now.contains(column)), "{width}");
            before = now;
        }
        assert_eq!(before.len(), 8);
    }
}
