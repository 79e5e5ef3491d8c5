//! Tests of a killed manager and its successor.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use autonoe_core::RunId;
use autonoe_core::engine::{Engine, Placement};
use autonoe_core::time::Epoch;
use autonoe_harness::folder::MemberStatus;
use autonoe_harness::manager::MemberLifetime;
use serde_json::{Value, json};

use crate::handles::fixture::{Fixture, eventually, lives, manager, order, within};
use crate::handles::job::HANDLE_JOB;

/// Makes this program the manager of a folder.
const MANAGER: &str = "AUTONOE_TEST_MANAGER";

/// Sets whether its members outlive it.
const SURVIVAL: &str = "AUTONOE_TEST_SURVIVAL";

/// Sets the job of the members.
const JOB: &str = "AUTONOE_TEST_JOB";

#[test]
fn manager_that_dies() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let Some(root) = std::env::var_os(MANAGER) else {
        // Not started as a manager: a missing folder has no members.
        let found = manager(Path::new("/nowhere"), MemberLifetime::default()).list();
        assert_eq!(found.expect("nothing is wrong with it").len(), 0);
        return;
    };
    let member_lifetime = if std::env::var_os(SURVIVAL).is_some() {
        MemberLifetime::Outlives
    } else {
        MemberLifetime::BoundToManager
    };
    runtime.block_on(async {
        let manager = manager(Path::new(&root), member_lifetime);
        let job: Value = serde_json::from_str(&std::env::var(JOB).expect("set")).expect("JSON");
        let name = job["job"].as_str().expect("a name");
        let run = order("a", name, job["input"].clone());
        manager
            .submit(run, Placement::anywhere())
            .await
            .expect("it is taken");
        let _ = manager.wait(&RunId::new("a")).await;
        std::future::pending::<()>().await;
    });
}

/// A manager in a process of its own, killed on drop at the latest.
struct Host(Child);

impl Host {
    fn start(fixture: &Fixture, member_lifetime: MemberLifetime, job: &Value) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .args([
                "handles::managers_that_die::manager_that_dies",
                "--exact",
                "--nocapture",
            ])
            .env(MANAGER, fixture.root())
            .env(JOB, job.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if member_lifetime == MemberLifetime::Outlives {
            command.env(SURVIVAL, OsStr::new("yes"));
        }
        Self(command.spawn().expect("it starts"))
    }

    fn kill(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have ended already, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_manager_that_is_killed_leaves_no_process() {
    let fixture = Fixture::new();
    let input = json!({"folder": fixture.path()});
    let job = json!({"job": "tree", "input": input});
    let mut host = Host::start(&fixture, MemberLifetime::BoundToManager, &job);
    let mut pids = Vec::new();
    for name in ["child", "detached", "orphan"] {
        pids.push(fixture.wait_for_file(name).await.parse().expect("a number"));
    }
    pids.extend(fixture.folder("a").view().expect("readable").pid);
    assert!(pids.len() == 4 && pids.iter().all(|pid| lives(*pid)));

    host.kill();

    eventually("the end of the last", || {
        pids.iter().all(|pid| !lives(*pid))
    })
    .await;
    assert!(fixture.has_no_processes("a"));
    // It received SIGINT, so it can be resumed.
    let view = fixture.folder("a").view().expect("readable");
    assert_eq!((view.status, view.is_lost), (MemberStatus::Pending, false));
}

#[tokio::test]
async fn after_a_full_restart_runs_resume_and_no_instruction_is_lost() {
    let fixture = Fixture::new();
    let input = json!({"does": "collect", "count": 2});
    let job = json!({"job": HANDLE_JOB, "input": input});
    let mut host = Host::start(&fixture, MemberLifetime::BoundToManager, &job);
    eventually("its start", || {
        fixture
            .folder("a")
            .view()
            .is_ok_and(|view| view.pid.is_some())
    })
    .await;
    let pid = fixture
        .folder("a")
        .view()
        .expect("readable")
        .pid
        .expect("it lives");

    host.kill();
    eventually("the end of the member", || !lives(pid)).await;
    let manager = fixture.manager();
    let handle = manager
        .handle(&autonoe_harness::strategy::MemberId::new("a"))
        .expect("it is found");
    for text in ["one", "two"] {
        handle.send_instruction(text).await.expect("it is not over");
    }
    let run = manager
        .submit(order("a", HANDLE_JOB, input), Placement::anywhere())
        .await;
    let outcome = within(manager.wait(&run.expect("the same")))
        .await
        .expect("it ends");

    assert_eq!(outcome.output, json!(["one", "two"]));
    assert_eq!(handle.refresh().await.expect("readable").epoch, Epoch(2));
}

#[tokio::test]
async fn members_that_outlive_their_manager_are_found_by_the_next() {
    let fixture = Fixture::new();
    let input = json!({"does": "collect", "count": 1});
    let job = json!({"job": HANDLE_JOB, "input": input});
    let mut host = Host::start(&fixture, MemberLifetime::Outlives, &job);
    eventually("its start", || {
        fixture
            .folder("a")
            .view()
            .is_ok_and(|view| view.pid.is_some())
    })
    .await;

    host.kill();
    let manager = manager(&fixture.root(), MemberLifetime::Outlives);
    let listed = manager.list().expect("readable");
    let view = listed[0].1.as_ref().expect("readable").clone();
    let pid = view.pid.expect("it lives on");
    let handle = manager.handle(&view.id).expect("it is found");
    handle.send_instruction("end").await.expect("it listens");
    let outcome = within(manager.wait(&RunId::new("a")))
        .await
        .expect("it ends");

    assert_eq!(view.status, MemberStatus::Running);
    assert_eq!(outcome.output, json!(["end"]));
    assert_eq!(handle.refresh().await.expect("readable").epoch, Epoch(1));
    eventually("the end of its process", || !lives(pid)).await;
}
