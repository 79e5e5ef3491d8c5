//! Sessions that are cancelled, dropped, or lose their client while an agent runs a command.

use autonoe_core::agent::SessionEnd;
use autonoe_core::event::InstructionName;
use autonoe_testkit::model_server::Turn;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::client_process::ClientProcess;
use crate::fixture::{Fixture, attach, endless, it_runs, on_model};

fn runs(command: &str) -> Turn {
    Turn::tool("Bash", json!({ "command": command }))
}

#[tokio::test]
async fn a_cancelled_session_ends_with_its_commands_and_is_recorded() {
    let fixture = Fixture::new();
    let command = endless(fixture.path());
    let _server = fixture.served([runs(&command)]).unverified();
    let host = on_model(fixture.path());
    let cancelled = CancellationToken::new();
    let cancelling = async {
        it_runs(&command).await;
        cancelled.cancel();
    };

    let running = attach(&host, 1, InstructionName::Coding, cancelled.clone());
    let ((), ended) = tokio::join!(cancelling, running);

    let ended = ended.expect("it is recorded");
    assert_eq!(ended.result.end, SessionEnd::Cancelled);
    assert_eq!(fixture.records(), 1);
    fixture.nothing_is_left(&command).await;
}

#[tokio::test]
async fn a_session_of_a_killed_client_leaves_no_process_and_is_repeated_by_the_next() {
    let fixture = Fixture::new();
    let command = endless(fixture.path());
    let server = fixture.served([runs(&command), Turn::text("It is done.")]);
    let client = ClientProcess::start(&fixture);
    it_runs(&command).await;

    drop(client);
    fixture.nothing_is_left(&command).await;
    let records_before = fixture.records();
    let host = on_model(fixture.path());
    let never = CancellationToken::new();
    let done = attach(&host, 1, InstructionName::Coding, never).await;

    assert_eq!(records_before, 0);
    let done = done.expect("it is carried out");
    assert!(done.result.end.is_completed(), "{done:?}");
    assert_eq!(fixture.records(), 1);
    server.verify();
}

#[tokio::test]
async fn a_dropped_session_leaves_no_process_and_is_repeated_by_the_next() {
    let fixture = Fixture::new();
    let command = endless(fixture.path());
    let server = fixture.served([runs(&command), Turn::text("It is done.")]);
    let host = on_model(fixture.path());
    let never = CancellationToken::new;
    tokio::select! {
        ended = attach(&host, 1, InstructionName::Coding, never()) => {
            panic!("it ended before it was let go: {ended:?}");
        }
        () = it_runs(&command) => {}
    }
    fixture.nothing_is_left(&command).await;
    assert_eq!(fixture.records(), 0);

    let done = attach(&host, 1, InstructionName::Coding, never()).await;

    assert!(done.expect("it is carried out").result.end.is_completed());
    server.verify();
}
