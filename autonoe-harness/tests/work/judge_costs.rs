//! Tests of paying for verification.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{CostTotal, TokenUsage};
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_core::{Budget, CostUsd, RunControl, RunId};
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::{ExecuteError, ExecutionOutcome, Verification};
use autonoe_harness::recovery::Ladder;
use autonoe_harness::strategy::MemberReport;
use autonoe_harness::work::{Isolation, RecoveredState, WorkOrder};
use autonoe_harness::{Allowance, Execution, ExecutionReport, Executor, Executors, Task, TaskLoop};
use autonoe_testkit::VirtualClock;

use crate::work::fixture::Recorder;

/// Each turn costs 10 cents and its judge 20; done in the turn with this number.
struct Judged {
    done_in: usize,
    worked: AtomicUsize,
    judged: AtomicUsize,
    /// The budget of each turn.
    budgets: Mutex<Vec<Option<CostUsd>>>,
}

#[async_trait]
impl Executor for Judged {
    fn cli_name(&self) -> &str {
        "judged"
    }

    fn default_model(&self) -> Option<&str> {
        None
    }

    async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionReport, ExecuteError> {
        let budget = execution.budget.cost_usd;
        self.budgets.lock().expect("a lock").push(budget);
        let number = self.worked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut result = ExecutionReport::new(task, "judged", ExecutionOutcome::Completed);
        result.output = format!("turn {number}");
        result.cost = CostTotal::known(CostUsd::from_cents(10));
        Ok(result)
    }

    async fn verify_success(
        &self,
        _: &Task,
        _: &ExecutionReport,
        budget: &VerificationBudget,
    ) -> Verification {
        let Ok(session) = budget.open() else {
            return Verification::unverified("the budget of the judge is spent");
        };
        self.judged.fetch_add(1, Ordering::SeqCst);
        let cost = CostTotal::known(CostUsd::from_cents(20));
        session.settle(cost, TokenUsage::default(), Duration::from_secs(5));
        if self.worked.load(Ordering::SeqCst) >= self.done_in {
            Verification::passed_tests("it is there", 3)
        } else {
            Verification::failed("it is not there")
        }
    }
}

async fn run(executor: &Arc<Judged>, order: &WorkOrder) -> (RunOutcome, RecoveredState) {
    let folder = tempfile::tempdir().expect("a folder");
    let recorder = Arc::new(Recorder::default());
    let shared = executor.clone();
    let executor_factory = move |_: &Path| Executors::default().executor(shared.clone());
    let work = TaskLoop::new(folder.path(), executor_factory)
        .clock(Arc::new(VirtualClock::new()))
        .observer(recorder.clone());
    let input = serde_json::to_value(order).expect("it serialises");
    let run = RunSpec::new(RunId::new("member"), "work", input);
    let outcome = work
        .run(&run, &JobContext::new(RunControl::new(), |_| {}))
        .await;
    (outcome, recorder.events().into_iter().collect())
}

fn judged(done_in: usize) -> Arc<Judged> {
    Arc::new(Judged {
        done_in,
        worked: AtomicUsize::new(0),
        judged: AtomicUsize::new(0),
        budgets: Mutex::default(),
    })
}

fn order(allowance: Allowance) -> WorkOrder {
    let task = Task::new("T-1", "Do it.").expect("an id");
    let mut order = WorkOrder::new([task], Isolation::Shared);
    order.allowance = allowance;
    order.ladder = Ladder::none();
    // Turns take no time here.
    order.thresholds.hasty_iterations = 0;
    order
}

#[tokio::test(start_paused = true)]
async fn judges_are_paid_from_the_allowance() {
    let executor = judged(2);

    let (outcome, so_far) = run(&executor, &order(Allowance::default())).await;

    assert!(outcome.is_success(), "{outcome:?}");
    let cost = CostTotal::known(CostUsd::from_cents(60));
    assert_eq!(outcome.spent.cost, cost);
    assert_eq!(outcome.spent.time, Duration::from_secs(10));
    // The replayed state has the same spending.
    assert_eq!(so_far.spending().spent, outcome.spent);
    assert_eq!(so_far.spending().sessions, 4);
    assert_eq!(so_far.tests_passed(), Some(3));
    let result: MemberReport = serde_json::from_value(outcome.output).expect("a result");
    assert_eq!(result.tests_passed, Some(3));
}

#[tokio::test(start_paused = true)]
async fn judges_stop_when_the_allowance_is_spent() {
    let money = Budget::default().with_cost(CostUsd::from_cents(60));
    let cents = |cents| Some(CostUsd::from_cents(cents));
    for (allowance, worked, judges, budgets) in [
        (Allowance::new(money), 2, 2, vec![cents(60), cents(30)]),
        (
            Allowance::default().sessions(5),
            3,
            2,
            vec![None, None, None],
        ),
    ] {
        let executor = judged(100);

        let (outcome, _) = run(&executor, &order(allowance)).await;

        assert!(!outcome.is_success());
        assert_eq!(executor.worked.load(Ordering::SeqCst), worked);
        assert_eq!(executor.judged.load(Ordering::SeqCst), judges);
        assert_eq!(*executor.budgets.lock().expect("a lock"), budgets);
    }
}
