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

/// Starts `test` as the host of a session in `setting`.
fn start_host(setting: &Fixture, test: &str) -> HostProcess {
    let sandboxed = setting.is_sandboxed.then_some((SANDBOXED, "1".as_ref()));
    let variables = [
        (FOLDER, setting.folder.as_os_str()),
        (MODEL, setting.model.as_ref()),
    ];
    let name = format!("host_death::{test}");
    let log = setting.folder.join("host.log");
    HostProcess::start(&name, variables.into_iter().chain(sandboxed), &log)
}

/// Returns a setting for a host whose tool is `command`, and for a later session.
fn setting(command: &str) -> Fixture {
    Fixture::new(ModelScript::new([shell(command), Turn::text("Hello.")]))
}

async fn eventually_no_process_is_left(setting: &Fixture) {
    let is_empty = || setting.processes().is_empty();
    eventually("the end of the last process", is_empty).await;
}

/// Asserts that the next session cleans up what a dead host left.
async fn assert_the_next_session_leaves_nothing(setting: &Fixture) {
    assert_eq!(setting.session_folders().len(), 1, "it is removed already");
    let mut client = setting.client(setting.spec([]));

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    setting.assert_nothing_is_left();
}

#[tokio::test]
async fn a_host_that_is_killed() {
    if let Some(place) = as_host() {
        return host(&place, future::pending()).await;
    }
    let setting = setting(ENDLESS);
    let mut host = start_host(&setting, "a_host_that_is_killed");
    setting.written("begun").await;
    assert_ne!(setting.processes(), []);

    host.kill();

    eventually_no_process_is_left(&setting).await;
    assert_the_next_session_leaves_nothing(&setting).await;
}

#[tokio::test]
async fn a_host_that_is_killed_with_the_program_in_a_sandbox() {
    if let Some(place) = as_host() {
        return host(&place, future::pending()).await;
    }
    let left = "(setsid nohup sleep 500 >/dev/null 2>&1 &)";
    let setting = setting(&format!("{left}; {ENDLESS}")).sandboxed();
    let test = "a_host_that_is_killed_with_the_program_in_a_sandbox";
    let mut host = start_host(&setting, test);
    setting.written("begun").await;
    assert_ne!(setting.processes(), []);

    host.kill();

    eventually_no_process_is_left(&setting).await;
    assert_the_next_session_leaves_nothing(&setting).await;
}
