//! Effects of Ctrl-C in a terminal, and resuming after it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::pty::{TIMEOUT, Terminal};
use crate::runs::support::autonoe::{autonoe, scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, hangs, sets, text_step};

#[test]
fn interrupt_during_a_session_ends_the_run_with_a_report() {
    let project = Project::new();
    let script = Script::new().plans(&["DL-001", "DL-002"]).session([
        sets("DL-001", "passed"),
        text_step("I go on."),
        hangs(),
    ]);
    let mut terminal = Terminal::start(&scripted_command(&project, &script, &["run"]), 120);
    terminal.wait_for_text("Responding...");

    terminal.interrupt();
    let (code, screen) = terminal.end();

    assert_eq!(code, 130, "{screen}");
    assert!(
        screen.contains("warning: stopping; interrupt again to exit immediately"),
        "{screen}"
    );
    assert!(screen.contains("Session 2 was cancelled"), "{screen}");
    assert!(screen.contains("ended: it was cancelled"), "{screen}");
    assert!(
        screen.contains("1 of 2 deliverables passed; 2 iterations"),
        "{screen}"
    );
    assert!(!screen.contains('⚡'), "{screen}");
}

// Shows: interfaces/presenter/waiting-display-remaining-time-reset
#[test]
fn interrupt_during_a_quota_wait_ends_the_run_with_a_report() {
    let project = Project::new();
    let reset = Timestamp::now() + SignedDuration::from_mins(169);
    let script = Script::new()
        .plans(&["DL-001"])
        .session([json!({"hitsQuota": reset})]);
    let command = scripted_command(&project, &script, &["run", "--wait-for-quota"]);
    let mut terminal = Terminal::start(&command, 120);
    // The date comes before it if the test runs in the evening.
    let at = reset.strftime("%-I:%M %p UTC");
    let screen = terminal.wait_for("the wait", |screen| {
        // The minutes depend on how long the command took to start.
        screen.lines().any(|line| {
            line.starts_with("⏳ Waiting... 2h 4")
                && line.contains("m remaining (resets at ")
                && line.ends_with(&format!("{at})"))
        })
    });
    let announced: Vec<_> = screen
        .lines()
        .skip_while(|line| !line.starts_with("Quota exceeded"))
        .collect();
    assert!(
        announced[0].starts_with("Quota exceeded, waiting 2h 4")
            && announced[0].ends_with(" until reset...")
            && announced[1].starts_with("Quota resets at: ")
            && announced[1].ends_with(&at.to_string()),
        "{screen}"
    );

    terminal.interrupt();
    let (code, screen) = terminal.end();

    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("ended: it was cancelled"), "{screen}");
    assert!(!screen.contains('⏳'), "{screen}");
}

#[test]
fn second_interrupt_kills_an_unresponsive_agent() {
    let project = Project::new();
    let program = project.sibling_path("claude");
    let stubborn = "#!/bin/bash\nif [ \"$1\" = --version ]; then echo '2.1.325 (Claude Code)'; exit; fi\n\
        if [ \"$1\" = auth ]; then exit 1; fi\n\
        trap '' HUP INT TERM\necho $$ > \"$HOME/agent\"\nwhile :; do sleep 1; done\n";
    fs::write(&program, stubborn).expect("writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    let backend = json!({"type": "claude", "program": program, "temporary": project.home()});
    let backend = format!("--backend={backend}");
    let command = autonoe(&project, &["run", "--no-sandbox", &backend]);
    let mut terminal = Terminal::start(&command, 120);
    let agent = project.home().join("agent");
    terminal.wait_for("the agent", |_| {
        fs::read_to_string(&agent).is_ok_and(|pid| pid.ends_with('\n'))
    });
    let agent = fs::read_to_string(agent).expect("it is there");

    terminal.interrupt();
    terminal.wait_for_text("interrupt again to exit immediately");
    terminal.interrupt();
    let (code, screen) = terminal.end();

    assert_eq!(code, 130, "{screen}");
    assert!(
        !screen.contains("ended:"),
        "it had time for a report: {screen}"
    );
    // The agent may exit after the command, and may still be a zombie.
    let started_at = Instant::now();
    loop {
        let stat = fs::read_to_string(format!("/proc/{}/stat", agent.trim())).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z ") {
            break;
        }
        assert!(started_at.elapsed() < TIMEOUT, "the agent lives: {stat}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

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
