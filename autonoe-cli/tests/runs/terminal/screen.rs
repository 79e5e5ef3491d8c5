//! The screen during and after a run.

use std::fs;

use autonoe_core::event::InstructionName;
use autonoe_core::project::BuiltInInstructions;
use serde_json::json;

use super::pty::Terminal;
use crate::runs::support::autonoe::scripted_command;
use crate::runs::support::project::Project;
use crate::runs::support::script::{
    Script, ends, is_denied_by, sets, text_step, uses, waits_for_file,
};

/// The denied call does not count.
const ACTIVITY: &str = "Running Bash... (1 tool)";

/// A script whose agent waits in its second session until it is released.
fn script(project: &Project) -> Script {
    Script::new().plans(&["DL-001"]).session([
        is_denied_by(
            "bash-security",
            "Bash",
            json!({"command": "wget example.com"}),
        ),
        uses("Bash", json!({"command": "echo hello"})),
        waits_for_file(&project.sibling_path("released")),
        text_step("It is done."),
        sets("DL-001", "passed"),
        ends(),
    ])
}

fn release(project: &Project) {
    fs::write(project.sibling_path("released"), "").expect("writable");
}

/// Returns the activity that a line shows, once its clock has left zero.
fn activity(line: &str) -> Option<&str> {
    let (clock, activity) = line.strip_prefix("⚡ ")?.split_once(' ')?;
    (clock != "0:00").then_some(activity)
}

/// Waits until the run has ended, and returns all output, including overwritten text.
fn all_written(terminal: &Terminal) -> String {
    terminal.wait_for_text("ended: all achievable deliverables passed");
    terminal.all_output()
}

/// Replaces parts that differ between runs.
fn settled(screen: &str, project: &Project) -> String {
    let beside = project.sibling_path("agents.json").display().to_string();
    let root = project.root().display().to_string();
    let screen = screen.replace(&beside, "SCRIPT").replace(&root, "PROJECT");
    let words = screen.split(' ').map(|word| {
        let is_id = word.len() == 32 && word.chars().all(|c| c.is_ascii_hexdigit());
        let bare = word.trim_matches(['(', ',']);
        if is_id {
            "RUN".to_owned()
        } else if is_duration(bare) {
            word.replace(bare, "TIME")
        } else {
            word.to_owned()
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

// Shows: interfaces/presenter/log-activity-clear-activity-start, interfaces/presenter/drawing
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
    insta::assert_snapshot!(settled(&after, &project));
}

// Shows: interfaces/logger/console-logger-levels-by-flag
// Shows: interfaces/logger/category-debug-instruction-sent-events, spec/8.1/debug
#[test]
fn debug_shows_whole_payloads_and_short_thoughts() {
    let project = Project::new();
    let long = "x".repeat(500);
    let deliverable =
        json!({"id": "DL-001", "description": long, "acceptanceCriteria": ["it is there"]});
    let plan = json!({"deliverables": [deliverable]});
    let script = Script::new()
        .session([uses("mcp__autonoe__create", plan.clone()), ends()])
        .session([
            json!({"thinks": "y".repeat(300)}),
            uses("mcp__autonoe__list", json!({})),
            text_step(&format!("A long story:\n{long}")),
            sets("DL-001", "passed"),
            ends(),
        ]);
    let command = scripted_command(&project, &script, &["run", "--debug"]);

    let written = all_written(&Terminal::start(&command, 240));

    let lines_with = |tag: &str| -> Vec<_> {
        let lines = written.lines();
        lines
            .filter_map(|line| Some(line.split_once(tag)?.1))
            .collect()
    };
    for (instruction, sent) in [InstructionName::Initializer, InstructionName::Coding]
        .iter()
        .zip(lines_with("[send] "))
    {
        let text = BuiltInInstructions::text(instruction).expect("built in");
        let (first, last) = (text.lines().next(), text.lines().last());
        assert!(first.is_some_and(|line| sent.starts_with(line)), "{sent}");
        assert!(last.is_some_and(|line| sent.contains(line)), "{sent}");
    }
    assert_eq!(lines_with("[send] ").len(), 2, "{written}");
    let called = lines_with("[tool] mcp__autonoe__create ");
    assert!(called[0].starts_with(&plan.to_string()), "{written}");
    let is_whole = |line: &&str| line.contains(&long);
    assert!(
        lines_with("[result] ok: ").iter().any(is_whole),
        "{written}"
    );
    let text_line = format!("A long story:⏎{long}");
    assert!(
        lines_with("[text] ")[0].starts_with(&text_line),
        "{written}"
    );
    let thought = format!("{}…", "y".repeat(200));
    let thoughts = lines_with("[thinking] ");
    assert!(thoughts[0].starts_with(&thought), "{written}");
    assert!(
        !lines_with("[gate] mcp__autonoe__create allowed by").is_empty(),
        "{written}"
    );
}

// Shows: interfaces/logger/debug-output-style
#[test]
fn debug_has_no_activity_line() {
    for (arguments, expected) in [(&["run"][..], true), (&["run", "--debug"], false)] {
        let project = Project::new();
        release(&project);
        let command = scripted_command(&project, &script(&project), arguments);

        let written = all_written(&Terminal::start(&command, 120));

        assert_eq!(written.contains('⚡'), expected, "{arguments:?}: {written}");
    }
}

#[test]
fn colours_are_used_unless_turned_off() {
    for (no_color, expected) in [(None, true), (Some("1"), false)] {
        let project = Project::new();
        release(&project);
        let mut command = scripted_command(&project, &script(&project), &["run"]);
        command.envs(no_color.map(|value| ("NO_COLOR", value)));

        let written = all_written(&Terminal::start(&command, 120));

        let green = written.contains("\u{1b}[32m[PASS]");
        assert_eq!(green, expected, "NO_COLOR={no_color:?}: {written:?}");
    }
}

// Shows: interfaces/logger/console-logger-levels-by-flag
#[test]
fn quiet_shows_the_result_only() {
    let project = Project::new();
    release(&project);
    let command = scripted_command(&project, &script(&project), &["run", "--quiet"]);

    let (code, after) = Terminal::start(&command, 120).end();

    assert_eq!(code, 0);
    insta::assert_snapshot!(settled(&after, &project));
}

// Shows: interfaces/presenter/drawing
#[test]
fn a_narrow_terminal_keeps_the_activity_on_one_line() {
    let project = Project::new();
    let command = scripted_command(&project, &script(&project), &["run"]);
    let terminal = Terminal::start(&command, 24);

    terminal.wait_for("Running Bash", |screen| {
        let mut activities = screen.lines().filter_map(activity);
        activities.any(|activity| activity.starts_with("Running Bash"))
    });
    release(&project);
    let (code, after) = terminal.end();

    assert_eq!(code, 0);
    assert!(!after.contains('⚡'), "{after}");
}
