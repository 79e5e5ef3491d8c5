//! An escalation that a service is told of.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::setting::{backend, flow, npm_fails, project, speaks};
use crate::runs::support::autonoe::Ended;
use crate::runs::support::project::Project;
use crate::runs::support::script::Script;
use crate::runs::telemetry::receiver::Receiver;

const BYTES: [u8; 32] = [7; 32];
const VARIABLE: &str = "AUTONOE_SIGNING_KEY_OPS_HOOK";

fn key() -> String {
    format!("whsec_{}", STANDARD.encode(BYTES))
}

/// Lets `fix-bug` tell a service of its failure.
fn with_webhook(address: &str) -> Project {
    let project = project();
    npm_fails(&project, 99);
    let file = ".autonoe/flows/fix-bug/steps_registry.json";
    let mut steps: Value = serde_json::from_str(&project.read(file)).expect("JSON");
    let step = &mut steps["steps"]["fix"];
    step["check"]["onFail"] = json!({});
    step["escalation"] = json!({
        "escalateTo": address,
        "notificationMethod": "webhook",
        "returnFlow": "abort",
        "signingKey": "ops-hook",
    });
    project.write(file, &steps.to_string());
    project
}

fn run(project: &Project, key: Option<&str>) -> Ended {
    let option = backend(project, &Script::new().session(speaks("I cannot find it.")));
    let words = ["fix-bug", &option, "--bug", "it crashes at midnight"];
    let mut command = flow(project, &words);
    command.envs(key.map(|key| (VARIABLE, key)));
    Ended::of(command)
}

#[test]
fn a_service_is_told_with_a_signature_that_it_can_verify() {
    let service = Receiver::start();
    let project = with_webhook(&format!("{}/hooks/flows", service.url()));

    let ended = run(&project, Some(&key()));

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("The failure of fix was told"),
        "{ended:?}"
    );
    let log = Ended::of(crate::runs::support::autonoe::autonoe(&project, &["log"]));
    for told in [&ended.stderr, &log.stdout] {
        assert!(told.contains("Escalation of fix: "), "{told}");
        assert!(told.contains("The failure of fix was told"), "{told}");
    }
    let requests = service.at("/hooks/flows");
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
    assert_eq!(body["type"], "flow.escalated");
    assert_eq!(body["data"]["flow"], "fix-bug");
    assert_eq!(body["data"]["step"], "fix");
    assert_eq!(body["data"]["failure"]["code"], "step_failed", "{body:#}");
    let all = format!("{ended:?}{}", project.read(".autonoe/journal.jsonl"));
    assert!(
        !all.contains(&STANDARD.encode(BYTES)),
        "the key is nobody's business"
    );
}

#[test]
fn a_key_that_is_missing_or_none_is_told_before_anything_begins() {
    let project = with_webhook("http://127.0.0.1:9/hook");
    for (key, told) in [
        (None, "there is no signing key `ops-hook`"),
        (None, "set AUTONOE_SIGNING_KEY_OPS_HOOK"),
        (
            Some("secret"),
            "AUTONOE_SIGNING_KEY_OPS_HOOK: a signing key is",
        ),
    ] {
        let ended = run(&project, key);

        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(told), "{ended:?}");
        let journal = std::fs::read_to_string(project.path(".autonoe/journal.jsonl"));
        assert_eq!(journal.unwrap_or_default(), "", "nothing was begun");
    }
}

#[test]
fn a_service_that_nobody_could_vouch_for_is_told_before_anything_begins() {
    let project = with_webhook("https://hooks.example.com/flows");
    for (trust, told) in [
        (json!({"system": "ignored"}), "no authorities are given"),
        (
            json!({"system": "ignored", "files": ["missing.pem"]}),
            "missing.pem cannot be read",
        ),
        (
            json!({"system": "ignored", "pem": "no certificate"}),
            "trust.pem of models.json: ",
        ),
    ] {
        let models = json!({"trust": trust});
        project.write(".autonoe/models.json", &models.to_string());

        let ended = run(&project, Some(&key()));

        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(told), "{ended:?}");
        let journal = std::fs::read_to_string(project.path(".autonoe/journal.jsonl"));
        assert_eq!(journal.unwrap_or_default(), "", "nothing was begun");
    }
}

#[test]
fn a_service_that_the_authorities_of_the_project_vouch_for_can_be_told() {
    let authority = rcgen::generate_simple_self_signed(["hooks.example.com".to_owned()]);
    let authority = authority.expect("a certificate").cert.pem();
    let project = with_webhook("https://hooks.example.com/flows");
    // It is not told: the tests pass.
    npm_fails(&project, 0);
    let models = json!({"trust": {"system": "ignored", "pem": authority}});
    project.write(".autonoe/models.json", &models.to_string());

    let ended = run(&project, Some(&key()));

    assert_eq!(ended.code, Some(0), "{ended:?}");
}
