//! Flows in a project directory: lock, journal, and resuming.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::Support;
use autonoe_core::project::OpenProject;
use autonoe_core::run::JournalLine;
use autonoe_core::{Budget, CostUsd, RunControl};
use autonoe_flow::run::OnInterrupted;
use autonoe_flow::{
    FlowErrorKind, FlowEvent, FlowLimits, FlowResult, FlowRun, FlowRunError, ParameterValues,
    ValidatedFlow, load,
};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use serde_json::{Value, json};

use super::{RecordedEvents, codes, text_session};
use crate::support::{agent, step};

/// A project with the flow `review`.
pub(super) fn project(registry: &Value) -> TempProject {
    TempProject::new()
        .file(".autonoe/flows/review/agent.json", agent(json!({})))
        .file(".autonoe/flows/review/steps_registry.json", registry)
        .file(".autonoe/flows/review/prompts/a.md", "Go on.")
}

pub(super) fn review(project: &autonoe_core::Project) -> ValidatedFlow {
    let flow = load(&project.root().join(".autonoe/flows/review")).expect("it loads");
    flow.validated().unwrap_or_else(|report| panic!("{report}"))
}

/// Two steps, of which the second one has a check and two retries.
pub(super) fn steps() -> Value {
    let mut b = super::checked("end", json!({"type": "keyword", "keywords": ["OK"]}));
    b["retry"] = json!({"maxRetries": 2});
    json!({"entryStep": "a", "steps": {"a": step("b"), "b": b}})
}

fn flow_run(project: &TempProject, agents: ScriptedBackend) -> FlowRun {
    FlowRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        review(project.project()),
        Arc::new(agents),
    )
}

fn observed(run: FlowRun, observer: &Arc<RecordedEvents>) -> FlowRun {
    let observer = observer.clone();
    run.options(|options| options.observer(observer))
}

fn limited(run: FlowRun, limits: FlowLimits) -> FlowRun {
    run.options(move |options| options.limits(limits))
}

async fn start(run: FlowRun) -> Result<FlowResult, FlowRunError> {
    run.run(&RunControl::new()).await
}

/// Interrupts a flow in its last session, which hangs.
async fn break_off(project: &TempProject, scripts: Vec<SessionScript>) {
    let agents = ScriptedBackend::new(scripts).unverified();
    let run = flow_run(project, agents);
    hang(run).await;
}

async fn hang(run: FlowRun) {
    let timeout = tokio::time::timeout(Duration::from_secs(60), start(run)).await;
    assert!(timeout.is_err(), "it was to hang");
}

fn kind_of(error: FlowRunError) -> FlowErrorKind {
    match error {
        FlowRunError::Flow(error) => error.kind(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_in_a_project_is_journaled_from_its_start_to_its_result() {
    let project = project(&steps());
    let agents = ScriptedBackend::new([text_session("one"), text_session("OK")]);

    let result = start(flow_run(&project, agents)).await.expect("it begins");

    assert!(result.is_success(), "{result:?}");
    let journal = project.journal();
    assert!(journal.interrupted_flow().is_none());
    let last = &journal.entries().last().expect("a line").line;
    let JournalLine::FlowEnded {
        report,
        result: recorded,
    } = last
    else {
        panic!("{last:?}");
    };
    assert!(report.exit.is_success());
    let recorded: FlowResult = serde_json::from_value(recorded.clone()).expect("a result");
    assert_eq!(recorded, result);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_flow_resumes_at_its_step_with_visits_and_retries_intact() {
    let project = project(&steps());
    let costs = |script: SessionScript| script.costs(CostUsd::from_cents(10));
    break_off(
        &project,
        vec![
            costs(text_session("one")),
            costs(text_session("no")),
            SessionScript::new("lost").hangs(),
        ],
    )
    .await;
    let events = Arc::new(RecordedEvents::default());
    let agents = ScriptedBackend::resuming_at(
        3,
        [
            text_session(""),
            text_session(""),
            costs(text_session("OK")),
        ],
    );

    let result = start(observed(flow_run(&project, agents), &events))
        .await
        .expect("it goes on");

    assert!(result.is_success(), "{result:?}");
    // The prompt in progress is sent again, with the same number and retry.
    assert_eq!(events.lines(), ["3: b visit 1 retry 1, fresh"]);
    assert_eq!(result.iterations(), 3);
    assert_eq!((result.steps["a"].visits, result.steps["b"].visits), (1, 1));
    let cost = result.spent.cost;
    assert_eq!(
        (cost.known_usd, cost.unknown_parts),
        (CostUsd::from_cents(30), 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_flow_is_not_resumed_with_another_definition() {
    let project = project(&steps());
    break_off(&project, vec![SessionScript::new("lost").hangs()]).await;
    let mut changed = steps();
    changed["steps"]["b"]["retry"]["maxRetries"] = 3.into();
    let project = project.file(".autonoe/flows/review/steps_registry.json", &changed);

    let refused = start(flow_run(&project, ScriptedBackend::new([]))).await;
    let restarted = flow_run(
        &project,
        ScriptedBackend::new([text_session("one"), text_session("OK")]),
    )
    .on_interrupted(OnInterrupted::StartNew);
    let restarted = start(restarted).await.expect("it begins");

    let error = refused.expect_err("it is another one");
    assert!(
        error
            .to_string()
            .contains("its definition has changed since"),
        "{error}"
    );
    assert_eq!(kind_of(error), FlowErrorKind::ConfigurationValidation);
    assert!(restarted.is_success(), "{restarted:?}");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_may_be_fixed_before_a_flow_is_resumed() {
    let project = project(&steps());
    break_off(&project, vec![SessionScript::new("lost").hangs()]).await;
    let project = project.file(".autonoe/flows/review/prompts/a.md", "Go on, please.");
    let fixed = text_session("x").expects_in_prompt("please");

    let run = flow_run(&project, ScriptedBackend::new([fixed, text_session("OK")]));

    assert!(start(run).await.expect("it goes on").is_success());
}

#[tokio::test(start_paused = true)]
async fn a_flow_is_not_resumed_with_other_parameters() {
    let parameters = json!({"parameters": {"city": {"type": "string"}}});
    let project = project(&steps()).file(".autonoe/flows/review/agent.json", agent(parameters));
    break_off(&project, vec![SessionScript::new("lost").hangs()]).await;
    let flow = review(project.project());
    let declared = &flow.definition().agent().parameters;
    let values = ParameterValues::from_json(declared, &json!({"city": "Tokyo"})).expect("they fit");

    let run = flow_run(&project, ScriptedBackend::new([])).parameters(values);

    assert_eq!(
        kind_of(start(run).await.expect_err("others")),
        FlowErrorKind::Parameter
    );
}

#[tokio::test(start_paused = true)]
async fn a_flow_holds_the_lock_of_its_project() {
    let project = project(&steps());
    let open_project = OpenProject::options(project.project())
        .open()
        .await
        .expect("it is free");

    let refused = start(flow_run(&project, ScriptedBackend::new([]))).await;
    drop(open_project);
    let result = start(flow_run(
        &project,
        ScriptedBackend::new([text_session("x"), text_session("OK")]),
    ))
    .await;

    assert!(
        matches!(refused, Err(FlowRunError::Project(_))),
        "{refused:?}"
    );
    assert_eq!(codes(&result.expect("it is free")), Vec::<&str>::new());
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_flow_of_another_name_stays_unchanged() {
    let project = project(&steps());
    break_off(&project, vec![SessionScript::new("lost").hangs()]).await;
    let mut other = agent(json!({}));
    other["name"] = "other".into();
    let project = project
        .file(".autonoe/flows/other/agent.json", other)
        .file(".autonoe/flows/other/steps_registry.json", steps())
        .file(".autonoe/flows/other/prompts/a.md", "Go on.");
    let flow = load(&project.path().join(".autonoe/flows/other")).expect("it loads");
    let agents = Arc::new(ScriptedBackend::new([
        text_session("x"),
        text_session("OK"),
    ]));

    let run = FlowRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        flow.validated().expect("valid"),
        agents,
    );

    assert_eq!(start(run).await.expect("it begins").iterations(), 2);
}

#[tokio::test(start_paused = true)]
async fn truncated_journal_resumes_to_the_same_end() {
    let all = || [text_session("one"), text_session("no"), text_session("OK")];
    let project = project(&steps());
    let whole = start(flow_run(&project, ScriptedBackend::new(all()))).await;
    let whole = whole.expect("it begins");
    let journal = project.journal_text();
    let lines: Vec<&str> = journal.lines().collect();

    for count in 1..lines.len() {
        let text: String = lines[..count]
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
        std::fs::write(project.project().journal_path(), text).expect("writable");
        let recorded = project
            .journal()
            .interrupted_flow()
            .expect("it was interrupted");
        // Answers are not requested again. A lost session is repeated under its number.
        let answered = recorded
            .facts
            .iter()
            .filter(|fact| fact["fact"] == "prompted")
            .count();
        let first = recorded.running_session.unwrap_or(recorded.sessions + 1);
        let before =
            std::iter::repeat_with(|| text_session("not this one")).take(first as usize - 1);
        let agents =
            ScriptedBackend::resuming_at(first, before.chain(all().into_iter().skip(answered)));

        let result = start(flow_run(&project, agents)).await.expect("it goes on");

        assert_eq!(
            (&result.end, &result.steps),
            (&whole.end, &whole.steps),
            "{count}"
        );
        let tries = |result: &FlowResult| -> Vec<_> {
            let summaries = result.summaries.iter();
            summaries.map(|it| (it.iteration, it.at.clone())).collect()
        };
        assert_eq!(tries(&result), tries(&whole), "{count}");
    }
    assert!(lines.len() > 12, "{}", lines.len());
}

#[tokio::test(start_paused = true)]
async fn a_resumed_flow_keeps_its_limits_or_uses_new_ones() {
    let limits = |cents| FlowLimits {
        budget: Budget::default().with_cost(CostUsd::from_cents(cents)),
        ..FlowLimits::default()
    };
    let costs = |text: &str| text_session(text).costs(CostUsd::from_cents(10));
    for (new_limits, expected) in [(None, vec!["budget_exceeded"]), (Some(limits(100)), vec![])] {
        let project = project(&steps());
        let lost = [costs("one"), SessionScript::new("lost").hangs()];
        let agents = ScriptedBackend::new(lost).unverified();
        hang(limited(flow_run(&project, agents), limits(15))).await;
        let rest = [costs("one"), costs("no"), costs("OK")];
        let agents = ScriptedBackend::resuming_at(2, rest).unverified();
        let run = flow_run(&project, agents);
        let run = match new_limits {
            Some(limits) => limited(run, limits),
            None => run,
        };

        let result = start(run).await.expect("it goes on");

        assert_eq!(codes(&result), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejected_budget_leaves_an_interrupted_flow_unchanged() {
    let project = project(&steps());
    break_off(
        &project,
        vec![text_session("one"), SessionScript::new("lost").hangs()],
    )
    .await;
    let before = project.journal_text();
    let agents = ScriptedBackend::new([]);
    let silent = agents.capabilities().clone().with_cost(Support::No);
    let budget = Budget::default().with_cost(CostUsd::from_cents(100));
    let limits = FlowLimits {
        budget,
        ..FlowLimits::default()
    };
    let refused = limited(flow_run(&project, agents.with_capabilities(silent)), limits);

    let error = start(refused).await.expect_err("it cannot be kept");
    let untouched = project.journal_text();
    let agents = ScriptedBackend::resuming_at(2, [text_session(""), text_session("OK")]);
    let result = start(flow_run(&project, agents)).await.expect("it goes on");

    assert_eq!(kind_of(error), FlowErrorKind::SdkRefused);
    assert_eq!(untouched, before);
    assert!(result.is_success(), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn the_cost_of_a_session_that_ended_before_the_kill_is_counted() {
    let costs = |text: &str| text_session(text).costs(CostUsd::from_cents(10));
    let project = project(&steps());
    let agents = ScriptedBackend::new([costs("one"), costs("OK")]);
    let _ = start(flow_run(&project, agents)).await.expect("it begins");
    let journal = project.journal_text();
    let lines: Vec<&str> = journal.lines().collect();
    let ended = |line: &&str| line.contains("session_ended");
    let first_end = lines.iter().position(ended).expect("it ended");
    let text: String = lines[..=first_end]
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(project.project().journal_path(), text).expect("writable");
    let agents = ScriptedBackend::resuming_at(2, [text_session(""), costs("one"), costs("OK")]);

    let result = start(flow_run(&project, agents)).await.expect("it goes on");

    assert!(result.is_success(), "{result:?}");
    let cost = result.spent.cost;
    assert_eq!(
        (cost.known_usd, cost.unknown_parts),
        (CostUsd::from_cents(30), 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_flow_with_a_missing_prompt_stops_and_resumes_once_it_is_fixed() {
    let by_judge = json!({"type": "prompt", "prompt": "prompts/judge.md"});
    for (removed, answers, sessions) in [("a", 0, 1), ("judge", 1, 2)] {
        let registry = json!({
            "entryStep": "a",
            "steps": {"a": super::checked("end", by_judge.clone())},
        });
        let path = format!(".autonoe/flows/review/prompts/{removed}.md");
        let project = project(&registry).file(".autonoe/flows/review/prompts/judge.md", "Judge.");
        let scripts = [text_session("one"), super::judges(true)];
        let run = flow_run(
            &project,
            ScriptedBackend::new(scripts.clone().into_iter().take(answers)),
        );
        std::fs::remove_file(project.path().join(&path)).expect("it is there");

        let broke_off = start(run).await.expect("it begins");

        assert_eq!(codes(&broke_off), ["prompt_not_found"]);
        let journal = project.journal();
        assert!(journal.interrupted_flow().is_some(), "{removed}");
        assert!(broke_off.end.is_resumable(), "{removed}");
        let project = project.file(&path, "Mended.");
        let agents = ScriptedBackend::resuming_at(sessions, scripts);
        let result = start(flow_run(&project, agents)).await.expect("it goes on");
        assert!(result.is_success(), "{result:?}");
        assert_eq!(
            (result.iterations(), result.spent.cost.unknown_parts),
            (1, 0)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_judge_of_a_resumed_flow_receives_the_same_response() {
    let mut a = super::checked(
        "end",
        json!({"type": "prompt", "prompt": "prompts/judge.md"}),
    );
    a["outputs"] = json!(["files"]);
    let registry = json!({"entryStep": "a", "steps": {"a": a}});
    let project = project(&registry).file(".autonoe/flows/review/prompts/judge.md", "Judge it.");
    let works = || {
        SessionScript::new("works")
            .uses_tool("mcp__autonoe__set_outputs", json!({"files": "a.txt"}))
            .says("One file.")
            .ends()
    };
    let lost = [works(), SessionScript::new("lost").hangs()];
    let first = Arc::new(ScriptedBackend::new(lost).unverified());
    let run = FlowRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        review(project.project()),
        first.clone(),
    );
    hang(run).await;
    let second = Arc::new(ScriptedBackend::resuming_at(
        2,
        [works(), super::judges(true)],
    ));
    let run = FlowRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        review(project.project()),
        second.clone(),
    );

    let result = start(run).await;

    assert!(result.expect("it resumes").is_success());
    let prompts = [first.prompts()[1].clone(), second.prompts()[0].clone()];
    assert_eq!(prompts[0], prompts[1]);
    let (_, evidence) = super::evidence(&prompts[1]);
    assert_eq!(evidence["response"], "One file.");
    assert_eq!(evidence["toolCalls"][0]["input"], r#"{"files":"a.txt"}"#);
    assert!(evidence["toolCalls"][0]["output"].is_string(), "{evidence}");
}

/// Runs `review` with these agents. Returns the result and the recorded prompts.
async fn run_with(
    project: &TempProject,
    agents: ScriptedBackend,
    limits: Option<FlowLimits>,
) -> (FlowResult, Vec<String>) {
    let events = Arc::new(RecordedEvents::default());
    let run = observed(flow_run(project, agents), &events);
    let run = match limits {
        Some(limits) => limited(run, limits),
        None => run,
    };
    let result = start(run).await.expect("it begins");
    (result, events.lines())
}

// Shows: flows/loop/resumed
#[tokio::test(start_paused = true)]
async fn an_interrupted_flow_resumes_at_its_step() {
    let project = project(&steps());
    let scripts = [
        text_session("one"),
        text_session("no"),
        SessionScript::new("slow").hangs(),
    ];
    let control = RunControl::new();
    let agents = ScriptedBackend::new(scripts).unverified();
    let run = flow_run(&project, agents);
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        control.cancel();
    };

    let (stopped, ()) = tokio::join!(run.run(&control), cancel);
    let stopped = stopped.expect("it begins");
    let agents = ScriptedBackend::resuming_at(
        4,
        [
            text_session(""),
            text_session(""),
            text_session(""),
            text_session("OK"),
        ],
    );
    let (result, lines) = run_with(&project, agents, None).await;

    assert_eq!(codes(&stopped), ["interrupted"]);
    assert!(stopped.end.is_resumable(), "{stopped:?}");
    assert!(result.is_success(), "{result:?}");
    assert_eq!(result.run, stopped.run);
    // Neither the answer nor the retry is lost.
    assert_eq!(lines, ["3: b visit 1 retry 1, fresh"]);
    assert_eq!(result.iterations(), 3);
    assert!(project.journal().interrupted_flow().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_spent_quota_leaves_a_flow_that_resumes_at_its_step() {
    let project = project(&steps());
    let limited = SessionScript::new("limited").hits_quota(None);
    let mut registry = steps();
    registry["steps"]["b"]["retry"] = json!({"maxRetries": 0});
    let project = project.file(".autonoe/flows/review/steps_registry.json", &registry);

    let (stopped, _) = run_with(
        &project,
        ScriptedBackend::new([text_session("one"), limited]),
        None,
    )
    .await;
    let agents =
        ScriptedBackend::resuming_at(3, [text_session(""), text_session(""), text_session("OK")]);
    let (result, lines) = run_with(&project, agents, None).await;

    assert_eq!(codes(&stopped), ["sdk_rate_limit"]);
    assert!(result.is_success(), "{result:?}");
    assert_eq!(lines, ["2: b visit 1 retry 0, fresh"]);
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_leaves_a_flow_that_resumes_under_a_higher_one() {
    let limits = |cents| {
        Some(FlowLimits {
            budget: Budget::default().with_cost(CostUsd::from_cents(cents)),
            ..FlowLimits::default()
        })
    };
    let costs = |text: &str| text_session(text).costs(CostUsd::from_cents(10));
    let project = project(&steps());

    let agents = ScriptedBackend::new([costs("one")]);
    let (stopped, _) = run_with(&project, agents, limits(10)).await;
    let (repeated, repeated_lines) = run_with(&project, ScriptedBackend::new([]), limits(10)).await;
    let agents = ScriptedBackend::resuming_at(2, [text_session(""), costs("OK")]);
    let (result, lines) = run_with(&project, agents, limits(100)).await;

    assert_eq!(codes(&stopped), ["budget_exceeded"]);
    assert_eq!(codes(&repeated), ["budget_exceeded"]);
    assert_eq!(repeated_lines, Vec::<String>::new());
    assert!(result.is_success(), "{result:?}");
    assert_eq!(lines, ["2: b visit 1 retry 0, fresh"]);
    // Earlier expenses still count.
    assert_eq!(result.spent.cost.known_usd, CostUsd::from_cents(20));
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_was_stopped_before_it_ran_starts_when_it_is_resumed() {
    let project = project(&steps());
    let control = RunControl::new();
    let seen = control.clone();
    let run = flow_run(&project, ScriptedBackend::new([]));
    // It is cancelled between its start and its first prompt.
    let run = run.options(|options| options.observer(move |_: &FlowEvent<'_>| seen.cancel()));

    let stopped = run.run(&control).await.expect("it begins");
    let agents = ScriptedBackend::new([text_session("one"), text_session("OK")]);
    let (result, lines) = run_with(&project, agents, None).await;

    assert_eq!(codes(&stopped), ["interrupted"]);
    assert!(result.is_success(), "{result:?}");
    assert_eq!(lines[0], "1: a visit 1 retry 0, fresh");
    assert_eq!(result.run, stopped.run);
}

/// Agents that resume conversations only in their own directory.
fn keeping_conversations(agents: ScriptedBackend) -> ScriptedBackend {
    let capabilities = agents.capabilities().clone();
    agents.with_capabilities(capabilities.with_conversation_dir(Support::Yes))
}

#[tokio::test(start_paused = true)]
async fn a_flow_has_a_directory_for_conversations_until_it_cannot_be_resumed() {
    let project = project(&steps());
    let conversation = project
        .project()
        .conversations_dir()
        .join("flow/scripted.json");
    std::fs::create_dir_all(conversation.parent().expect("a folder")).expect("made");
    let keep = || std::fs::write(&conversation, "{}").expect("writable");
    keep();

    let lost = [text_session("one"), SessionScript::new("lost").hangs()];
    let first = keeping_conversations(ScriptedBackend::new(lost).unverified());
    hang(flow_run(&project, first)).await;
    assert!(!conversation.exists(), "it is of another flow");
    std::fs::create_dir_all(conversation.parent().expect("a folder")).expect("made");
    keep();
    let second = ScriptedBackend::resuming_at(2, [text_session(""), text_session("OK")]);
    let events = Arc::new(RecordedEvents::default());
    let run = observed(flow_run(&project, keeping_conversations(second)), &events);
    let run = run.configure({
        let conversation = conversation.clone();
        move |builder| {
            assert!(conversation.exists(), "it is of this flow");
            builder
        }
    });
    let result = start(run).await.expect("it resumes");

    assert!(result.is_success(), "{result:?}");
    assert_eq!(
        events.lines(),
        ["2: b visit 1 retry 0, continues scripted-1"]
    );
    assert!(!conversation.exists(), "nobody resumes it");
}

#[tokio::test(start_paused = true)]
async fn conversations_of_an_interrupted_flow_stay_when_a_new_flow_cannot_start() {
    let project = project(&steps());
    break_off(&project, vec![SessionScript::new("lost").hangs()]).await;
    let conversation = project.project().conversations_dir().join("flow/a.json");
    std::fs::create_dir_all(conversation.parent().expect("a folder")).expect("made");
    std::fs::write(&conversation, "{}").expect("writable");
    let agents = ScriptedBackend::new([]);
    let without_cost = agents.capabilities().clone().with_cost(Support::No);
    let limits = FlowLimits {
        budget: Budget::default().with_cost(CostUsd::from_cents(100)),
        ..FlowLimits::default()
    };
    let run = flow_run(&project, agents.with_capabilities(without_cost));
    let refused = limited(run, limits).on_interrupted(OnInterrupted::StartNew);

    start(refused).await.expect_err("its budget cannot be kept");

    assert!(conversation.exists());
}
