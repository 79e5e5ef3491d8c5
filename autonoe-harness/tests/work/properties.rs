//! Property tests of the task loop with arbitrary agents.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::CostTotal;
use autonoe_core::engine::{JobContext, JobRunner, RunSpec};
use autonoe_core::event::Failure;
use autonoe_core::run::{RunMessage, RunRequest};
use autonoe_core::{Budget, CostUsd, RunControl, RunId};
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::{ExecuteError, ExecutionOutcome, Verification};
use autonoe_harness::recovery::Attendance;
use autonoe_harness::strategy::MemberReport;
use autonoe_harness::work::{Isolation, WorkEvent, WorkOrder};
use autonoe_harness::{Allowance, Execution, ExecutionReport, Executor, Executors, Task, TaskLoop};
use autonoe_testkit::VirtualClock;
use proptest::prelude::*;

use crate::work::fixture::Recorder;

/// Behaviour of an agent in a turn.
#[derive(Clone, Debug)]
struct Turn {
    /// Whether it reads its messages.
    reads: bool,
    ends: End,
    is_done: bool,
    cents: Option<u64>,
    output: u8,
    denied: bool,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Completed,
    Broken,
    Useless,
}

/// Runs scripted turns, and nothing after them.
struct ScriptedExecutor {
    turns: Vec<Turn>,
    had: AtomicUsize,
    read: Mutex<Vec<String>>,
    verified: AtomicUsize,
}

#[async_trait]
impl Executor for ScriptedExecutor {
    fn cli_name(&self) -> &str {
        "puppet"
    }

    fn default_model(&self) -> Option<&str> {
        None
    }

    async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionReport, ExecuteError> {
        let turn = self.had.fetch_add(1, Ordering::SeqCst);
        let turn = &self.turns[turn % self.turns.len()];
        tokio::time::sleep(Duration::from_secs(60)).await;
        while let Some(request) = execution.control.try_next_request() {
            match request {
                RunRequest::Instruct(message) if turn.reads => {
                    self.read
                        .lock()
                        .expect("a lock")
                        .push(message.text().to_owned());
                    message.acknowledge();
                }
                // It leaves the rest in the queue.
                _ => {}
            }
        }
        let end = match turn.ends {
            End::Completed => ExecutionOutcome::Completed,
            End::Broken => ExecutionOutcome::Failed {
                error: Failure::retryable("network", "no answer"),
            },
            End::Useless => ExecutionOutcome::Failed {
                error: Failure::permanent("authentication", "no login"),
            },
        };
        let mut result = ExecutionReport::new(task, "puppet", end);
        result.output = turn.output.to_string();
        result.duration = Duration::from_secs(60);
        result.cost = match turn.cents {
            Some(cents) => CostTotal::known(CostUsd::from_cents(cents)),
            None => CostTotal::unknown(),
        };
        if turn.denied {
            result.denied.push("Bash".to_owned());
        }
        if turn.is_done {
            result.answer = "done".to_owned();
        }
        Ok(result)
    }

    async fn verify_success(
        &self,
        _: &Task,
        result: &ExecutionReport,
        _: &VerificationBudget,
    ) -> Verification {
        if result.is_success() && result.answer == "done" {
            self.verified.fetch_add(1, Ordering::SeqCst);
            Verification::passed("it is there")
        } else {
            Verification::failed("it is not there")
        }
    }
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let ends = prop_oneof![
        6 => Just(End::Completed),
        2 => Just(End::Broken),
        1 => Just(End::Useless),
    ];
    let cents = prop_oneof![9 => (0_u64..50).prop_map(Some), 1 => Just(None)];
    let is_done = prop::bool::weighted(0.1);
    (
        any::<bool>(),
        ends,
        is_done,
        cents,
        0_u8..4,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(reads, ends, is_done, cents, output, denied)| Turn {
            reads,
            ends,
            is_done,
            cents,
            output,
            denied,
        })
}

fn counted(texts: impl IntoIterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_loop_ends_pays_for_everything_and_delivers_each_message_once(
        turns in prop::collection::vec(any_turn(), 1..12),
        tasks in 1_usize..4,
        max_iterations in 1_u32..12,
        sessions in prop::option::of(0_u64..20),
        cents in prop::option::of(0_u64..300),
        sent_at in prop::collection::vec(0_u64..1500, 0..5),
        cancelled_at in prop::option::weighted(0.2, 0_u64..1500),
        attended: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let puppet = Arc::new(ScriptedExecutor {
                turns,
                had: AtomicUsize::new(0),
                read: Mutex::default(),
                verified: AtomicUsize::new(0),
            });
            let folder = tempfile::tempdir().expect("a folder");
            let recorder = Arc::new(Recorder::default());
            let executor = puppet.clone();
            let executor_factory = move |_: &Path| Executors::default().executor(executor.clone());
            let work = TaskLoop::new(folder.path(), executor_factory)
                .clock(Arc::new(VirtualClock::new()))
                .observer(recorder.clone());
            let ids = (0..tasks).map(|number| Task::new(&format!("T-{number}"), "Do it."));
            let mut order = WorkOrder::new(ids.map(|task| task.expect("an id")), Isolation::Shared);
            order.max_iterations = max_iterations;
            let budget = Budget {
                cost_usd: cents.map(CostUsd::from_cents),
                ..Budget::default()
            };
            order.allowance = Allowance::new(budget);
            order.allowance.sessions = sessions;
            if attended {
                order.attendance = Attendance::Attended;
            }
            let control = RunControl::new();
            let input = serde_json::to_value(&order).expect("it serialises");
            let run = RunSpec::new(RunId::new("member"), "work", input);
            let context = JobContext::new(control.clone(), |_| {});
            let speaking = async {
                let mut sent_at = sent_at.clone();
                sent_at.sort_unstable();
                let mut now = 0;
                for (number, at) in sent_at.into_iter().enumerate() {
                    tokio::time::sleep(Duration::from_secs(at - now)).await;
                    now = at;
                    control.send_message(RunMessage::new(format!("message {number}")));
                }
            };
            let cancelling = async {
                // A person who is asked and does not answer gives up in the end.
                let at = cancelled_at.unwrap_or(1_000_000);
                tokio::time::sleep(Duration::from_secs(at)).await;
                control.cancel();
            };
            let carried_out = work.run(&run, &context);
            tokio::pin!(carried_out);
            let together = async { tokio::join!(speaking, cancelling) };
            tokio::pin!(together);
            let outcome = tokio::select! {
                outcome = &mut carried_out => outcome,
                _ = &mut together => carried_out.await,
            };
            let result: MemberReport =
                serde_json::from_value(outcome.output.clone()).expect("a result");

            // Success is what was verified, and nothing else.
            let had = puppet.had.load(Ordering::SeqCst);
            prop_assert_eq!(outcome.is_success(), puppet.verified.load(Ordering::SeqCst) == tasks);
            prop_assert_eq!(outcome.is_success(), result.success);
            // It ends, and starts nothing that cannot be paid.
            let events = recorder.events();
            let waited = |event: &&WorkEvent| matches!(event, WorkEvent::Waiting { .. });
            let waited = events.iter().filter(waited).count();
            prop_assert!(had <= tasks * max_iterations as usize + waited);
            prop_assert!(sessions.is_none_or(|sessions| had as u64 <= sessions));
            if let Some(cents) = cents {
                let known = result.cost.known_usd.picos();
                let limit = CostUsd::from_cents(cents).picos();
                let dearest = CostUsd::from_cents(49).picos();
                prop_assert!(known < limit + dearest || had == 0, "{known} of {limit}");
                prop_assert!(result.cost.unknown_parts <= 1);
            }
            // Each message was delivered once, or is left for the next receiver.
            let messages = events.iter().filter_map(|event| match event {
                WorkEvent::IterationEnded { messages, .. } => Some(messages),
                _ => None,
            });
            let delivered = counted(messages.flatten().map(|message| message.text.clone()));
            prop_assert!(delivered.values().all(|times| *times == 1), "{delivered:?}");
            prop_assert_eq!(&delivered, &counted(puppet.read.lock().expect("a lock").clone()));
            let Some(WorkEvent::Closed { undelivered }) = events.last() else {
                return Err(TestCaseError::fail("it is not closed"));
            };
            let mut left = Vec::new();
            while let Some(request) = control.try_next_request() {
                if let RunRequest::Instruct(message) = request {
                    left.push(message.text().to_owned());
                }
            }
            prop_assert_eq!(&left[..undelivered.len()], &undelivered[..]);
            prop_assert!(left.iter().all(|text| !delivered.contains_key(text)));
            Ok(())
        })?;
    }
}
