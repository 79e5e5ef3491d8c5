//! `autonoe ask` on scripted agents.

mod conversations;
mod terminal;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::support::autonoe::RunningCommand;
use crate::runs::support::autonoe::{CommandOutput, autonoe, scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{
    Script, ends, hangs, is_denied_by, sets, text_step, uses, waits_for_file,
};
use crate::runs::telemetry::spans::exported_tree;

/// Whether scripted agents can resume conversations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resume {
    Possible,
    Impossible,
}

/// Prepares `autonoe ask` with agents that play `answers` in order. Each answer costs a quarter of
/// a dollar.
fn ask_command<const N: usize>(
    project: &Project,
    answers: [&[Value]; N],
    resume: Resume,
    arguments: &[&str],
) -> Command {
    let sessions = answers.map(
        |steps| json!({"name": "answer", "instruction": "ask", "costUsd": "0.25", "steps": steps}),
    );
    let script = json!({"sessions": sessions.to_vec(), "resume": resume == Resume::Possible});
    let file = project.sibling_path("answers.json");
    fs::write(&file, script.to_string()).expect("writable");
    let mut command = autonoe(project, &["ask"]);
    command
        .arg(format!("--backend=scripted:{}", file.display()))
        .args(arguments);
    command
}

/// Runs `autonoe ask` with an agent that plays `steps`.
fn run_ask(project: &Project, steps: &[Value], arguments: &[&str]) -> CommandOutput {
    CommandOutput::run(ask_command(project, [steps], Resume::Possible, arguments))
}

/// Returns the events that the command printed.
fn events(ended: &CommandOutput) -> Vec<Value> {
    let lines = ended.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Returns the prompt that the agent received.
fn prompt(ended: &CommandOutput) -> String {
    let events = events(ended);
    let started = events.iter().find(|it| it["event"] == "agent_started");
    let prompt = started.expect("the agent was prompted")["prompt"].as_str();
    prompt.expect("text").to_owned()
}

/// Returns the cost line without its duration.
fn cost_line(ended: &CommandOutput) -> String {
    let line = ended.stderr.lines().find(|line| line.starts_with('$'));
    let parts: Vec<_> = line.expect("a cost line").split(", ").collect();
    [&parts[..1], &parts[2..]].concat().join(", ")
}

#[test]
fn the_answer_is_written_to_stdout_and_the_rest_to_stderr() {
    let project = Project::new();
    let steps = [
        text_step("I look."),
        uses("Bash", json!({"command": "ls"})),
        text_step("It is a "),
        text_step("typo."),
        ends(),
    ];

    let ended = run_ask(&project, &steps, &["why", "does it fail?"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.stdout, "I look.\nIt is a typo.\n");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    assert_eq!(cost_line(&ended), "$0.25, 1 tool");
}

#[test]
fn pieces_of_a_model_are_printed_once_and_tokens_are_counted() {
    let project = Project::new();
    let tokens = json!({"input": 8000, "output": 412});
    let model = json!({"model": "m", "answer": "It is a typo.", "tokens": tokens});

    let ended = run_ask(&project, &[json!({"callsModel": model}), ends()], &["why?"]);

    assert_eq!(ended.stdout, "It is a typo.\n", "{ended:?}");
    assert_eq!(cost_line(&ended), "$0.25, 0 tools, 8,412 tokens");
}

#[test]
fn quiet_prints_the_answer_alone() {
    let project = Project::new();

    let ended = run_ask(
        &project,
        &[text_step("A typo."), ends()],
        &["--quiet", "why?"],
    );

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.stdout, "A typo.\n");
    assert_eq!(ended.stderr, "");
}

#[test]
fn json_output_has_the_events_of_one_session_and_no_text() {
    let project = Project::new();

    let ended = run_ask(
        &project,
        &[text_step("A typo."), ends()],
        &["--output=json", "why?"],
    );

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let events = events(&ended);
    let names: Vec<_> = events
        .iter()
        .filter_map(|it| it["event"].as_str())
        .collect();
    assert_eq!(names.first(), Some(&"flow_started"), "{names:?}");
    assert_eq!(names.last(), Some(&"flow_ended"), "{names:?}");
    let count = |name| names.iter().filter(|it| **it == name).count();
    assert_eq!((count("session_started"), count("session_ended")), (1, 1));
    assert_eq!(prompt(&ended), "why?");
}

#[test]
fn a_question_is_received_as_one_tree() {
    let project = Project::new();
    let steps: &[Value] = &[text_step("A typo."), ends()];
    let command = ask_command(&project, [steps], Resume::Possible, &["why?"]);

    let tree = exported_tree(command);

    assert_eq!(tree, ["invoke_workflow ask", "  invoke_agent ask"]);
}

#[test]
fn piped_input_is_the_prompt_unless_there_is_one() {
    let project = Project::new();
    let steps: &[Value] = &[text_step("A typo."), ends()];
    let piped = |arguments: &[&str], input: &str| {
        let arguments = [&["--output=json"], arguments].concat();
        let mut command = ask_command(&project, [steps], Resume::Possible, &arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
        CommandOutput {
            code: output.status.code(),
            stdout,
            stderr,
        }
    };

    assert_eq!(prompt(&piped(&[], "Why\nis that?\n")), "Why\nis that?\n");
    assert_eq!(prompt(&piped(&["-"], "Why?")), "Why?");
    for arguments in [&[][..], &["-"]] {
        let blank = piped(arguments, " \n");
        assert_eq!(blank.code, Some(2), "{blank:?}");
        assert!(blank.stderr.contains("the prompt is empty"), "{blank:?}");
    }
}

#[test]
fn standard_input_is_not_read_if_there_is_a_prompt() {
    let project = Project::new();
    let steps: &[Value] = &[text_step("A typo."), ends()];
    let mut command = ask_command(&project, [steps], Resume::Possible, &["why?"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());

    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    // The input does not end before the command does.
    let input = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    drop(input);

    assert_eq!(output.stdout, b"A typo.\n", "{output:?}");
}

/// Returns every file below `folder` with its content, except lock files.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_none_or(|ending| ending != "lock") {
            let content = fs::read(&path).expect("readable");
            found.push((path, content));
        }
    }
    found.sort();
    found
}

#[test]
fn ask_runs_without_a_specification_and_writes_neither_ledger_nor_journal() {
    let project = Project::new();
    let planned = scripted(
        &project,
        &Script::new().plans(&["DL-001"]),
        &["run", "--max-iterations=1"],
    );
    assert_eq!(planned.code, Some(4), "{planned:?}");
    fs::remove_file(project.path("SPEC.md")).expect("it is there");
    let before = files(&project.root());

    let ended = run_ask(&project, &[text_step("A typo."), ends()], &["why?"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut after = files(&project.root());
    after.retain(|(path, _)| !path.starts_with(project.path(".autonoe/conversations")));
    assert_eq!(after, before);
}

#[test]
fn an_interrupted_run_can_still_be_resumed_after_a_question() {
    let project = Project::new();
    let script = Script::new().plans(&["DL-001"]).session([hangs()]);
    let command = scripted_command(&project, &script, &["run"]);
    RunningCommand::until_journal_has(command, &project, "\"number\":2").kill();

    let ended = run_ask(&project, &[text_step("A typo."), ends()], &["why?"]);
    let rest = Script::new().plans(&["DL-001"]).passes(&["DL-001"]);
    let resumed = scripted(&project, &rest, &["run"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        resumed.stderr.contains("resuming the killed run"),
        "{resumed:?}"
    );
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
}

#[test]
fn a_run_in_progress_is_not_disturbed() {
    let project = Project::new();
    let released = project.sibling_path("released");
    let script = Script::new().plans(&["DL-001"]).session([
        waits_for_file(&released),
        sets("DL-001", "passed"),
        ends(),
    ]);
    let command = scripted_command(&project, &script, &["run"]);
    let run = RunningCommand::until_journal_has(command, &project, "\"number\":2");

    let ended = run_ask(&project, &[text_step("A typo."), ends()], &["why?"]);
    fs::write(released, "").expect("writable");
    let (code, written) = run.end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("is held by another run"), "{ended:?}");
    assert_eq!(ended.stdout, "");
    assert_eq!(code, Some(0), "{written}");
}

#[test]
fn the_gate_is_that_of_a_run() {
    let project = Project::new();
    let steps = [
        is_denied_by(
            "bash-security",
            "Bash",
            json!({"command": "wget example.com"}),
        ),
        is_denied_by("bash-security", "Bash", json!({"command": "rm notes.txt"})),
        json!({"writes": {"path": ".autonoe/agent.json", "text": "{}"}}),
        text_step("Nothing works."),
        ends(),
    ];

    let ended = run_ask(&project, &steps, &["try it"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.stdout, "Nothing works.\n");
    for blocked in [
        "Denied Bash: wget example.com — ",
        "Denied Bash: rm notes.txt — ",
        "Denied Write: ",
    ] {
        assert!(ended.stderr.contains(blocked), "{blocked}: {ended:?}");
    }
    assert!(
        ended.stderr.contains("Denied calls that you can allow:"),
        "{ended:?}"
    );
    assert!(!project.path(".autonoe/agent.json").exists());
    let allowed = run_ask(&project, &steps[1..2], &["-D", "try it"]);
    assert!(!allowed.stderr.contains("Denied"), "{allowed:?}");
}

#[test]
fn read_only_changes_nothing() {
    for (arguments, is_written) in [(&["do it"][..], true), (&["--read-only", "do it"], false)] {
        let project = Project::new();
        let steps = [
            json!({"writes": {"path": "notes.txt", "text": "mine"}}),
            text_step("I tried."),
            ends(),
        ];

        let ended = run_ask(&project, &steps, arguments);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(project.path("notes.txt").exists(), is_written, "{ended:?}");
        let is_denied = ended.stderr.contains("Denied Write: ");
        assert_eq!(is_denied, !is_written, "{ended:?}");
    }
}

#[test]
fn each_end_has_its_exit_code() {
    for (steps, arguments, code, words) in [
        (&[text_step("Hi."), ends()][..], &["hello"][..], 0, "$0.25"),
        (&[ends()], &["hello"], 1, "error: the agent did not answer"),
        (
            &[json!({"endsWithError": "it broke"})],
            &["hello"],
            1,
            "error: the session failed: it broke",
        ),
        (
            &[json!({"hitsQuota": null})],
            &["hello"],
            5,
            "error: the session hit the quota",
        ),
        (
            &[text_step("Hm."), hangs()],
            &["--max-time=1s", "hello"],
            6,
            "error: the session was stopped: the time budget is spent",
        ),
        (&[ends()], &["--max-turns=0", "hello"], 2, "--max-turns"),
    ] {
        let ended = run_ask(&Project::new(), steps, arguments);

        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(ended.stderr.contains(words), "{words}: {ended:?}");
    }
}

#[test]
fn an_interrupt_ends_the_answer_with_its_own_exit_code() {
    let project = Project::new();
    let steps: &[Value] = &[
        text_step("I begin."),
        json!({"writes": {"path": "begun.txt", "text": "begun"}}),
        hangs(),
    ];
    let command = ask_command(&project, [steps], Resume::Possible, &["hello"]);
    let file = project.path("begun.txt");
    let running = RunningCommand::until_file_has(command, &file, "begun");

    running.interrupt();
    let (code, written) = running.end();

    assert_eq!(code, Some(130), "{written}");
    assert!(written.contains("I begin.\n"), "{written}");
    assert!(
        written.contains("error: the session was cancelled"),
        "{written}"
    );
}

#[test]
fn a_tool_of_another_session_gets_no_advice_to_allow_it() {
    let project = Project::new();
    let denied = is_denied_by(
        "grants",
        "mcp__autonoe__create",
        json!({"deliverables": []}),
    );

    let ended = run_ask(&project, &[denied, ends()], &["Plan."]);

    let reason = "only planning sessions have the tool mcp__autonoe__create";
    assert!(ended.stderr.contains(reason), "{ended:?}");
    assert!(!ended.stderr.contains("that you can allow"), "{ended:?}");
    assert!(!ended.stderr.contains("permissions"), "{ended:?}");
}

#[test]
fn an_agent_that_only_reads_is_not_announced_as_destructive() {
    let project = Project::new();
    let steps = [text_step("Hello."), ends()];

    let reads = run_ask(&project, &steps, &["--read-only", "-D", "Hi"]);
    let writes = run_ask(&project, &steps, &["-D", "Hi"]);

    assert_eq!(reads.code, Some(0), "{reads:?}");
    assert!(!reads.stderr.contains("--allow-destructive"), "{reads:?}");
    assert!(
        writes.stderr.contains("--allow-destructive is on"),
        "{writes:?}"
    );
}
