//! The events that send notifications.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{LIMIT, alerts, kinds, nearly_spends};
use crate::runs::support::autonoe::{
    CommandOutput, RunningCommand, autonoe, scripted, scripted_command,
};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, hangs, hits_short_quota, sets};
use crate::runs::telemetry::receiver::Receiver;

/// Runs `script` with these options, and returns the exit code and the kinds of notifications.
fn kinds_of(script: &Script, options: &[&str]) -> (Option<i32>, Vec<String>) {
    let project = Project::new();
    let service = Receiver::start();
    let url = service.url();
    let words = [&["run", "--notify", &url], options].concat();

    let ended = scripted(&project, script, &words);

    for alert in alerts(&service) {
        assert_eq!(alert["context"]["project"], "project", "{alert:#}");
        assert!(alert["context"]["run"].is_string(), "{alert:#}");
        let message = alert["message"].as_str().expect("text");
        assert!(message.starts_with("project: "), "{message}");
    }
    (ended.code, kinds(&service))
}

#[test]
fn a_run_notifies_about_its_end_and_blocked_deliverables() {
    let finishes = Script::new().plans(&["DL-001"]).passes(&["DL-001"]);
    let is_blocked = Script::new()
        .plans(&["DL-001"])
        .session([sets("DL-001", "blocked"), ends()]);
    let waits = Script::new()
        .plans(&["DL-001"])
        .session([hits_short_quota()])
        .passes(&["DL-001"]);
    let idles = Script::new().plans(&["DL-001"]).session([ends()]);

    for (script, options, code, expected) in [
        (&finishes, &["--max-cost=10"][..], 0, &["finished"][..]),
        (
            &nearly_spends(),
            &[LIMIT],
            0,
            &["budget_nearly_spent", "finished"],
        ),
        (&is_blocked, &[], 3, &["blocked", "blocked"]),
        (
            &waits,
            &["--wait-for-quota"],
            0,
            &["quota_wait", "finished"],
        ),
        (&waits, &[], 5, &["failed"]),
        (&idles, &["-n", "2"], 4, &["failed"]),
    ] {
        let (ended, sent) = kinds_of(script, options);

        assert_eq!(ended, Some(code), "{options:?}: {sent:?}");
        assert_eq!(sent, expected, "{options:?}");
    }
}

#[test]
fn an_interrupted_run_sends_nothing() {
    let project = Project::new();
    let service = Receiver::start();
    let script = Script::new().plans(&["DL-001"]).session([hangs()]);
    let command = scripted_command(&project, &script, &["run", "--notify", &service.url()]);
    let running = RunningCommand::until_journal_has(command, &project, r#""number":2"#);

    running.interrupt();
    let (code, _) = running.end();

    assert_eq!(code, Some(130));
    assert_eq!(kinds(&service), [""; 0]);
}

#[test]
fn unusable_agent_sends_alert_and_gets_no_key() {
    let project = Project::new();
    let service = Receiver::start();
    let bin = project.sibling_path("bin");
    let seen = project.sibling_path("seen");
    fs::create_dir(&bin).expect("writable");
    let program = format!("#!/bin/sh\nenv >> '{}'\nexit 1\n", seen.display());
    fs::write(bin.join("claude"), program).expect("writable");
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).expect("ours");
    let key = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let url = service.url();
    let mut command = autonoe(
        &project,
        &[
            "run",
            "--no-sandbox",
            "--notify",
            &url,
            "--notify-key",
            "ops",
        ],
    );
    let own = std::env::var_os("PATH").unwrap_or_default();
    let path = [bin].into_iter().chain(std::env::split_paths(&own));
    command
        .env("PATH", std::env::join_paths(path).expect("plain names"))
        .env("AUTONOE_SIGNING_KEY_OPS", key);

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let alerts = alerts(&service);
    assert_eq!(kinds(&service), ["needs_person"], "{alerts:#?}");
    assert_eq!(alerts[0]["severity"], "CRITICAL");
    assert!(alerts[0]["context"]["remedy"].is_string(), "{alerts:#?}");
    let request = &service.requests()[0];
    assert!(request.headers["webhook-signature"].starts_with("v1,"));
    let seen = fs::read_to_string(seen).expect("the agent's program was started");
    assert!(seen.contains("PATH="), "{seen}");
    let all = format!("{seen}{ended:?}");
    assert!(!all.contains("SIGNING_KEY") && !all.contains(key), "{all}");
}

#[test]
fn a_command_that_cannot_start_sends_its_error() {
    let project = Project::new();
    project.write(".autonoe/agent.json", "{");
    let service = Receiver::start();
    let script = Script::new().plans(&["DL-001"]);

    let ended = scripted(&project, &script, &["run", "--notify", &service.url()]);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let alerts = alerts(&service);
    assert_eq!(kinds(&service), ["failed"], "{alerts:#?}");
    let message = alerts[0]["message"].as_str().expect("text");
    assert!(message.contains("could not start"), "{message}");
    assert_eq!(alerts[0]["severity"], json!("ERROR"));
}
