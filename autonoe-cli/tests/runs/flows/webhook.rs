//! Escalations of a flow to a webhook.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::fixture::{backend, flow, npm_fails, project, text_session};
use crate::runs::support::autonoe::CommandOutput;
use crate::runs::support::project::Project;
use crate::runs::support::script::Script;
use crate::runs::telemetry::receiver::Receiver;

const BYTES: [u8; 32] = [7; 32];
const VARIABLE: &str = "AUTONOE_SIGNING_KEY_OPS_HOOK";

fn key() -> String {
    format!("whsec_{}", STANDARD.encode(BYTES))
}

/// Creates a project in which `fix-bug` reports its failure to a webhook.
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

fn run(project: &Project, key: Option<&str>) -> CommandOutput {
    let option = backend(
        project,
        &Script::new().session(text_session("I cannot find it.")),
    );
    let words = ["fix-bug", &option, "--bug", "it crashes at midnight"];
    let mut command = flow(project, &words);
    command.envs(key.map(|key| (VARIABLE, key)));
    CommandOutput::run(command)
}

#[test]
fn a_webhook_receives_an_escalation_with_a_valid_signature() {
    let service = Receiver::start();
    let project = with_webhook(&format!("{}/hooks/flows", service.url()));

    let ended = run(&project, Some(&key()));

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("The failure of fix was reported"),
        "{ended:?}"
    );
    let log = CommandOutput::run(crate::runs::support::autonoe::autonoe(&project, &["log"]));
    for output in [&ended.stderr, &log.stdout] {
        assert!(output.contains("Escalation of fix: "), "{output}");
        assert!(
            output.contains("The failure of fix was reported"),
            "{output}"
        );
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
fn notifications_report_an_escalation_and_the_end_of_a_flow() {
    let escalations = Receiver::start();
    let project = with_webhook(&escalations.url());
    let service = Receiver::start();
    let url = service.url();
    let option = backend(
        &project,
        &Script::new().session(text_session("I cannot find it.")),
    );
    let words = [
        "fix-bug",
        &option,
        "--notify",
        &url,
        "--notify-key",
        "ops-hook",
        "--bug",
        "it crashes at midnight",
    ];
    let mut command = flow(&project, &words);
    command.env(VARIABLE, key());

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let bodies = service.requests().into_iter().map(|request| {
        assert!(request.headers["webhook-signature"].starts_with("v1,"));
        serde_json::from_slice::<Value>(&request.body).expect("JSON")
    });
    let sent: Vec<_> = bodies
        .map(|body| (body["type"].clone(), body["data"]["type"].clone()))
        .collect();
    let alert = |kind: &str| (json!("flow.alert"), json!(kind));
    assert_eq!(sent, [alert("needs_person"), alert("failed")]);
    assert_eq!(escalations.requests().len(), 1);
}

#[test]
fn a_missing_or_invalid_key_is_reported_before_the_start() {
    let project = with_webhook("http://127.0.0.1:9/hook");
    for (key, expected) in [
        (None, "the signing key `ops-hook` of the webhook is not"),
        (None, "set AUTONOE_SIGNING_KEY_OPS_HOOK"),
        (
            Some("secret"),
            "AUTONOE_SIGNING_KEY_OPS_HOOK: a signing key must be",
        ),
    ] {
        let ended = run(&project, key);

        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
        let journal = std::fs::read_to_string(project.path(".autonoe/journal.jsonl"));
        assert_eq!(journal.unwrap_or_default(), "", "nothing was begun");
    }
}

#[test]
fn a_webhook_without_a_trusted_authority_is_reported_before_the_start() {
    let project = with_webhook("https://hooks.example.com/flows");
    for (trust, expected) in [
        (json!({"system": "ignored"}), "no certificate authorities"),
        (
            json!({"system": "ignored", "files": ["missing.pem"]}),
            "missing.pem cannot be read",
        ),
        (
            json!({"system": "ignored", "pem": "no certificate"}),
            "`trust` of models.json: `pem` ",
        ),
    ] {
        let models = json!({"trust": trust});
        project.write(".autonoe/models.json", &models.to_string());

        let ended = run(&project, Some(&key()));

        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
        let journal = std::fs::read_to_string(project.path(".autonoe/journal.jsonl"));
        assert_eq!(journal.unwrap_or_default(), "", "nothing was begun");
    }
}

#[test]
fn a_webhook_with_an_authority_of_the_project_is_accepted() {
    let authority = rcgen::generate_simple_self_signed(["hooks.example.com".to_owned()])
        .expect("a certificate")
        .cert
        .pem();
    let project = with_webhook("https://hooks.example.com/flows");
    // The webhook gets no request, because the tests pass.
    npm_fails(&project, 0);
    let models = json!({"trust": {"system": "ignored", "pem": authority}});
    project.write(".autonoe/models.json", &models.to_string());

    let ended = run(&project, Some(&key()));

    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_webhook_with_an_authority_in_a_directory_of_the_environment_is_accepted() {
    let authority = rcgen::generate_simple_self_signed(["hooks.example.com".to_owned()]);
    let authority = authority.expect("a certificate").cert.pem();
    let project = with_webhook("https://hooks.example.com/flows");
    // The webhook gets no request, because the tests pass.
    npm_fails(&project, 0);
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("ca.pem"), authority).expect("writable");
    let option = backend(&project, &Script::new().session(text_session("It works.")));
    let words = ["fix-bug", &option, "--bug", "it crashes at midnight"];
    let mut command = flow(&project, &words);
    command
        .env(VARIABLE, key())
        .env("SSL_CERT_DIR", directory.path());

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
}
