//! Sessions whose host dies. Each test starts itself again as the host.

use std::fs;
use std::future;

use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use autonoe_testkit::program::HostProcess;
use futures::StreamExt;
use serde_json::json;

use super::{ENDLESS, running};
use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, Login, PROJECT, TestFolders, collect_events, eventually};

const FOLDER: &str = "AUTONOE_TEST_HOST_FOLDER";
const MODEL: &str = "AUTONOE_TEST_HOST_MODEL";

/// In a process that [`start_host`] started, returns its place.
fn as_host(build: Build) -> Option<TestFolders> {
    Some(TestFolders {
        project: PROJECT,
        folder: std::env::var_os(FOLDER)?.into(),
        model: std::env::var(MODEL).ok()?,
        build,
        login: Login::ApiKey,
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
    let module = fixture.build.version.replace('.', "_");
    let name = format!("lifecycle::host_death::on_{module}::{test}");
    let variables = [
        (FOLDER, fixture.folder.as_os_str()),
        (MODEL, fixture.model.as_ref()),
    ];
    HostProcess::start(&name, variables, &fixture.folder.join("host.log"))
}

/// Returns a fixture for a host whose tool is `command`, and for a later session.
fn fixture(build: Build, command: &str) -> Fixture {
    let call = json!({"command": command, "description": "as the script says"});
    let script = ModelScript::new([Turn::tool("Bash", call), Turn::text("Hello.")]);
    Fixture::new(build, script)
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

async fn a_host_that_is_killed(build: Build) {
    if let Some(place) = as_host(build) {
        return host(&place, future::pending()).await;
    }
    let fixture = fixture(build, ENDLESS);
    let mut host = start_host(&fixture, "a_host_that_is_killed");
    fixture.written("begun").await;
    assert_ne!(fixture.processes(), []);

    host.kill();

    eventually_no_process_is_left(&fixture).await;
    assert_the_next_session_leaves_nothing(&fixture).await;
}

async fn a_host_that_is_killed_when_a_tool_has_left_something_running(build: Build) {
    if let Some(place) = as_host(build) {
        return host(&place, future::pending()).await;
    }
    // The background process must have detached before the host is killed.
    let left = "(setsid nohup sh -c 'echo 1 > left; exec sleep 500' >/dev/null 2>&1 &)";
    let leaving = format!("{left}; while [ ! -s left ]; do sleep 0.01; done; {ENDLESS}");
    let fixture = fixture(build, &leaving);
    let test = "a_host_that_is_killed_when_a_tool_has_left_something_running";
    let mut host = start_host(&fixture, test);
    fixture.written("begun").await;

    host.kill();

    // Background processes of a tool often end with the program, but not always.
    let names = || fixture.processes().into_iter().map(|process| process.name);
    let is_left = || names().all(|name| name == "sleep");
    eventually("the end of all but what the tool left", is_left).await;
    assert_the_next_session_leaves_nothing(&fixture).await;
}

async fn a_host_that_panics(build: Build) {
    if let Some(place) = as_host(build) {
        return host(&place, async { panic!("as it must") }).await;
    }
    let fixture = running(build, ENDLESS);
    let mut host = start_host(&fixture, "a_host_that_panics");
    fixture.written("begun").await;

    eventually("the end of the host", || host.has_ended()).await;

    let log = fs::read_to_string(fixture.folder.join("host.log")).expect("readable");
    assert!(log.contains("as it must"), "{log}");
    eventually_no_process_is_left(&fixture).await;
}

on_newer_build![
    a_host_that_is_killed,
    a_host_that_is_killed_when_a_tool_has_left_something_running,
    a_host_that_panics,
];
