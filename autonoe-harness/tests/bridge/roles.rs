//! What this program does when a test starts it again.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    JobRunner, LocalEngine, Project, ProjectSessionHost, RunDesk, RunOutcome, RunSpec,
};
use autonoe_harness::{ServedSession, serve_engine, serve_session_host};
use autonoe_testkit::conformance::HostedAgents;
use serde_json::json;
use tokio::io::{Empty, Sink};
use tokio::net::unix::pipe;

/// Says to this program that it has a role.
pub(crate) const ROLE: &str = "AUTONOE_TEST_ROLE";

/// Says where agents write down what becomes of them.
pub(crate) const SIGNS: &str = "AUTONOE_TEST_SIGNS";

fn plays(role: &str) -> bool {
    std::env::var(ROLE).is_ok_and(|played| played == role)
}

/// Does something with the two pipes of this program.
fn talk<T>(talking: impl AsyncFnOnce(pipe::Receiver, pipe::Sender) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let open = |number: u32, is_output: bool| {
            let path = format!("/proc/self/fd/{number}");
            let opened = OpenOptions::new()
                .read(!is_output)
                .write(is_output)
                .open(path);
            opened.expect("it is open")
        };
        let input = pipe::Receiver::from_file(open(0, false)).expect("a pipe");
        let output = pipe::Sender::from_file(open(3, true)).expect("a pipe");
        talking(input, output).await
    })
}

fn nobody_asks<T>(talking: impl AsyncFnOnce(Empty, Sink) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(talking(tokio::io::empty(), tokio::io::sink()))
}

fn host_in(folder: &Path, signs: &Path) -> ProjectSessionHost {
    let project = Project::find(folder, None).expect("a project");
    ProjectSessionHost::new(project, Arc::new(HostedAgents::at(signs)))
}

#[test]
fn session_host() {
    if !plays("bridge::roles::session_host") {
        // Not started as one: nobody asks anything.
        let folder = tempfile::tempdir().expect("a folder");
        let served = nobody_asks(async |input, output| {
            let host = host_in(folder.path(), folder.path());
            serve_session_host(&host, input, output).await
        });
        assert_eq!(served.expect("no error"), ServedSession::LetGo);
        return;
    }
    let served = talk(async |input, output| {
        let signs = PathBuf::from(std::env::var_os(SIGNS).expect("it is set"));
        let folder = std::env::current_dir().expect("a folder");
        let host = host_in(&folder, &signs);
        serve_session_host(&host, input, output).await
    });
    let served = served.expect("it is asked rightly");
    assert!(matches!(
        served,
        ServedSession::Answered | ServedSession::LetGo
    ));
}

#[test]
fn engine() {
    if !plays("bridge::roles::engine") {
        let served = nobody_asks(async |input, output| {
            serve_engine(&LocalEngine::new(Arc::new(Echo)), input, output).await
        });
        served.expect("no error");
        return;
    }
    let served = talk(async |input, output| {
        let engine = LocalEngine::new(Arc::new(Echo));
        serve_engine(&engine, input, output).await
    });
    served.expect("it is asked rightly");
}

/// Gives back what it was given.
struct Echo;

#[async_trait]
impl JobRunner for Echo {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        match run.job.as_str() {
            "hold" => {
                desk.control().cancelled().await;
                RunOutcome::cancelled("")
            }
            "crash" => std::process::abort(),
            _ => RunOutcome::succeeded(json!({"given": run.input, "by": std::process::id()})),
        }
    }
}
