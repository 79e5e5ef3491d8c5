//! Tests of turns that continue the conversation of the previous turn.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_core::event::Failure;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{RunControl, RunId};
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::{
    ExecuteError, ExecutionOutcome, FileCriterion, Verification, follow_up_prompt, task_prompt,
};
use autonoe_harness::recovery::{BackendModel, Escalation, Ladder, PromptMutation};
use autonoe_harness::work::{Isolation, WorkOrder};
use autonoe_harness::{Execution, ExecutionReport, Executor, Executors, Task, TaskLoop};
use autonoe_testkit::VirtualClock;
use proptest::prelude::*;

use crate::work::crashing_process::{CrashingRun, Kill, Turn};
use crate::work::fixture::{Fixture, Turns, does_it, order, task, text_turn};

/// The conversation of each scripted turn.
fn scripted() -> Option<AgentSessionId> {
    Some(AgentSessionId::new("scripted-1"))
}

#[tokio::test(start_paused = true)]
async fn a_member_continues_its_conversation_after_a_failed_check() {
    let turns = Turns::resuming([text_turn("I think."), text_turn("Still."), does_it()]);
    let fixture = Fixture::new(&turns);
    let mut order = order([task("T-1").context("It is a shop.")]);
    order.input = Some("The stage before said this.".to_owned());

    let (outcome, _) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    let (prompts, task) = (turns.prompts(), &order.tasks[0].task);
    let before = "Result of the previous stage:\nThe stage before said this.";
    assert_eq!(prompts[0], task_prompt(task, Some(before)));
    let problem = "The last attempt failed: the file out.txt does not exist";
    let follow_up = follow_up_prompt(task, Some(problem));
    assert_eq!(prompts[1..], [follow_up.clone(), follow_up]);
    assert_eq!(turns.resumed(), [None, scripted(), scripted()]);
}

#[tokio::test(start_paused = true)]
async fn a_member_whose_backend_cannot_resume_gets_the_whole_task_again() {
    let turns = Turns::new([text_turn("I think."), does_it()]);
    let fixture = Fixture::new(&turns);
    let order = order([task("T-1")]);

    let (outcome, _) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    let problem = "The last attempt failed: the file out.txt does not exist";
    let whole = task_prompt(&order.tasks[0].task, Some(problem));
    assert_eq!(turns.prompts()[1], whole);
    assert_eq!(turns.resumed(), [None, None]);
}

#[tokio::test(start_paused = true)]
async fn another_task_another_prompt_and_another_backend_start_a_conversation() {
    let other = Task::new("T-0", "Write zero.txt.").expect("an id");
    let other = other.success_criteria(FileCriterion::new("zero.txt"));
    let zero = autonoe_testkit::SessionScript::new("turn")
        .performs(|folder| std::fs::write(folder.join("zero.txt"), "0\n").expect("a file"))
        .says("Zero.")
        .ends();
    // Three turns until it is stuck, and one with another prompt.
    let same = (0..4).map(|_| text_turn("Same."));
    let usual = Turns::resuming([zero].into_iter().chain(same));
    let strong = Turns::resuming([does_it()]);
    let fixture = Fixture::with_backends([("usual", &usual), ("strong", &strong)]);
    let mut order = order([other, task("T-1")]);
    let mutation: PromptMutation = serde_json::from_str(r#"{"uses": 1}"#).expect("a strategy");
    order.ladder = Ladder::none()
        .then(mutation)
        .then(Escalation::new([BackendModel::new("strong")]));

    let (outcome, _) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(fixture.recoveries(), ["rephrase", "strong"]);
    assert_eq!(
        usual.resumed(),
        [None, None, scripted(), scripted(), None],
        "zero, three turns, and the other prompt"
    );
    assert_eq!(strong.resumed(), [None]);
    assert!(strong.prompts()[0].starts_with("## Goal"));
}

#[tokio::test(start_paused = true)]
async fn a_member_continues_its_conversation_after_a_kill() {
    let three = || {
        let turns = vec![Turn::Says("One."), Turn::Says("Two."), Turn::Does("Three.")];
        let tasks = [Task::new("T-1", "Do it.").expect("an id")];
        let order = WorkOrder::new(tasks, Isolation::Shared);
        CrashingRun::new(order, [("T-1", turns)])
    };
    let first = Some("T-1/1");
    // Its journal: opened, began, first turn began and ended, second turn began and ended.
    for (kill, expected) in [
        (Kill::Never, [None, first, Some("T-1/2")].to_vec()),
        (Kill::After(2), [None, first, Some("T-1/2")].to_vec()),
        (Kill::After(3), [None, first, Some("T-1/2")].to_vec()),
        // The second turn is lost, and repeated after the first.
        (Kill::After(4), [None, first, Some("T-1/2")].to_vec()),
        (Kill::Before(5), [None, first, first].to_vec()),
        (Kill::After(5), [None, first, Some("T-1/2")].to_vec()),
    ] {
        let lives = three();

        let outcome = lives.serve_through([kill]).await;

        assert!(outcome.is_success(), "{kill:?}: {outcome:?}");
        let resumed = lives.resumed();
        let resumed: Vec<_> = resumed.iter().map(Option::as_deref).collect();
        assert_eq!(resumed, expected, "{kill:?}");
    }
}

/// A turn: its end, and whether its conversation has an ID.
#[derive(Clone, Copy, Debug)]
struct Had {
    end: u8,
    is_named: bool,
}

/// Backend, model and conversation to continue, of each turn.
type AllTurns = Arc<Mutex<Vec<(String, Option<AgentSessionId>)>>>;

/// Runs turns on one backend, and records the conversations to continue.
struct Talker {
    name: &'static str,
    turns: Vec<Had>,
    /// Turns on all backends.
    all: AllTurns,
}

#[async_trait]
impl Executor for Talker {
    fn cli_name(&self) -> &str {
        self.name
    }

    fn default_model(&self) -> Option<&str> {
        Some("usual")
    }

    async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionReport, ExecuteError> {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let model = task.model.as_deref().unwrap_or("usual");
        let with = format!("{}/{model}/", self.name);
        let mut all = self.all.lock().expect("a lock");
        let turn = self.turns[all.len() % self.turns.len()];
        let id = format!("{with}{}", all.len());
        all.push((with, execution.resume.clone()));
        drop(all);
        let end = match turn.end {
            0 => ExecutionOutcome::Failed {
                error: Failure::permanent("authentication", "no login"),
            },
            1 => ExecutionOutcome::MaxTurns,
            2 => ExecutionOutcome::QuotaExceeded {
                message: "spent".to_owned(),
                resets_at: None,
            },
            _ => ExecutionOutcome::Completed,
        };
        let mut result = ExecutionReport::new(task, self.name, end);
        result.model = Some(model.to_owned());
        result.output = "Same.".to_owned();
        result.conversation = turn.is_named.then(|| AgentSessionId::new(id));
        Ok(result)
    }

    async fn verify_success(
        &self,
        _: &Task,
        _: &ExecutionReport,
        _: &VerificationBudget,
    ) -> Verification {
        Verification::failed("it is not there")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_backend_and_no_model_continues_the_conversation_of_another(
        turns in prop::collection::vec((0_u8..8, prop::bool::weighted(0.9)), 1..12),
        to in prop::collection::vec((0_usize..2, prop::option::of(0_usize..2)), 0..5),
    ) {
        let turns: Vec<_> = turns.into_iter().map(|(end, is_named)| Had { end, is_named }).collect();
        let all = Arc::new(Mutex::new(Vec::new()));
        let talkers = ["one", "two"].map(|name| {
            Arc::new(Talker { name, turns: turns.clone(), all: all.clone() })
        });
        let folder = tempfile::tempdir().expect("a folder");
        let executor_factory = move |_: &Path| {
            let [one, two] = talkers.clone();
            Executors::default().executor(one).executor(two)
        };
        let work = TaskLoop::new(folder.path(), executor_factory).clock(VirtualClock::new());
        let mut order = WorkOrder::new([Task::new("T-1", "Do it.").expect("an id")], Isolation::Shared);
        let to = to.into_iter().map(|(cli, model)| BackendModel {
            model: model.map(|model| ["usual", "big"][model].to_owned()),
            ..BackendModel::new(["one", "two"][cli])
        });
        order.ladder = Ladder::none().then(Escalation::new(to.collect::<Vec<_>>()));

        run(&work, &order);

        let all = all.lock().expect("a lock").clone();
        for (number, (with, resumed)) in all.iter().enumerate() {
            let Some(resumed) = resumed else { continue };
            let last = number.checked_sub(1).map(|number| format!("{}{number}", all[number].0));
            prop_assert!(resumed.as_str().starts_with(with.as_str()), "{all:?}");
            prop_assert_eq!(Some(resumed.as_str()), last.as_deref(), "{:?}", all);
        }
    }
}

fn run(work: &TaskLoop, order: &WorkOrder) -> RunOutcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let input = serde_json::to_value(order).expect("it serialises");
    let run = RunSpec::new(RunId::new("member"), "work", input);
    runtime.block_on(work.run(&run, &JobContext::new(RunControl::new(), |_| {})))
}
