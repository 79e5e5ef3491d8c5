//! Child process roles of this program: a fleet member, or a process that only waits.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_harness::MemberServer;
use autonoe_harness::folder::MemberFolder;
use tokio::runtime::{Builder, Runtime};

/// Argument of a process that acts as a fleet member; its folder follows.
pub(crate) const SERVE: &str = "serve-a-member";

/// Argument of a process that only waits until its input ends.
pub(crate) const IDLE: &str = "wait-for-nothing";

/// An agent that waits for a message.
pub(crate) struct Waits;

#[async_trait]
impl JobRunner for Waits {
    async fn run(&self, _: &RunSpec, context: &JobContext) -> RunOutcome {
        context.control().cancelled().await;
        RunOutcome::cancelled("it was told to end")
    }
}

fn runtime() -> Runtime {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime")
}

pub(crate) fn serve(folder: &str) {
    let folder = MemberFolder::from_path(Path::new(folder)).expect("an id");
    let served = runtime().block_on(MemberServer::new(folder, Arc::new(Waits)).run());
    served.expect("it can be served");
}

pub(crate) fn idle() {
    let _runtime = runtime();
    let mut all = Vec::new();
    std::io::stdin().read_to_end(&mut all).expect("readable");
}
