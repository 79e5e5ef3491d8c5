//! Fleets on a server, whose members are child workflows.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{BudgetUsage, CostTotal, TokenUsage};
use autonoe_core::engine::{
    Engine, EngineError, JobContext, JobRunner, LocalEngine, RunEnding, RunInstruction, RunOutcome,
    RunPhase, RunSpec,
};
use autonoe_core::event::Failure;
use autonoe_core::run::RunRequest;
use autonoe_core::{CostUsd, RunControl, RunId};
use autonoe_harness::coordinate::{MemberJob, MemberSpec, StrategyRun};
use autonoe_harness::strategy::{MemberId, MemberReport, VotingCriterion};
use autonoe_harness::{Coordinator, FleetReport, Parallel, Pipeline, Race, Strategy, Voting};
use autonoe_temporal::{SESSIONS_JOB, TemporalSettings, WorkerSettings};
use autonoe_temporal_support::{
    DevServer, RunningWorker, Site, TestHosts, Work, engine, is_at, outcome, short_timeouts,
    submit, wait_for_status,
};
use serde::Serialize;
use serde_json::json;

use crate::assertions::assert_all_done_once;

/// The job of the members of these fleets.
const JOB: &str = "act";

/// Does what the work of a member specifies.
struct TestJobs;

#[async_trait]
impl JobRunner for TestJobs {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        let job = MemberJob::from_run(run).expect("a member");
        let input = job.input.unwrap_or_default();
        if let Some(tests) = job.work.as_u64() {
            let mut result = MemberReport::success(job.member, "done");
            result.tests_passed = Some(tests);
            return RunOutcome::succeeded(json!(result));
        }
        match job.work.as_str() {
            Some("fails") => RunOutcome::failed(Failure::permanent("broke", "it broke")),
            Some("waits") => {
                context.control().cancelled().await;
                RunOutcome::cancelled("")
            }
            Some("listens") => {
                let mut received = Vec::new();
                while received.len() < 3 {
                    received.push(match context.control().next_request().await {
                        RunRequest::Pause => "pause".to_owned(),
                        RunRequest::Resume => "resume".to_owned(),
                        RunRequest::Instruct(message) => message.text().to_owned(),
                    });
                }
                RunOutcome::succeeded(json!(received.join(", ")))
            }
            Some("spends") => RunOutcome::succeeded(json!("done")).with_spent(spent()),
            // The cost is unknown.
            Some("panics") => panic!("as it is to"),
            Some("talks") => RunOutcome::succeeded(json!("x".repeat(700 * 1024))),
            text => RunOutcome::succeeded(json!(format!("{input}{}", text.unwrap_or_default()))),
        }
    }
}

fn spent() -> BudgetUsage {
    BudgetUsage {
        cost: CostTotal::known(CostUsd::from_cents(25)),
        tokens: TokenUsage {
            output: 1000,
            ..TokenUsage::default()
        },
        ..BudgetUsage::default()
    }
}

fn fleet<const N: usize, W: Serialize>(
    strategy: impl Strategy + 'static,
    members: [(&str, W); N],
) -> StrategyRun {
    let members =
        members.map(|(name, work)| MemberSpec::new(MemberId::new(name), JOB, json!(work)));
    StrategyRun::new(strategy).members(members)
}

fn named(fleet: &StrategyRun, name: &str) -> RunSpec {
    fleet.to_run(RunId::new(name)).expect("it is JSON")
}

fn worker(settings: &TemporalSettings) -> RunningWorker {
    let host = WorkerSettings::for_host("here");
    RunningWorker::start(settings.clone(), host, |worker| {
        worker.job(JOB, Arc::new(TestJobs))
    })
}

fn report(outcome: &RunOutcome) -> FleetReport {
    serde_json::from_value(outcome.output.clone()).expect("a report")
}

/// Returns the outcome of a fleet in this process.
async fn locally(run: &RunSpec) -> RunOutcome {
    let members = LocalEngine::new(Arc::new(TestJobs));
    let fleet = StrategyRun::from_run(run).expect("a fleet");
    let fleet = Coordinator::from_strategy_run(run.id.as_str(), members, fleet);
    let report = fleet.run(&RunControl::new()).await.expect("it ends");
    report.outcome()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_strategy_has_the_same_outcome_as_in_one_process() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let worker = worker(&settings);
    // The order in which members end is not deterministic.
    let best = Voting {
        min_votes: 2.try_into().expect("some"),
        criterion: VotingCriterion::BestTests,
        wait_for_all: true,
    };
    for (name, fleet, succeeds) in [
        (
            "parallel",
            fleet(Parallel {}, [("a", "one"), ("b", "two")]),
            true,
        ),
        (
            "parallel-failing",
            fleet(Parallel {}, [("a", "one"), ("b", "fails")]),
            false,
        ),
        (
            "pipeline",
            fleet(Pipeline {}, [("a", "one"), ("b", "two")]),
            true,
        ),
        (
            "pipeline-failing",
            fleet(Pipeline {}, [("a", "fails"), ("b", "two")]),
            false,
        ),
        (
            "race",
            fleet(Race {}, [("a", "waits"), ("b", "two"), ("c", "fails")]),
            true,
        ),
        (
            "race-lost",
            fleet(Race {}, [("a", "fails"), ("b", "fails")]),
            false,
        ),
        (
            "voting",
            fleet(
                best,
                [("a", json!(3)), ("b", json!("fails")), ("c", json!(7))],
            ),
            true,
        ),
        (
            "voting-lost",
            fleet(best, [("a", json!(3)), ("b", json!("fails"))]),
            false,
        ),
        (
            "spending",
            fleet(Parallel {}, [("a", "spends"), ("b", "spends")]),
            true,
        ),
        (
            "spending-failing",
            fleet(Parallel {}, [("a", "spends"), ("b", "panics")]),
            false,
        ),
        ("nobody", fleet(Parallel {}, [("", ""); 0]), false),
    ] {
        let run = named(&fleet, name);
        submit(&settings, &run).await;

        let outcome = outcome(&settings, &run).await;

        assert_eq!(outcome.is_success(), succeeds, "{name}: {outcome:?}");
        assert_eq!(outcome, locally(&run).await, "{name}");
    }
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_expenses_of_a_fleet_include_its_members_and_mark_lost_ones_as_unknown() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let worker = worker(&settings);
    let engine = engine(&settings).await;
    let run = named(
        &fleet(Parallel {}, [("a", "spends"), ("b", "waits")]),
        "shop",
    );
    submit(&settings, &run).await;
    let lost = RunId::new("shop.b");
    wait_for_status(&engine, &lost, |view| view.phase == RunPhase::Running).await;
    server.terminate(&lost);

    let outcome = outcome(&settings, &run).await;

    assert!(!outcome.is_success(), "{outcome:?}");
    let reported = spent();
    assert_eq!(outcome.spent.tokens, reported.tokens);
    let at_least = CostTotal::at_least(reported.cost.known_usd);
    assert_eq!(outcome.spent.cost, at_least);
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_runs_of_their_own_and_end_with_the_fleet() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let worker = worker(&settings);
    let engine = engine(&settings).await;
    let run = named(&fleet(Parallel {}, [("a", "waits"), ("b", "one")]), "shop");
    submit(&settings, &run).await;
    let one = RunId::new("shop.b");
    let status = wait_for_status(&engine, &one, |view| view.outcome.is_some()).await;
    let output = status.outcome.expect("it has ended").output;
    assert_eq!(output, json!("one"));
    let half = wait_for_status(&engine, &run.id, |view| {
        is_at(view, |at| at.progress == 0.5)
    })
    .await;
    assert_eq!((half.phase, half.outcome), (RunPhase::Running, None));

    engine.cancel(&run.id, "enough").await.expect("it is told");
    let outcome = outcome(&settings, &run).await;

    let reason = "enough".to_owned();
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
    let waiting = engine
        .status(&RunId::new("shop.a"))
        .await
        .expect("it is known");
    assert_eq!(waiting.phase, RunPhase::Ended);
    let ending = waiting.outcome.expect("it has ended").ending;
    let reason = "the fleet was cancelled".to_owned();
    assert_eq!(ending, RunEnding::Cancelled { reason });
    let results = report(&outcome).results;
    assert_eq!(
        results.iter().map(|it| it.success).collect::<Vec<_>>(),
        [false, true]
    );
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn instructions_for_a_fleet_reach_its_members() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let worker = worker(&settings);
    let engine = engine(&settings).await;
    let run = named(
        &fleet(Parallel {}, [("a", "listens"), ("b", "listens")]),
        "shop",
    );
    submit(&settings, &run).await;
    let member = |name: &str| RunId::new(format!("shop.{name}"));
    for name in ["a", "b"] {
        wait_for_status(&engine, &member(name), |view| {
            view.phase == RunPhase::Running
        })
        .await;
    }

    for instruction in [
        RunInstruction::Pause,
        RunInstruction::Message("the tests come first".to_owned()),
        RunInstruction::Resume,
    ] {
        engine
            .instruct(&run.id, instruction)
            .await
            .expect("it is told");
    }
    let outcome = outcome(&settings, &run).await;

    let results = report(&outcome).results;
    let received: Vec<_> = results.iter().map(|it| it.output.as_str()).collect();
    assert_eq!(received, ["pause, the tests come first, resume"; 2]);
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_fleet_starts_no_further_member() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let worker = worker(&settings);
    let engine = engine(&settings).await;
    let run = named(
        &fleet(Pipeline {}, [("a", "listens"), ("b", " and more")]),
        "shop",
    );
    submit(&settings, &run).await;
    let (first, second) = (RunId::new("shop.a"), RunId::new("shop.b"));
    wait_for_status(&engine, &first, |view| view.phase == RunPhase::Running).await;
    let messages = ["one", "two"].map(|text| RunInstruction::Message(text.to_owned()));
    for instruction in [RunInstruction::Pause].into_iter().chain(messages) {
        engine
            .instruct(&run.id, instruction)
            .await
            .expect("it is told");
    }
    let half = wait_for_status(&engine, &run.id, |view| {
        is_at(view, |at| at.progress == 0.5)
    })
    .await;
    assert_eq!(half.phase, RunPhase::Paused);
    let waiting = engine.status(&second).await;
    assert!(
        matches!(waiting, Err(EngineError::Unknown(_))),
        "{waiting:?}"
    );

    let resumed = engine.instruct(&run.id, RunInstruction::Resume).await;
    resumed.expect("it is told");
    let outcome = outcome(&settings, &run).await;

    let output = report(&outcome).aggregated_output;
    assert_eq!(output.as_deref(), Some("pause, one, two and more"));
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_continues_on_another_worker() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let first = worker(&settings);
    let engine = engine(&settings).await;
    let mut fleet = fleet(Race {}, [("a", "waits"), ("b", "waits")]);
    fleet.time = Duration::from_secs(15);
    let run = named(&fleet, "shop");
    submit(&settings, &run).await;
    let second = RunId::new("shop.b");
    wait_for_status(&engine, &second, |view| view.phase == RunPhase::Running).await;
    drop(first);

    let second = worker(&settings);
    let outcome = outcome(&settings, &run).await;

    let RunEnding::Failed { failure } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure.message, "the fleet reached its time limit");
    let report = report(&outcome);
    assert!(report.unstopped.is_empty(), "{report:?}");
    assert_eq!(report.results.len(), 2);
    drop(second);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_outputs_of_members_stay_with_their_runs() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let worker = worker(&settings);
    let run = named(
        &fleet(Voting::default(), [("a", "talks"), ("b", "talks")]),
        "shop",
    );
    submit(&settings, &run).await;

    let outcome = outcome(&settings, &run).await;

    let output = &outcome.output["results"][0]["output"];
    assert_eq!(output, "(716800 bytes, in the run shop.a)");
    let member = engine(&settings).await.wait(&RunId::new("shop.a")).await;
    let member = member.expect("it has ended").output;
    assert_eq!(member.as_str().map(str::len), Some(700 * 1024));
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn members_may_be_driven_session_by_session() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let (site, work) = (Site::create(), Work::new(2));
    let projects = ["left", "right"].map(|name| site.run(name, &work));
    let members = projects.each_ref().map(|project| {
        let name = MemberId::new(project.id.as_str());
        MemberSpec::new(name, SESSIONS_JOB, project.input.clone())
    });
    let run = StrategyRun::new(Parallel {}).members(members);
    let run = named(&run, "shop");
    let test_hosts = TestHosts::new(&site, "here");
    let worker = RunningWorker::start(
        settings.clone(),
        WorkerSettings::for_host("here"),
        |worker| worker.sessions(test_hosts),
    );
    submit(&settings, &run).await;

    let outcome = outcome(&settings, &run).await;

    assert!(outcome.is_success(), "{outcome:?}");
    let engine = engine(&settings).await;
    drop(worker);
    for project in &projects {
        let member = RunId::new(format!("shop.{}", project.id));
        let view = engine.status(&member).await.expect("it is known");
        let spec = view.spec.expect("it is written down");
        assert_eq!(
            (spec.job.as_str(), &spec.input),
            (SESSIONS_JOB, &project.input)
        );
        let outcome = view.outcome.expect("it has ended");
        assert_all_done_once(&site, project, &work, &outcome).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn member_with_a_duplicate_run_id_is_not_started() {
    let server = DevServer::start().await;
    let settings = server.settings_with(short_timeouts());
    let worker = worker(&settings);
    let other = MemberSpec::new(MemberId::new("a"), JOB, json!("other"));
    let input = json!({"member": other.id, "work": other.work});
    submit(&settings, &RunSpec::new(RunId::new("shop.a"), JOB, input)).await;
    let run = named(&fleet(Parallel {}, [("a", "one"), ("b", "two")]), "shop");
    submit(&settings, &run).await;

    let outcome = outcome(&settings, &run).await;

    assert!(!outcome.is_success());
    let results = report(&outcome).results;
    let error = results[0].error.as_deref().unwrap_or_default();
    assert!(error.contains("cannot start the member"), "{error}");
    assert!(results[1].success);
    drop(worker);
}
