//! Roles of this program when a test starts it again: a member, or the coordinator of a fleet.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::folder::{FolderError, MemberFolder};
use autonoe_harness::serve::ServeOutcome;
use autonoe_harness::{
    FleetHome, FleetOrder, FleetReport, MemberCommand, MemberManager, MemberServer,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::fleets::fixture::{OFTEN, Project, within};
use crate::fleets::ledger::Entry;

/// Makes this program a member, whose folder is its last argument.
const IS_MEMBER: &str = "AUTONOE_TEST_MEMBER";

/// Makes this program the coordinator of a project.
const COORDINATOR: &str = "AUTONOE_TEST_COORDINATOR";

/// Sets the duration of a turn in milliseconds.
const PACE: &str = "AUTONOE_TEST_PACE";

/// File with the order of a coordinator, next to the project.
const ORDER: &str = "order.json";

#[test]
fn member() {
    let runtime = runtime();
    let Some(_) = std::env::var_os(IS_MEMBER) else {
        // Not started as a member: there is nothing to serve, and that is an error.
        let project = Project::new();
        let folder = project
            .home()
            .member_folder("f", &autonoe_harness::strategy::MemberId::new("a"));
        let served = runtime.block_on(serve(folder.expect("an id"), &project));
        assert!(matches!(served, Err(FolderError::NoOrder { .. })));
        return;
    };
    let folder = PathBuf::from(std::env::args_os().next_back().expect("a folder"));
    let folder = MemberFolder::from_path(&folder).expect("an id");
    let home = FleetHome::from_member_folder(&folder).expect("a home");
    let project = Project::there(home.project());
    let served = runtime.block_on(serve(folder, &project));
    served.expect("it can be served");
}

async fn serve(folder: MemberFolder, project: &Project) -> Result<(), FolderError> {
    let mut interrupted = signal(SignalKind::interrupt()).expect("a handler");
    let leave = async move {
        interrupted.recv().await;
    };
    let work = project.member_work(&project.agents(pace()));
    let member = folder.id().clone();
    let serving = MemberServer::new(folder, Arc::new(work)).every(OFTEN);
    let served = serving
        .shutdown_signal(leave, Duration::from_secs(5))
        .run()
        .await?;
    if let ServeOutcome::Ended(outcome) = served {
        let success = outcome.is_success();
        project.ledger().add(&Entry::Run { member, success });
    }
    Ok(())
}

#[test]
fn coordinator() {
    let Some(project) = std::env::var_os(COORDINATOR) else {
        // Not started as a coordinator: there is no order.
        assert!(!Project::new().sibling_path(ORDER).exists());
        return;
    };
    let project = Project::there(Path::new(&project));
    let outcome = runtime().block_on(run_coordinator(&project, pace()));
    project.ledger().add(&Entry::fleet(&outcome));
    assert!(outcome.success, "{outcome:?}");
}

/// Leads the fleet of the project until it ends, with members in processes of their own.
pub(crate) async fn run_coordinator(project: &Project, pace: Duration) -> FleetReport {
    let order = std::fs::read(project.sibling_path(ORDER)).expect("an order");
    let order: FleetOrder = serde_json::from_slice(&order).expect("an order");
    let program = MemberCommand::new(std::env::current_exe().expect("this program"))
        .args(["fleets::roles::member", "--exact", "--nocapture"])
        .env(IS_MEMBER, "yes")
        .env(PACE, pace.as_millis().to_string())
        .env("PATH", std::env::var_os("PATH").expect("set"));
    let manager = MemberManager::new(project.home().path(), program).every(OFTEN);
    let agents = project.agents(pace);
    let run = project.run_on(&agents, &order, Arc::new(manager)).await;
    within(run.run(&RunControl::new())).await.expect("it ends")
}

/// Writes the order for coordinators of the project.
pub(crate) fn write_order(project: &Project, order: &FleetOrder) {
    let order = serde_json::to_vec(order).expect("it serialises");
    std::fs::write(project.sibling_path(ORDER), order).expect("a file");
}

/// A coordinator in a process of its own, killed on drop at the latest.
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

    /// Returns whether it has ended, and whether it succeeded.
    pub(crate) fn ended(&mut self) -> Option<bool> {
        let status = self.0.try_wait().expect("ours");
        status.map(|status| status.success())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have ended already, which is fine.
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
