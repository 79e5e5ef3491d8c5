//! Kept login of a subscription.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use autonoe_codex::{CodexBackend, CodexHome};
use autonoe_core::{AgentClientFactory, StreamEvent};
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::json;

use crate::build::program;
use crate::fixture::{Fixture, collect_events};

/// A token in the format of the service, without a signature: valid until the year 2100, for the
/// account `acc`.
const TOKEN: &[&str] = &[
    "eyJhbGciOiJub25lIn0",
    "eyJleHAiOjQxMDI0NDQ4MDAsImVtYWlsIjoiYWRhQGV4YW1wbGUuY29tIiwiaHR0cHM6Ly9hcGkub3BlbmFpLmNvbS9h\
     dXRoIjp7ImNoYXRncHRfYWNjb3VudF9pZCI6ImFjYyIsImNoYXRncHRfcGxhbl90eXBlIjoicGx1cyJ9fQ",
    "c2ln",
];

/// Returns a program that uses the local service: users need no option for it.
fn with_service_here(fixture: &Fixture) -> std::path::PathBuf {
    let wrapper = fixture.folder.join("codex.sh");
    let (service, program) = (fixture.server.url(), program());
    let script = format!(
        "#!/bin/sh\nexec {} \"$@\" -c 'chatgpt_base_url=\"{service}/backend-api\"' \
         -c 'openai_base_url=\"{service}/v1\"' \
         -c features.enable_request_compression=false\n",
        program.display()
    );
    fs::write(&wrapper, script).expect("writable");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("ours");
    wrapper
}

#[tokio::test]
async fn the_subscription_of_a_persistent_login_is_used() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("Hello."))).unverified();
    let persistent = fixture.folder.join("kept");
    fs::create_dir(&persistent).expect("it can be made");
    let token = TOKEN.join(".");
    let login = json!({
        "auth_mode": "chatgpt", "OPENAI_API_KEY": null, "last_refresh": "2026-11-15T00:00:00Z",
        "tokens": {
            "id_token": token, "access_token": token, "refresh_token": "r", "account_id": "acc",
        },
    });
    fs::write(persistent.join("auth.json"), login.to_string()).expect("writable");
    let mut options = fixture.options();
    options.home = CodexHome::Persistent(persistent.clone());
    options.program.path = with_service_here(&fixture);
    options.provider = None;
    let mut client = CodexBackend::new(options)
        .create(fixture.spec([]))
        .expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert!(events.contains(&StreamEvent::text("Hello.")), "{events:?}");
    let exchanges = fixture.server.log().exchanges();
    let authorizations = exchanges
        .iter()
        .filter(|exchange| exchange.request.messages().is_some());
    let accounts: Vec<_> = authorizations
        .map(|exchange| exchange.headers.get("chatgpt-account-id"))
        .collect();
    assert_eq!(accounts, [Some("acc")]);
    let text = fs::read_to_string(persistent.join("auth.json")).expect("it is there");
    assert!(text.contains("\"account_id\""), "{text}");
    fixture.assert_nothing_is_left();
}
