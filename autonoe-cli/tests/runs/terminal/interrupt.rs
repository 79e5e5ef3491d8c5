//! What Ctrl-C does.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::window::Terminal;
use crate::support::autonoe::scripted_command;
use crate::support::project::Project;
use crate::support::script::{Script, hangs, says};

#[test]
fn in_a_session_it_ends_the_run_with_a_report() {
    let project = Project::new();
    let script = Script::new()
        .plans(&["DL-001"])
        .session([says("I begin."), hangs()]);
    let mut terminal = Terminal::start(&scripted_command(&project, &script, &["run"]), 120);
    terminal.wait_for_text("Responding...");

    terminal.interrupt();
    let (code, screen) = terminal.end();

    assert_eq!(code, 130, "{screen}");
    assert!(
        screen.contains("warning: stopping; interrupt again to end at once"),
        "{screen}"
    );
    assert!(screen.contains("Session 2 was interrupted"), "{screen}");
    assert!(screen.contains("ended: it was interrupted"), "{screen}");
    assert!(
        screen.contains("0 of 1 deliverables passed; 2 iterations"),
        "{screen}"
    );
    assert!(!screen.contains('⚡'), "{screen}");
}

#[test]
fn in_a_wait_for_quota_it_ends_the_run_with_a_report() {
    let project = Project::new();
    let reset = Timestamp::now() + SignedDuration::from_mins(164);
    let script = Script::new()
        .plans(&["DL-001"])
        .session([json!({"hitsQuota": reset})]);
    let command = scripted_command(&project, &script, &["run", "--wait-for-quota"]);
    let mut terminal = Terminal::start(&command, 120);
    let at = reset.strftime("%-I:%M %p UTC");
    let screen = terminal.wait_for("the wait", |screen| {
        screen.contains(&format!("⏳ Waiting... 2h 43m remaining (resets at {at})"))
    });
    assert!(
        screen.contains(&format!("Quota exceeded; waiting until {at}")),
        "{screen}"
    );

    terminal.interrupt();
    let (code, screen) = terminal.end();

    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("ended: it was interrupted"), "{screen}");
    assert!(!screen.contains('⏳'), "{screen}");
}
