//! Tests of the conversations of members, which are kept until the members end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::project::create_private_folder;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, RunControl, SessionSpec,
};
use autonoe_harness::{
    AgentExecutor, Executors, FleetOrder, FleetRun, Graph, MemberManager, MemberWork,
};

use crate::fleets::agents::Agents;
use crate::fleets::fixture::{OFTEN, Project, roadmap, unhurried};

/// Stores a conversation in the given directory, as backends do.
struct Keeper {
    agents: Arc<Agents>,
    /// The locations and modes of the stored conversations.
    folders: Arc<Mutex<Vec<(PathBuf, u32)>>>,
}

#[async_trait]
impl AgentClientFactory for Keeper {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.agents.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let folder = spec.conversations.clone().expect("a member has one");
        create_private_folder(&folder).expect("it can be made");
        fs::write(folder.join("conversation"), "Do it.").expect("a file");
        let mode = fs::metadata(&folder).expect("it is there").permissions();
        let mut folders = self.folders.lock().expect("a lock");
        folders.push((folder, mode.mode() & 0o777));
        self.agents.create(spec)
    }
}

#[tokio::test]
async fn conversations_are_in_the_folder_of_their_member_until_it_ends() {
    let project = Project::new();
    let (agents, folders) = (project.agents(Duration::ZERO), Arc::default());
    let keeper = Arc::new(Keeper {
        agents,
        folders: Arc::clone(&folders),
    });
    let work = MemberWork::new(project.home(), move |folder| {
        let executor = AgentExecutor::new("agent", keeper.clone(), folder);
        Executors::default().executor(executor)
    });
    let engine = MemberManager::in_process(project.home().path(), Arc::new(work)).every(OFTEN);
    let tasks: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"])];
    let order = FleetOrder::from_tasks("f", &roadmap(tasks), Graph::default());
    let order = unhurried(order.expect("it can be done").without_worktrees());

    let run = FleetRun::new(project.home(), order, Arc::new(engine)).every(OFTEN);
    let outcome = run.run(&RunControl::new()).await.expect("it ends");

    assert!(outcome.success, "{outcome:?}");
    let expected = ["f.a", "f.b"].map(|id| project.home().path().join(id).join("conversations"));
    let private = expected.clone().map(|folder| (folder, 0o700));
    assert_eq!(*folders.lock().expect("a lock"), private);
    assert!(expected.iter().all(|folder| !folder.exists()));
}
