//! Tests of tasks on Claude Code.

use std::fs;
use std::sync::Arc;

use autonoe_claude::{ClaudeBackend, ClaudeOptions, ConfigFolder};
use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::json;

use crate::fixture::{Fixture, does_a_task, installed, is_stopped_in_time};

pub(crate) fn agents(place: &Fixture, url: &str) -> Arc<ClaudeBackend> {
    let environment = place.environment([
        ("ANTHROPIC_BASE_URL", url.into()),
        ("ANTHROPIC_API_KEY", "dummy".into()),
    ]);
    let mut options = ClaudeOptions::new(installed("claude-code-2.1.325/claude"), environment);
    // Kept, so that a later session can resume a conversation.
    let home = place.path().join("claude");
    fs::create_dir_all(&home).expect("it can be made");
    options.config = ConfigFolder::Persistent(home);
    options.program.temporary = place.temporary();
    Arc::new(ClaudeBackend::new(options))
}

#[tokio::test]
async fn a_task_is_done_and_verified() {
    let place = Fixture::new();
    let file = place.project().join("hello.txt");
    let server = AnthropicServer::start(ModelScript::new([
        Turn::tool("Write", json!({"file_path": file, "content": "hello\n"})),
        Turn::text("Done. error: failed: nothing at all."),
    ]));

    does_a_task(&place, "claude", agents(&place, &server.url())).await;

    server.verify();
}

#[tokio::test]
async fn a_task_that_takes_too_long_is_stopped() {
    let place = Fixture::new();
    let server = AnthropicServer::start(ModelScript::new([Turn::hang()])).unverified();
    let agents = agents(&place, &server.url());

    is_stopped_in_time(&place, "claude", agents, &server).await;
}
