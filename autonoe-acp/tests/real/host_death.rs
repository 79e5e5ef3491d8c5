//! Sessions whose host is killed. The test starts itself again as the host.

use autonoe_core::agent::OuterSandbox;
use autonoe_testkit::model_server::{ModelScript, Turn};
use autonoe_testkit::program::HostProcess;
use futures::StreamExt;

use crate::fixture::{Fixture, TestFolders, collect_events, eventually, shell, within};

const FOLDER: &str = "AUTONOE_TEST_HOST_FOLDER";
const MODEL: &str = "AUTONOE_TEST_HOST_MODEL";
const WALLS: &str = "AUTONOE_TEST_HOST_WALLS";

/// In a process that [`start_host`] started, runs a session for ever.
async fn as_host() -> bool {
    let (Some(folder), Ok(model)) = (std::env::var_os(FOLDER), std::env::var(MODEL)) else {
        return false;
    };
    let place = TestFolders {
        folder: folder.into(),
        model,
    };
    let mut spec = place.spec();
    if std::env::var_os(WALLS).is_some() {
        spec.outer_sandbox = Some(OuterSandbox::bubblewrap());
    }
    let mut client = place.client(spec);
    let mut stream = client.query("Wait.".into());
    while stream.next().await.is_some() {}
    true
}

/// Starts `test` as the host of a session in `fixture`.
fn start_host(fixture: &Fixture, test: &str, is_sandboxed: bool) -> HostProcess {
    let walls = is_sandboxed.then_some((WALLS, "1".as_ref()));
    let variables = [
        (FOLDER, fixture.folder.as_os_str()),
        (MODEL, fixture.model.as_ref()),
    ];
    let name = format!("host_death::{test}");
    let log = fixture.folder.join("host.log");
    HostProcess::start(&name, variables.into_iter().chain(walls), &log)
}

async fn nothing_is_left_of_a_killed_host(test: &str, is_sandboxed: bool) {
    let endless = shell("setsid sleep 500 & echo 1 > begun && sleep 600");
    let fixture = Fixture::new(ModelScript::new([endless, Turn::text("Hello.")]));
    let host = start_host(&fixture, test, is_sandboxed);
    fixture.written("begun").await;
    let sleeps = || {
        let processes = fixture.processes();
        processes.iter().filter(|it| it.name == "sleep").count()
    };
    eventually("the tools", || sleeps() == 2).await;

    drop(host);

    // The program ends with its host. Its tools detach, unless a sandbox contains them; the next
    // session cleans up what a dead host left.
    let is_tool = |name: &str| !is_sandboxed && ["bash", "sleep"].contains(&name);
    let only_tools = || {
        fixture
            .processes()
            .iter()
            .all(|process| is_tool(&process.name))
    };
    eventually("the end of the program", only_tools).await;
    let mut client = fixture.client(fixture.spec());
    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    within(client.dispose()).await.expect("it ends");
    assert!(error.is_none(), "{error:?} {events:?}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_host_that_is_killed() {
    if !as_host().await {
        nothing_is_left_of_a_killed_host("a_host_that_is_killed", false).await;
    }
}

#[tokio::test]
async fn killed_host_leaves_no_sandboxed_agent() {
    if !as_host().await {
        let test = "killed_host_leaves_no_sandboxed_agent";
        nothing_is_left_of_a_killed_host(test, true).await;
    }
}
