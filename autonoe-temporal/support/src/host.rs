//! [`Host`]: a worker in a process of its own, which can be killed.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use autonoe_temporal::{TemporalSettings, TemporalWorker, WorkerSettings};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::site::Site;
use crate::test_hosts::TestHosts;

/// Environment variable that makes this program a worker, with its orders.
const WORKER: &str = "AUTONOE_TEST_WORKER";

/// Number of concurrent sessions.
const SLOTS: usize = 64;

/// The orders of a worker process.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    settings: TemporalSettings,
    host: String,
    slots: usize,
    site: PathBuf,
}

/// Runs as a worker until it is killed, if this program was started by [`Host::start`]. Does
/// nothing otherwise.
///
/// A benchmark calls it first. Tests call it in a separate test named `worker`.
pub fn run_worker_if_requested() {
    let Ok(orders) = std::env::var(WORKER) else {
        return;
    };
    let orders: Orders = serde_json::from_str(&orders).expect("orders");
    let test_hosts = TestHosts::at(&orders.site, &orders.host);
    let worker = WorkerSettings {
        slots: orders.slots,
        ..WorkerSettings::for_host(orders.host)
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let worked = runtime.expect("a runtime").block_on(async {
        let worker = TemporalWorker::connect(orders.settings, worker).await?;
        worker
            .sessions(test_hosts)
            .run(CancellationToken::new())
            .await
    });
    panic!("it works until it is killed, and not until {worked:?}");
}

/// A worker in a process of its own. It is killed when the handle is dropped.
#[derive(Debug)]
pub struct Host(Child);

impl Host {
    /// Starts this program again, as a worker on the host `host`.
    pub fn start(site: &Site, settings: &TemporalSettings, host: &str) -> Self {
        let orders = Orders {
            settings: settings.clone(),
            host: host.to_owned(),
            slots: SLOTS,
            site: site.path().to_owned(),
        };
        let orders = serde_json::to_string(&orders).expect("it is JSON");
        let complaints = site.path().join(format!("{host}.err"));
        let complaints = OpenOptions::new()
            .append(true)
            .create(true)
            .open(complaints);
        // Killed with the thread of its test, even if that is killed.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]);
        command.arg(std::env::current_exe().expect("this program"));
        command.args(["worker", "--exact", "--nocapture"]);
        command.env(WORKER, orders);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(complaints.expect("a file"));
        Self(command.spawn().expect("it starts"))
    }

    /// Returns the process ID.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Kills the process, like a power cut.
    pub fn kill(mut self) {
        assert_eq!(self.0.try_wait().expect("ours"), None, "it is gone already");
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
