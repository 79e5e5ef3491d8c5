//! The whole view.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};

use super::state::{Pane, ViewState};
use super::{members, panes};
use crate::Dashboard;

/// Draws the fleet. The same fleet in the same view on the same area gives the same picture.
///
/// Nothing that an agent wrote reaches the terminal but as letters: what a terminal would obey is
/// replaced. What there is no room for is left out, the members last.
///
/// ```
/// use autonoe_dashboard::terminal::{ViewState, draw};
/// use autonoe_dashboard::{Dashboard, Member};
/// use ratatui::Terminal;
/// use ratatui::backend::TestBackend;
///
/// let fleet = Dashboard::new("Build the shop", "parallel")
///     .with_members(vec![Member::new("api", "codex")]);
/// let mut terminal = Terminal::new(TestBackend::new(80, 20))?;
///
/// terminal.draw(|frame| draw(frame, &fleet, &ViewState::default()))?;
///
/// assert!(terminal.backend().to_string().contains("0 of 1 done"));
/// # Ok::<(), std::convert::Infallible>(())
/// ```
pub fn draw(frame: &mut Frame<'_>, dashboard: &Dashboard, state: &ViewState) {
    let area = frame.area();
    let rows = Rows::of(area.height, &state.pane, dashboard);
    let [objective, standing, totals, table, pane, keys] = Layout::vertical([
        Constraint::Length(rows.objective),
        Constraint::Length(rows.standing),
        Constraint::Length(rows.totals),
        Constraint::Fill(1),
        Constraint::Length(rows.pane),
        Constraint::Length(rows.keys),
    ])
    .areas(area);

    frame.render_widget(members::objective(dashboard), objective);
    frame.render_widget(members::standing(dashboard), standing);
    frame.render_widget(members::totals(dashboard), totals);
    members::draw(frame, table, dashboard, state);
    match (&state.pane, state.member(dashboard)) {
        (Pane::Help, _) => panes::help(frame, pane),
        (Pane::Details, Some(member)) => panes::details(frame, pane, member),
        _ => panes::alerts(frame, pane, dashboard),
    }
    frame.render_widget(members::last_line(state), keys);
    if let Pane::ConfirmKill(member) = &state.pane {
        panes::question(frame, area, member);
    }
}

/// How many rows each part gets; the table has the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rows {
    objective: u16,
    standing: u16,
    totals: u16,
    pane: u16,
    keys: u16,
}

impl Rows {
    fn of(height: u16, pane: &Pane, dashboard: &Dashboard) -> Self {
        let from = |least: u16| u16::from(height >= least);
        let alerts = u16::try_from(dashboard.alerts.len()).unwrap_or(u16::MAX);
        let pane = match (pane, height) {
            // Who asked for them wants to see them.
            (Pane::Details, _) => (height * 3 / 5).min(height.saturating_sub(6)),
            (Pane::Help, _) => 11.min(height.saturating_sub(5)),
            (_, 0..14) => 0,
            (_, _) => (alerts.clamp(1, 8) + 1).min(height / 3),
        };
        Self {
            objective: from(6),
            standing: from(8),
            totals: from(4),
            pane,
            keys: from(5),
        }
    }
}
