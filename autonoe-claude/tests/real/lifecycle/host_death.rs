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

/// Starts `test` as the host of a session in `setting`.
fn start_host(setting: &Fixture, test: &str) -> HostProcess {
    let module = setting.build.version.replace('.', "_");
    let name = format!("lifecycle::host_death::on_{module}::{test}");
    let variables = [
        (FOLDER, setting.folder.as_os_str()),
        (MODEL, setting.model.as_ref()),
    ];
    HostProcess::start(&name, variables, &setting.folder.join("host.log"))
}

/// Returns a setting for a host whose tool is `command`, and for a later session.
fn setting(build: Build, command: &str) -> Fixture {
    let call = json!({"command": command, "description": "as the script says"});
    let script = ModelScript::new([Turn::tool("Bash", call), Turn::text("Hello.")]);
    Fixture::new(build, script)
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

async fn a_host_that_is_killed(build: Build) {
    if let Some(place) = as_host(build) {
        return host(&place, future::pending()).await;
    }
    let setting = setting(build, ENDLESS);
    let mut host = start_host(&setting, "a_host_that_is_killed");
    setting.written("begun").await;
    assert_ne!(setting.processes(), []);

    host.kill();

    eventually_no_process_is_left(&setting).await;
    assert_the_next_session_leaves_nothing(&setting).await;
}

async fn a_host_that_is_killed_when_a_tool_has_left_something_running(build: Build) {
    if let Some(place) = as_host(build) {
        return host(&place, future::pending()).await;
    }
    // The background process must have detached before the host is killed.
    let left = "(setsid nohup sh -c 'echo 1 > left; exec sleep 500' >/dev/null 2>&1 &)";
    let leaving = format!("{left}; while [ ! -s left ]; do sleep 0.01; done; {ENDLESS}");
    let setting = setting(build, &leaving);
    let test = "a_host_that_is_killed_when_a_tool_has_left_something_running";
    let mut host = start_host(&setting, test);
    setting.written("begun").await;

    host.kill();

    // Background processes of a tool often end with the program, but not always.
    let names = || setting.processes().into_iter().map(|process| process.name);
    let is_left = || names().all(|name| name == "sleep");
    eventually("the end of all but what the tool left", is_left).await;
    assert_the_next_session_leaves_nothing(&setting).await;
}

async fn a_host_that_panics(build: Build) {
    if let Some(place) = as_host(build) {
        return host(&place, async { panic!("as it must") }).await;
    }
    let setting = running(build, ENDLESS);
    let mut host = start_host(&setting, "a_host_that_panics");
    setting.written("begun").await;

    eventually("the end of the host", || host.has_ended()).await;

    let log = fs::read_to_string(setting.folder.join("host.log")).expect("readable");
    assert!(log.contains("as it must"), "{log}");
    eventually_no_process_is_left(&setting).await;
}

on_newer_build![
    a_host_that_is_killed,
    a_host_that_is_killed_when_a_tool_has_left_something_running,
    a_host_that_panics,
];
