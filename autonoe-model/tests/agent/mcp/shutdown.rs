//! Tests that no process of an MCP server outlives its session.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use autonoe_core::agent::SessionOutcome;
use autonoe_core::tool::ToolStatus;
use futures::StreamExt;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{Place, client, eventually, within};
use crate::agent::fixture::{Answer, ScriptedModel, calls, text_reply, turn_of};

#[tokio::test]
async fn servers_and_their_child_processes_end_with_the_session() {
    for mode in ["family", "stubborn", "good"] {
        let place = Place::new();
        let model = ScriptedModel::new([text_reply("Done."), text_reply("Again.")]);
        let mut client = client(&model, place.spec(&[("web", mode)]), |_| {});
        within(turn_of(client.as_mut(), "Begin.")).await;
        let living = if mode == "family" { 2 } else { 1 };
        eventually("all processes", || place.processes() == living).await;
        within(turn_of(client.as_mut(), "Go on.")).await;
        assert_eq!(place.processes(), living, "they are started once");

        within(client.dispose()).await.expect("it ends");

        assert_eq!(place.processes(), 0, "{mode}");
        // The server was asked to end before it was killed.
        assert!(place.path("closed").exists(), "{mode}");
    }
}

#[tokio::test]
async fn servers_end_when_the_client_is_dropped() {
    let place = Place::new();
    let model = ScriptedModel::new([text_reply("Done.")]);
    let mut client = client(&model, place.spec(&[("web", "family")]), |_| {});
    within(turn_of(client.as_mut(), "Begin.")).await;
    // A program has no environment for a moment during exec.
    eventually("both processes", || place.processes() == 2).await;

    drop(client);

    place.eventually_nothing_is_left().await;
}

#[tokio::test]
async fn servers_end_when_the_client_is_dropped_in_the_middle_of_a_call() {
    let place = Place::new();
    let model = ScriptedModel::new([calls(&[("a", "mcp__web__slow", json!({}))])]);
    let mut client = client(&model, place.spec(&[("web", "good")]), |_| {});

    let mut stream = client.query("Begin.".into());
    let listening = async { while stream.next().await.is_some() {} };
    tokio::select! {
        () = listening => panic!("it does not end by itself"),
        _ = place.content_of("slow") => {}
    }
    drop(stream);
    drop(client);

    place.eventually_nothing_is_left().await;
}

#[tokio::test]
async fn interrupted_call_is_cancelled_at_the_server() {
    let place = Place::new();
    let slow = calls(&[("a", "mcp__web__slow", json!({}))]);
    let model = ScriptedModel::new([slow, text_reply("Here I am.")]);
    let mut client = client(&model, place.spec(&[("web", "good")]), |_| {});
    let control = client.control();

    let stopped = async {
        let number = place.content_of("slow").await;
        control.interrupt().await.expect("it can be");
        number
    };
    let (turn, number) = tokio::join!(within(turn_of(client.as_mut(), "Begin.")), stopped);

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Interrupted));
    assert_eq!(turn.responses()[0].2, ToolStatus::Error);
    assert_eq!(place.content_of("cancelled").await, number);
    let next = within(turn_of(client.as_mut(), "Go on.")).await;
    assert_eq!(next.texts(), ["Here I am."]);
    within(client.dispose()).await.expect("it ends");
}

#[tokio::test]
async fn a_session_can_be_stopped_and_ended_while_its_servers_start() {
    let place = Place::new();
    let model = ScriptedModel::new([]);
    let mut client = client(&model, place.spec(&[("web", "mute")]), |options| {
        options.mcp.start_time = Duration::from_secs(600);
    });
    let control = client.control();

    let stopped = async {
        place.content_of("begun").await;
        control.interrupt().await.expect("it can be");
    };
    let (turn, ()) = tokio::join!(within(turn_of(client.as_mut(), "Begin.")), stopped);

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Interrupted));
    assert!(place.processes() > 0);
    within(client.dispose()).await.expect("it ends");
    assert_eq!(place.processes(), 0);
}

#[tokio::test]
async fn servers_end_when_the_client_is_dropped_while_they_start() {
    let place = Place::new();
    let model = ScriptedModel::new([]);
    let mut client = client(&model, place.spec(&[("web", "mute")]), |options| {
        options.mcp.start_time = Duration::from_secs(600);
    });

    let mut stream = client.query("Begin.".into());
    let listening = async { while stream.next().await.is_some() {} };
    tokio::select! {
        () = listening => panic!("it does not end by itself"),
        _ = place.content_of("begun") => {}
    }
    drop(stream);
    drop(client);

    place.eventually_nothing_is_left().await;
}

/// Environment variable with the folder and the behaviour of the server, for the test that plays
/// the host.
const HOST: &str = "AUTONOE_TEST_MCP_HOST";

/// Plays a host that waits for a model, if this process was started as one.
async fn play_host() -> bool {
    let Ok(host_args) = std::env::var(HOST) else {
        return false;
    };
    let (mode, folder) = host_args.split_once(' ').expect("both");
    let place = Place::at(folder);
    let model = ScriptedModel::new([Answer::Hangs]);
    let mut client = client(&model, place.spec(&[("web", mode)]), |options| {
        options.mcp.temporary = place.path("");
    });
    turn_of(client.as_mut(), "Begin.").await;
    true
}

/// A host in a separate process. Dropping it kills the process.
struct Host(Child);

impl Host {
    /// Starts a host and waits until its server has started `processes` processes in total.
    async fn start(test: &str, place: &Place, mode: &str, processes: usize) -> Self {
        let folder = place.path("");
        let host = Command::new(std::env::current_exe().expect("a program"))
            .args(["--exact", test])
            .env(HOST, format!("{mode} {}", folder.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(Self)
            .expect("it starts");
        let is_ready = || place.path("listed").exists() && place.processes() >= processes;
        eventually("servers", is_ready).await;
        host
    }

    /// Kills the supervisors of the servers. The host is stopped first, so it cannot react.
    fn kill_supervisors(&self) {
        let host = Pid::from_child(&self.0);
        kill_process(host, Signal::STOP).expect("it lives");
        let tasks = format!("/proc/{}/task", self.0.id());
        let tasks = fs::read_dir(tasks).expect("it lives").flatten();
        let lists: String = tasks
            .map(|task| fs::read_to_string(task.path().join("children")))
            .map(|list| list.expect("it is stopped"))
            .collect();
        let children: Vec<_> = lists
            .split_ascii_whitespace()
            .map(|number| {
                number
                    .parse()
                    .ok()
                    .and_then(Pid::from_raw)
                    .expect("a number")
            })
            .collect();
        assert!(!children.is_empty(), "the host has no supervisor");
        for child in children {
            kill_process(child, Signal::KILL).expect("it lives");
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn servers_end_when_the_host_is_killed() {
    if play_host().await {
        return;
    }
    let place = Place::new();
    let test = "agent::mcp::shutdown::servers_end_when_the_host_is_killed";

    drop(Host::start(test, &place, "good", 1).await);

    place.eventually_nothing_is_left().await;
}

#[tokio::test]
async fn next_session_ends_servers_of_a_killed_host() {
    if play_host().await {
        return;
    }
    let place = Place::new();
    let test = "agent::mcp::shutdown::next_session_ends_servers_of_a_killed_host";
    let host = Host::start(test, &place, "family", 2).await;
    host.kill_supervisors();
    drop(host);
    eventually("the end of the server", || place.processes() == 1).await;

    let model = ScriptedModel::new([text_reply("Done.")]);
    let mut client = client(&model, place.spec(&[("web", "good")]), |options| {
        options.mcp.temporary = place.path("");
    });
    within(turn_of(client.as_mut(), "Begin.")).await;
    assert_eq!(place.processes(), 1, "only the new server is there");
    within(client.dispose()).await.expect("it ends");

    assert_eq!(place.processes(), 0);
}
