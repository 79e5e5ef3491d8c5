//! Memory that a session adds to our process, measured in a fresh process so that no earlier
//! allocation counts.

use std::process::Command;
use std::time::Duration;

use autonoe_core::AgentClient;
use futures::StreamExt;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::autonoe::{agents, spec, start_model};
use crate::backend::Backend;
use crate::memory::own_kib;
use crate::model::{Model, Then};
use crate::workspace::Workspace;

/// The argument of a process that measures itself.
pub(crate) const GROW: &str = "grow";

/// Measures the growth in another process, in KiB.
pub(crate) fn measure_in_child(backend: Backend) -> u64 {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args([GROW, &backend.name()]).output();
    let output = output.expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    text.trim()
        .parse()
        .unwrap_or_else(|_| panic!("{backend:?} told no figure: {text}{stderr}"))
}

/// Measures the growth in this process and prints it.
pub(crate) fn print(runtime: &Runtime, name: &str) {
    let backend = Backend::ALL.into_iter().find(|known| known.name() == name);
    println!("{}", runtime.block_on(measure(backend.expect("a backend"))));
}

/// Runs one session, then many at once, and divides the difference by their number.
async fn measure(backend: Backend) -> u64 {
    let place = Workspace::new();
    let mut model = start_model(backend, Then::Hangs, &place).await;
    let agents = agents(backend, &place, model.as_ref(), Then::Hangs);
    let (mut tasks, stop) = (JoinSet::new(), CancellationToken::new());
    let others = backend.at_once() - 1;
    let mut start = |number| {
        let client = agents.create(spec(backend, &place, number));
        tasks.spawn(hold(client.expect("a client"), stop.clone()));
    };

    start(1);
    all_hang(&mut model, 1).await;
    let one = own_kib();
    (2..=1 + others).for_each(start);
    all_hang(&mut model, others).await;
    let all = own_kib();

    stop.cancel();
    tasks.join_all().await;
    all.saturating_sub(one) / u64::from(others)
}

/// Holds a session until it is stopped.
async fn hold(mut client: Box<dyn AgentClient>, stop: CancellationToken) {
    let mut events = client.query("Say hello.".into());
    let ended = async {
        while let Some(event) = events.next().await {
            event.expect("no error");
        }
    };
    tokio::select! {
        () = ended => panic!("a session that hangs does not end"),
        () = stop.cancelled() => {}
    }
    drop(events);
    client.dispose().await.expect("it ends");
}

/// Waits until `sessions` more sessions hang.
async fn all_hang(model: &mut Option<Model>, sessions: u32) {
    match model {
        Some(model) => {
            for _ in 0..sessions {
                model.wait_for_second_request().await;
            }
        }
        // Scripted agents do all their work as soon as they are prompted.
        None => tokio::time::sleep(Duration::from_millis(500)).await,
    }
}
