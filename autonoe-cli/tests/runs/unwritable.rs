//! Runs whose output cannot be written: they continue to the end, and fail with an error.

use std::fs::File;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::runs::support::autonoe::{CommandOutput, scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, sets};

const COMPLAINT: &str = "standard output cannot be written to: No space left on device";

fn script() -> Script {
    Script::new()
        .plans(&["DL-001", "DL-002"])
        .passes(&["DL-001"])
        .passes(&["DL-002"])
}

fn to_full_disk(mut command: Command) -> CommandOutput {
    let full = File::options().write(true).open("/dev/full");
    command.stdout(full.expect("Linux has it"));
    CommandOutput::run(command)
}

/// Returns the journal without parts that differ between runs.
fn journal(project: &Project) -> Vec<Value> {
    let text = project.read(".autonoe/journal.jsonl");
    let lines = text.lines().map(|line| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let kind = line
            .as_object()
            .expect("an object")
            .iter()
            .find(|(name, _)| !["v", "run", "at"].contains(&name.as_str()));
        kind.map(|(name, _)| json!(name))
            .expect("it tells something")
    });
    lines.collect()
}

#[test]
fn runs_and_records_every_session_on_a_full_disk() {
    let usual = Project::new();
    assert_eq!(scripted(&usual, &script(), &["run"]).code, Some(0));

    for output in ["--output=text", "--output=json"] {
        let project = Project::new();

        let ended = to_full_disk(scripted_command(&project, &script(), &["run", output]));

        assert_eq!(ended.code, Some(1), "{output}: {ended:?}");
        assert!(ended.stderr.contains(COMPLAINT), "{output}: {ended:?}");
        assert!(
            ended.stderr.contains("hint: the run is recorded"),
            "{ended:?}"
        );
        assert!(ended.stderr.contains("Session 3 completed"), "{ended:?}");
        let ledger = project.ledger().expect("it is there");
        for deliverable in ledger["deliverables"].as_array().expect("a list") {
            assert_eq!(deliverable["passed"], json!(true), "{output}: {ledger}");
        }
        assert_eq!(journal(&project), journal(&usual), "{output}");
        let next = scripted(&project, &script(), &["run"]);
        assert_eq!(next.code, Some(0), "{output}: {next:?}");
        assert!(!next.stderr.contains("going on with"), "{output}: {next:?}");
    }
}

#[test]
fn lost_events_print_one_warning_first() {
    let project = Project::new();
    let command = scripted_command(&project, &script(), &["run", "--output=json", "--quiet"]);

    let ended = to_full_disk(command);

    let warning = "warning: the run continues, but its events are no longer written: ";
    assert_eq!(ended.stderr.matches(warning).count(), 1, "{ended:?}");
    assert!(ended.stderr.starts_with(warning), "{ended:?}");
    let error = format!("error: not all events of the run were written: {COMPLAINT}");
    assert!(ended.stderr.contains(&error), "{ended:?}");
}

#[test]
fn write_error_overrides_exit_code_of_run() {
    let script = Script::new().plans(&["DL-001"]).session([ends()]);
    let arguments = ["run", "--max-iterations=2", "--output=json"];
    assert_eq!(scripted(&Project::new(), &script, &arguments).code, Some(4));
    let project = Project::new();

    let ended = to_full_disk(scripted_command(&project, &script, &arguments));

    assert_eq!(ended.code, Some(1), "{ended:?}");
}

#[test]
fn a_disk_that_fills_up_meanwhile_gets_whole_events_and_no_hole() {
    let project = Project::new();
    let many = (0..40).map(|_| sets("DL-001", "pending"));
    let script = Script::new()
        .plans(&["DL-001"])
        .session(many.chain([sets("DL-001", "passed"), ends()]));
    let file = project.sibling_path("events.jsonl");
    let command = scripted_command(&project, &script, &["run", "--output=json"]);
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| format!("'{}'", word.display()))
        .collect();
    // A limit on the size of the file simulates a disk that fills up during the run. The journal
    // and the ledger must fit.
    let line = format!("trap '' XFSZ; ulimit -f 32; exec {}", words.join(" "));
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &line])
        .current_dir(project.root())
        .env("HOME", project.home())
        .stdin(Stdio::null())
        .stdout(File::create(&file).expect("writable"));

    let ended = CommandOutput::run(shell);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("File too large"), "{ended:?}");
    let written = std::fs::read_to_string(&file).expect("readable");
    let (whole, torn) = written.rsplit_once('\n').expect("lines");
    let spans = whole
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("whole"));
    assert!(spans.count() > 10, "{written}");
    assert!(serde_json::from_str::<Value>(torn).is_err(), "{torn}");
    let ledger = project.ledger().expect("it is there");
    assert_eq!(ledger["deliverables"][0]["passed"], json!(true));
}
