//! Snapshot tests of the terminal view, cell by cell.

use autonoe_dashboard::terminal::{Key, ViewState, draw, press};
use autonoe_dashboard::{Dashboard, MemberRowStatus};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::sample::{EVIL, fleet, member};

/// Returns the view of a fleet after some keys.
pub(crate) fn picture(fleet: &Dashboard, keys: &[Key], (width, height): (u16, u16)) -> String {
    let state = keys.iter().fold(ViewState::default(), |state, key| {
        press(*key, fleet, &state).0
    });
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("it has cells");
    let drawn = terminal.draw(|frame| draw(frame, fleet, &state));
    drawn.expect("it is drawn");
    terminal.backend().to_string()
}

fn many(count: usize) -> Dashboard {
    let members = (0..count).map(|n| member(&format!("m{n:03}"), MemberRowStatus::Running, 0.5));
    Dashboard::new("Much", "parallel").with_members(members.collect())
}

#[test]
fn a_wide_terminal_shows_everything() {
    insta::assert_snapshot!(picture(&fleet(), &[], (140, 20)));
}

#[test]
fn a_usual_terminal_shows_the_fleet() {
    insta::assert_snapshot!(picture(&fleet(), &[], (80, 24)));
}

#[test]
fn a_narrow_terminal_keeps_members_and_their_bars() {
    insta::assert_snapshot!(picture(&fleet(), &[], (30, 12)));
}

#[test]
fn a_tiny_terminal_keeps_the_selected_member() {
    insta::assert_snapshot!(picture(&fleet(), &[Key::End], (12, 3)));
}

#[test]
fn details_show_the_member_and_the_end_of_its_log() {
    insta::assert_snapshot!(picture(&fleet(), &[Key::Enter], (80, 24)));
}

#[test]
fn details_of_a_failed_member_include_the_reason() {
    let keys = [Key::Down, Key::Down, Key::Enter];
    insta::assert_snapshot!(picture(&fleet(), &keys, (80, 24)));
}

#[test]
fn shows_a_question_in_the_table_and_in_full_in_the_details() {
    let mut fleet = fleet();
    fleet.members[0].question = Some(
        "The task handlers is stuck: 3 iterations without progress. At last: there is no file \
         src/handlers.rs. What should the agent do?"
            .to_owned(),
    );

    let table = picture(&fleet, &[], (140, 20));
    let details = picture(&fleet, &[Key::Enter], (60, 24));

    assert!(
        table.contains("asks: The task handlers is stuck"),
        "{table}"
    );
    let lines: Vec<_> = details
        .lines()
        .map(|line| line.trim_matches(['"', ' ']))
        .collect();
    let question_row = lines
        .iter()
        .position(|line| line.starts_with("asks "))
        .unwrap_or_else(|| panic!("{details}"));
    let whole = lines[question_row..question_row + 3].join(" ");
    let words: Vec<_> = whole.split_whitespace().skip(1).collect();
    assert_eq!(
        words.join(" "),
        fleet.members[0].question.clone().expect("set")
    );
}

#[test]
fn shows_the_key_bindings() {
    insta::assert_snapshot!(picture(&fleet(), &[Key::Char('?')], (80, 24)));
}

#[test]
fn the_kill_confirmation_covers_everything_else() {
    insta::assert_snapshot!(picture(&fleet(), &[Key::Char('k')], (80, 24)));
}

#[test]
fn empty_fleet_is_rendered() {
    insta::assert_snapshot!(picture(&Dashboard::new("Nothing", "race"), &[], (60, 10)));
}

#[test]
fn the_selected_member_of_many_is_always_visible() {
    let fleet = many(300);
    let mut keys = Vec::new();
    for expected in [10, 20, 30, 40] {
        keys.push(Key::PageDown);
        let seen = picture(&fleet, &keys, (60, 10));
        assert!(seen.contains(&format!("m{expected:03}")), "{seen}");
    }
    let seen = picture(&fleet, &[Key::End], (60, 10));
    assert!(seen.contains("m299"), "{seen}");
    assert!(!seen.contains("m000"), "{seen}");
}

#[test]
fn agent_text_cannot_control_the_terminal() {
    let mut fleet = fleet();
    for member in &mut fleet.members {
        member.id = format!("{} {EVIL}", member.id).into();
        member.backend = EVIL.to_owned();
        member.model = Some(EVIL.to_owned());
        member.task = Some(EVIL.to_owned());
        member.error = Some(EVIL.to_owned());
        member.log = vec![EVIL.to_owned(); 3];
    }
    fleet.members[0].question = Some(EVIL.to_owned());
    fleet.objective = EVIL.to_owned();
    fleet.strategy = EVIL.to_owned();
    for alert in &mut fleet.alerts {
        alert.message = EVIL.to_owned();
        alert.kind = EVIL.to_owned();
    }

    for keys in [
        &[][..],
        &[Key::Enter],
        &[Key::Char('p')],
        &[Key::Char('r')],
        &[Key::Char('k')],
    ] {
        let seen = picture(&fleet, keys, (200, 40));

        let obeyed = |c: char| c.is_control() && c != '\n';
        assert!(!seen.contains(obeyed), "{seen:?}");
        assert!(seen.contains("<script>"), "it is seen as it is: {seen}");
    }
}
