//! Sessions whose host dies. Each test starts itself again as the host.

use std::future;

use autonoe_testkit::model_server::{ModelScript, Turn};
use autonoe_testkit::program::HostProcess;
use futures::StreamExt;

use crate::fixture::{Fixture, TestFolders, collect_events, eventually};
use crate::model::shell;

const ENDLESS: &str = "echo 1 > begun; sleep 600";

const FOLDER: &str = "AUTONOE_TEST_HOST_FOLDER";
const MODEL: &str = "AUTONOE_TEST_HOST_MODEL";
const SANDBOXED: &str = "AUTONOE_TEST_HOST_SANDBOXED";

/// In a process that [`start_host`] started, returns its place.
fn as_host() -> Option<TestFolders> {
    Some(TestFolders {
        folder: std::env::var_os(FOLDER)?.into(),
        model: std::env::var(MODEL).ok()?,
        is_sandboxed: std::env::var_os(SANDBOXED).is_some(),
    })
}

/// Runs a session until its tool has started, and then `and_then`.
async fn host(place: &TestFolders, and_then: impl Future<Output = ()>) {
    let mut client = place.client(place.spec([]));
    let mut stream = client.query("Wait.".into());
    let listened = async { while stream.next().await.is_some() {} };
    let died = async {
        place.written("begun").await;
        and_then.await;
    };
    tokio::join!(listened, died);
}

/// Starts `test` as the host of a session in `fixture`.
fn start_host(fixture: &Fixture, test: &str) -> HostProcess {
    let sandboxed = fixture.is_sandboxed.then_some((SANDBOXED, "1".as_ref()));
    let variables = [
        (FOLDER, fixture.folder.as_os_str()),
        (MODEL, fixture.model.as_ref()),
    ];
    let name = format!("host_death::{test}");
    let log = fixture.folder.join("host.log");
    HostProcess::start(&name, variables.into_iter().chain(sandboxed), &log)
}

/// Returns a fixture for a host whose tool is `command`, and for a later session.
fn fixture(command: &str) -> Fixture {
    Fixture::new(ModelScript::new([shell(command), Turn::text("Hello.")]))
}

async fn eventually_no_process_is_left(fixture: &Fixture) {
    let is_empty = || fixture.processes().is_empty();
    eventually("the end of the last process", is_empty).await;
}

/// Asserts that the next session cleans up what a dead host left.
async fn assert_the_next_session_leaves_nothing(fixture: &Fixture) {
    assert_eq!(fixture.session_folders().len(), 1, "it is removed already");
    let mut client = fixture.client(fixture.spec([]));

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_host_that_is_killed() {
    if let Some(place) = as_host() {
        return host(&place, future::pending()).await;
    }
    let fixture = fixture(ENDLESS);
    let mut host = start_host(&fixture, "a_host_that_is_killed");
    fixture.written("begun").await;
    assert_ne!(fixture.processes(), []);

    host.kill();

    eventually_no_process_is_left(&fixture).await;
    assert_the_next_session_leaves_nothing(&fixture).await;
}

#[tokio::test]
async fn a_host_that_is_killed_with_the_program_in_a_sandbox() {
    if let Some(place) = as_host() {
        return host(&place, future::pending()).await;
    }
    let left = "(setsid nohup sleep 500 >/dev/null 2>&1 &)";
    let fixture = fixture(&format!("{left}; {ENDLESS}")).sandboxed();
    let test = "a_host_that_is_killed_with_the_program_in_a_sandbox";
    let mut host = start_host(&fixture, test);
    fixture.written("begun").await;
    assert_ne!(fixture.processes(), []);

    host.kill();

    eventually_no_process_is_left(&fixture).await;
    assert_the_next_session_leaves_nothing(&fixture).await;
}
