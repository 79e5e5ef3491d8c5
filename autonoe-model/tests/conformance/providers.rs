//! Conformance of the four providers, against servers with their protocols.

use autonoe_model::conformance::model_client;

use crate::conformance::scripted::{Api, ScriptedProvider};

/// Runs the suite, and asserts that only the checks in `cannot` were skipped.
async fn conforms(api: Api, cannot: &[&str]) {
    let report = model_client(&ScriptedProvider(api)).await;

    report.assert();
    let skipped: Vec<_> = report
        .skipped()
        .iter()
        .map(|it| it.check.as_str())
        .collect();
    assert_eq!(skipped, cannot, "{report}");
}

#[tokio::test]
async fn anthropic_conforms() {
    conforms(Api::Anthropic, &[]).await;
}

#[tokio::test]
async fn openai_conforms() {
    conforms(
        Api::Responses,
        &["tokens written to a cache are reported separately"],
    )
    .await;
}

#[tokio::test]
async fn openai_compatible_provider_conforms() {
    conforms(
        Api::Chat,
        &["tokens written to a cache are reported separately"],
    )
    .await;
}

#[tokio::test]
async fn google_conforms() {
    conforms(
        Api::Google,
        &["tokens written to a cache are reported separately"],
    )
    .await;
}
