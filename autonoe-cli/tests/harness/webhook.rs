//! Notifications about a fleet.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::harness::fixture::{Fixture, RunningCommand, run};
use crate::runs::telemetry::receiver::Receiver;

const BYTES: [u8; 32] = [7; 32];

#[test]
fn a_webhook_receives_alerts_with_a_valid_signature() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    let service = Receiver::start();
    let address = format!("{}/hooks/fleet", service.url());
    let options = [
        "--backend",
        &agents,
        "--notify",
        &address,
        "--notify-key",
        "ops-hook",
    ];
    let mut command = fixture.command(&run(&options));
    let key = format!("whsec_{}", STANDARD.encode(BYTES));
    command.env("AUTONOE_SIGNING_KEY_OPS_HOOK", &key);

    let ended = RunningCommand::start(command).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let requests = service.at("/hooks/fleet");
    let received: Vec<Value> = requests
        .iter()
        .map(|request| serde_json::from_slice(&request.body).expect("JSON"))
        .collect();
    let kinds: Vec<_> = received
        .iter()
        .map(|received| received["data"]["type"].as_str())
        .collect();
    assert!(kinds.contains(&Some("task_done")), "{received:?}");
    assert_eq!(kinds.last(), Some(&Some("finished")), "{received:?}");
    for (request, received) in requests.iter().zip(&received) {
        let header = |name: &str| request.headers[name].as_str();
        let mut mac = Hmac::<Sha256>::new_from_slice(&BYTES).expect("any length");
        let before = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp"));
        mac.update(before.as_bytes());
        mac.update(&request.body);
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        assert_eq!(header("webhook-signature"), format!("v1,{signature}"));
        assert_eq!(received["type"], "harness.alert");
    }
    let second = fixture.run(&["--backend", &agents]).end();
    assert_eq!(second.code, Some(0));
    assert_eq!(
        service.at("/hooks/fleet").len(),
        requests.len(),
        "each once"
    );
}

#[test]
fn a_failing_webhook_causes_a_warning_and_no_delay() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    let service = Receiver::answering(crate::runs::telemetry::receiver::Answer::Status(410));

    let ended = fixture
        .run(&["--backend", &agents, "--notify", &service.url()])
        .end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("cannot deliver to the webhook"),
        "{ended:?}"
    );
}

#[test]
fn a_webhook_that_hangs_delays_neither_the_fleet_nor_other_channels() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    let service = Receiver::answering(crate::runs::telemetry::receiver::Answer::Nothing);
    let seen = fixture.sibling_path("seen");
    let line = format!("echo $AUTONOE_ALERT_TYPE >> '{}'", seen.display());
    let options = [
        "--backend",
        &agents,
        "--max-cost",
        "0.9",
        "--notify",
        &service.url(),
        "--notify-command",
        &line,
    ];

    let ended = fixture.run(&options).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = "the last notifications were not delivered in time (webhook)";
    assert!(ended.stderr.contains(expected), "{ended:?}");
    let seen = std::fs::read_to_string(seen).expect("the command ran");
    let kinds: Vec<_> = seen.lines().collect();
    assert_eq!(kinds.last(), Some(&"finished"), "{kinds:?}");
    let nearly = kinds.iter().filter(|kind| **kind == "budget_nearly_spent");
    assert_eq!(nearly.count(), 1, "{kinds:?}");
}

#[test]
fn a_fleet_that_cannot_run_sends_its_error() {
    let without_repository = Fixture::without_repository();
    let with_damaged_state = Fixture::new();
    with_damaged_state.write(".harness/meta_state.db", "this is something else\n");
    for fixture in [without_repository, with_damaged_state] {
        let agents = fixture.usual_agents(&[]);
        let service = Receiver::start();

        let ended = fixture
            .run(&["--backend", &agents, "--notify", &service.url()])
            .end();

        assert_eq!(ended.code, Some(1), "{ended:?}");
        let requests = service.requests();
        let [request] = requests.as_slice() else {
            panic!("{requests:?}");
        };
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        assert_eq!(body["data"]["type"], "failed", "{body:#}");
    }
}
