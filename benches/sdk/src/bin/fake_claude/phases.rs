//! The four phases of the work.

use std::io;
use std::time::Instant;

use serde_json::{Value, json};

use crate::figures::{Stopwatch, side_by_side};
use crate::lines;
use crate::pipes::Pipes;
use crate::plan::Plan;

/// Messages per write: about as many as a fast program has ready.
const BATCH: usize = 99;

/// Text that an answer must contain to allow a call.
const ALLOWED: &str = "\"allow\"";

/// Runs the phases, stores the measurements and ends the turn.
pub(crate) fn play(pipes: &mut Pipes, plan: &Plan, hook: &str) -> io::Result<()> {
    messages(pipes, plan.messages)?;
    let figures = json!({
        "hooks": hooks(pipes, plan.hooks, hook)?,
        "many_hooks": many_hooks(pipes, plan, hook)?,
        "calls": calls(pipes, plan.calls)?,
    });
    std::fs::write(&plan.figures, figures.to_string())?;
    pipes.send(lines::result().as_bytes())
}

/// Sends messages repeatedly. The clients measure the time between the marks.
fn messages(pipes: &mut Pipes, count: usize) -> io::Result<()> {
    let kinds = lines::messages();
    let batch: String = kinds.iter().cycle().take(BATCH).cloned().collect();
    let rest: String = kinds.iter().cycle().take(count % BATCH).cloned().collect();
    pipes.send(lines::mark("allowed").as_bytes())?;
    for _ in 0..count / BATCH {
        pipes.send(batch.as_bytes())?;
    }
    pipes.send(rest.as_bytes())?;
    pipes.send(lines::mark("allowed_warning").as_bytes())
}

fn hooks(pipes: &mut Pipes, count: usize, hook: &str) -> io::Result<Value> {
    let mut watch = Stopwatch::start(count);
    for number in 0..count {
        let id = format!("hook-{number}-x");
        let question = lines::hook_question(&id, hook, number);
        let since = Instant::now();
        pipes.send(question.as_bytes())?;
        pipes.answer(&id, ALLOWED)?;
        watch.trip(since);
    }
    Ok(watch.stop())
}

fn many_hooks(pipes: &mut Pipes, plan: &Plan, hook: &str) -> io::Result<Value> {
    let started = Instant::now();
    let (mut requests, mut answered) = (0, 0);
    while answered < plan.many_hooks {
        let most = plan.many_hooks.min(answered + plan.in_flight);
        let questions: String = (requests..most)
            .map(|number| lines::hook_question(&format!("many-{number}-x"), hook, number))
            .collect();
        requests = most;
        pipes.send(questions.as_bytes())?;
        pipes.answer("many-", ALLOWED)?;
        answered += 1;
    }
    Ok(side_by_side(plan.many_hooks, started.elapsed()))
}

fn calls(pipes: &mut Pipes, count: usize) -> io::Result<Value> {
    for (id, message) in [
        (
            "mcp-initialize",
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "claude-code", "version": "2.1.325"},
            }}),
        ),
        (
            "mcp-initialized",
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ),
        (
            "mcp-list",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        ),
    ] {
        pipes.send(lines::mcp(id, &message.to_string()).as_bytes())?;
        pipes.answer(id, "mcp_response")?;
    }
    let mut watch = Stopwatch::start(count);
    for number in 2..count + 2 {
        let (id, text) = (format!("call-{number}-x"), format!("hello {number}"));
        let question = lines::mcp(&id, &lines::echo(number, &text));
        let since = Instant::now();
        pipes.send(question.as_bytes())?;
        pipes.answer(&id, &text)?;
        watch.trip(since);
    }
    Ok(watch.stop())
}
