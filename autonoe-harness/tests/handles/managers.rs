//! Who looks after sub-harnesses: starts them, finds them, starts them again.

use std::sync::Arc;

use autonoe_core::{
    Engine, EngineError, Epoch, Placement, RunEnding, RunId, RunInstruction, RunPhase,
};
use autonoe_harness::conformance::{HANDLE_JOB, HandleJob};
use autonoe_harness::{HarnessFact, HarnessHandle, HarnessManager, SubHarnessProgram};
use serde_json::json;

use crate::handles::stage::{OFTEN, Stage, eventually, kill_nine, order, program, within};

fn a() -> RunId {
    RunId::new("a")
}

#[tokio::test]
async fn one_run_for_an_id_however_often_it_is_submitted() {
    let stage = Stage::new();
    let manager = stage.manager();
    let run = order("a", HANDLE_JOB, json!({"does": "give", "value": 7}));

    for _ in 0..3 {
        let taken = manager.submit(run.clone(), Placement::anywhere()).await;
        assert_eq!(taken.expect("it is the same"), a());
    }
    let other = order("a", HANDLE_JOB, json!({"does": "give", "value": 8}));
    let refused = manager.submit(other, Placement::anywhere()).await;
    assert!(
        matches!(refused, Err(EngineError::Conflict(_))),
        "{refused:?}"
    );
    let outcome = within(manager.wait(&a())).await.expect("it ends");
    let again = manager.submit(run, Placement::anywhere()).await;

    assert!(again.is_ok());
    assert_eq!(outcome.output, json!(7));
    assert_eq!(manager.wait(&a()).await.expect("it ended"), outcome);
    assert_eq!(servings(&stage), 1);
}

fn servings(stage: &Stage) -> usize {
    let journal = stage.folder("a").journal().expect("readable");
    let serving = |fact: &HarnessFact| matches!(fact, HarnessFact::Serving { .. });
    journal.iter().filter(|entry| serving(&entry.fact)).count()
}

#[tokio::test]
async fn ids_that_would_leave_the_folder_and_other_hosts_are_refused() {
    let stage = Stage::new();
    let manager = stage.manager();

    for id in ["..", "../a", "a/b", "shared", ""] {
        let refused = manager.submit(order(id, HANDLE_JOB, json!({})), Placement::anywhere());
        let refused = refused.await;
        assert!(
            matches!(refused, Err(EngineError::Refused { .. })),
            "{id}: {refused:?}"
        );
        let unknown = manager.status(&RunId::new(id)).await;
        assert!(
            matches!(unknown, Err(EngineError::Unknown(_))),
            "{id}: {unknown:?}"
        );
    }
    let elsewhere = manager.submit(order("a", HANDLE_JOB, json!({})), Placement::on("mars"));
    assert!(matches!(elsewhere.await, Err(EngineError::Refused { .. })));
    assert!(!stage.root().exists());
}

#[tokio::test]
async fn upstream_1_work_in_progress_at_a_crash_is_taken_up_again_once() {
    let stage = Stage::new();
    let manager = stage.manager();
    let run = order("a", HANDLE_JOB, json!({"does": "collect", "count": 1}));
    let handle = manager.spawn(run).await.expect("it starts");
    eventually("its start", || {
        stage
            .folder("a")
            .view()
            .is_ok_and(|view| view.pid.is_some())
    })
    .await;

    kill_nine(
        handle
            .refresh()
            .await
            .expect("readable")
            .pid
            .expect("it lives"),
    );
    manager
        .instruct(&a(), RunInstruction::Say("go on".into()))
        .await
        .expect("it listens");
    let outcome = within(manager.wait(&a())).await.expect("it ends");

    assert_eq!(outcome.output, json!(["go on"]));
    assert_eq!(servings(&stage), 2);
    assert!(stage.nothing_is_left_of("a"));
}

#[tokio::test]
async fn one_that_is_lost_more_often_than_it_may_be_has_failed() {
    let stage = Stage::new();
    let manager = stage.manager().restarts(2);

    manager
        .spawn(order("a", "crash", json!({})))
        .await
        .expect("it starts");
    let outcome = within(manager.wait(&a())).await.expect("it ends");

    let RunEnding::Failed { failure } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure.code, "harness_lost");
    assert_eq!(servings(&stage), 3);
    let log = stage.folder("a").log(100).expect("readable").join("\n");
    assert!(log.contains("ended by signal 6"), "{log}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_a_failure_that_says_so() {
    let stage = Stage::new();
    let program = SubHarnessProgram::new(stage.path().join("nothing"));
    let manager = HarnessManager::new(stage.root(), program);

    manager
        .spawn(order("a", HANDLE_JOB, json!({})))
        .await
        .expect("it is taken");
    let outcome = within(manager.wait(&a())).await.expect("it ends");

    let RunEnding::Failed { failure } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure.code, "program_not_found");
}

#[tokio::test]
async fn two_managers_of_one_folder_start_one_process_at_a_time() {
    let stage = Stage::new();
    let (one, other) = (stage.manager().restarts(9), stage.manager().restarts(9));
    let run = order("a", HANDLE_JOB, json!({"does": "collect", "count": 1}));
    let (first, second) = tokio::join!(one.spawn(run.clone()), other.spawn(run));
    let handle = first.expect("it starts");
    second.expect("it is the same");

    for epoch in 1..=4 {
        let served = || stage.folder("a").view().expect("readable");
        eventually("the next process", || {
            served().epoch == Epoch(epoch) && served().pid.is_some()
        })
        .await;
        kill_nine(served().pid.expect("it lives"));
        // Both are waited for, so both see it go.
        let (_, _) = (one.status(&a()).await, other.status(&a()).await);
    }
    handle.send_instruction("end").await.expect("it listens");
    let (by_one, by_other) = within(async {
        let run = a();
        tokio::join!(one.wait(&run), other.wait(&run))
    })
    .await;

    assert_eq!(by_one.expect("it ends"), by_other.expect("it ends"));
    assert_eq!(servings(&stage), 5);
    assert!(stage.nothing_is_left_of("a"));
}

#[tokio::test]
async fn one_whose_manager_is_gone_waits_until_somebody_starts_it_again() {
    let stage = Stage::new();
    let run = order("a", HANDLE_JOB, json!({"does": "collect", "count": 1}));
    let first = stage.manager().restarts(0);
    let handle = first.spawn(run).await.expect("it starts");
    eventually("its start", || {
        stage
            .folder("a")
            .view()
            .is_ok_and(|view| view.pid.is_some())
    })
    .await;
    let pid = handle
        .refresh()
        .await
        .expect("readable")
        .pid
        .expect("it lives");
    let served = first.restart(handle.id());
    assert!(
        matches!(served, Err(EngineError::Refused { .. })),
        "{served:?}"
    );
    // A manager that is gone starts nothing again.
    drop(first);
    kill_nine_if_it_lives(pid);
    eventually("its end", || !crate::handles::stage::lives(pid)).await;
    let second = stage.manager().restarts(0);

    let listed = second.list().expect("readable");
    let found = listed
        .into_iter()
        .next()
        .expect("it is found")
        .1
        .expect("readable");
    assert!(found.outcome.is_none() && found.pid.is_none(), "{found:?}");
    let phase = second.status(&a()).await.expect("it is there").phase;
    assert_eq!(phase, RunPhase::Waiting);
    second.restart(handle.id()).expect("it is not served");
    handle.send_instruction("end").await.expect("it listens");
    let outcome = within(second.wait(&a())).await.expect("it ends");

    assert_eq!(outcome.output, json!(["end"]));
    assert_eq!(handle.refresh().await.expect("readable").epoch, Epoch(2));
    let ended = second.restart(handle.id());
    assert!(matches!(ended, Err(EngineError::Ended(_))), "{ended:?}");
}

fn kill_nine_if_it_lives(pid: u32) {
    // The manager may have ended it already.
    let _ = std::process::Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .stderr(std::process::Stdio::null())
        .status();
}

#[tokio::test]
async fn dropping_the_manager_ends_its_sub_harnesses() {
    let stage = Stage::new();
    let manager = stage.manager();
    let run = order("a", HANDLE_JOB, json!({"does": "stubborn"}));
    manager.spawn(run).await.expect("it starts");
    eventually("its start", || !stage.nothing_is_left_of("a")).await;

    drop(manager);

    eventually("its end", || stage.nothing_is_left_of("a")).await;
}

#[tokio::test]
async fn what_a_manager_of_this_process_leaves_is_taken_up_by_another() {
    let stage = Stage::new();
    let in_process = || {
        HarnessManager::in_process(stage.root(), Arc::new(HandleJob::in_folders(stage.root())))
            .every(OFTEN)
    };
    let first = in_process();
    let run = order("a", HANDLE_JOB, json!({"does": "collect", "count": 1}));
    let handle = first.spawn(run).await.expect("it starts");
    eventually("its start", || {
        let view = stage.folder("a").view();
        view.is_ok_and(|view| view.pid.is_some())
    })
    .await;

    drop(first);

    // This process lives, and its task does not.
    eventually("its loss", || {
        stage.folder("a").view().is_ok_and(|view| view.is_lost)
    })
    .await;
    let second = in_process();
    handle.send_instruction("end").await.expect("it listens");
    let outcome = within(second.wait(&a())).await.expect("it ends");
    assert_eq!(outcome.output, json!(["end"]));
    assert_eq!(servings(&stage), 2);
}

#[tokio::test]
async fn many_at_once_all_end() {
    let stage = Stage::new();
    let manager = Arc::new(stage.manager());
    let ids: Vec<_> = (0..12).map(|number| format!("m-{number}")).collect();
    for id in &ids {
        let run = order(id, HANDLE_JOB, json!({"does": "give", "value": id}));
        manager
            .submit(run, Placement::anywhere())
            .await
            .expect("it is taken");
    }

    for id in &ids {
        let outcome = within(manager.wait(&RunId::new(id)))
            .await
            .expect("it ends");
        assert_eq!(outcome.output, json!(id));
    }

    let listed = manager.list().expect("readable");
    assert_eq!(listed.len(), ids.len());
    // A process writes its outcome before it ends.
    eventually("the end of all processes", || {
        ids.iter().all(|id| stage.nothing_is_left_of(id))
    })
    .await;
}

#[tokio::test]
async fn each_sub_harness_gets_the_variables_of_its_own_order() {
    let stage = Stage::new();
    let program = program().env("SECRET", "everybody's").env_for(|order| {
        let secret = order.input["secret"].as_str();
        let secret = secret.map(|secret| ("SECRET".into(), secret.into()));
        secret.into_iter().collect()
    });
    let manager = HarnessManager::new(stage.root(), program).every(OFTEN);

    let mut told = Vec::new();
    for (id, input) in [("a", json!({"secret": "of a"})), ("b", json!({}))] {
        manager
            .spawn(order(id, "secret", input))
            .await
            .expect("it starts");
        let outcome = within(manager.wait(&RunId::new(id))).await;
        told.push(outcome.expect("it ends").output);
    }

    assert_eq!(told, [json!("of a"), json!("everybody's")]);
}

/// This program in the role of a sub-harness, started by Bash after `first`.
fn program_after(bash: &std::path::Path, first: &str) -> SubHarnessProgram {
    let script = format!("{first}; exec \"$@\"");
    let own = std::env::current_exe().expect("this program");
    let own = own.to_str().expect("plain").to_owned();
    let role = ["handles::roles::sub_harness", "--exact", "--nocapture"].map(str::to_owned);
    SubHarnessProgram::new(bash)
        .args(["-c".to_owned(), script, "bash".to_owned(), own])
        .args(role)
        .env(crate::handles::roles::SUB_HARNESS, "yes")
        .env("PATH", std::env::var_os("PATH").expect("set"))
}

#[tokio::test]
async fn what_was_done_is_not_done_again_because_the_journal_is_full() {
    let stage = Stage::new();
    // A file that is larger than 64 KiB cannot grow.
    let program = program_after("/bin/bash".as_ref(), "trap '' XFSZ; ulimit -f 64");
    let manager = HarnessManager::new(stage.root(), program)
        .every(OFTEN)
        .restarts(0);
    let file = stage.path().join("go-on");
    let handle = manager
        .spawn(order("a", "until", json!({"file": file})))
        .await
        .expect("it starts");
    eventually("its start", || {
        handle.folder().view().is_ok_and(|view| view.pid.is_some())
    })
    .await;
    let journal = handle.folder().path().join("journal.jsonl");
    let mut text = std::fs::read(&journal).expect("there");
    text.extend(vec![b'\n'; 70 * 1024]);
    std::fs::write(&journal, text).expect("writable");

    std::fs::write(&file, "").expect("writable");
    let outcome = within(manager.wait(&RunId::new("a"))).await;

    let outcome = outcome.expect("it ends");
    assert_eq!(outcome.output, json!("it is there"), "{outcome:?}");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_for_a_moment_is_tried_again() {
    let stage = Stage::new();
    let bash = stage.path().join("bash");
    std::fs::copy("/bin/bash", &bash).expect("a program");
    // Nobody can execute what somebody writes.
    let writing = std::fs::File::options().append(true).open(&bash);
    let writing = writing.expect("ours");
    let manager = HarnessManager::new(stage.root(), program_after(&bash, ":")).every(OFTEN);
    let input = json!({"does": "give", "value": 1});
    let handle = manager.spawn(order("a", HANDLE_JOB, input)).await;
    let handle = handle.expect("it is taken");
    eventually("a refusal", || {
        let lines = handle.folder().log(10).unwrap_or_default();
        lines.iter().any(|line| line.contains("started again"))
    })
    .await;

    drop(writing);
    let outcome = within(manager.wait(&RunId::new("a"))).await;

    assert_eq!(outcome.expect("it ends").output, json!(1));
}
