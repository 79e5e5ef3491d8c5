//! [`ViewState`]: selection and open pane of the terminal view, and its key bindings.

use crate::{Dashboard, FleetAction, FleetIntent, MemberRow, MemberRowId};

/// Selection, open pane and note of the terminal view. Only [`press`](super::press) changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewState {
    /// Selected member and its last known index.
    pub(super) selected: Option<(MemberRowId, usize)>,
    pub(super) pane: Pane,
    /// Short note about the last key.
    pub(super) note: Option<String>,
}

/// Pane beside or over the members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Pane {
    /// Alerts.
    #[default]
    Fleet,
    /// All fields of the selected member and the end of its log.
    Details,
    /// Key help.
    Help,
    /// Confirmation to kill this member.
    ConfirmKill(MemberRowId),
}

impl ViewState {
    /// Returns the index of the selected member. Without a selection this is the first member. If
    /// the selected member is gone, it is the member at its former index. `None` without members.
    pub(super) fn selected_index(&self, dashboard: &Dashboard) -> Option<usize> {
        let last = dashboard.members.len().checked_sub(1)?;
        let Some((id, place)) = &self.selected else {
            return Some(0);
        };
        let is_it = |member: &MemberRow| member.id == *id;
        let known = dashboard.members.get(*place).is_some_and(is_it);
        let found = if known {
            Some(*place)
        } else {
            dashboard.members.iter().position(is_it)
        };
        Some(found.unwrap_or((*place).min(last)))
    }

    /// Returns the selected member.
    pub(super) fn member<'d>(&self, dashboard: &'d Dashboard) -> Option<&'d MemberRow> {
        dashboard.members.get(self.selected_index(dashboard)?)
    }

    /// Shows a note in the last line until the next key.
    pub(super) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// Number of members that page up and page down skip.
const PAGE: usize = 10;

/// Key pressed by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key {
    /// A key that produces a character.
    Char(char),
    /// Cursor up.
    Up,
    /// Cursor down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// Jump to the first member.
    Home,
    /// Jump to the last member.
    End,
    /// Return.
    Enter,
    /// Escape.
    Escape,
    /// Control-C, which arrives as a key in raw mode.
    Interrupt,
}

/// Effect of a key beyond the changed view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// No effect.
    Nothing,
    /// Close the view. The fleet keeps running.
    Quit,
    /// Send this intent to the fleet.
    Intent(FleetIntent),
}

/// Handles a key for a user who sees `dashboard` in the view `state`.
///
/// | key | effect |
/// | --- | --- |
/// | `q`, Control-C | closes the view |
/// | up, down, page up, page down, home, end | select a member |
/// | `p`, `r`, `s` | pause, resume, stop the member |
/// | `k`, then `y` | kill it |
/// | enter | toggles details and log of the member |
/// | `?` | toggles the key help |
/// | escape | closes the pane |
///
/// ```
/// use autonoe_dashboard::terminal::{Key, Reaction, ViewState, press};
/// use autonoe_dashboard::{Dashboard, MemberRow, MemberRowStatus};
///
/// let mut api = MemberRow::new("api", "codex");
/// api.status = MemberRowStatus::Running;
/// let fleet = Dashboard::new("Build the shop", "parallel").with_members(vec![api]);
///
/// let (view, reaction) = press(Key::Char('k'), &fleet, &ViewState::default());
/// assert_eq!(reaction, Reaction::Nothing, "it asks first");
/// let (_, reaction) = press(Key::Char('y'), &fleet, &view);
/// assert!(matches!(reaction, Reaction::Intent(_)));
/// ```
pub fn press(key: Key, dashboard: &Dashboard, state: &ViewState) -> (ViewState, Reaction) {
    let state = ViewState {
        note: None,
        ..state.clone()
    };
    if key == Key::Interrupt {
        return (state, Reaction::Quit);
    }
    match &state.pane {
        Pane::ConfirmKill(_) => confirm(key, dashboard, state),
        Pane::Help => match key {
            Key::Char('q') => (state, Reaction::Quit),
            _ => no_reaction(show_pane(state, Pane::Fleet)),
        },
        Pane::Fleet | Pane::Details => navigate(key, dashboard, state),
    }
}

fn navigate(key: Key, dashboard: &Dashboard, state: ViewState) -> (ViewState, Reaction) {
    let last = dashboard.members.len().saturating_sub(1);
    let place = state.selected_index(dashboard).unwrap_or_default();
    match key {
        Key::Char('q') => (state, Reaction::Quit),
        Key::Up => no_reaction(select(state, dashboard, place.saturating_sub(1))),
        Key::Down => no_reaction(select(state, dashboard, (place + 1).min(last))),
        Key::PageUp => no_reaction(select(state, dashboard, place.saturating_sub(PAGE))),
        Key::PageDown => no_reaction(select(state, dashboard, (place + PAGE).min(last))),
        Key::Home => no_reaction(select(state, dashboard, 0)),
        Key::End => no_reaction(select(state, dashboard, last)),
        Key::Char('p') => act(FleetAction::Pause, dashboard, state),
        Key::Char('r') => act(FleetAction::Resume, dashboard, state),
        Key::Char('s') => act(FleetAction::Stop, dashboard, state),
        Key::Char('k') => act(FleetAction::Kill, dashboard, state),
        Key::Enter => match (&state.pane, state.member(dashboard)) {
            (Pane::Fleet, Some(_)) => {
                let state = select(state, dashboard, place);
                no_reaction(show_pane(state, Pane::Details))
            }
            _ => no_reaction(show_pane(state, Pane::Fleet)),
        },
        Key::Char('?') => no_reaction(show_pane(state, Pane::Help)),
        Key::Escape => no_reaction(show_pane(state, Pane::Fleet)),
        _ => no_reaction(state),
    }
}

fn act(action: FleetAction, dashboard: &Dashboard, state: ViewState) -> (ViewState, Reaction) {
    let Some(member) = state.member(dashboard) else {
        return no_reaction(state.with_note("this fleet has no members"));
    };
    if let Some(reason) = refusal(&action, member) {
        return no_reaction(state.with_note(reason));
    }
    match action {
        FleetAction::Kill => {
            let member = member.id.clone();
            no_reaction(show_pane(state, Pane::ConfirmKill(member)))
        }
        action => request(action, member, state),
    }
}

fn confirm(key: Key, dashboard: &Dashboard, state: ViewState) -> (ViewState, Reaction) {
    let Pane::ConfirmKill(id) = &state.pane else {
        return no_reaction(state);
    };
    let member = dashboard.member(id);
    match (key, member) {
        (Key::Char('y' | 'Y'), Some(member)) => match refusal(&FleetAction::Kill, member) {
            Some(reason) => no_reaction(show_pane(state, Pane::Fleet).with_note(reason)),
            None => request(
                FleetAction::Kill,
                member,
                show_pane(state.clone(), Pane::Fleet),
            ),
        },
        (Key::Char('y' | 'Y'), None) => {
            no_reaction(show_pane(state, Pane::Fleet).with_note("this member no longer exists"))
        }
        _ => no_reaction(show_pane(state, Pane::Fleet).with_note("not killed")),
    }
}

/// Returns the reason why an action makes no sense for a member.
fn refusal(action: &FleetAction, member: &MemberRow) -> Option<String> {
    let MemberRow { id, status, .. } = member;
    (!action.is_accepted_by(member)).then(|| format!("cannot {action} {id}: it is {status}"))
}

fn request(action: FleetAction, member: &MemberRow, state: ViewState) -> (ViewState, Reaction) {
    let note = format!("sent to {}: {action}", member.id);
    let intent = FleetIntent {
        member: member.id.clone(),
        action,
    };
    (state.with_note(note), Reaction::Intent(intent))
}

fn select(state: ViewState, dashboard: &Dashboard, place: usize) -> ViewState {
    let member = dashboard.members.get(place);
    ViewState {
        selected: member.map(|member| (member.id.clone(), place)),
        ..state
    }
}

fn show_pane(state: ViewState, pane: Pane) -> ViewState {
    ViewState { pane, ..state }
}

fn no_reaction(state: ViewState) -> (ViewState, Reaction) {
    (state, Reaction::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(ids: &[&str]) -> Dashboard {
        let members = ids.iter().map(|id| MemberRow::new(*id, "claude"));
        Dashboard::new("o", "race").with_members(members.collect())
    }

    #[test]
    fn the_selection_stays_with_its_member() {
        let state = ViewState {
            selected: Some(("b".into(), 1)),
            ..ViewState::default()
        };

        assert_eq!(state.selected_index(&fleet(&["a", "b", "c"])), Some(1));
        assert_eq!(state.selected_index(&fleet(&["new", "a", "b"])), Some(2));
        assert_eq!(state.selected_index(&fleet(&["a", "c"])), Some(1));
        assert_eq!(state.selected_index(&fleet(&["a"])), Some(0));
        assert_eq!(state.selected_index(&fleet(&[])), None);
        assert_eq!(ViewState::default().selected_index(&fleet(&["a"])), Some(0));
    }
}
