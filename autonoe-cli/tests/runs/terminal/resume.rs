//! Resuming a killed run in a terminal.

use serde_json::json;

use super::pty::Terminal;
use crate::runs::support::autonoe::{scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, hangs, sets};

#[test]
fn a_killed_run_is_resumed() {
    let project = Project::new();
    let ids = ["DL-001", "DL-002"];
    let script = Script::new()
        .plans(&ids)
        .session([sets("DL-001", "passed"), hangs()]);
    let mut terminal = Terminal::start(&scripted_command(&project, &script, &["run"]), 120);
    terminal.wait_for_text("[PASS] The thing DL-001");
    let run = terminal.run_id();

    terminal.kill();
    terminal.end();
    let rest = Script::new().plans(&ids).passes(&["DL-002"]);
    let ended = scripted(&project, &rest, &["run"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("resuming the killed run"),
        "{ended:?}"
    );
    assert!(
        ended.stdout.contains(&format!("Run {run} ended")),
        "{ended:?}"
    );
    assert!(
        ended.stdout.contains("2 of 2 deliverables passed"),
        "{ended:?}"
    );
    let ledger = project.ledger().expect("it is there");
    assert_eq!(ledger["deliverables"][0]["passed"], json!(true));
}
