//! Webhooks that are slow, hang, refuse or are away.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use super::{LIMIT, kinds, nearly_spends};
use crate::runs::support::autonoe::{CommandOutput, RunningCommand, scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::Script;
use crate::runs::telemetry::receiver::{Answer, Receiver};

const BYTES: [u8; 32] = [7; 32];

fn finishes() -> Script {
    Script::new().plans(&["DL-001"]).passes(&["DL-001"])
}

fn run(url: &str) -> CommandOutput {
    scripted(&Project::new(), &finishes(), &["run", "--notify", url])
}

#[test]
fn a_notification_has_a_valid_signature() {
    let project = Project::new();
    let service = Receiver::start();
    let url = format!("{}/hooks/run", service.url());
    let words = ["run", "--notify", &url, "--notify-key", "ops-hook"];
    let mut command = scripted_command(&project, &finishes(), &words);
    let key = format!("whsec_{}", STANDARD.encode(BYTES));
    command.env("AUTONOE_SIGNING_KEY_OPS_HOOK", &key);

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let requests = service.at("/hooks/run");
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    let header = |name: &str| request.headers[name].as_str();
    let mut mac = Hmac::<Sha256>::new_from_slice(&BYTES).expect("any length");
    let before = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp"));
    mac.update(before.as_bytes());
    mac.update(&request.body);
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    assert_eq!(header("webhook-signature"), format!("v1,{signature}"));
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    assert_eq!(body["type"], "run.alert");
    assert_eq!(body["data"]["severity"], "SUCCESS");
}

#[test]
fn a_missing_key_or_an_invalid_address_is_reported_before_the_start() {
    let project = Project::new();
    for (options, code, expected) in [
        (
            &["--notify", "http://127.0.0.1:9", "--notify-key", "ops"][..],
            1,
            "set the environment variable AUTONOE_SIGNING_KEY_OPS",
        ),
        (
            &["--notify", "http://example.com/"],
            2,
            "http is only allowed for this machine",
        ),
        (&["--notify-key", "ops"], 2, "--notify"),
        (&["--notify-command", " "], 2, "--notify-command is empty"),
    ] {
        let words = [&["run"], options].concat();

        let ended = scripted(&project, &finishes(), &words);

        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
        assert!(
            !project.path(".autonoe/journal.jsonl").exists(),
            "{options:?}"
        );
    }
}

#[test]
fn a_slow_webhook_gets_the_notification_and_does_not_delay_the_run() {
    let service = Receiver::answering(Answer::Slow(Duration::from_secs(3)));
    let project = Project::new();
    let words = ["run", LIMIT, "--notify", &service.url()];

    let ended = scripted(&project, &nearly_spends(), &words);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(kinds(&service), ["budget_nearly_spent", "finished"]);
    assert!(!ended.stderr.contains("in time"), "{ended:?}");
    let journal = project.read(".autonoe/journal.jsonl");
    let last: Value = serde_json::from_str(journal.lines().last().expect("lines")).expect("JSON");
    let elapsed = last["report"]["totalDurationMs"].as_u64();
    assert!(elapsed.expect("a time") < 3_000, "{last:#}");
}

#[test]
fn a_webhook_that_hangs_causes_a_warning_and_changes_no_exit_code() {
    let service = Receiver::answering(Answer::Nothing);
    let started_at = Instant::now();

    let ended = run(&service.url());

    assert_eq!(ended.code, Some(0), "{ended:?}");
    for expected in [
        "waiting for the last notifications; interrupt to skip them",
        "the last notifications were not delivered in time (webhook)",
    ] {
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
    assert!(started_at.elapsed() >= Duration::from_secs(30));
    assert!(kinds(&service).len() > 1, "it is tried again");
}

#[test]
fn the_wait_for_a_webhook_can_be_interrupted() {
    let service = Receiver::answering(Answer::Nothing);
    let project = Project::new();
    let words = ["run", "--notify", &service.url()];
    let command = scripted_command(&project, &finishes(), &words);
    let running = RunningCommand::until_journal_has(command, &project, "run_ended");
    let started_at = Instant::now();

    running.interrupt();
    let (code, written) = running.end();

    assert_eq!(code, Some(0), "{written}");
    assert!(started_at.elapsed() < Duration::from_secs(25), "{written}");
}

#[test]
fn a_webhook_that_rejects_a_notification_is_not_retried() {
    let service = Receiver::answering(Answer::Status(410));

    let ended = run(&service.url());

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = "cannot deliver to the webhook at 127.0.0.1: it answered with status 410";
    assert!(ended.stderr.contains(expected), "{ended:?}");
    assert_eq!(kinds(&service), ["finished"]);
}

#[test]
fn an_unreachable_webhook_gets_the_notification_when_it_is_reachable() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound").to_string();
    drop(listener);
    let project = Project::new();
    let url = format!("http://{address}");
    let command = scripted_command(&project, &finishes(), &["run", "--notify", &url]);
    let running = RunningCommand::until_journal_has(command, &project, "run_ended");
    // The first attempts fail; later ones follow after 2, 4 and 8 seconds.
    std::thread::sleep(Duration::from_secs(2));

    let service = Receiver::listening(&address, Answer::Status(200));
    let (code, written) = running.end();

    assert_eq!(code, Some(0), "{written}");
    assert_eq!(kinds(&service), ["finished"], "{written}");
}
