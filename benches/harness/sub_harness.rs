//! This program in the role of a sub-harness, or of a process that only waits.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{JobRunner, RunDesk, RunOutcome, RunSpec};
use autonoe_harness::{HarnessFolder, Serving};
use tokio::runtime::{Builder, Runtime};

/// Says to this program that it is a sub-harness; its folder follows.
pub(crate) const SERVE: &str = "serve-a-sub-harness";

/// Says to this program that it only waits, until its input ends.
pub(crate) const IDLE: &str = "wait-for-nothing";

/// An agent that waits to be told something.
pub(crate) struct Waits;

#[async_trait]
impl JobRunner for Waits {
    async fn run(&self, _: &RunSpec, desk: &RunDesk) -> RunOutcome {
        desk.control().cancelled().await;
        RunOutcome::cancelled("it was told to end")
    }
}

fn runtime() -> Runtime {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime")
}

pub(crate) fn serve(folder: &str) {
    let folder = HarnessFolder::at(Path::new(folder)).expect("an id");
    let served = runtime().block_on(Serving::new(folder, Arc::new(Waits)).run());
    served.expect("it can be served");
}

pub(crate) fn idle() {
    let _runtime = runtime();
    let mut all = Vec::new();
    std::io::stdin().read_to_end(&mut all).expect("readable");
}
