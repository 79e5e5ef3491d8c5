//! Models that send nothing.

use autonoe_testkit::model_server::Ending;
use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, FaultPosition, ScriptedMessage, StreamFault,
};

use crate::build::Build;
use crate::build::on_newer_build;
use crate::fixture::TIMEOUT;
use crate::model_server::claude::Options;

on_newer_build![silence_in_the_middle_of_an_answer_is_seen_and_ended];

async fn silence_in_the_middle_of_an_answer_is_seen_and_ended(build: Build) {
    let message = ScriptedMessage::new().says("I was about to");
    let turn = message.breaks(FaultPosition::InBlock(0), StreamFault::Hang);
    let server = AnthropicServer::start([turn]);
    let log = server.log();
    let mut claude = Options::new().start(build, &server);
    claude.prompt("Go.").await;

    let exchange = log.wait_for(TIMEOUT, |seen| seen.request.messages().is_some());
    let exchange = exchange.await.expect("the model gets a request");
    assert_eq!(exchange.ending, None);
    claude.kill().await;

    let left = |number| {
        log.wait_for(TIMEOUT, move |seen| {
            seen.number == number && seen.ending.is_some()
        })
    };
    assert_eq!(
        left(exchange.number).await.expect("it ends").ending,
        Some(Ending::PeerLeft)
    );
}
