//! [`show`]: event loop between a terminal, its keys and the fleet.

use std::time::Duration;

use futures::{Stream, StreamExt};
use ratatui::Terminal;
use ratatui::backend::Backend;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Instant, sleep_until};

use super::draw::draw;
use super::keys::{Key, Reaction, press};
use super::state::ViewState;
use crate::{DashboardSource, FleetIntent};

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
