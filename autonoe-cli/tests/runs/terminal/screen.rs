//! What is on the screen while a run goes on, and after it.

use std::fs;

use serde_json::json;

use super::window::Terminal;
use crate::runs::support::autonoe::scripted_command;
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, is_denied, says, sets, uses, waits_for_file};

/// The denied call does not count.
const ACTIVITY: &str = "Running Bash... (1 tool)";

/// The agent waits in its second session until it is released.
fn script(project: &Project) -> Script {
    Script::new().plans(&["DL-001"]).session([
        is_denied("Bash", json!({"command": "wget example.com"})),
        uses("Bash", json!({"command": "echo hello"})),
        waits_for_file(&project.beside("released")),
        says("It is done."),
        sets("DL-001", "passed"),
        ends(),
    ])
}

fn release(project: &Project) {
    fs::write(project.beside("released"), "").expect("writable");
}

/// Returns the activity that a line shows, once its clock has left zero.
fn activity(line: &str) -> Option<&str> {
    let (clock, activity) = line.strip_prefix("⚡ ")?.split_once(' ')?;
    (clock != "0:00").then_some(activity)
}

/// Replaces what differs from run to run.
fn settled(screen: &str) -> String {
    let words = screen.split(' ').map(|word| {
        let is_id = word.len() == 32 && word.chars().all(|c| c.is_ascii_hexdigit());
        let bare = word.trim_matches(['(', ',']);
        match is_id {
            true => "RUN".to_owned(),
            false if is_duration(bare) => word.replace(bare, "TIME"),
            false => word.to_owned(),
        }
    });
    let settled = words.collect::<Vec<_>>().join(" ");
    // A duration of minutes has two words.
    settled.replace("TIME TIME", "TIME")
}

fn is_duration(word: &str) -> bool {
    let number = word.strip_suffix(['m', 's']);
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[test]
fn lines_stay_and_the_activity_does_not() {
    let project = Project::new();
    let command = scripted_command(&project, &script(&project), &["run"]);
    let terminal = Terminal::start(&command, 120);

    let during = terminal.wait_for(ACTIVITY, |screen| {
        screen.lines().any(|line| activity(line) == Some(ACTIVITY))
    });
    release(&project);
    let (code, after) = terminal.end();

    assert_eq!(code, 0);
    assert_eq!(during.matches("⚡").count(), 1, "{during}");
    let last = during.lines().last().expect("lines");
    assert_eq!(activity(last), Some(ACTIVITY), "{during}");
    insta::assert_snapshot!(settled(&after));
}

#[test]
fn debug_shows_all_that_happens_with_short_payloads() {
    let project = Project::new();
    let long = "x".repeat(500);
    let script = Script::new().plans(&["DL-001"]).session([
        says(&format!("A long story:\n{long}")),
        sets("DL-001", "passed"),
        ends(),
    ]);
    let command = scripted_command(&project, &script, &["run", "--debug"]);

    let (code, after) = Terminal::start(&command, 240).end();

    assert_eq!(code, 0);
    assert!(
        after.contains("[gate] mcp__autonoe__create allowed by"),
        "{after}"
    );
    let said = after
        .lines()
        .find(|line| line.contains("[text]"))
        .expect("it is shown");
    assert!(
        said.contains("A long story:⏎xxx") && said.ends_with('…'),
        "{said}"
    );
}

#[test]
fn colours_are_used_unless_nobody_wants_them() {
    for (no_color, expected) in [(None, true), (Some("1"), false)] {
        let project = Project::new();
        release(&project);
        let mut command = scripted_command(&project, &script(&project), &["run"]);
        command.envs(no_color.map(|value| ("NO_COLOR", value)));
        let terminal = Terminal::start(&command, 120);
        terminal.wait_for_text("ended: all achievable deliverables passed");

        let written = terminal.written();

        let green = written.contains("\u{1b}[32m[PASS]");
        assert_eq!(green, expected, "NO_COLOR={no_color:?}: {written:?}");
    }
}

#[test]
fn quiet_shows_the_result_only() {
    let project = Project::new();
    release(&project);
    let command = scripted_command(&project, &script(&project), &["run", "--quiet"]);

    let (code, after) = Terminal::start(&command, 120).end();

    assert_eq!(code, 0);
    insta::assert_snapshot!(settled(&after));
}

#[test]
fn a_narrow_terminal_keeps_the_activity_on_one_line() {
    let project = Project::new();
    let command = scripted_command(&project, &script(&project), &["run"]);
    let terminal = Terminal::start(&command, 24);

    terminal.wait_for("Running Bash", |screen| {
        let mut shown = screen.lines().filter_map(activity);
        shown.any(|activity| activity.starts_with("Running Bash"))
    });
    release(&project);
    let (code, after) = terminal.end();

    assert_eq!(code, 0);
    assert!(!after.contains('⚡'), "{after}");
}
