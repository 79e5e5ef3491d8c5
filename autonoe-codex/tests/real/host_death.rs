//! A host that dies. Each test is the host too: it starts itself again in that role.

use std::fs::File;
use std::future;
use std::process::{Child, Command, Stdio};

use autonoe_testkit::model_server::{Script, Turn};
use futures::StreamExt;

use crate::model::shell;
use crate::setting::{Place, Setting, events_of, eventually};

const ENDLESS: &str = "echo 1 > begun; sleep 600";

const FOLDER: &str = "AUTONOE_TEST_HOST_FOLDER";
const MODEL: &str = "AUTONOE_TEST_HOST_MODEL";
const SANDBOXED: &str = "AUTONOE_TEST_HOST_SANDBOXED";

/// In a process that [`Host::start`] started, returns where it works.
fn as_host() -> Option<Place> {
    Some(Place {
        folder: std::env::var_os(FOLDER)?.into(),
        model: std::env::var(MODEL).ok()?,
        is_sandboxed: std::env::var_os(SANDBOXED).is_some(),
    })
}

/// Lets a session run until its tool has begun, and then `and_then`.
async fn host(place: &Place, and_then: impl Future<Output = ()>) {
    let mut client = place.client(place.spec([]));
    let mut stream = client.query("Wait.".into());
    let listened = async { while stream.next().await.is_some() {} };
    let died = async {
        place.written("begun").await;
        and_then.await;
    };
    tokio::join!(listened, died);
}

/// This program as a host in a process of its own, killed at the latest when it is dropped.
struct Host(Child);

impl Host {
    fn start(setting: &Setting, test: &str) -> Self {
        let log = File::create(setting.folder.join("host.log")).expect("writable");
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .arg(format!("host_death::{test}"))
            .args(["--exact", "--nocapture"])
            .env(FOLDER, &setting.folder)
            .env(MODEL, &setting.model)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("open"))
            .stderr(log);
        if setting.is_sandboxed {
            command.env(SANDBOXED, "1");
        }
        Self(command.spawn().expect("it starts"))
    }

    fn kill(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may be gone already, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A setting for a host whose tool is `command`, and for a session that comes after it.
fn setting(command: &str) -> Setting {
    Setting::new(Script::new([shell(command), Turn::text("Hello.")]))
}

async fn eventually_no_process_is_left(setting: &Setting) {
    let is_empty = || setting.processes().is_empty();
    eventually("the end of the last process", is_empty).await;
}

/// What a dead host cannot do, the next session does.
async fn assert_the_next_session_leaves_nothing(setting: &Setting) {
    assert_eq!(setting.session_folders().len(), 1, "it is removed already");
    let mut client = setting.client(setting.spec([]));

    let (events, error) = events_of(client.as_mut(), "Say hello.").await;
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
    let mut host = Host::start(&setting, "a_host_that_is_killed");
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
    let mut host = Host::start(&setting, test);
    setting.written("begun").await;
    assert_ne!(setting.processes(), []);

    host.kill();

    eventually_no_process_is_left(&setting).await;
    assert_the_next_session_leaves_nothing(&setting).await;
}
