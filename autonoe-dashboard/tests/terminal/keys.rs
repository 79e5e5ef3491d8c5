//! Tests of key bindings.

use autonoe_dashboard::terminal::{Key, Reaction, ViewState, press};
use autonoe_dashboard::{Dashboard, FleetAction, FleetIntent, MemberRowStatus};

use crate::sample::{fleet, member};
use crate::terminal::pictures::picture;

/// Presses keys one after the other, and returns the reaction to the last.
fn after(fleet: &Dashboard, keys: &[Key]) -> Reaction {
    let mut state = ViewState::default();
    let mut reaction = Reaction::Nothing;
    for key in keys {
        (state, reaction) = press(*key, fleet, &state);
    }
    reaction
}

fn requests(member: &str, action: FleetAction) -> Reaction {
    Reaction::Intent(FleetIntent {
        member: member.into(),
        action,
    })
}

#[test]
fn keys_become_intents_for_the_selected_member() {
    use Key::{Char, Down, End, Enter, Escape, Home, Interrupt, PageDown, PageUp, Up};
    let fleet = fleet();
    for (keys, expected) in [
        (&[Char('q')][..], Reaction::Quit),
        (&[Interrupt], Reaction::Quit),
        (&[Char('?'), Char('q')], Reaction::Quit),
        (&[Char('k'), Interrupt], Reaction::Quit),
        (&[Char('p')], requests("api", FleetAction::Pause)),
        (&[Char('s')], requests("api", FleetAction::Stop)),
        (&[Enter, Char('p')], requests("api", FleetAction::Pause)),
        (&[Down, Char('r')], requests("pages", FleetAction::Resume)),
        (&[Up, Up, Char('p')], requests("api", FleetAction::Pause)),
        (&[End, Home, Char('p')], requests("api", FleetAction::Pause)),
        (
            &[PageDown, PageUp, Char('p')],
            requests("api", FleetAction::Pause),
        ),
        (
            &[End, Up, Up, Char('s')],
            requests("pages", FleetAction::Stop),
        ),
        (&[Char('k')], Reaction::Nothing),
        (&[Char('k'), Char('y')], requests("api", FleetAction::Kill)),
        (&[Char('k'), Char('n')], Reaction::Nothing),
        (&[Char('k'), Enter], Reaction::Nothing),
        (&[Char('k'), Char('k')], Reaction::Nothing),
        (&[Char('k'), Char('n'), Char('y')], Reaction::Nothing),
        (&[Char('k'), Escape, Char('y')], Reaction::Nothing),
        (&[Char('y')], Reaction::Nothing),
        // Actions that make no sense are not emitted.
        (&[Char('r')], Reaction::Nothing),
        (&[Down, Char('p')], Reaction::Nothing),
        (&[End, Char('s')], Reaction::Nothing),
        (&[End, Char('k'), Char('y')], Reaction::Nothing),
        (&[Char('?'), Char('p')], Reaction::Nothing),
        (&[Char('x')], Reaction::Nothing),
    ] {
        assert_eq!(after(&fleet, keys), expected, "{keys:?}");
    }
}

#[test]
fn without_members_no_key_sends_an_intent() {
    let empty = Dashboard::new("Nothing", "race");
    for key in ['p', 'r', 's', 'k', 'y'] {
        let keys = [Key::Down, Key::Enter, Key::Char('k'), Key::Char(key)];
        assert_eq!(after(&empty, &keys), Reaction::Nothing, "{key}");
    }
}

#[test]
fn kill_affects_the_confirmed_member_even_if_the_selection_changed() {
    let before = fleet();
    let (view, _) = press(Key::Char('k'), &before, &ViewState::default());

    let mut moved = before.clone();
    moved.members.rotate_left(1);
    let (_, reaction) = press(Key::Char('y'), &moved, &view);
    assert_eq!(reaction, requests("api", FleetAction::Kill));

    let mut ended = before.clone();
    ended.members[0] = member("api", MemberRowStatus::Completed, 1.0);
    let (_, reaction) = press(Key::Char('y'), &ended, &view);
    assert_eq!(reaction, Reaction::Nothing);

    let mut without_first = before;
    without_first.members.remove(0);
    let (_, reaction) = press(Key::Char('y'), &without_first, &view);
    assert_eq!(reaction, Reaction::Nothing);
}

#[test]
fn a_member_with_a_question_can_be_resumed_without_an_answer() {
    let mut fleet = fleet();
    assert_eq!(after(&fleet, &[Key::Char('r')]), Reaction::Nothing);

    fleet.members[0].question = Some("Which port?".to_owned());

    let resume = requests("api", FleetAction::Resume);
    assert_eq!(after(&fleet, &[Key::Char('r')]), resume);
    fleet.members[0].status = MemberRowStatus::Completed;
    assert_eq!(after(&fleet, &[Key::Char('r')]), Reaction::Nothing);
}

#[test]
fn status_line_shows_result_of_last_action() {
    let fleet = fleet();
    for (keys, expected) in [
        (&[Key::Char('r')][..], "cannot resume api: it is running"),
        (&[Key::Char('p')], "sent to api: pause"),
        (&[Key::Char('k'), Key::Char('n')], "not killed"),
    ] {
        let seen = picture(&fleet, keys, (80, 24));
        assert!(seen.contains(expected), "{seen}");
    }
}
