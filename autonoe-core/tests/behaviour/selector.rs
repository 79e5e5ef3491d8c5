//! Runs with an instruction selector.

use std::future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::BudgetKind;
use autonoe_core::event::InstructionName;
use autonoe_core::run::{
    Durability, FixedInstructions, InstructionError, InstructionSelector, JournalError,
    JournalLine, LimitOverrides, Models, RecordedRun, RunAction, RunFact, RunJournal,
    SelectionContext, SessionRunnerBuilder, Workflow,
};
use autonoe_core::{Budget, ExitReason, Mode, RunControl, RunId};
use autonoe_testkit::{ScriptedBackend, SessionScript};
use jiff::Timestamp;

use crate::behaviour::support::{Fixture, idles, passes, plans};

/// In-memory journal, which can be configured to fail on selected instructions.
#[derive(Clone, Default)]
struct MemoryJournal {
    lines: Arc<Mutex<Vec<JournalLine>>>,
    refuses_selections: bool,
}

impl MemoryJournal {
    fn lines(&self) -> Vec<JournalLine> {
        self.lines.lock().expect("not poisoned").clone()
    }

    /// Returns the journal in its file format.
    fn text(&self) -> String {
        let lines = self.lines();
        let lines = lines
            .iter()
            .map(|line| serde_json::to_string(line).expect("it serialises"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the recorded selections.
    fn selections(&self) -> Vec<(u32, String)> {
        let lines = self.lines().into_iter();
        let selections = lines.filter_map(|line| match line {
            JournalLine::Fact {
                fact:
                    RunFact::InstructionSelected {
                        number,
                        instruction,
                    },
                action: RunAction::Continue,
            } => Some((number, instruction.to_string())),
            _ => None,
        });
        selections.collect()
    }
}

impl RunJournal for MemoryJournal {
    fn append(
        &self,
        _: &RunId,
        _: Timestamp,
        line: &JournalLine,
        _: Durability,
    ) -> Result<(), JournalError> {
        let is_selection = matches!(
            line,
            JournalLine::Fact {
                fact: RunFact::InstructionSelected { .. },
                ..
            }
        );
        if is_selection && self.refuses_selections {
            return Err(JournalError::new("there is no room"));
        }
        self.lines.lock().expect("not poisoned").push(line.clone());
        Ok(())
    }
}

fn review() -> InstructionName {
    InstructionName::new("review")
}

/// Selects `review` for every session with an even number.
fn reviews_alternately(context: &SelectionContext) -> InstructionName {
    match context.session % 2 {
        0 => review(),
        _ => context.default_instruction(),
    }
}

/// Returns a builder that also has the text of `review`.
fn runner(fixture: &Fixture) -> SessionRunnerBuilder {
    let names = InstructionName::BUILT_IN.into_iter().chain([review()]);
    let texts = names.map(|name| {
        let text = format!("Do the {name} work.");
        (name, text)
    });
    fixture.runner().instructions(FixedInstructions::new(texts))
}

fn failure_code(exit: &ExitReason) -> &str {
    match exit {
        ExitReason::Failed { error } => &error.code,
        other => other.code(),
    }
}

// Shows: interfaces/session-runner/selector
#[tokio::test(start_paused = true)]
async fn the_workflow_selects_by_default_and_its_choice_is_not_recorded() {
    let mut journals = Vec::new();
    for explicit in [false, true] {
        let fixture = Fixture::new([plans(&["A"]), idles(), passes("A")]);
        let journal = MemoryJournal::default();
        let builder = runner(&fixture).journal(journal.clone());
        let builder = if explicit {
            builder.instruction_selector(Workflow::new(Mode::Run))
        } else {
            builder
        };

        let report = fixture.run(builder).await;

        assert_eq!(report.exit, ExitReason::AllPassed);
        assert!(journal.selections().is_empty());
        journals.push(journal.text());
    }
    assert_eq!(journals[0], journals[1]);
}

// Shows: interfaces/session-runner/selector
#[tokio::test(start_paused = true)]
async fn a_selected_instruction_decides_prompt_model_and_tools() {
    let fixture = Fixture::new([plans(&["A"]), idles(), passes("A")]);
    let journal = MemoryJournal::default();
    let models = Models {
        planning: Some("planner".into()),
        implementation: Some("implementer".into()),
    };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let contexts = seen.clone();
    let selector = move |context: &SelectionContext| {
        contexts.lock().expect("not poisoned").push(*context);
        reviews_alternately(context)
    };

    let report = fixture
        .run(
            runner(&fixture)
                .models(models)
                .journal(journal.clone())
                .instruction_selector(selector),
        )
        .await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    let received = fixture.agents.received();
    let sessions: Vec<_> = received
        .iter()
        .map(|session| {
            let model = session.model.as_deref().unwrap_or("none");
            (
                session.instruction.as_str(),
                session.prompt.as_str(),
                model,
                session.tools.join(" "),
            )
        })
        .collect();
    let text = |name: &str| format!("Do the {name} work.");
    assert_eq!(
        sessions,
        [
            (
                "initializer",
                text("initializer").as_str(),
                "planner",
                "create".to_owned()
            ),
            (
                "review",
                text("review").as_str(),
                "implementer",
                String::new()
            ),
            (
                "coding",
                text("coding").as_str(),
                "implementer",
                "set_status list".to_owned()
            ),
        ]
    );
    assert_eq!(journal.selections(), [(2, "review".to_owned())]);
    let seen = seen.lock().expect("not poisoned");
    let contexts: Vec<_> = seen
        .iter()
        .map(|context| {
            let total = context.ledger.counts.total;
            (context.session, context.iterations, total)
        })
        .collect();
    assert_eq!(contexts, [(1, 0, 0), (2, 1, 1), (3, 2, 1)]);
}

/// Selector that cannot choose.
struct Undecided;

#[async_trait]
impl InstructionSelector for Undecided {
    async fn select(&self, _: &SelectionContext) -> Result<InstructionName, InstructionError> {
        Err(InstructionError::new(review(), "the queue is unreachable"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_selector_that_fails_or_panics_ends_the_run_without_an_agent() {
    let panics = |_: &SelectionContext| -> InstructionName { panic!("a bug of the selector") };
    let selectors: [(Arc<dyn InstructionSelector>, &str); 2] = [
        (Arc::new(Undecided), "instruction_missing"),
        (Arc::new(panics), "plugin_panicked"),
    ];
    for (selector, code) in selectors {
        let fixture = Fixture::new([]);
        let builder = runner(&fixture).instruction_selector(selector);

        let report = fixture.run(builder).await;

        assert_eq!(failure_code(&report.exit), code);
        assert_eq!((report.sessions, fixture.agents.received().len()), (1, 0));
        // Observers receive the start and the end of the session that failed.
        let events = ["session_started", "session_ended"];
        assert_eq!(events.map(|event| fixture.log.count(event)), [1, 1]);
    }
}

#[tokio::test(start_paused = true)]
async fn messages_of_a_session_without_an_instruction_are_kept() {
    let fixture = Fixture::new([]);
    let control = RunControl::new();
    control.instruct("Use tabs.");
    let runner = runner(&fixture).instruction_selector(Undecided).build();

    let report = runner.expect("parts fit").run(&control).await;

    assert_eq!(failure_code(&report.exit), "instruction_missing");
    assert_eq!(report.undelivered_messages, ["Use tabs."]);
}

/// Selector that never answers.
struct Hangs;

#[async_trait]
impl InstructionSelector for Hangs {
    async fn select(&self, _: &SelectionContext) -> Result<InstructionName, InstructionError> {
        future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_a_run_with_a_hanging_selector() {
    let fixture = Fixture::new([]);
    let control = RunControl::new();
    let runner = runner(&fixture).instruction_selector(Hangs).build();
    let runner = runner.expect("parts fit");

    let (report, ()) = tokio::join!(runner.run(&control), async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        control.cancel();
    });

    assert_eq!(report.exit, ExitReason::Interrupted);
    assert_eq!(report.elapsed, Duration::from_secs(60));
    assert!(fixture.agents.received().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_time_budget_ends_a_run_with_a_hanging_selector() {
    let fixture = Fixture::new([]);
    let budget = Budget::default().with_time(Duration::from_secs(60));
    let builder = runner(&fixture).budget(budget).instruction_selector(Hangs);

    let report = fixture.run(builder).await;

    let budget = BudgetKind::Time;
    assert_eq!(report.exit, ExitReason::BudgetExceeded { budget });
    assert_eq!(report.elapsed, Duration::from_secs(60));
    assert!(fixture.agents.received().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_selection_that_cannot_be_recorded_ends_the_run_before_the_session() {
    let fixture = Fixture::new([]);
    let journal = MemoryJournal {
        refuses_selections: true,
        ..MemoryJournal::default()
    };
    let builder = runner(&fixture)
        .journal(journal)
        .instruction_selector(|_: &SelectionContext| review());

    let report = fixture.run(builder).await;

    assert_eq!(failure_code(&report.exit), "journal_unavailable");
    assert!(fixture.agents.received().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_sync_ends_as_stalled_if_its_selector_never_plans() {
    let sessions = std::iter::repeat_with(idles).take(5);
    let fixture = Fixture::new(sessions);
    let builder = runner(&fixture)
        .mode(Mode::Sync)
        .instruction_selector(|_: &SelectionContext| review());

    let report = fixture.run(builder).await;

    let mode = Mode::Sync;
    assert_eq!(report.exit, ExitReason::Stalled { sessions: 5, mode });
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_session_keeps_its_instruction_and_then_the_selector_is_called() {
    let hangs = SessionScript::new("hangs").says("working").hangs();
    let fixture = Fixture::new([plans(&["A"]), hangs]);
    let journal = MemoryJournal::default();
    let builder = runner(&fixture)
        .journal(journal.clone())
        .instruction_selector(reviews_alternately);
    let first = builder.build().expect("parts fit");
    let control = RunControl::new();
    let interrupted = tokio::time::timeout(Duration::from_secs(60), first.run(&control)).await;
    assert!(interrupted.is_err(), "the agent hangs");

    let recorded = RecordedRun::replay(RunId::new("run"), &journal.lines());
    let recorded = recorded.expect("it was interrupted");

    let RunAction::StartSession(plan) = recorded.interrupted_action() else {
        panic!("{recorded:?}");
    };
    assert_eq!((plan.number, plan.instruction.as_str()), (2, "review"));
    let limits = LimitOverrides {
        max_iterations: Some(2),
        ..LimitOverrides::default()
    };
    for (selector, selected, recorded_selections) in [
        (
            reviews_alternately as fn(&SelectionContext) -> InstructionName,
            "review",
            vec![],
        ),
        (
            SelectionContext::default_instruction,
            "coding",
            vec![(2, "coding".to_owned())],
        ),
    ] {
        let agents = ScriptedBackend::new([]).for_instruction(selected, [idles()]);
        let resumed = Fixture::with(agents);
        let journal = MemoryJournal::default();
        let runner = runner(&resumed)
            .repository(fixture.repository.clone())
            .journal(journal.clone())
            .instruction_selector(selector)
            .build()
            .expect("parts fit");
        let recorded = recorded.clone().with_limits(limits.clone());

        let report = runner.resume(recorded, &RunControl::new()).await;

        assert_eq!(report.exit, ExitReason::MaxIterations);
        let received = resumed.agents.received();
        let instructions: Vec<_> = received
            .iter()
            .map(|session| session.instruction.as_str())
            .collect();
        assert_eq!(instructions, [selected]);
        assert_eq!(journal.selections(), recorded_selections);
    }
}
