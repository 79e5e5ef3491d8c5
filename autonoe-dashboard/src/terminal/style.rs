//! Colours. What they say is said in words too.

use ratatui::style::{Color, Modifier, Style};

use crate::{AlertSeverity, FleetPhase, MemberStatus};

pub(super) const TITLE: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const QUIET: Style = Style::new().fg(Color::DarkGray);
pub(super) const ASKS: Style = Style::new().fg(Color::Yellow);
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);

pub(super) fn of_status(status: MemberStatus) -> Style {
    Style::new().fg(match status {
        MemberStatus::Pending => Color::DarkGray,
        MemberStatus::Running => Color::Cyan,
        MemberStatus::Paused => Color::Yellow,
        MemberStatus::Completed => Color::Green,
        MemberStatus::Failed => Color::Red,
        MemberStatus::Stopped => Color::Magenta,
    })
}

pub(super) fn of_phase(phase: FleetPhase) -> Style {
    Style::new().fg(match phase {
        FleetPhase::Waiting => Color::DarkGray,
        FleetPhase::Running => Color::Cyan,
        FleetPhase::Paused | FleetPhase::Stopping => Color::Yellow,
        FleetPhase::Succeeded => Color::Green,
        FleetPhase::Failed => Color::Red,
        FleetPhase::Stopped => Color::Magenta,
    })
}

pub(super) fn of_severity(severity: AlertSeverity) -> Style {
    match severity {
        AlertSeverity::Info => Style::new().fg(Color::Blue),
        AlertSeverity::Warning => Style::new().fg(Color::Yellow),
        AlertSeverity::Critical => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
        AlertSeverity::Success => Style::new().fg(Color::Green),
        AlertSeverity::Error => Style::new().fg(Color::Red),
    }
}
