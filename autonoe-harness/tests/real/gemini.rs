//! Tests of tasks on Gemini CLI.

use std::sync::Arc;

use autonoe_acp::{AcpBackend, AcpOptions};
use autonoe_process::find_program;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::json;

use crate::fixture::{Fixture, does_a_task, installed, is_stopped_in_time};

pub(crate) fn agents(place: &Fixture, url: &str) -> Arc<AcpBackend> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let node = find_program("node", &path).expect("Node.js is installed");
    let environment = place.environment([
        ("GEMINI_API_KEY", "dummy".into()),
        ("GOOGLE_GEMINI_BASE_URL", url.into()),
    ]);
    let script = installed("gemini-cli-0.61.0/bundle/gemini.js");
    let mut options = AcpOptions::gemini(node, script, environment);
    options.program.model = Some("gemini-2.5-flash".into());
    options.program.temporary = place.temporary();
    Arc::new(AcpBackend::new(options))
}

#[tokio::test]
async fn a_task_is_done_and_verified() {
    let place = Fixture::new();
    let server = GeminiServer::start(ModelScript::new([
        Turn::tool(
            "write_file",
            json!({"file_path": "hello.txt", "content": "hello\n"}),
        ),
        Turn::text("Done. error: failed: nothing at all."),
    ]));

    does_a_task(&place, "gemini", agents(&place, &server.url())).await;

    server.verify();
}

#[tokio::test]
async fn a_task_that_takes_too_long_is_stopped() {
    let place = Fixture::new();
    let server = GeminiServer::start(ModelScript::new([Turn::hang()])).unverified();
    let agents = agents(&place, &server.url());

    is_stopped_in_time(&place, "gemini", agents, &server).await;
}
