//! The loop between a terminal, its keys and the fleet.

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

/// How long a picture stands at least when only the fleet changes. Keys are answered at once.
const FRAME: Duration = Duration::from_millis(100);

/// What comes from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewInput {
    /// A key was pressed.
    Key(Key),
    /// The terminal has another size now.
    Resized,
}

/// Why a view was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewEnd {
    /// A person closed it.
    Quit,
    /// No more input comes.
    InputEnded,
}

/// Shows a fleet until somebody closes the view.
///
/// The terminal and its input are the caller's, and so is putting the terminal back in order
/// afterwards. What a person asks for goes to `intents`; when nobody takes it, the view says so.
/// When the source is gone, the last snapshot stays until the view is closed.
///
/// # Errors
///
/// The terminal cannot be drawn on.
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
        // What is seen is what keys are about.
        let seen = fleet.borrow_and_update().clone();
        terminal.draw(|frame| draw(frame, &seen, &view))?;
        let next_frame = Instant::now() + FRAME;
        tokio::select! {
            biased;
            input = inputs.next() => match input {
                None => return Ok(ViewEnd::InputEnded),
                Some(ViewInput::Resized) => {}
                Some(ViewInput::Key(key)) => {
                    let (next, reaction) = press(key, &seen, &view);
                    view = match reaction {
                        Reaction::Nothing => next,
                        Reaction::Quit => return Ok(ViewEnd::Quit),
                        Reaction::Intent(intent) => hand_over(intents, intent, next),
                    };
                }
            },
            changed = async {
                sleep_until(next_frame).await;
                fleet.changed().await
            }, if is_live => if changed.is_err() {
                is_live = false;
                view = view.with_note("no more news of this fleet");
            },
        }
    }
}

fn hand_over(
    intents: &mpsc::Sender<FleetIntent>,
    intent: FleetIntent,
    view: ViewState,
) -> ViewState {
    match intents.try_send(intent) {
        Ok(()) => view,
        Err(TrySendError::Full(_)) => view.with_note("not asked: too much is asked for already"),
        Err(TrySendError::Closed(_)) => view.with_note("not asked: nobody carries it out"),
    }
}
