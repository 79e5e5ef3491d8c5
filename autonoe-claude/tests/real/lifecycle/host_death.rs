//! A host that dies. Each test is the host too: it starts itself again in that role.

use std::fs::{self, File};
use std::future;
use std::process::{Child, Command, Stdio};

use futures::StreamExt;

use super::{ENDLESS, running};
use crate::build::{Build, on_both_builds};
use crate::setting::{Login, Place, Setting, eventually};

const FOLDER: &str = "AUTONOE_TEST_HOST_FOLDER";
const MODEL: &str = "AUTONOE_TEST_HOST_MODEL";

/// In a process that [`Host::start`] started, returns where it works.
fn as_host(build: Build) -> Option<Place> {
    Some(Place {
        folder: std::env::var_os(FOLDER)?.into(),
        model: std::env::var(MODEL).ok()?,
        build,
        login: Login::ApiKey,
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
        let module = setting.build.version.replace('.', "_");
        let child = Command::new(std::env::current_exe().expect("this program"))
            .arg(format!("lifecycle::host_death::on_{module}::{test}"))
            .args(["--exact", "--nocapture"])
            .env(FOLDER, &setting.folder)
            .env(MODEL, &setting.model)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("open"))
            .stderr(log)
            .spawn();
        Self(child.expect("it starts"))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may be gone already, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn a_host_that_is_killed(build: Build) {
    if let Some(place) = as_host(build) {
        return host(&place, future::pending()).await;
    }
    let setting = running(build, ENDLESS);
    let mut host = Host::start(&setting, "a_host_that_is_killed");
    setting.written("begun").await;
    assert_ne!(setting.processes(), []);

    host.0.kill().expect("ours");
    host.0.wait().expect("ours");

    eventually("the end of the last process", || {
        setting.processes().is_empty()
    })
    .await;
}

async fn a_host_that_panics(build: Build) {
    if let Some(place) = as_host(build) {
        return host(&place, async { panic!("as it must") }).await;
    }
    let setting = running(build, ENDLESS);
    let mut host = Host::start(&setting, "a_host_that_panics");
    setting.written("begun").await;

    eventually("the end of the host", || {
        host.0.try_wait().expect("ours").is_some()
    })
    .await;

    let log = fs::read_to_string(setting.folder.join("host.log")).expect("readable");
    assert!(log.contains("as it must"), "{log}");
    eventually("the end of the last process", || {
        setting.processes().is_empty()
    })
    .await;
}

on_both_builds![a_host_that_is_killed, a_host_that_panics];
