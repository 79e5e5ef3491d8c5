//! Projects in which sessions cannot run.

use autonoe_core::engine::{SessionHost, SessionHostError};
use autonoe_core::event::{InstructionName, Retry};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Fixture, attach, key};

fn never_played() -> Value {
    json!({"name": "nobody comes to this", "steps": ["ends"]})
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_is_an_error_and_stays() {
    let fixture = Fixture::new();
    fixture.write(".autonoe/status.json", "no ledger of ours\n");
    let host = fixture.scripted(&[never_played()]);
    let never = CancellationToken::new();

    let ledger_view = host.ledger_view(&key(1).run).await;
    let claimed = host.claim(&key(1).run).await;
    let attached = attach(&host, 1, InstructionName::Coding, never).await;

    let failure = ledger_view.expect_err("it cannot be read");
    assert!(failure.message.contains("status.json"), "{failure:?}");
    assert!(claimed.is_err(), "{claimed:?}");
    assert!(
        matches!(attached, Err(SessionHostError::Failed { .. })),
        "{attached:?}"
    );
    assert_eq!(fixture.read(".autonoe/status.json"), "no ledger of ours\n");
    assert_eq!(fixture.records(), 0);
}

#[tokio::test]
async fn broken_settings_are_a_permanent_failure_that_names_the_file() {
    let fixture = Fixture::new();
    fixture.write(".autonoe/models.json", "{\"providers\": 7}");
    let host = fixture.scripted(&[never_played()]);

    let failure = host
        .ledger_view(&key(1).run)
        .await
        .expect_err("it is broken");

    assert_eq!(
        (&*failure.code, failure.retry),
        ("project_refused", Retry::Permanent)
    );
    assert!(failure.message.contains("models.json"), "{failure:?}");
}
