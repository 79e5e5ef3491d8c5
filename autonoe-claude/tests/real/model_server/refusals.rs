//! Error answers of the model service.

use autonoe_testkit::model_server::ServerAnswer;
use autonoe_testkit::model_server::anthropic::{AnthropicServer, ModelScript, Refusal, Turn};

use crate::build::Build;
use crate::build::on_both_builds;
use crate::model_server::claude::Options;

on_both_builds![
    an_overloaded_model_is_retried,
    each_error_status_is_classified;
    newer_only:
    a_closed_connection_is_reopened,
    retries_stop_at_the_limit,
];

async fn an_overloaded_model_is_retried(build: Build) {
    let server = AnthropicServer::start([
        Turn::from(Refusal::overloaded()),
        Turn::from(Refusal::server_error()),
        Turn::text("Here I am."),
    ]);

    let options = Options::new().max_retries("3");
    let ended = options.start(build, &server).finish("Go.").await;

    ended.assert_success("Here I am.");
    let retries = ended.with_type("system/api_retry");
    let seen: Vec<_> = retries
        .iter()
        .map(|retry| {
            (
                &retry["attempt"],
                &retry["max_retries"],
                &retry["error_status"],
            )
        })
        .collect();
    assert_eq!(seen.len(), 2, "{ended:#?}");
    assert_eq!(seen[0], (&1.into(), &3.into(), &529.into()));
    assert_eq!(seen[1], (&2.into(), &3.into(), &500.into()));
    let answers: Vec<ServerAnswer> = server
        .log()
        .exchanges()
        .into_iter()
        .filter(|seen| seen.request.messages().is_some())
        .map(|seen| seen.answer)
        .collect();
    assert_eq!(
        answers,
        [
            ServerAnswer::Turn(1),
            ServerAnswer::Turn(2),
            ServerAnswer::Turn(3)
        ]
    );
}

async fn a_closed_connection_is_reopened(build: Build) {
    let server = AnthropicServer::start([Turn::disconnect(), Turn::text("Here.")]);

    let options = Options::new().max_retries("3");
    let ended = options.start(build, &server).finish("Go.").await;

    ended.assert_success("Here.");
    assert_eq!(server.log().main_requests().len(), 2);
}

async fn retries_stop_at_the_limit(build: Build) {
    let server = AnthropicServer::start([Refusal::overloaded(), Refusal::overloaded()]);

    let options = Options::new().max_retries("1");
    let ended = options.start(build, &server).finish("Go.").await;

    ended.assert_error();
    assert_eq!(ended.result()["api_error_status"], 529);
}

async fn each_error_status_is_classified(build: Build) {
    let refusals = [
        (Refusal::unauthorized(), 401, "authentication_failed"),
        (Refusal::forbidden(), 403, "authentication_failed"),
        (Refusal::credit_exhausted(), 400, "billing_error"),
        (Refusal::model_not_found("claude-x"), 404, "model_not_found"),
        (Refusal::rate_limited(), 429, "rate_limit"),
        (Refusal::server_error(), 500, "server_error"),
    ];
    let answers = refusals.clone();
    // Some requests are repeated in another way, whatever the number of retries.
    let server = AnthropicServer::start(ModelScript::from_fn(move |request| {
        let texts = request.user_texts();
        let was_sent = |status: &i32| texts.contains(&status.to_string().as_str());
        let refusal = answers.iter().rfind(|(_, status, _)| was_sent(status));
        refusal.expect("a status is set").0.clone().into()
    }));
    let mut claude = Options::new().max_retries("0").start(build, &server);

    for (_, status, error) in refusals {
        let output = claude.turn(&status.to_string()).await;

        output.assert_error();
        assert_eq!(output.result()["api_error_status"], status, "{output:#?}");
        assert_eq!(output.with_type("assistant")[0]["error"], error, "{status}");
    }
    claude.kill().await;
}
