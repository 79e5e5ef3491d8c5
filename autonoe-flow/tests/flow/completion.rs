//! Completion conditions, by the contract of completion.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use autonoe_core::gate::ProjectPaths;
use autonoe_core::ledger::{DeliverableId, LedgerStore, MemoryRepository};
use autonoe_core::spec::{SpecContext, SpecError};
use autonoe_core::time::SystemClock;
use autonoe_core::{Deliverable, DeliverableStatus};
use autonoe_flow::check::ProcessRunner;
use autonoe_flow::completion::{
    CompletionContext, CompletionDependencies, CompletionResult, ExternalStates, build_completion,
    probe_fn,
};
use autonoe_flow::definition::{Behavior, Completion};
use autonoe_flow::progress::{AgentSignal, FlowProgress};
use autonoe_flow::{CompletionHandler, CompletionSpec, FlowError, FlowErrorKind, StepId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) fn completion(kind: &str, config: Value) -> Completion {
    let behavior = json!({"completionType": kind, "completionConfig": config});
    let behavior: Behavior = serde_json::from_value(behavior).expect("a behaviour");
    behavior.completion
}

pub(crate) fn needed() -> CompletionDependencies {
    CompletionDependencies::new(SpecContext::new(ProjectPaths::new("/srv/project")))
}

fn built(kind: &str, config: Value) -> Box<dyn CompletionHandler> {
    build_completion(&completion(kind, config), &needed()).expect("nothing is missing")
}

pub(crate) fn step() -> StepId {
    "draft".parse().expect("an id")
}

/// Progress after one iteration.
pub(crate) fn one_iteration() -> FlowProgress {
    FlowProgress {
        iterations: 1,
        ..FlowProgress::default()
    }
}

pub(crate) fn is_complete(result: &CompletionResult) -> bool {
    matches!(result, CompletionResult::Complete { .. })
}

/// The reason of a result; empty if the flow continues.
pub(crate) fn reason(result: &CompletionResult) -> &str {
    match result {
        CompletionResult::Complete { reason } => reason,
        CompletionResult::Incomplete => "",
    }
}

pub(crate) async fn check_completion(
    handler: &mut dyn CompletionHandler,
    progress: &FlowProgress,
) -> Result<CompletionResult, FlowError> {
    let step = step();
    let now = CompletionContext::new(&step, progress).expect("there was an iteration");
    handler.check(&now).await
}

#[test]
fn completion_is_never_evaluated_before_the_first_iteration() {
    let step = step();
    let mut progress = FlowProgress {
        at_end: true,
        ..FlowProgress::default()
    };
    assert!(CompletionContext::new(&step, &progress).is_none());

    progress.iterations = 1;
    let now = CompletionContext::new(&step, &progress).expect("there was one");
    assert_eq!(now.iteration, 1);
}

#[tokio::test]
async fn a_check_updates_and_the_queries_only_read() {
    let budget =
        json!({"name": "budget", "type": "iterationBudget", "config": {"maxIterations": 2}});
    let mut handler = built("composite", json!({"mode": "all", "conditions": [budget]}));
    let mut progress = one_iteration();
    let states = |holds| [("budget".to_owned(), holds)].into();
    assert_eq!(handler.condition_states(), states(false));

    let first = check_completion(handler.as_mut(), &progress)
        .await
        .expect("it can tell");
    assert_eq!(first, CompletionResult::Incomplete);
    progress.iterations += 1;
    // There was no check since.
    assert_eq!(handler.condition_states(), states(false));

    let second = check_completion(handler.as_mut(), &progress)
        .await
        .expect("it can tell");
    let reason = "budget: iterations so far: 2".to_owned();
    assert_eq!(second, CompletionResult::Complete { reason });
    for _ in 0..2 {
        assert_eq!(handler.condition_states(), states(true));
    }
}

fn keyword(word: &str) -> BTreeSet<String> {
    [word.to_owned()].into()
}

fn add_phase(progress: &mut FlowProgress, phase: &str) {
    progress.phases.insert(phase.to_owned());
}

#[tokio::test]
async fn each_condition_completes_with_a_reason() {
    type Note = fn(&mut FlowProgress);
    let done = || AgentSignal::new("done");
    let cases: &[(&str, Value, &[Note], Note, &str)] = &[
        (
            "stepMachine",
            json!({}),
            &[|it| add_phase(it, "last"), |it| it.checks += 1],
            |it| it.at_end = true,
            "the flow reached the end of its steps",
        ),
        (
            "iterationBudget",
            json!({"maxIterations": 3}),
            &[|it| it.at_end = true, |it| it.iterations += 1],
            |it| it.iterations += 1,
            "iterations so far: 3",
        ),
        (
            "checkBudget",
            json!({"maxChecks": 2}),
            &[|it| it.iterations += 1, |it| it.checks += 1],
            |it| it.checks += 1,
            "checks so far: 2",
        ),
        (
            "keywordSignal",
            json!({"keywords": ["DONE", "SHIPPED"]}),
            &[|it| it.record_text(&keyword("DONE"), "UNDONE, done")],
            |it| it.record_text(&keyword("SHIPPED"), "It is SHIPPED."),
            "the agent said `SHIPPED`",
        ),
        (
            "keywordSignal",
            json!({"keywords": ["DONE", "SHIPPED"], "mode": "all"}),
            &[|it| it.record_text(&keyword("DONE"), "DONE")],
            |it| it.record_text(&keyword("SHIPPED"), "It is SHIPPED."),
            "the agent said `DONE`, `SHIPPED`",
        ),
        (
            "structuredSignal",
            json!({"signal": "done", "requiredFields": ["summary"]}),
            &[
                |it| {
                    it.signals
                        .push(AgentSignal::new("stuck").with_field("summary", "x"));
                },
                |it| {
                    it.signals
                        .push(AgentSignal::new("done").with_field("summary", Value::Null));
                },
            ],
            |it| {
                it.signals
                    .push(AgentSignal::new("done").with_field("summary", "all of it"));
            },
            "the agent sent the signal `done`",
        ),
        (
            "phaseCompletion",
            json!({"terminalPhases": ["release", "abandon"]}),
            &[|it| add_phase(it, "draft")],
            |it| add_phase(it, "abandon"),
            "a step of the phase `abandon` has passed",
        ),
    ];
    for (kind, config, before, moment, expected) in cases {
        let mut handler = built(kind, config.clone());
        let mut progress = one_iteration();
        for note in *before {
            note(&mut progress);
            let found = check_completion(handler.as_mut(), &progress)
                .await
                .expect("it can tell");
            assert_eq!(found, CompletionResult::Incomplete, "{kind}");
        }

        moment(&mut progress);

        let reason = (*expected).to_owned();
        let complete = CompletionResult::Complete { reason };
        let found = check_completion(handler.as_mut(), &progress)
            .await
            .expect("it can tell");
        assert_eq!(found, complete, "{kind}");

        // Once reached, a condition stays reached, also for one that is rebuilt after a kill.
        progress.iterations += 1;
        progress.signals.push(done());
        let text = serde_json::to_string(&progress).expect("it can be written");
        let progress: FlowProgress = serde_json::from_str(&text).expect("it can be read");
        let mut rebuilt = built(kind, config.clone());
        let result = check_completion(rebuilt.as_mut(), &progress)
            .await
            .expect("it can tell");
        assert!(is_complete(&result), "{kind}");
    }
}

#[tokio::test]
async fn an_external_state_is_read_at_every_evaluation() {
    let is_open = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_open);
    let states =
        ExternalStates::default().with("released", probe_fn(move || seen.load(Ordering::SeqCst)));
    let named = completion(
        "externalState",
        json!({"source": {"type": "named", "name": "released"}}),
    );
    let mut handler = build_completion(&named, &needed().with_states(states)).expect("it is there");

    for expected in [false, true, false] {
        is_open.store(expected, Ordering::SeqCst);
        let result = check_completion(handler.as_mut(), &one_iteration())
            .await
            .expect("it can tell");
        assert_eq!(is_complete(&result), expected);
        let expected = ["", "the state `released` is reached"][usize::from(expected)];
        assert_eq!(reason(&result), expected);
    }
}

#[tokio::test]
async fn command_exit_code_decides_external_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let commands = ProcessRunner::unconfined(folder.path()).env("PATH", "/usr/bin:/bin");
    let needed = needed().with_commands(Arc::new(commands));
    for (script, expected) in [
        ("exit 0", Some(true)),
        ("exit 1", Some(false)),
        // No answers: the state is unknown, the command was killed, or it took too long.
        ("exit 2", None),
        ("kill -9 $$", None),
        ("sleep 600", None),
    ] {
        let seconds = if script == "sleep 600" { 2 } else { 60 };
        let source =
            json!({"type": "command", "command": ["sh", "-c", script], "timeoutSeconds": seconds});
        let state = completion("externalState", json!({"source": source}));
        let mut handler = build_completion(&state, &needed).expect("it is there");

        let found = check_completion(handler.as_mut(), &one_iteration()).await;

        match expected {
            Some(expected) => {
                let result = found.expect("it can tell");
                assert_eq!(is_complete(&result), expected, "{script}");
            }
            None => {
                let error = found.expect_err(script);
                assert_eq!(error.kind(), FlowErrorKind::CompletionCheck, "{script}");
                assert!(error.is_recoverable());
            }
        }
    }
}

async fn ledger(statuses: &[(&str, DeliverableStatus)]) -> LedgerStore {
    let repository = Arc::new(MemoryRepository::new());
    let store = LedgerStore::open_shared(repository, Arc::new(SystemClock))
        .await
        .expect("readable");
    for (id, status) in statuses {
        let id = DeliverableId::new(*id).expect("an id");
        store
            .update(|state, today| {
                let new = Deliverable::new(id.clone(), "Something", ["it works"])?;
                state.ledger.create([new], today)?;
                match status {
                    DeliverableStatus::Pending => Ok(()),
                    status => state.ledger.set_status(&id, *status, today).map(|_| ()),
                }
            })
            .await
            .expect("legal");
    }
    store
}

#[tokio::test]
async fn a_flow_is_complete_when_its_required_deliverables_have_passed() {
    use DeliverableStatus::{Blocked, Passed, Pending};
    let all = json!({});
    let two = json!({"ids": ["DL-1", "DL-2"]});
    for (config, statuses, expected) in [
        (&all, &[][..], false),
        (&all, &[("DL-1", Passed), ("DL-2", Pending)], false),
        (&all, &[("DL-1", Passed), ("DL-2", Blocked)], true),
        (&all, &[("DL-1", Blocked)], false),
        (&two, &[], false),
        (&two, &[("DL-1", Passed)], false),
        (&two, &[("DL-1", Passed), ("DL-2", Blocked)], false),
        (
            &two,
            &[("DL-1", Passed), ("DL-2", Passed), ("DL-3", Pending)],
            true,
        ),
    ] {
        let store = ledger(statuses).await;
        let needed = needed().with_ledger(Arc::new(store));
        let condition = completion("deliverables", config.clone());
        let mut handler = build_completion(&condition, &needed).expect("there is a ledger");

        let result = check_completion(handler.as_mut(), &one_iteration())
            .await
            .expect("it can tell");

        assert_eq!(is_complete(&result), expected, "{config} {statuses:?}");
        assert_eq!(reason(&result).is_empty(), !expected);
    }
}

#[test]
fn missing_dependency_of_condition_is_named() {
    let known = ExternalStates::default().with("released", probe_fn(|| true));
    let needed = needed().with_states(known);
    for (kind, config, name) in [
        (
            "externalState",
            json!({"source": {"type": "named", "name": "relased"}}),
            "the state `relased` is not registered; known states: `released`",
        ),
        (
            "externalState",
            json!({"source": {"type": "command", "command": ["./is-done.sh"]}}),
            "the command \"./is-done.sh\" cannot be run: this program runs no commands",
        ),
        (
            "deliverables",
            json!({}),
            "the project has no ledger of deliverables",
        ),
        (
            "composite",
            json!({"mode": "any", "conditions": [{"type": "stepMachine"}, {"type": "deliverables"}]}),
            "the project has no ledger of deliverables",
        ),
    ] {
        let Err(error) = build_completion(&completion(kind, config), &needed) else {
            panic!("{kind} was built");
        };
        assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
        assert_eq!(error.to_string(), name);
    }
}

/// A custom condition of an embedder.
#[derive(Debug, Serialize, Deserialize)]
struct TextCondition {
    text: String,
    /// The value that the parameter `lang` must have.
    #[serde(default)]
    lang: Option<String>,
}

#[typetag::serde(name = "flow-tests-said")]
impl CompletionSpec for TextCondition {
    fn build(&self, _: &SpecContext) -> Result<Box<dyn CompletionHandler>, SpecError> {
        if self.text.is_empty() {
            Err(SpecError::new("flow-tests-said", "there is no text"))
        } else {
            let (text, lang) = (self.text.clone(), self.lang.clone());
            Ok(Box::new(TextConditionHandler(Self { text, lang })))
        }
    }
}

struct TextConditionHandler(TextCondition);

#[async_trait::async_trait]
impl CompletionHandler for TextConditionHandler {
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        let lang = self.0.lang.as_ref();
        let is_in = |lang: &String| now.data["parameters"]["lang"] == lang.as_str();
        let holds = now.text == self.0.text && lang.is_none_or(is_in);
        Ok(holds.then(|| "it is in the text".to_owned()).into())
    }
}

#[tokio::test]
async fn a_condition_of_an_embedder_works_like_a_built_in_one() {
    let condition = Completion::Custom(Box::new(TextCondition {
        text: "So be it.".to_owned(),
        lang: Some("en".to_owned()),
    }));
    let mut handler = build_completion(&condition, &needed()).expect("it can be built");
    let (step, progress, data) = (
        step(),
        one_iteration(),
        json!({"parameters": {"lang": "en"}}),
    );
    let mut now = CompletionContext::new(&step, &progress).expect("there was an iteration");

    now.text = "So be it.";
    let without_data = handler.check(&now).await.expect("it can tell");
    assert!(!is_complete(&without_data));
    now.data = &data;
    let with_data = handler.check(&now).await.expect("it can tell");
    assert!(is_complete(&with_data));

    let unfit = Completion::Custom(Box::new(TextCondition {
        text: String::new(),
        lang: None,
    }));
    let error = build_completion(&unfit, &needed())
        .map(|_| ())
        .expect_err("it has no text");
    assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
}
