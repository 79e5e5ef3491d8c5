//! Commands and desktop notifications.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::runs::support::autonoe::{CommandOutput, scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, sets, uses};

/// A description that a shell, a desktop or a terminal would execute if it were code.
const HOSTILE: &str = "x'; touch \"$HOME/hacked\"; $(touch hacked) `touch hacked` <b>-h\u{1b}[2J";

/// A run whose only deliverable has a hostile description and gets blocked.
fn hostile() -> Script {
    let input = json!({"deliverables": [{
        "id": "DL-001", "description": HOSTILE, "acceptanceCriteria": ["it is there"],
    }]});
    Script::new()
        .session([uses("mcp__autonoe__create", input), ends()])
        .session([sets("DL-001", "blocked"), ends()])
}

fn finishes() -> Script {
    Script::new().plans(&["DL-001"]).passes(&["DL-001"])
}

fn is_hacked(project: &Project) -> bool {
    [project.path("hacked"), project.home().join("hacked")]
        .iter()
        .any(|file| file.exists())
}

#[test]
fn a_command_gets_alerts_as_data_and_executes_no_text_of_an_agent() {
    let project = Project::new();
    let seen = project.sibling_path("seen");
    let line = format!(
        "printf '%s\\n' \"$AUTONOE_ALERT\" >> '{0}'; pwd >> '{0}'",
        seen.display()
    );
    let mut command = scripted_command(&project, &hostile(), &["run", "--notify-command", &line]);
    command.env("AUTONOE_SIGNING_KEY_OPS", "secret-key");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(3), "{ended:?}");
    let seen = fs::read_to_string(seen).expect("the command ran");
    let lines: Vec<_> = seen.lines().collect();
    assert_eq!(lines.len(), 4, "{seen}");
    let alert: Value = serde_json::from_str(lines[0]).expect("JSON");
    assert_eq!(alert["type"], "blocked");
    assert_eq!(alert["context"]["deliverable"], "DL-001");
    let message = alert["message"].as_str().expect("text");
    assert!(message.contains("$(touch hacked)"), "{message}");
    assert!(!message.contains('\u{1b}'), "{message}");
    assert_eq!(Path::new(lines[1]), project.home(), "not in the project");
    assert!(!is_hacked(&project));
}

#[test]
fn the_environment_of_a_command_describes_the_alert_and_has_no_signing_key() {
    let project = Project::new();
    let seen = project.sibling_path("seen");
    let line = format!("env > '{}'", seen.display());
    let words = ["run", "--notify-command", &line];
    let mut command = scripted_command(&project, &finishes(), &words);
    command.env("AUTONOE_SIGNING_KEY_OPS", "secret-key");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let seen = fs::read_to_string(seen).expect("the command ran");
    for expected in [
        "AUTONOE_ALERT_TYPE=finished\n",
        "AUTONOE_ALERT_SEVERITY=SUCCESS\n",
        "AUTONOE_ALERT_MESSAGE=project: ",
    ] {
        assert!(seen.contains(expected), "{expected}: {seen}");
    }
    assert!(!seen.contains("secret-key"), "{seen}");
}

#[test]
fn a_command_that_fails_or_is_missing_causes_a_warning_and_changes_no_exit_code() {
    for (line, expected) in [
        (
            "echo no network >&2; exit 3",
            "the notification command ended with exit code 3: no network",
        ),
        (
            "./notify.sh",
            "the notification command ended with exit code 127",
        ),
    ] {
        let project = Project::new();
        project.write("notify.sh", "#!/bin/sh\ntouch hacked\n");

        let ended = scripted(&project, &finishes(), &["run", "--notify-command", line]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
        assert!(!is_hacked(&project), "{line}");
    }
}

#[test]
fn a_program_that_agents_can_change_is_warned_of() {
    let project = Project::new();
    project.write("notify.sh", "exit 0\n");
    let line = project.path("notify.sh").display().to_string();

    let ended = scripted(&project, &finishes(), &["run", "--notify-command", &line]);

    assert!(
        ended.stderr.contains("warning: agents can change"),
        "{ended:?}"
    );
}

/// Returns whether a process is running. A killed process stays a zombie until init has reaped it.
fn is_running(process: &str) -> bool {
    let mut ps = Command::new("ps");
    ps.args(["-o", "stat=", "-p", process]);
    let state = ps.output().expect("ps starts").stdout;
    !state.is_empty() && !state.starts_with(b"Z")
}

#[test]
fn a_command_that_hangs_is_killed_with_its_processes() {
    let project = Project::new();
    let seen = project.sibling_path("seen");
    let line = format!("sleep 1000 & echo $! > '{}'; wait", seen.display());

    let ended = scripted(&project, &finishes(), &["run", "--notify-command", &line]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let reasons = [
        "was killed after the time limit",
        "not delivered in time (command)",
    ];
    assert!(
        reasons.iter().any(|reason| ended.stderr.contains(reason)),
        "{ended:?}"
    );
    let process = fs::read_to_string(seen).expect("the command ran");
    let deadline = Instant::now() + Duration::from_secs(60);
    while is_running(process.trim()) {
        assert!(Instant::now() < deadline, "{process} is still running");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Writes a `notify-send` that records its arguments, one per line.
fn desktop(project: &Project, seen: &Path) -> String {
    let bin = project.sibling_path("bin");
    fs::create_dir(&bin).expect("writable");
    let program = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}'\n", seen.display());
    for name in ["notify-send", "osascript"] {
        let file = bin.join(name);
        fs::write(&file, &program).expect("writable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("ours");
    }
    let own = std::env::var("PATH").unwrap_or_default();
    format!("{}:{own}", bin.display())
}

#[test]
fn a_desktop_notification_shows_texts_of_agents_as_text() {
    let project = Project::new();
    let seen = project.sibling_path("seen");
    let mut command = scripted_command(&project, &hostile(), &["run", "--notify-desktop"]);
    command
        .env("PATH", desktop(&project, &seen))
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(3), "{ended:?}");
    let seen = fs::read_to_string(seen).expect("the program ran");
    assert!(seen.contains("\nAutonoe: blocked (project)\n"), "{seen}");
    assert!(seen.contains("$(touch hacked)"), "{seen}");
    if cfg!(target_os = "linux") {
        assert!(seen.contains("&lt;b&gt;"), "{seen}");
    }
    assert!(!is_hacked(&project));
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_desktop_there_is_one_warning_and_the_run_continues() {
    let project = Project::new();
    let seen = project.sibling_path("seen");
    let mut command = scripted_command(&project, &finishes(), &["run", "--notify-desktop"]);
    command.env("PATH", desktop(&project, &seen));

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let warning = "warning: there are no desktop notifications: there is no session bus";
    assert_eq!(ended.stderr.matches(warning).count(), 1, "{ended:?}");
    assert!(!seen.exists());
}
