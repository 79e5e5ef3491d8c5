//! Fixture: a repository and a fleet of the three CLIs, each member in a worktree of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use autonoe_core::RunControl;
use autonoe_core::engine::{Engine, LocalEngine};
use autonoe_harness::isolation::Author;
use autonoe_harness::strategy::{MemberId, MemberReport};
use autonoe_harness::work::{Isolation, WhenDone, WorkOrder};
use autonoe_harness::{
    Executors, FleetEvent, FleetEventKind, FleetHome, FleetMember, FleetOrder, FleetReport,
    FleetRun, MemberWork, Strategy, SuccessCriteria, Task,
};
use autonoe_testkit::model_server::{ModelScript, ServerAnswer, Turn};

use super::cli::{Cli, Model};
use crate::fixture::{Fixture, TIMEOUT};

/// Script that checks the work of a member: a held member waits until it is released.
const CHECK: &str = r#"
name=$(basename "$(pwd)")
touch "$PLACE/checked/$name"
while [ -e "$PLACE/held/$name" ]; do sleep 0.05; done
tests=$(grep -cx hello hello.txt)
{
    printf '<testsuite>'
    i=0; while [ "$i" -lt "$tests" ]; do i=$((i + 1)); printf '<testcase name="%s"/>' "$i"; done
    printf '</testsuite>\n'
} > report.xml
[ "$tests" -gt 0 ]
"#;

pub(crate) struct FleetFixture {
    place: Fixture,
    models: Vec<(Cli, Model)>,
    events: Arc<Mutex<Vec<FleetEvent>>>,
}

impl FleetFixture {
    /// Creates a repository on `main`.
    pub(crate) fn new() -> Self {
        let place = Fixture::new();
        for name in ["held", "busy", "checked"] {
            fs::create_dir(place.path().join(name)).expect("it can be made");
        }
        let check = format!("PLACE='{}'\n{CHECK}", place.path().display());
        fs::write(place.path().join("check"), check).expect("a file");
        let project = place.project();
        git(&project, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(project.join(".gitignore"), "report.xml\n").expect("a file");
        git(&project, &["add", "--all"]);
        git(&project, &["commit", "--quiet", "-m", "first"]);
        Self {
            place,
            models: Vec::new(),
            events: Arc::default(),
        }
    }

    /// Adds a member with this script for its model.
    pub(crate) fn with(mut self, cli: Cli, script: impl Into<ModelScript>) -> Self {
        self.models.push((cli, cli.model(script.into())));
        self
    }

    /// Adds a member that runs a tool from its start to the end of the test.
    pub(crate) fn with_one_in_a_tool(self, cli: Cli) -> Self {
        let busy = self.file("busy", cli);
        let tool = format!("touch '{}'; sleep 900", busy.display());
        let script = ModelScript::new([cli.runs(&tool)]).rest_fn(|_| Turn::hang());
        self.with(cli, script)
    }

    /// Adds a member whose model never answers.
    pub(crate) fn with_one_in_a_turn(self, cli: Cli) -> Self {
        self.with(cli, ModelScript::from_fn(|_| Turn::hang()))
    }

    pub(crate) fn model(&self, cli: Cli) -> &Model {
        let found = self.models.iter().find(|(of, _)| *of == cli);
        &found.expect("a member").1
    }

    /// Makes the checks of a member wait until it is released.
    pub(crate) fn hold_back(&self, cli: Cli) {
        fs::write(self.file("held", cli), "").expect("a file");
    }

    pub(crate) fn let_go(&self, cli: Cli) {
        fs::remove_file(self.file("held", cli)).expect("it was held");
    }

    /// Waits until a member runs its tool.
    pub(crate) async fn is_in_its_tool(&self, cli: Cli) {
        let busy = self.file("busy", cli);
        eventually(&format!("the tool of {cli:?}"), || busy.exists()).await;
    }

    /// Waits until the work of a member is being checked.
    pub(crate) async fn is_in_its_checks(&self, cli: Cli) {
        let checked = self.file("checked", cli);
        eventually(&format!("the checks of {cli:?}"), || checked.exists()).await;
    }

    /// Waits until the model of a member receives a request.
    pub(crate) async fn is_in_its_turn(&self, cli: Cli) {
        let log = self.model(cli).log();
        let request = log.wait_for(TIMEOUT, |it| matches!(it.answer, ServerAnswer::Turn(_)));
        request.await.expect("it is asked");
    }

    /// Waits until a member has ended.
    pub(crate) async fn has_ended(&self, cli: Cli) {
        let description = format!("the end of {cli:?}");
        eventually(&description, || self.ended().contains(&cli)).await;
    }

    /// Returns the ended members, in the order in which they ended.
    pub(crate) fn ended(&self) -> Vec<Cli> {
        let events = self.events.lock().expect("a lock");
        let ended = events.iter().filter_map(|event| match &event.kind {
            FleetEventKind::Ended { result } => Cli::ALL
                .into_iter()
                .find(|cli| cli.name() == result.id.as_str()),
            _ => None,
        });
        ended.collect()
    }

    /// Runs the fleet in this process until it ends.
    pub(crate) async fn run(
        &self,
        strategy: impl Strategy + 'static,
        success: impl Into<SuccessCriteria>,
        iterations: u32,
    ) -> FleetReport {
        let work = member_work(&self.place, self.urls());
        let engine = Arc::new(LocalEngine::new(Arc::new(work)));
        self.run_on(engine, strategy, success, iterations).await
    }

    /// Runs the fleet on an engine until it ends.
    pub(crate) async fn run_on(
        &self,
        engine: Arc<dyn Engine>,
        strategy: impl Strategy + 'static,
        success: impl Into<SuccessCriteria>,
        iterations: u32,
    ) -> FleetReport {
        let success = success.into();
        let members = self.models.iter();
        let members = members.map(|(cli, _)| member(*cli, success.clone(), iterations));
        let mut order = FleetOrder::new(FLEET, strategy, members);
        order.time = 10 * TIMEOUT;
        let home = home(&self.place);
        let trees = home.worktrees(FLEET, self.place.commands()).await;
        let events = self.events.clone();
        let fleet = FleetRun::new(home, order, engine)
            .worktrees(trees.expect("a repository").git_timeout(TIMEOUT))
            .author(author())
            .verification_executors(executor_factory(&self.place, self.urls()))
            .observer(Arc::new(move |event: &FleetEvent| {
                events.lock().expect("a lock").push(event.clone());
            }));
        let control = RunControl::new();
        let outcome = tokio::time::timeout(11 * TIMEOUT, fleet.run(&control)).await;
        let outcome = outcome.expect("it does not take as long as that");
        outcome.expect("it comes to its end")
    }

    pub(crate) fn base_fixture(&self) -> &Fixture {
        &self.place
    }

    /// Returns the address of each member's model.
    pub(crate) fn urls(&self) -> Vec<(Cli, String)> {
        let urls = self.models.iter();
        urls.map(|(cli, model)| (*cli, model.url.clone())).collect()
    }

    pub(crate) fn result_of<'r>(&self, outcome: &'r FleetReport, cli: Cli) -> &'r MemberReport {
        let mut results = outcome.results.iter();
        let found = results.find(|result| result.id.as_str() == cli.name());
        found.expect("it was started")
    }

    /// Fails unless the winner's work is merged, and nothing else is left.
    pub(crate) async fn assert_won_by(&self, outcome: &FleetReport, winner: Cli) {
        assert!(outcome.success, "{outcome:?}");
        let found = outcome.winner.as_ref().map(MemberId::as_str);
        assert_eq!(found, Some(winner.name()), "{outcome:?}");
        assert!(self.result_of(outcome, winner).success, "{outcome:?}");
        assert!(outcome.merged.is_some(), "{outcome:?}");
        self.assert_the_work_is(outcome, winner).await;
    }

    async fn assert_the_work_is(&self, outcome: &FleetReport, merged: Cli) {
        let project = self.place.project();
        let written = fs::read_to_string(project.join("hello.txt")).ok();
        let by = written.and_then(|text| text.lines().last().map(str::to_owned));
        assert_eq!(by, Some(format!("by {}", merged.name())));
        assert_eq!(outcome.unstopped, []);
        self.place.assert_nothing_is_left().await;
        assert!(outcome.unmerged_work.is_empty(), "{outcome:?}");
        let list = ["for-each-ref", "--format=%(refname:lstrip=2)"];
        assert_eq!(git(&project, &list), "main");
        let trees = git(&project, &["worktree", "list"]);
        assert_eq!(trees.lines().count(), 1, "{trees}");
        let left = fs::read_dir(project.join(".harness/worktrees").join(FLEET));
        assert_eq!(left.into_iter().flatten().count(), 0);
        assert_eq!(git(&project, &["status", "--porcelain"]), "");
        git(&project, &["fsck", "--strict", "--no-dangling"]);
    }

    /// Returns the command that checks the work of a member.
    pub(crate) fn check(&self) -> [String; 2] {
        let check = self.place.path().join("check");
        ["sh".to_owned(), check.display().to_string()]
    }

    fn file(&self, kind: &str, cli: Cli) -> PathBuf {
        self.place.path().join(kind).join(cli.name())
    }
}

/// Waits until `is_so` returns true, and fails after the deadline.
async fn eventually(description: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(
            started.elapsed() < TIMEOUT,
            "waited in vain for {description}"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The name of the fleet.
pub(super) const FLEET: &str = "login";

pub(super) fn home(place: &Fixture) -> FleetHome {
    FleetHome::new(place.project())
}

pub(super) fn author() -> Author {
    Author::new("Ada", "ada@example.org")
}

/// Builds the executors for a folder, of the CLIs whose models have these addresses.
pub(super) fn executor_factory(
    place: &Fixture,
    urls: impl IntoIterator<Item = (Cli, String)>,
) -> impl Fn(&Path) -> Executors + Clone + Send + Sync + 'static {
    let executors = urls.into_iter().map(|(cli, url)| {
        let agents = cli.agents(place, &url);
        place.executor(cli.name(), agents)
    });
    let executors: Vec<_> = executors.collect();
    move |folder: &Path| {
        let executors = executors.iter().cloned();
        executors.fold(Executors::default(), |all, executor| {
            all.executor(Arc::new(executor.root(folder)))
        })
    }
}

pub(super) fn member_work(
    place: &Fixture,
    urls: impl IntoIterator<Item = (Cli, String)>,
) -> MemberWork {
    MemberWork::new(home(place), executor_factory(place, urls))
        .git(place.commands())
        .author(author())
}

/// A member that runs the task on one of the CLIs, and leaves its work on its branch.
pub(super) fn member(cli: Cli, success: SuccessCriteria, iterations: u32) -> FleetMember {
    let isolation = Isolation::Worktree {
        name: cli.name().to_owned(),
        base: None,
        when_done: WhenDone::Keep,
    };
    let task = Task::new("T-1", "Write hello to hello.txt.").expect("an id");
    let task = task.success_criteria(success);
    let mut order = WorkOrder::new([task], isolation).backend(cli.name());
    order.max_iterations = iterations;
    FleetMember::new(MemberId::new(cli.name()), order)
}

pub(super) fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git");
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
