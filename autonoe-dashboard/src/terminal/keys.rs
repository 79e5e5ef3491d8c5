//! What a key means.

use super::state::{Pane, ViewState};
use crate::{Dashboard, FleetAction, FleetIntent, Member};

/// How many members a page is.
const PAGE: usize = 10;

/// A key that a person pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key {
    /// One that writes a character.
    Char(char),
    /// Cursor up.
    Up,
    /// Cursor down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first.
    Home,
    /// To the last.
    End,
    /// Return.
    Enter,
    /// Escape.
    Escape,
    /// Control-C, which in a terminal that hands over every key is one of them.
    Interrupt,
}

/// What follows from a key beside a changed view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing.
    Nothing,
    /// The view is to be closed. The fleet goes on.
    Quit,
    /// Somebody is to do this.
    Intent(FleetIntent),
}

/// Says what a key means for somebody who looks at `dashboard` in the view `state`.
///
/// | key | what it does |
/// | --- | --- |
/// | `q`, Control-C | closes the view |
/// | up, down, page up, page down, home, end | select a member |
/// | `p`, `r`, `s` | pause, resume, stop the member |
/// | `k`, then `y` | kill it |
/// | enter | details and log of the member, and back |
/// | `?` | the keys, and back |
/// | escape | back |
///
/// ```
/// use autonoe_dashboard::terminal::{Key, Reaction, ViewState, press};
/// use autonoe_dashboard::{Dashboard, Member, MemberStatus};
///
/// let mut api = Member::new("api", "codex");
/// api.status = MemberStatus::Running;
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
            _ => quietly(to(state, Pane::Fleet)),
        },
        Pane::Fleet | Pane::Details => look(key, dashboard, state),
    }
}

fn look(key: Key, dashboard: &Dashboard, state: ViewState) -> (ViewState, Reaction) {
    let last = dashboard.members.len().saturating_sub(1);
    let place = state.place(dashboard).unwrap_or_default();
    match key {
        Key::Char('q') => (state, Reaction::Quit),
        Key::Up => quietly(select(state, dashboard, place.saturating_sub(1))),
        Key::Down => quietly(select(state, dashboard, (place + 1).min(last))),
        Key::PageUp => quietly(select(state, dashboard, place.saturating_sub(PAGE))),
        Key::PageDown => quietly(select(state, dashboard, (place + PAGE).min(last))),
        Key::Home => quietly(select(state, dashboard, 0)),
        Key::End => quietly(select(state, dashboard, last)),
        Key::Char('p') => act(FleetAction::Pause, dashboard, state),
        Key::Char('r') => act(FleetAction::Resume, dashboard, state),
        Key::Char('s') => act(FleetAction::Stop, dashboard, state),
        Key::Char('k') => act(FleetAction::Kill, dashboard, state),
        Key::Enter => match (&state.pane, state.member(dashboard)) {
            (Pane::Fleet, Some(_)) => {
                let state = select(state, dashboard, place);
                quietly(to(state, Pane::Details))
            }
            _ => quietly(to(state, Pane::Fleet)),
        },
        Key::Char('?') => quietly(to(state, Pane::Help)),
        Key::Escape => quietly(to(state, Pane::Fleet)),
        _ => quietly(state),
    }
}

fn act(action: FleetAction, dashboard: &Dashboard, state: ViewState) -> (ViewState, Reaction) {
    let Some(member) = state.member(dashboard) else {
        return quietly(state.with_note("there is no member"));
    };
    if let Some(why) = refusal(&action, member) {
        return quietly(state.with_note(why));
    }
    match action {
        FleetAction::Kill => {
            let member = member.id.clone();
            quietly(to(state, Pane::ConfirmKill(member)))
        }
        action => ask(action, member, state),
    }
}

fn confirm(key: Key, dashboard: &Dashboard, state: ViewState) -> (ViewState, Reaction) {
    let Pane::ConfirmKill(id) = &state.pane else {
        return quietly(state);
    };
    let member = dashboard.member(id);
    match (key, member) {
        (Key::Char('y' | 'Y'), Some(member)) => match refusal(&FleetAction::Kill, member) {
            Some(why) => quietly(to(state, Pane::Fleet).with_note(why)),
            None => ask(FleetAction::Kill, member, to(state.clone(), Pane::Fleet)),
        },
        (Key::Char('y' | 'Y'), None) => {
            quietly(to(state, Pane::Fleet).with_note("there is no such member any more"))
        }
        _ => quietly(to(state, Pane::Fleet).with_note("not killed")),
    }
}

/// Returns why an action makes no sense.
fn refusal(action: &FleetAction, member: &Member) -> Option<String> {
    let Member { id, status, .. } = member;
    (!action.fits(*status)).then(|| format!("{id} is {status}: nothing to {action}"))
}

fn ask(action: FleetAction, member: &Member, state: ViewState) -> (ViewState, Reaction) {
    let note = format!("asked {} to {action}", member.id);
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

fn to(state: ViewState, pane: Pane) -> ViewState {
    ViewState { pane, ..state }
}

fn quietly(state: ViewState) -> (ViewState, Reaction) {
    (state, Reaction::Nothing)
}
