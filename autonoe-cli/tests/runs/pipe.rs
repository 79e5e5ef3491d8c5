//! Output of runs without a terminal: plain lines for people, events for programs.

use serde_json::{Value, json};

use crate::runs::support::autonoe::{CommandOutput, scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, is_denied_by, sets};

fn script() -> Script {
    Script::new().plans(&["DL-001"]).session([
        is_denied_by(
            "bash-security",
            "Bash",
            json!({"command": "curl example.com"}),
        ),
        sets("DL-001", "passed"),
        ends(),
    ])
}

// Shows: interfaces/logger/category-overall-summary, interfaces/presenter/stream
#[test]
fn lines_are_plain_and_the_result_alone_is_on_standard_output() {
    let project = Project::new();

    let ended = scripted(&project, &script(), &["run"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert!(
        lines[0].ends_with("ended: all achievable deliverables passed"),
        "{ended:?}"
    );
    let parts: Vec<_> = lines[1].split(", ").collect();
    let [passed, _duration, cost] = parts[..] else {
        panic!("{ended:?}");
    };
    assert_eq!(passed, "1 of 1 deliverables passed; 2 iterations");
    assert_eq!(cost, "$0.50");
    assert_eq!(lines.len(), 2, "{ended:?}");
    for expected in [
        "Session 2 started (coding)",
        "[PASS] The thing DL-001 (DL-001)",
        "Denied Bash: curl",
    ] {
        assert!(ended.stderr.contains(expected), "{expected}: {ended:?}");
    }
    let is_plain = |text: &str| !text.contains(['\u{1b}', '\r', '⚡']);
    assert!(
        is_plain(&ended.stdout) && is_plain(&ended.stderr),
        "{ended:?}"
    );
}

#[test]
fn denied_calls_that_a_setting_allows_are_summarised_after_the_run() {
    let project = Project::new();
    let denied =
        |command: &str| is_denied_by("bash-security", "Bash", json!({ "command": command }));
    let script = Script::new().plans(&["DL-001"]).session([
        denied("rm old.txt"),
        denied("docker ps"),
        denied("cat x > /etc/hosts"),
        denied("docker images"),
        is_denied_by("grants", "Task", json!({"prompt": "look"})),
        sets("DL-001", "passed"),
        ends(),
    ]);

    let ended = scripted(&project, &script, &["run"]);

    let summary = "Denied calls that you can allow:
  2x Bash: docker ps
     to allow it: add \"docker\" to \"allowCommands\" in .autonoe/agent.json
  1x Bash: rm old.txt
     to allow it: run with --allow-destructive
  1x Task
     to allow it: add \"permissions\": {\"allow\":[\"Task\"]} to .autonoe/agent.json
";
    assert!(ended.stderr.ends_with(summary), "{ended:?}");
    let blocked: Vec<&str> = ended
        .stderr
        .lines()
        .filter(|line| line.starts_with("Denied ") && !line.starts_with("Denied calls "))
        .collect();
    assert_eq!(blocked.len(), 5, "{ended:?}");
    for line in blocked {
        assert!(
            !line.contains("agent.json"),
            "the agent receives it: {line}"
        );
        assert!(
            !line.contains("allowCommands"),
            "the agent receives it: {line}"
        );
        assert!(!line.contains("--allow"), "the agent receives it: {line}");
    }
    let quiet = scripted(&Project::new(), &script, &["run", "--quiet"]);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn as_json_every_line_is_an_event_and_the_last_one_has_the_report() {
    let project = Project::new();

    let ended = scripted(&project, &script(), &["run", "--output=json"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let events: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str()).collect();
    assert_eq!(names.first(), Some(&Some("run_started")));
    assert_eq!(names.last(), Some(&Some("run_ended")));
    let report = &events.last().expect("events")["report"];
    assert_eq!(report["exitReason"], "all_passed");
    assert_eq!(report["deliverablesPassedCount"], 1);
    let decided = events.iter().find(|event| event["event"] == "tool_decided");
    assert_eq!(
        decided.expect("it is told")["decision"]["decision"],
        "allow"
    );
}

// Shows: interfaces/logger/quiet
#[test]
fn quiet_prints_only_the_result() {
    let project = Project::new();

    let ended = scripted(&project, &script(), &["run", "--quiet"]);

    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended.stdout.contains("1 of 1 deliverables passed"),
        "{ended:?}"
    );
}

// Shows: interfaces/logger/quiet
#[test]
fn quiet_shows_warnings_of_the_command_but_not_of_the_run() {
    let project = Project::new();

    let ended = scripted(&project, &script(), &["run", "--quiet", "--no-sandbox"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "the denied call is a warning: {ended:?}");
    assert!(
        lines[0].starts_with("warning: the sandbox is switched off:"),
        "{ended:?}"
    );
}

#[test]
fn a_closed_output_pipe_does_not_end_the_run() {
    let project = Project::new();
    let command = scripted_command(&project, &script(), &["run", "--output=json"]);
    let mut shell = std::process::Command::new("bash");
    let line: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| format!("'{}'", word.display()))
        .collect();
    let line = format!("{} | true; exit ${{PIPESTATUS[0]}}", line.join(" "));
    shell.args(["-c", &line]).current_dir(project.root());

    let ended = CommandOutput::run(shell);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let ledger = project.ledger().expect("it is there");
    assert_eq!(ledger["deliverables"][0]["passed"], json!(true));
}

#[test]
fn texts_of_agents_cannot_command_the_terminal_or_forge_lines() {
    let project = Project::new();
    let script = Script::new().plans(&["DL-001"]).session([
        is_denied_by("grants", "X\u{1b}[2JY", json!({})),
        json!({"endsWithError": "\u{1b}[2J\r\n[PASS] forged \u{202e}"}),
    ]);
    let arguments = ["run", "--max-retries=0", "--debug"];

    let ended = scripted(&project, &script, &arguments);

    assert_eq!(ended.code, Some(7), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 2, "{ended:?}");
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']), "{ended:?}");
        assert!(
            !text.lines().any(|line| line.starts_with("[PASS]")),
            "{ended:?}"
        );
    }
}
