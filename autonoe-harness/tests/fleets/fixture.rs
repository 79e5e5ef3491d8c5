//! Fixture: a project, agents that write files, and fleets of them.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_core::engine::Engine;
use autonoe_harness::executor::FileCriterion;
use autonoe_harness::folder::MemberFolder;
use autonoe_harness::roadmap::PlannedTask;
use autonoe_harness::{FleetHome, FleetOrder, FleetRun, MemberManager, MemberWork, Roadmap, Task};
use autonoe_process::ProcessRunner;
use autonoe_testkit::program::git;
use tempfile::TempDir;

use crate::fleets::agents::{Agents, executor_factory};
use crate::fleets::ledger::AcknowledgedWrites;

/// Far longer than anything takes here.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// Poll interval of folders.
pub(crate) const OFTEN: Duration = Duration::from_millis(10);

/// A project. None of its processes survive it.
pub(crate) struct Project {
    path: PathBuf,
    /// `None` in a process that a test has started.
    dir: Option<TempDir>,
}

impl Project {
    /// Creates a folder that is not a repository.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("project");
        fs::create_dir(&path).expect("a folder");
        let path = path.canonicalize().expect("it is there");
        let dir = Some(dir);
        Self { path, dir }
    }

    /// Opens the project of a test, in a process that it has started.
    pub(crate) fn there(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path, dir: None }
    }

    /// Creates a repository on `main` with one commit.
    pub(crate) fn with_git() -> Self {
        let project = Self::new();
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        fs::write(project.path().join("readme.md"), "A project.\n").expect("a file");
        project.git(&["add", "--all"]);
        project.git(&["commit", "--quiet", "-m", "first"]);
        project
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Returns a path next to the project.
    pub(crate) fn sibling_path(&self, name: &str) -> PathBuf {
        self.path.parent().expect("a folder").join(name)
    }

    /// Opens the file for stderr of coordinators.
    pub(crate) fn complaints(&self) -> File {
        let path = self.sibling_path("complaints.log");
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.expect("a file")
    }

    pub(crate) fn home(&self) -> FleetHome {
        FleetHome::new(self.path())
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.path(), arguments)
    }

    /// Returns all branches, sorted.
    pub(crate) fn branches(&self) -> Vec<String> {
        let list = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        list.lines().map(str::to_owned).collect()
    }

    /// Returns the files that are committed on a branch, sorted.
    pub(crate) fn committed(&self, branch: &str) -> Vec<String> {
        let list = self.git(&["ls-tree", "-r", "--name-only", branch]);
        list.lines().map(str::to_owned).collect()
    }

    /// Fails if anything is left in the repository but `main`, or git finds a problem.
    pub(crate) fn is_clean(&self) {
        assert_eq!(self.branches(), ["main"]);
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        self.git(&["fsck", "--strict", "--no-dangling"]);
        let trees = self.home().worktrees_folder();
        let left: Vec<_> = fs::read_dir(trees)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with('.'))
            .collect();
        assert_eq!(left, Vec::<String>::new());
    }

    /// Fails if a process of a member is alive.
    pub(crate) fn assert_no_member_process(&self) {
        for folder in MemberFolder::list(self.home().path()).expect("readable") {
            let marker = folder.marker().expect("it is there");
            assert_eq!(marker.processes(), [], "{}", folder.id());
        }
    }

    /// Returns the finished turns of agents: the member and the task.
    pub(crate) fn turns(&self) -> Vec<String> {
        let text = fs::read_to_string(self.sibling_path("turns.log")).unwrap_or_default();
        let mut turns: Vec<_> = text.lines().map(str::to_owned).collect();
        turns.sort();
        turns
    }

    /// Returns the record of acknowledged writes.
    pub(crate) fn ledger(&self) -> AcknowledgedWrites {
        AcknowledgedWrites::at(self.sibling_path("ledger.jsonl"))
    }

    pub(crate) fn agents(&self, pace: Duration) -> Arc<Agents> {
        Agents::new(self.sibling_path("turns.log"), pace)
    }

    pub(crate) fn member_work(&self, agents: &Arc<Agents>) -> MemberWork {
        let ledger = self.ledger();
        MemberWork::new(self.home(), executor_factory(agents))
            .git(commands())
            .alerts(move |alerts| alerts.sink(ledger.clone().of_tasks()))
    }

    /// An engine whose members are tasks of this process.
    pub(crate) fn in_process(&self, agents: &Arc<Agents>) -> Arc<MemberManager> {
        let (home, work) = (self.home(), Arc::new(self.member_work(agents)));
        Arc::new(MemberManager::in_process(home.path(), work).every(OFTEN))
    }

    /// A run without worktrees, whose members are tasks of this process.
    pub(crate) fn run(&self, agents: &Arc<Agents>, order: &FleetOrder) -> FleetRun {
        let engine = self.in_process(agents);
        FleetRun::new(self.home(), order.clone(), engine).every(OFTEN)
    }

    /// A run in a repository, whose members are runs on `engine`.
    pub(crate) async fn run_on(
        &self,
        agents: &Arc<Agents>,
        order: &FleetOrder,
        engine: Arc<dyn Engine>,
    ) -> FleetRun {
        let trees = self.home().worktrees(&order.name, commands()).await;
        FleetRun::new(self.home(), order.clone(), engine)
            .worktrees(trees.expect("a repository"))
            .verification_executors(executor_factory(agents))
            .every(OFTEN)
    }

    /// A run in a repository, whose members are tasks of this process.
    pub(crate) async fn run_with_git(&self, agents: &Arc<Agents>, order: &FleetOrder) -> FleetRun {
        let engine = self.in_process(agents);
        self.run_on(agents, order, engine).await
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        if self.dir.is_none() {
            return;
        }
        // A failed test leaves nothing behind either.
        let folders = MemberFolder::list(self.home().path());
        for folder in folders.unwrap_or_default() {
            if let Ok(marker) = folder.marker() {
                marker.kill_all(DEADLINE);
            }
        }
    }
}

pub(crate) fn commands() -> ProcessRunner {
    ProcessRunner::unconfined("/").env("PATH", "/usr/local/bin:/usr/bin:/bin")
}

/// A task that is done when its file exists.
pub(crate) fn task(id: &str) -> Task {
    let task = Task::new(id, format!("Write {id}.txt.")).expect("an id");
    task.success_criteria(FileCriterion::new(format!("{id}.txt")))
}

/// A roadmap of tasks, each with its dependencies.
pub(crate) fn roadmap(tasks: &[(&str, &[&str])]) -> Roadmap {
    let planned = tasks.iter().map(|(id, depends)| PlannedTask {
        depends: depends
            .iter()
            .map(|id| id.parse().expect("an id"))
            .collect(),
        ..PlannedTask::new(task(id))
    });
    Roadmap {
        title: None,
        objective: "Many files.".to_owned(),
        constraints: vec!["no empty ones".to_owned()],
        success_criteria: vec!["all are there".to_owned()],
        tasks: planned.collect(),
        warnings: Vec::new(),
    }
}

/// Disables the detection of turns that are too fast.
pub(crate) fn unhurried(order: FleetOrder) -> FleetOrder {
    order.each(|work| work.thresholds.hasty_iterations = 0)
}

/// Waits until `is_so` returns true, and fails after the deadline.
pub(crate) async fn eventually(description: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(
            started.elapsed() < DEADLINE,
            "waited in vain for {description}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for `future`, and fails after the deadline.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(DEADLINE, future).await;
    answer.expect("it does not take as long as that")
}
