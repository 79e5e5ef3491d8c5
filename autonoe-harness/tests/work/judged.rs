//! What it takes to verify work is paid like the work.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Budget, CostTotal, CostUsd, JobRunner, RunControl, RunDesk, RunId, RunOutcome, RunSpec,
    TokenUsage,
};
use autonoe_harness::{
    Allowance, ExecuteError, Execution, ExecutionEnd, ExecutionResult, Executor, Executors,
    HarnessResult, Isolation, Ladder, Task, TaskLoop, Verification, VerificationTab, WorkOrder,
    WorkSoFar,
};
use autonoe_testkit::VirtualClock;

use crate::work::setting::Recorder;

/// Works for 10 cents and is judged for 20; done in the turn of that number.
struct Judged {
    done_in: usize,
    worked: AtomicUsize,
    judged: AtomicUsize,
    /// What each turn might spend.
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
    ) -> Result<ExecutionResult, ExecuteError> {
        let budget = execution.budget.cost_usd;
        self.budgets.lock().expect("a lock").push(budget);
        let number = self.worked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut result = ExecutionResult::new(task, "judged", ExecutionEnd::Completed);
        result.output = format!("turn {number}");
        result.cost = CostTotal::known(CostUsd::from_cents(10));
        Ok(result)
    }

    async fn verify_success(&self, task: &Task, result: &ExecutionResult) -> Verification {
        let tab = VerificationTab::default();
        self.verify_on_tab(task, result, &tab).await
    }

    async fn verify_on_tab(
        &self,
        _: &Task,
        _: &ExecutionResult,
        tab: &VerificationTab,
    ) -> Verification {
        let Ok(session) = tab.open() else {
            return Verification::unverified("nobody pays the judge");
        };
        self.judged.fetch_add(1, Ordering::SeqCst);
        let cost = CostTotal::known(CostUsd::from_cents(20));
        session.settle(cost, TokenUsage::default(), Duration::from_secs(5));
        match self.worked.load(Ordering::SeqCst) >= self.done_in {
            true => Verification::passed_tests("it is there", 3),
            false => Verification::failed("it is not there"),
        }
    }
}

async fn run(executor: &Arc<Judged>, order: &WorkOrder) -> (RunOutcome, WorkSoFar) {
    let folder = tempfile::tempdir().expect("a folder");
    let recorder = Arc::new(Recorder::default());
    let shared = executor.clone();
    let workshop = move |_: &Path| Executors::default().with(shared.clone());
    let work = TaskLoop::new(folder.path(), workshop)
        .clock(Arc::new(VirtualClock::new()))
        .observed_by(recorder.clone());
    let input = serde_json::to_value(order).expect("it serialises");
    let run = RunSpec::new(RunId::new("member"), "work", input);
    let outcome = work
        .run(&run, &RunDesk::new(RunControl::new(), |_| {}))
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
    // Whoever goes on with it knows that, too.
    assert_eq!(so_far.spending().spent, outcome.spent);
    assert_eq!(so_far.spending().sessions, 4);
    assert_eq!(so_far.tests_passed(), Some(3));
    let result: HarnessResult = serde_json::from_value(outcome.output).expect("a result");
    assert_eq!(result.tests_passed, Some(3));
}

#[tokio::test(start_paused = true)]
async fn judges_stop_when_the_allowance_is_spent() {
    let money = Budget::default().with_cost(CostUsd::from_cents(60));
    let cents = |cents| Some(CostUsd::from_cents(cents));
    for (allowance, worked, judges, budgets) in [
        (Allowance::new(money), 2, 2, vec![cents(60), cents(30)]),
        (
            Allowance::default().with_sessions(5),
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
