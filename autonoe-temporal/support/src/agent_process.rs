//! [`ProcessAgent`]: a scripted agent with a real process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Prompt, SessionControl};
use autonoe_core::{AgentClient, AgentError, MessageStream, SessionSpec};
use autonoe_process::{Launch, Marker, ShutdownPolicy, StartedProcess};
use futures::{StreamExt, stream};
use tokio::io::AsyncReadExt;

/// The program. It checks that it is alone in the project, starts a detached tool in a session of
/// its own that ignores signals, and ends the tool when it is interrupted.
const PROGRAM: &str = r#"
    exec 9>agent.lock
    flock -n 9 || echo $$ >>two-at-once
    setsid sh -c 'trap "" HUP INT; exec sleep 600' &
    tool=$!
    trap 'kill -KILL $tool; exit 0' INT
    echo ready
    while :; do sleep 0.05; done
"#;

/// The file that exists if two agents worked in a project at the same time.
pub const TWO_AT_ONCE: &str = "two-at-once";

/// Wraps a scripted agent and runs a program beside it. The program lives from the first prompt to
/// the end, and inherits the lock of the run.
pub(crate) struct ProcessAgent {
    agent: Box<dyn AgentClient>,
    launch: Option<Launch>,
    process: Option<StartedProcess>,
}

impl ProcessAgent {
    pub(crate) fn new(agent: Box<dyn AgentClient>, spec: &SessionSpec) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let (pid, key) = (std::process::id(), &spec.key);
        let marker = Marker::new("AUTONOE_TEST_AGENT", format!("{pid}-{count}-{key}"));
        let mut launch = Launch::new("/bin/bash", &spec.cwd, marker.expect("it is valid"))
            .args(["-c", PROGRAM])
            .env("PATH", "/usr/bin:/bin");
        if let Some(lock) = &spec.lock {
            launch = launch.inherit(lock.clone());
        }
        Self {
            agent,
            launch: Some(launch),
            process: None,
        }
    }
}

async fn start(launch: Option<Launch>) -> Result<StartedProcess, AgentError> {
    let failed = |reason: String| AgentError::new(AgentErrorKind::Other, reason);
    let launch = launch.ok_or_else(|| failed("it was prompted twice".to_owned()))?;
    let mut process = launch
        .start()
        .await
        .map_err(|error| failed(error.to_string()))?;
    let ready = process.stdout.read_u8().await;
    ready.map_err(|error| failed(error.to_string()))?;
    Ok(process)
}

#[async_trait]
impl AgentClient for ProcessAgent {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let launch = self.launch.take();
        let (agent, process) = (&mut self.agent, &mut self.process);
        let answer = async move {
            match start(launch).await {
                Ok(started) => {
                    *process = Some(started);
                    agent.query(prompt)
                }
                Err(error) => stream::iter([Err(error)]).boxed(),
            }
        };
        stream::once(answer).flatten().boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.agent.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        let disposed = self.agent.dispose().await;
        if let Some(process) = self.process {
            let end = process
                .process
                .shutdown(ShutdownPolicy::interrupt_first())
                .await;
            assert!(end.is_complete(), "{end:?}");
        }
        disposed
    }
}
