//! What this program does when a test starts it again: a sub-harness, or the coordinator of a fleet.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::{
    FleetHome, FleetOrder, FleetOutcome, FolderError, HarnessFolder, HarnessManager, ServeOutcome,
    Serving, SubHarnessProgram,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::fleets::ledger::Entry;
use crate::fleets::setting::{OFTEN, Project, within};

/// Says to this program that it is a sub-harness, whose folder is its last argument.
const SUB_HARNESS: &str = "AUTONOE_TEST_SUB_HARNESS";

/// Says to this program that it is the coordinator of a project.
const COORDINATOR: &str = "AUTONOE_TEST_COORDINATOR";

/// Says how many milliseconds a turn takes.
const PACE: &str = "AUTONOE_TEST_PACE";

/// Where a coordinator finds its order, beside the project.
const ORDER: &str = "order.json";

#[test]
fn sub_harness() {
    let runtime = runtime();
    let Some(_) = std::env::var_os(SUB_HARNESS) else {
        // Not started as one: there is nothing to serve, and that is an error.
        let project = Project::new();
        let folder = project
            .home()
            .folder_of("f", &autonoe_harness::HarnessId::new("a"));
        let served = runtime.block_on(serve(folder.expect("an id"), &project));
        assert!(matches!(served, Err(FolderError::NoOrder { .. })));
        return;
    };
    let folder = PathBuf::from(std::env::args_os().next_back().expect("a folder"));
    let folder = HarnessFolder::at(&folder).expect("an id");
    let home = FleetHome::around(&folder).expect("a home");
    let project = Project::there(home.project());
    let served = runtime.block_on(serve(folder, &project));
    served.expect("it can be served");
}

async fn serve(folder: HarnessFolder, project: &Project) -> Result<(), FolderError> {
    let mut interrupted = signal(SignalKind::interrupt()).expect("a handler");
    let leave = async move {
        interrupted.recv().await;
    };
    let work = project.member_work(&project.agents(pace()));
    let member = folder.id().clone();
    let serving = Serving::new(folder, Arc::new(work)).every(OFTEN);
    let served = serving.until(leave, Duration::from_secs(5)).run().await?;
    if let ServeOutcome::Ended(outcome) = served {
        let success = outcome.is_success();
        project.ledger().add(&Entry::Run { member, success });
    }
    Ok(())
}

#[test]
fn coordinator() {
    let Some(project) = std::env::var_os(COORDINATOR) else {
        // Not started as one: nobody ordered anything.
        assert!(!Project::new().beside(ORDER).exists());
        return;
    };
    let project = Project::there(Path::new(&project));
    let outcome = runtime().block_on(lead(&project, pace()));
    project.ledger().add(&Entry::fleet(&outcome));
    assert!(outcome.result.success, "{outcome:?}");
}

/// Leads the fleet of the project to its end, with sub-harnesses in processes of their own.
pub(crate) async fn lead(project: &Project, pace: Duration) -> FleetOutcome {
    let order = std::fs::read(project.beside(ORDER)).expect("an order");
    let order: FleetOrder = serde_json::from_slice(&order).expect("an order");
    let program = SubHarnessProgram::new(std::env::current_exe().expect("this program"))
        .args(["fleets::roles::sub_harness", "--exact", "--nocapture"])
        .env(SUB_HARNESS, "yes")
        .env(PACE, pace.as_millis().to_string())
        .env("PATH", std::env::var_os("PATH").expect("set"));
    let manager = HarnessManager::new(project.home().path(), program).every(OFTEN);
    let agents = project.agents(pace);
    let run = project.run_on(&agents, &order, Arc::new(manager)).await;
    within(run.run(&RunControl::new())).await.expect("it ends")
}

/// Writes down what coordinators of the project are to do.
pub(crate) fn write_order(project: &Project, order: &FleetOrder) {
    let order = serde_json::to_vec(order).expect("it serialises");
    std::fs::write(project.beside(ORDER), order).expect("a file");
}

/// A coordinator in a process of its own, killed at the latest when it is dropped.
pub(crate) struct Host(Child);

impl Host {
    pub(crate) fn start(project: &Project, pace: Duration) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .args(["fleets::roles::coordinator", "--exact", "--nocapture"])
            .env(COORDINATOR, project.path())
            .env(PACE, pace.as_millis().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(project.complaints());
        Self(command.spawn().expect("it starts"))
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }

    /// Returns whether it has ended, and how well.
    pub(crate) fn ended(&mut self) -> Option<bool> {
        let status = self.0.try_wait().expect("ours");
        status.map(|status| status.success())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may be gone already, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}

fn pace() -> Duration {
    let millis = std::env::var(PACE).ok().and_then(|text| text.parse().ok());
    Duration::from_millis(millis.unwrap_or_default())
}
