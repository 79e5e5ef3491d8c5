//! A service that is told of alerts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::harness::setting::{Setting, UnderWay, run};
use crate::runs::telemetry::receiver::Receiver;

const BYTES: [u8; 32] = [7; 32];

#[test]
fn a_service_is_told_of_alerts_with_a_signature_that_it_can_verify() {
    let setting = Setting::new();
    let agents = setting.usual_agents(&[]);
    let service = Receiver::start();
    let address = format!("{}/hooks/fleet", service.url());
    let options = [
        "--backend",
        &agents,
        "--webhook",
        &address,
        "--webhook-key",
        "ops-hook",
    ];
    let mut command = setting.command(&run(&options));
    let key = format!("whsec_{}", STANDARD.encode(BYTES));
    command.env("AUTONOE_SIGNING_KEY_OPS_HOOK", &key);

    let ended = UnderWay::start(command).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let requests = service.at("/hooks/fleet");
    let told: Vec<Value> = requests
        .iter()
        .map(|request| serde_json::from_slice(&request.body).expect("JSON"))
        .collect();
    let kinds: Vec<_> = told
        .iter()
        .map(|told| told["data"]["type"].as_str())
        .collect();
    assert!(kinds.contains(&Some("task_done")), "{told:?}");
    assert_eq!(kinds.last(), Some(&Some("fleet_ended")), "{told:?}");
    for (request, told) in requests.iter().zip(&told) {
        let header = |name: &str| request.headers[name].as_str();
        let mut mac = Hmac::<Sha256>::new_from_slice(&BYTES).expect("any length");
        let before = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp"));
        mac.update(before.as_bytes());
        mac.update(&request.body);
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        assert_eq!(header("webhook-signature"), format!("v1,{signature}"));
        assert_eq!(told["type"], "harness.alert");
    }
    let again = setting.run(&["--backend", &agents]).end();
    assert_eq!(again.code, Some(0));
    assert_eq!(
        service.at("/hooks/fleet").len(),
        requests.len(),
        "each once"
    );
}

#[test]
fn a_service_that_takes_nothing_is_warned_of_and_holds_up_nobody() {
    let setting = Setting::new();
    let agents = setting.usual_agents(&[]);
    let service = Receiver::answering(crate::runs::telemetry::receiver::Answer::Status(410));

    let ended = setting
        .run(&["--backend", &agents, "--webhook", &service.url()])
        .end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("was not told"), "{ended:?}");
}
