//! Our client of `cargo xtask bench sdk`: `sdk-bench-client FAKE`.
//!
//! It uses the backend like any program that embeds it: a gate with one hook, a toolbox with one
//! tool, one session, one query. It counts the events between the two marks, the hook calls and the
//! tool calls, and prints one line of JSON.

#![allow(clippy::print_stdout, reason = "a program prints its figures")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use autonoe_claude::{ClaudeBackend, ClaudeOptions};
use autonoe_core::agent::{RateLimitStatus, Sandbox};
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{ToolDescription, Toolbox};
use autonoe_core::{
    AgentClientFactory, HookDecision, RunId, SessionSpec, StreamEvent, ToolContext, ToolError,
    ToolOutput, TypedTool, hook_fn,
};
use futures::StreamExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

// On one thread, as in our examples; the SDKs use no more.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args_os().nth(1).ok_or("which program?")?;
    let counters = Arc::new(Counters::default());
    let mut options = ClaudeOptions::new(program, std::env::vars_os());
    options.program.temporary = std::env::temp_dir();
    let mut client = ClaudeBackend::new(options).create(session(&counters)?)?;

    let started = Instant::now();
    let mut watch = Watch::default();
    let mut events = client.query("go".into());
    while let Some(event) = events.next().await {
        watch.see(&event?);
    }
    drop(events);
    let total = started.elapsed();
    client.dispose().await?;

    let first = watch.first.ok_or("no event came")?;
    let seconds = watch.seconds().ok_or("a mark is missing")?;
    let figures = json!({
        "client": "autonoe-claude",
        "version": env!("CARGO_PKG_VERSION"),
        "runtime": "tokio",
        "messages": watch.messages,
        "messages_per_s": watch.messages as f64 / seconds,
        "hooks": counters.hooks.load(Ordering::Relaxed),
        "calls": counters.calls.load(Ordering::Relaxed),
        "load_s": 0.0,
        "first_message_ms": (first - started).as_secs_f64() * 1e3,
        "total_s": total.as_secs_f64(),
        "peak_rss_mib": peak_rss_mib()?,
        "cpu_s": cpu_seconds()?,
    });
    println!("{figures}");
    Ok(())
}

/// Counts of hook calls and tool calls.
#[derive(Debug, Default)]
struct Counters {
    hooks: AtomicU64,
    calls: AtomicU64,
}

/// Times the events between the marks. Each message of the fake is one event.
#[derive(Debug, Default)]
struct Watch {
    first: Option<Instant>,
    started: Option<Instant>,
    ended: Option<Instant>,
    messages: u64,
}

impl Watch {
    fn see(&mut self, event: &StreamEvent) {
        if self.first.is_none() {
            self.first = Some(Instant::now());
        }
        if let StreamEvent::RateLimit { limit, .. } = event {
            match limit.status {
                RateLimitStatus::Allowed => self.started = Some(Instant::now()),
                _ => self.ended = Some(Instant::now()),
            }
        } else if self.started.is_some() && self.ended.is_none() {
            self.messages += 1;
        }
    }

    fn seconds(&self) -> Option<f64> {
        Some((self.ended? - self.started?).as_secs_f64())
    }
}

/// A session in which one hook decides about Bash and one tool is provided by this program.
fn session(counters: &Arc<Counters>) -> Result<SessionSpec, Box<dyn Error>> {
    let here: PathBuf = std::env::current_dir()?;
    let shared = counters.clone();
    let hook = hook_fn("allow-bash", move |call, _| match call.name.as_str() {
        "Bash" => {
            shared.hooks.fetch_add(1, Ordering::Relaxed);
            HookDecision::Approve
        }
        _ => HookDecision::Pass,
    });
    let tools = Toolbox::new([Echo(counters.clone()).into_tool()]);
    let grants = Grants::none().with_toolbox(&tools);
    let gate = Gate::new(ProjectPaths::new(&here), grants).with_hook(hook);
    let key = SessionKey {
        run: RunId::new("bench"),
        number: 1,
    };
    let mut spec = SessionSpec::new(key, here, gate, tools);
    spec.sandbox = Sandbox::Off;
    Ok(spec)
}

/// A tool that returns its input.
struct Echo(Arc<Counters>);

#[derive(Deserialize, JsonSchema)]
struct EchoInput {
    text: String,
}

#[async_trait]
impl TypedTool for Echo {
    type Input = EchoInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("echo", "Gives back what it is given.")
    }

    async fn run(&self, input: EchoInput, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        Ok(ToolOutput::new(input.text))
    }
}

/// Returns the peak resident memory of this process.
fn peak_rss_mib() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    let kib: f64 = kib.ok_or("the system does not tell")?.parse()?;
    Ok(kib / 1024.0)
}

/// Returns the CPU time of this process.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    use rustix::time::{ClockId, clock_gettime};
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Ok(spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9)
}
