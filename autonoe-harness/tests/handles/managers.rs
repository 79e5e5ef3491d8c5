//! Tests of the manager: starting, finding and restarting members.

use std::sync::Arc;

use autonoe_core::RunId;
use autonoe_core::engine::{Engine, EngineError, Placement, RunEnding, RunInstruction, RunPhase};
use autonoe_core::time::Epoch;
use autonoe_harness::folder::MemberFact;
use autonoe_harness::{MemberCommand, MemberManager};
use serde_json::json;

use crate::handles::fixture::{Fixture, OFTEN, eventually, kill_nine, order, program, within};
use crate::handles::job::{HANDLE_JOB, HandleJob};

fn a() -> RunId {
    RunId::new("a")
}

#[tokio::test]
async fn one_run_for_an_id_however_often_it_is_submitted() {
    let fixture = Fixture::new();
    let manager = fixture.manager();
    let run = order("a", HANDLE_JOB, json!({"does": "give", "value": 7}));

    for _ in 0..3 {
        let submitted = manager.submit(run.clone(), Placement::anywhere()).await;
        assert_eq!(submitted.expect("it is the same"), a());
    }
    let other = order("a", HANDLE_JOB, json!({"does": "give", "value": 8}));
    let refused = manager.submit(other, Placement::anywhere()).await;
    assert!(
        matches!(refused, Err(EngineError::Conflict(_))),
        "{refused:?}"
    );
    let outcome = within(manager.wait(&a())).await.expect("it ends");
    let repeated = manager.submit(run, Placement::anywhere()).await;

    assert!(repeated.is_ok());
    assert_eq!(outcome.output, json!(7));
    assert_eq!(manager.wait(&a()).await.expect("it ended"), outcome);
    assert_eq!(servings(&fixture), 1);
}

fn servings(fixture: &Fixture) -> usize {
    let journal = fixture.folder("a").journal().expect("readable");
    let serving = |fact: &MemberFact| matches!(fact, MemberFact::Serving { .. });
    journal.iter().filter(|entry| serving(&entry.fact)).count()
}

#[tokio::test]
async fn ids_that_would_leave_the_folder_and_other_hosts_are_refused() {
    let fixture = Fixture::new();
    let manager = fixture.manager();

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
    let on_other_host = manager.submit(
        order("a", HANDLE_JOB, json!({})),
        Placement::on_host("mars"),
    );
    assert!(matches!(
        on_other_host.await,
        Err(EngineError::Refused { .. })
    ));
    assert!(!fixture.root().exists());
}

#[tokio::test]
async fn upstream_1_work_in_progress_at_a_crash_is_resumed_once() {
    let fixture = Fixture::new();
    let manager = fixture.manager();
    let run = order("a", HANDLE_JOB, json!({"does": "collect", "count": 1}));
    let handle = manager.spawn(run).await.expect("it starts");
    eventually("its start", || {
        fixture
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
        .instruct(&a(), RunInstruction::Message("go on".into()))
        .await
        .expect("it listens");
    let outcome = within(manager.wait(&a())).await.expect("it ends");

    assert_eq!(outcome.output, json!(["go on"]));
    assert_eq!(servings(&fixture), 2);
    assert!(fixture.has_no_processes("a"));
}

#[tokio::test]
async fn a_member_that_is_lost_too_often_has_failed() {
    let fixture = Fixture::new();
    let manager = fixture.manager().restarts(2);

    manager
        .spawn(order("a", "crash", json!({})))
        .await
        .expect("it starts");
    let outcome = within(manager.wait(&a())).await.expect("it ends");

    let RunEnding::Failed { failure } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure.code, "harness_lost");
    assert_eq!(servings(&fixture), 3);
    let log = fixture.folder("a").log(100).expect("readable").join("\n");
    assert!(log.contains("killed by signal 6"), "{log}");
}

#[tokio::test]
async fn a_missing_program_is_a_clear_failure() {
    let fixture = Fixture::new();
    let program = MemberCommand::new(fixture.path().join("nothing"));
    let manager = MemberManager::new(fixture.root(), program);

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
    let fixture = Fixture::new();
    let (one, other) = (fixture.manager().restarts(9), fixture.manager().restarts(9));
    let run = order("a", HANDLE_JOB, json!({"does": "collect", "count": 1}));
    let (first, second) = tokio::join!(one.spawn(run.clone()), other.spawn(run));
    let handle = first.expect("it starts");
    second.expect("it is the same");

    for epoch in 1..=4 {
        let served = || fixture.folder("a").view().expect("readable");
        eventually("the next process", || {
            served().epoch == Epoch(epoch) && served().pid.is_some()
        })
        .await;
        kill_nine(served().pid.expect("it lives"));
        // Both managers wait for it, so both see its end.
        let (_, _) = (one.status(&a()).await, other.status(&a()).await);
    }
    handle.send_instruction("end").await.expect("it listens");
    let (by_one, by_other) = within(async {
        let run = a();
        tokio::join!(one.wait(&run), other.wait(&run))
    })
    .await;

    assert_eq!(by_one.expect("it ends"), by_other.expect("it ends"));
    assert_eq!(servings(&fixture), 5);
    assert!(fixture.has_no_processes("a"));
}

#[tokio::test]
async fn a_member_without_a_manager_waits_until_it_is_restarted() {
    let fixture = Fixture::new();
    let run = order("a", HANDLE_JOB, json!({"does": "collect", "count": 1}));
    let first = fixture.manager().restarts(0);
    let handle = first.spawn(run).await.expect("it starts");
    eventually("its start", || {
        fixture
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
    // A dropped manager restarts nothing.
    drop(first);
    kill_nine_if_it_lives(pid);
    eventually("its end", || !crate::handles::fixture::lives(pid)).await;
    let second = fixture.manager().restarts(0);

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
async fn dropping_the_manager_ends_its_members() {
    let fixture = Fixture::new();
    let manager = fixture.manager();
    let run = order("a", HANDLE_JOB, json!({"does": "stubborn"}));
    manager.spawn(run).await.expect("it starts");
    eventually("its start", || !fixture.has_no_processes("a")).await;

    drop(manager);

    eventually("its end", || fixture.has_no_processes("a")).await;
}

#[tokio::test]
async fn members_of_a_dropped_in_process_manager_are_resumed_by_another() {
    let fixture = Fixture::new();
    let in_process = || {
        MemberManager::in_process(
            fixture.root(),
            Arc::new(HandleJob::in_folders(fixture.root())),
        )
        .every(OFTEN)
    };
    let first = in_process();
    let run = order("a", HANDLE_JOB, json!({"does": "collect", "count": 1}));
    let handle = first.spawn(run).await.expect("it starts");
    eventually("its start", || {
        let view = fixture.folder("a").view();
        view.is_ok_and(|view| view.pid.is_some())
    })
    .await;

    drop(first);

    // This process is alive, but its task is not.
    eventually("its loss", || {
        fixture.folder("a").view().is_ok_and(|view| view.is_lost)
    })
    .await;
    let second = in_process();
    handle.send_instruction("end").await.expect("it listens");
    let outcome = within(second.wait(&a())).await.expect("it ends");
    assert_eq!(outcome.output, json!(["end"]));
    assert_eq!(servings(&fixture), 2);
}

#[tokio::test]
async fn concurrent_members_all_end() {
    let fixture = Fixture::new();
    let manager = Arc::new(fixture.manager());
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
        ids.iter().all(|id| fixture.has_no_processes(id))
    })
    .await;
}

#[tokio::test]
async fn each_member_gets_the_variables_of_its_own_order() {
    let fixture = Fixture::new();
    let program = program().env("SECRET", "everybody's").env_for(|order| {
        let secret = order.input["secret"].as_str();
        let secret = secret.map(|secret| ("SECRET".into(), secret.into()));
        secret.into_iter().collect()
    });
    let manager = MemberManager::new(fixture.root(), program).every(OFTEN);

    let mut outputs = Vec::new();
    for (id, input) in [("a", json!({"secret": "of a"})), ("b", json!({}))] {
        manager
            .spawn(order(id, "secret", input))
            .await
            .expect("it starts");
        let outcome = within(manager.wait(&RunId::new(id))).await;
        outputs.push(outcome.expect("it ends").output);
    }

    assert_eq!(outputs, [json!("of a"), json!("everybody's")]);
}

/// This program in the role of a member, started by Bash after `first`.
fn program_after(bash: &std::path::Path, first: &str) -> MemberCommand {
    let script = format!("{first}; exec \"$@\"");
    let own = std::env::current_exe().expect("this program");
    let own = own.to_str().expect("plain").to_owned();
    let role = ["handles::roles::member", "--exact", "--nocapture"].map(str::to_owned);
    MemberCommand::new(bash)
        .args(["-c".to_owned(), script, "bash".to_owned(), own])
        .args(role)
        .env(crate::handles::roles::IS_MEMBER, "yes")
        .env("PATH", std::env::var_os("PATH").expect("set"))
}

#[tokio::test]
async fn finished_work_is_not_repeated_because_the_journal_is_full() {
    let fixture = Fixture::new();
    // A file that is larger than 64 KiB cannot grow.
    let program = program_after("/bin/bash".as_ref(), "trap '' XFSZ; ulimit -f 64");
    let manager = MemberManager::new(fixture.root(), program)
        .every(OFTEN)
        .restarts(0);
    let file = fixture.path().join("go-on");
    let handle = manager
        .spawn(order("a", "until", json!({"file": file})))
        .await
        .expect("it starts");
    eventually("its start", || {
        handle.folder().view().is_ok_and(|view| view.pid.is_some())
    })
    .await;
    let journal = handle.folder().path().join("work.jsonl");
    let mut text = std::fs::read(&journal).expect("there");
    text.extend(vec![b'\n'; 70 * 1024]);
    std::fs::write(&journal, text).expect("writable");

    std::fs::write(&file, "").expect("writable");
    let outcome = within(manager.wait(&RunId::new("a"))).await;

    let outcome = outcome.expect("it ends");
    assert_eq!(outcome.output, json!("it is there"), "{outcome:?}");
}

#[tokio::test]
async fn the_start_of_a_program_is_retried() {
    let fixture = Fixture::new();
    let bash = fixture.path().join("bash");
    std::fs::copy("/bin/bash", &bash).expect("a program");
    // A file that is open for writing cannot be executed.
    let writing = std::fs::File::options().append(true).open(&bash);
    let writing = writing.expect("ours");
    let manager = MemberManager::new(fixture.root(), program_after(&bash, ":")).every(OFTEN);
    let input = json!({"does": "give", "value": 1});
    let handle = manager.spawn(order("a", HANDLE_JOB, input)).await;
    let handle = handle.expect("it is taken");
    eventually("a refusal", || {
        let lines = handle.folder().log(10).unwrap_or_default();
        lines
            .iter()
            .any(|line| line.contains("starting the process again"))
    })
    .await;

    drop(writing);
    let outcome = within(manager.wait(&RunId::new("a"))).await;

    assert_eq!(outcome.expect("it ends").output, json!(1));
}
