//! What the tests share: a project, agents that write files, and fleets of them.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_core::Engine;
use autonoe_harness::{
    FileCriterion, FleetHome, FleetOrder, FleetRun, HarnessFolder, HarnessManager, MemberWork,
    PlannedTask, Roadmap, Task,
};
use autonoe_process::Commands;
use autonoe_testkit::program::git;
use tempfile::TempDir;

use crate::fleets::agents::{Agents, workshop};
use crate::fleets::ledger::Ledger;

/// Far longer than anything takes here.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// How often folders are looked at.
pub(crate) const OFTEN: Duration = Duration::from_millis(10);

/// A project; nothing of its fleets lives when it is gone.
pub(crate) struct Project {
    path: PathBuf,
    /// `None` in a process that a test has started.
    dir: Option<TempDir>,
}

impl Project {
    /// Makes a folder that is no repository.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("project");
        fs::create_dir(&path).expect("a folder");
        let path = path.canonicalize().expect("it is there");
        let dir = Some(dir);
        Self { path, dir }
    }

    /// Finds the project of a test, in a process that it has started.
    pub(crate) fn there(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path, dir: None }
    }

    /// Makes a repository on `main` with one commit.
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

    /// Returns a path beside the project.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.path.parent().expect("a folder").join(name)
    }

    /// Opens where coordinators complain.
    pub(crate) fn complaints(&self) -> File {
        let path = self.beside("complaints.log");
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.expect("a file")
    }

    pub(crate) fn home(&self) -> FleetHome {
        FleetHome::of(self.path())
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

    /// Fails if anything is left in the repository but `main`, or git finds anything wrong.
    pub(crate) fn is_clean(&self) {
        assert_eq!(self.branches(), ["main"]);
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        self.git(&["fsck", "--strict", "--no-dangling"]);
        let trees = self.home().worktrees_folder();
        let left = fs::read_dir(trees).into_iter().flatten().flatten();
        let left = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left: Vec<_> = left.filter(|name| !name.starts_with('.')).collect();
        assert_eq!(left, Vec::<String>::new());
    }

    /// Fails if a process of a member lives.
    pub(crate) fn nobody_lives(&self) {
        for folder in HarnessFolder::all_in(self.home().path()).expect("readable") {
            let marker = folder.marker().expect("it is there");
            assert_eq!(marker.processes(), [], "{}", folder.id());
        }
    }

    /// Returns the turns that agents brought to their end: who, and which task.
    pub(crate) fn turns(&self) -> Vec<String> {
        let text = fs::read_to_string(self.beside("turns.log")).unwrap_or_default();
        let mut turns: Vec<_> = text.lines().map(str::to_owned).collect();
        turns.sort();
        turns
    }

    /// Returns where processes tell what was acknowledged to them.
    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::at(self.beside("ledger.jsonl"))
    }

    pub(crate) fn agents(&self, pace: Duration) -> Arc<Agents> {
        Agents::new(self.beside("turns.log"), pace)
    }

    pub(crate) fn member_work(&self, agents: &Arc<Agents>) -> MemberWork {
        let ledger = self.ledger();
        MemberWork::new(self.home(), workshop(agents))
            .git(commands())
            .alerts(move |alerts| alerts.with_sink(ledger.clone().of_tasks()))
    }

    /// Members that are tasks of this process.
    pub(crate) fn in_process(&self, agents: &Arc<Agents>) -> Arc<HarnessManager> {
        let (home, work) = (self.home(), Arc::new(self.member_work(agents)));
        Arc::new(HarnessManager::in_process(home.path(), work).every(OFTEN))
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
            .checked_by(workshop(agents))
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
        // A test that has failed leaves nothing behind either.
        let folders = HarnessFolder::all_in(self.home().path());
        for folder in folders.unwrap_or_default() {
            if let Ok(marker) = folder.marker() {
                marker.kill_all(DEADLINE);
            }
        }
    }
}

pub(crate) fn commands() -> Commands {
    Commands::unconfined("/").env("PATH", "/usr/local/bin:/usr/bin:/bin")
}

/// A task that is done when its file is there.
pub(crate) fn task(id: &str) -> Task {
    let task = Task::new(id, format!("Write {id}.txt.")).expect("an id");
    task.success(FileCriterion::new(format!("{id}.txt")))
}

/// A roadmap of tasks, each with what it depends on.
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

/// Has turns that take hardly any time not count as hasty.
pub(crate) fn unhurried(order: FleetOrder) -> FleetOrder {
    order.each(|work| work.thresholds.hasty_iterations = 0)
}

/// Waits until `is_so`, and fails when that takes too long.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for `future`, and fails when that takes too long.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(DEADLINE, future).await;
    answer.expect("it does not take as long as that")
}
