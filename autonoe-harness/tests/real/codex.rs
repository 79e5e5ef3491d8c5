//! Tests of tasks on Codex.

use std::sync::Arc;

use autonoe_codex::{CodexBackend, CodexOptions, CodexProvider};
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::json;

use crate::fixture::{Fixture, does_a_task, installed, is_stopped_in_time};

pub(crate) fn agents(place: &Fixture, url: &str) -> Arc<CodexBackend> {
    let arch = std::env::consts::ARCH;
    let program = format!("codex-0.166.0/vendor/{arch}-unknown-linux-musl/bin/codex");
    let environment = place.environment([("PASSE_PARTOUT", "dummy".into())]);
    let mut provider = CodexProvider::new(url, "PASSE_PARTOUT");
    provider.max_retries = Some(1);
    let mut options = CodexOptions::new(installed(&program), environment);
    options.program.model = Some("gpt-5.5".into());
    options.program.temporary = place.temporary();
    options.provider = Some(provider);
    Arc::new(CodexBackend::new(options))
}

#[tokio::test]
async fn a_task_is_done_and_verified() {
    let place = Fixture::new();
    let server = OpenAiServer::start(ModelScript::new([
        Turn::tool("exec_command", json!({"cmd": "echo hello > hello.txt"})),
        Turn::text("Done. error: failed: nothing at all."),
    ]));

    does_a_task(&place, "codex", agents(&place, &server.api_url())).await;

    server.verify();
}

#[tokio::test]
async fn a_task_that_takes_too_long_is_stopped() {
    let place = Fixture::new();
    let server = OpenAiServer::start(ModelScript::new([Turn::hang()])).unverified();
    let agents = agents(&place, &server.api_url());

    is_stopped_in_time(&place, "codex", agents, &server).await;
}
