//! Calls that the guards of a run deny.

use std::path::Path;

use autonoe_core::tool::ToolStatus;
use autonoe_core::{ExitReason, StreamEvent};
use autonoe_process::SessionParent;
use autonoe_testkit::model_server::{ModelScript, Turn};

use serde_json::json;

use super::{passing, planning, run_in, status_on_disk};
use crate::fixture::Fixture;
use crate::model::{adds, patch, shell};

/// Calls that no run allows: each would leave a file, or change the ledger.
fn refused() -> [Turn; 15] {
    let heredoc = |path: &str| {
        format!(
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {path}\n+1\n*** End Patch\nEOF\n"
        )
    };
    [
        shell("wget -O trace.txt example.com"),
        shell("echo before > trace.txt; curl example.com"),
        shell("bash -c 'wget -O trace.txt example.com'"),
        shell("echo '{}' > .autonoe/status.json"),
        shell("cd .autonoe && echo 1 > trace.txt"),
        adds(".autonoe/trace.txt", "1"),
        adds("/var/trace.txt", "1"),
        // One writable file does not open the way to the other.
        patch(
            "*** Begin Patch\n*** Add File: fine.txt\n+1\n*** Add File: .autonoe/trace.txt\n+1\n\
             *** End Patch\n",
        ),
        // Bash would only write a word of this; another shell sees a second command.
        Turn::tool(
            "exec_command",
            json!({"cmd": "echo $'a\\'; touch trace.txt; #'", "shell": "/bin/sh"}),
        ),
        Turn::tool(
            "exec_command",
            json!({"cmd": "touch trace.txt", "workdir": ".autonoe"}),
        ),
        Turn::tool(
            "exec_command",
            json!({"cmd": "echo 1 > trace.txt", "workdir": ".autonoe"}),
        ),
        Turn::tool(
            "exec_command",
            json!({"cmd": heredoc("trace.txt"), "workdir": ".autonoe"}),
        ),
        shell(&format!("cd .autonoe && {}", heredoc("trace.txt"))),
        patch(
            "*** Begin Patch\n*** Update File: SPEC.md\n*** Move to: .autonoe/trace.txt\n@@\n\
             -# A greeting\n+# Another\n*** End Patch\n",
        ),
        patch("*** Begin Patch\n*** Delete File: .autonoe/agent.json\n*** End Patch\n"),
    ]
}

#[tokio::test]
async fn calls_that_the_guards_deny_leave_no_trace() {
    let turns = planning().into_iter().chain(refused()).chain(passing());
    let fixture = Fixture::new(ModelScript::new(turns)).sandboxed();

    let (report, ended) = run_in(&fixture).run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!(fixture.files(), ["SPEC.md"]);
    assert!(!fixture.file(".autonoe/trace.txt").exists());
    assert!(fixture.file(".autonoe/agent.json").exists());
    assert!(!Path::new("/var/trace.txt").exists());
    assert_eq!(status_on_disk(&fixture.project())["passed"], true);
    let requests = fixture.server.log().main_requests();
    let texts = requests.last().expect("there are some").user_texts();
    let reasons = texts.iter().filter(|text| text.contains("was refused:"));
    assert_eq!(reasons.count(), refused().len(), "{texts:?}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

/// Paths outside of the project that a run may write to are places that shells read from.
#[tokio::test]
async fn a_profile_that_an_agent_writes_is_not_run() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("Nobody asks."))).unverified();
    let sessions = SessionParent::in_directory(&fixture.folder.join("tmp")).sessions();
    let home = move || {
        let mut folders = std::fs::read_dir(&sessions).expect("it is there").flatten();
        let session = folders.next().expect("a session runs").path();
        session.join("home").display().to_string()
    };
    let written = ModelScript::from_fn(move |prompt| match prompt.tool_results().len() {
        0 => adds(&format!("{}/.bash_profile", home()), "touch by-profile.txt"),
        1 => adds(&format!("{}/.profile", home()), "touch by-profile.txt"),
        2 => adds(&format!("{}/.bashrc", home()), "touch by-profile.txt"),
        3 => shell("ls"),
        4 => Turn::tool("exec_command", json!({"cmd": "ls", "login": true})),
        _ => Turn::text("That was all."),
    });
    let other = Fixture::new(written).unverified();
    let agents = {
        let mut options = other.options();
        options.program.temporary = fixture.folder.join("tmp");
        autonoe_codex::CodexBackend::new(options)
    };
    let mut client =
        autonoe_core::AgentClientFactory::create(&agents, other.spec([])).expect("it can be made");

    let (events, error) = crate::fixture::collect_events(client.as_mut(), "Do it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let statuses = events.iter().filter_map(|event| match event {
        StreamEvent::ToolResponse { status, .. } => Some(*status),
        _ => None,
    });
    let statuses: Vec<_> = statuses.collect();
    // Three profiles are written and one command runs. The program itself refuses a login shell.
    assert_eq!(statuses, [ToolStatus::Ok; 4], "{events:?}");
    assert_eq!(other.files(), Vec::<String>::new());
    other.assert_nothing_is_left();
    fixture.assert_nothing_is_left();
}
