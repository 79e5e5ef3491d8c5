//! [`show`]: event loop of the terminal view, and [`draw`]: renders a snapshot.

use std::time::Duration;

use futures::{Stream, StreamExt};
use ratatui::backend::Backend;
use ratatui::layout::{Constraint, Layout};
use ratatui::{Frame, Terminal};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Instant, sleep_until};

use super::state::{Key, Pane, Reaction, ViewState, press};
use super::{members, panes};
use crate::{Dashboard, DashboardSource, FleetIntent};

/// Minimum time between two redraws for changes of the fleet. Keys redraw at once.
const FRAME: Duration = Duration::from_millis(100);

/// Input event of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewInput {
    /// A key was pressed.
    Key(Key),
    /// The terminal was resized.
    Resized,
}

/// Reason that a view was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewEnd {
    /// The user closed it.
    Quit,
    /// The input stream ended.
    InputEnded,
}

/// Shows a fleet until the user closes the view.
///
/// The caller owns the terminal and its input, and restores the terminal afterwards. The user's
/// requests are sent to `intents`; a note in the view says if they cannot be delivered. When the
/// source is dropped, the last snapshot stays visible until the view is closed.
///
/// # Errors
///
/// Drawing on the terminal failed.
pub async fn show<B, I>(
    terminal: &mut Terminal<B>,
    source: &dyn DashboardSource,
    mut inputs: I,
    intents: &mpsc::Sender<FleetIntent>,
) -> Result<ViewEnd, B::Error>
where
    B: Backend,
    I: Stream<Item = ViewInput> + Unpin,
{
    let mut fleet = source.watch();
    let mut is_live = true;
    let mut view = ViewState::default();
    loop {
        // Keys apply to the snapshot that is visible.
        let snapshot = fleet.borrow_and_update().clone();
        terminal.draw(|frame| draw(frame, &snapshot, &view))?;
        let next_frame = Instant::now() + FRAME;
        tokio::select! {
            biased;
            input = inputs.next() => match input {
                None => return Ok(ViewEnd::InputEnded),
                Some(ViewInput::Resized) => {}
                Some(ViewInput::Key(key)) => {
                    let (next, reaction) = press(key, &snapshot, &view);
                    view = match reaction {
                        Reaction::Nothing => next,
                        Reaction::Quit => return Ok(ViewEnd::Quit),
                        Reaction::Intent(intent) => send_intent(intents, intent, next),
                    };
                }
            },
            changed = async {
                sleep_until(next_frame).await;
                fleet.changed().await
            }, if is_live => if changed.is_err() {
                is_live = false;
                view = view.with_note("no further updates of this fleet");
            },
        }
    }
}

fn send_intent(
    intents: &mpsc::Sender<FleetIntent>,
    intent: FleetIntent,
    view: ViewState,
) -> ViewState {
    match intents.try_send(intent) {
        Ok(()) => view,
        Err(TrySendError::Full(_)) => view.with_note("not sent: too many requests are waiting"),
        Err(TrySendError::Closed(_)) => {
            view.with_note("not sent: the fleet accepts no more requests")
        }
    }
}

/// Draws the fleet. Deterministic: the same snapshot, state and area give the same picture.
///
/// Control characters in text from agents are replaced, so agents cannot send commands to the
/// terminal. On a small terminal, parts are left out, the members last.
///
/// ```
/// use autonoe_dashboard::terminal::{ViewState, draw};
/// use autonoe_dashboard::{Dashboard, MemberRow};
/// use ratatui::Terminal;
/// use ratatui::backend::TestBackend;
///
/// let fleet = Dashboard::new("Build the shop", "parallel")
///     .with_members(vec![MemberRow::new("api", "codex")]);
/// let mut terminal = Terminal::new(TestBackend::new(80, 20))?;
///
/// terminal.draw(|frame| draw(frame, &fleet, &ViewState::default()))?;
///
/// assert!(terminal.backend().to_string().contains("0 of 1 done"));
/// # Ok::<(), std::convert::Infallible>(())
/// ```
pub fn draw(frame: &mut Frame<'_>, dashboard: &Dashboard, state: &ViewState) {
    let area = frame.area();
    let rows = Rows::new(area.height, &state.pane, dashboard);
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
    frame.render_widget(members::status_line(dashboard), standing);
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

/// Height of each part in rows. The table gets the remaining rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rows {
    objective: u16,
    standing: u16,
    totals: u16,
    pane: u16,
    keys: u16,
}

impl Rows {
    fn new(height: u16, pane: &Pane, dashboard: &Dashboard) -> Self {
        let rows_from = |least: u16| u16::from(height >= least);
        let alerts = u16::try_from(dashboard.alerts.len()).unwrap_or(u16::MAX);
        let pane = match (pane, height) {
            // The user opened this pane explicitly.
            (Pane::Details, _) => (height * 3 / 5).min(height.saturating_sub(6)),
            (Pane::Help, _) => 11.min(height.saturating_sub(5)),
            (_, 0..14) => 0,
            (_, _) => (alerts.clamp(1, 8) + 1).min(height / 3),
        };
        Self {
            objective: rows_from(6),
            standing: rows_from(8),
            totals: rows_from(4),
            pane,
            keys: rows_from(5),
        }
    }
}
