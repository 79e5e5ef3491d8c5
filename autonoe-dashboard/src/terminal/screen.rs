//! [`FullScreen`]: the alternate screen of a real terminal.

use std::fmt;
use std::io::{self, Write};

use crossterm::cursor::Show;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::{Key, ViewInput};

/// Raw mode and alternate screen of a terminal. Dropping it restores the terminal.
///
/// The caller provides the writer and the key input:
///
/// ```no_run
/// use autonoe_dashboard::terminal::{FullScreen, ViewInput, show};
/// use autonoe_dashboard::{Dashboard, DashboardFeed};
/// use futures::StreamExt;
///
/// # async fn example() -> std::io::Result<()> {
/// let feed = DashboardFeed::new(Dashboard::new("Build the shop", "parallel"));
/// let (intents, _carried_out) = tokio::sync::mpsc::channel(16);
/// let events = crossterm::event::EventStream::new();
/// let inputs = events.filter_map(|event| async { ViewInput::from_event(&event.ok()?) });
///
/// let mut screen = FullScreen::enter(std::io::stderr())?;
/// show(screen.terminal(), &feed, Box::pin(inputs), &intents).await?;
/// # Ok(())
/// # }
/// ```
pub struct FullScreen<W: Write> {
    terminal: Terminal<CrosstermBackend<W>>,
}

impl<W: Write> FullScreen<W> {
    /// Switches the terminal behind `writer` to raw mode and the alternate screen.
    ///
    /// # Errors
    ///
    /// `writer` is no terminal, or cannot be written to.
    pub fn enter(mut writer: W) -> io::Result<Self> {
        enable_raw_mode()?;
        let entered = execute!(writer, EnterAlternateScreen)
            .and_then(|()| Terminal::new(CrosstermBackend::new(writer)));
        match entered {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                let _ = disable_raw_mode();
                Err(error)
            }
        }
    }

    /// Returns the terminal to draw on.
    pub fn terminal(&mut self) -> &mut Terminal<CrosstermBackend<W>> {
        &mut self.terminal
    }
}

impl<W: Write> Drop for FullScreen<W> {
    fn drop(&mut self) {
        // Errors are ignored: a terminal that is gone needs no cleanup.
        let _ = disable_raw_mode();
        let backend = self.terminal.backend_mut();
        let _ = queue!(backend, LeaveAlternateScreen, Show);
        let _ = io::Write::flush(backend);
    }
}

impl<W: Write> fmt::Debug for FullScreen<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FullScreen").finish_non_exhaustive()
    }
}

impl ViewInput {
    /// Converts a terminal event, or returns `None` for an event that views ignore.
    pub fn from_event(event: &Event) -> Option<Self> {
        match event {
            Event::Resize(..) => Some(Self::Resized),
            Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key).map(Self::Key),
            _ => None,
        }
    }
}

fn key_of(key: &KeyEvent) -> Option<Key> {
    let held = key.modifiers - KeyModifiers::SHIFT;
    match key.code {
        KeyCode::Char('c') if held == KeyModifiers::CONTROL => Some(Key::Interrupt),
        // Combinations with other modifiers, such as Control-K, must not trigger an action.
        _ if !held.is_empty() => None,
        KeyCode::Char(letter) => Some(Key::Char(letter)),
        KeyCode::Up => Some(Key::Up),
        KeyCode::Down => Some(Key::Down),
        KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::PageDown => Some(Key::PageDown),
        KeyCode::Home => Some(Key::Home),
        KeyCode::End => Some(Key::End),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Escape),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_keys_are_translated_and_others_ignored() {
        let key =
            |code, modifiers| ViewInput::from_event(&Event::Key(KeyEvent::new(code, modifiers)));
        let none = KeyModifiers::NONE;
        for (code, held, expected) in [
            (KeyCode::Char('q'), none, Some(Key::Char('q'))),
            (
                KeyCode::Char('?'),
                KeyModifiers::SHIFT,
                Some(Key::Char('?')),
            ),
            (
                KeyCode::Char('c'),
                KeyModifiers::CONTROL,
                Some(Key::Interrupt),
            ),
            (KeyCode::Char('c'), none, Some(Key::Char('c'))),
            (KeyCode::Char('k'), KeyModifiers::CONTROL, None),
            (KeyCode::Char('k'), KeyModifiers::ALT, None),
            (KeyCode::Enter, none, Some(Key::Enter)),
            (KeyCode::Esc, none, Some(Key::Escape)),
            (KeyCode::F(1), none, None),
        ] {
            assert_eq!(
                key(code, held),
                expected.map(ViewInput::Key),
                "{code:?} {held:?}"
            );
        }
        let released = KeyEvent::new_with_kind(KeyCode::Char('q'), none, KeyEventKind::Release);
        assert_eq!(ViewInput::from_event(&Event::Key(released)), None);
        assert_eq!(
            ViewInput::from_event(&Event::Resize(8, 2)),
            Some(ViewInput::Resized)
        );
        assert_eq!(ViewInput::from_event(&Event::FocusLost), None);
    }
}
