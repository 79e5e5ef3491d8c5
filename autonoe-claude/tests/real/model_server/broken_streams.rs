//! Incomplete answers of the model.

use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, FaultPosition, ModelScript, ScriptedMessage, StreamFault, Turn,
};

use crate::build::Build;
use crate::build::on_both_builds;
use crate::model_server::claude::Options;

on_both_builds![
    a_stream_that_breaks_in_a_block_is_retried,
    a_stream_that_is_cut_after_a_block_is_treated_as_each_build_does,
];

fn half() -> ScriptedMessage {
    ScriptedMessage::new().says("I was about to say something longer than forty characters.")
}

async fn a_stream_that_breaks_in_a_block_is_retried(build: Build) {
    let overloaded = StreamFault::Error {
        kind: "overloaded_error".into(),
        message: "Overloaded".into(),
    };
    let faults = [
        (StreamFault::Cut, build == Build::NEWER),
        (StreamFault::Malformed, false),
        (overloaded, false),
    ];
    let turns = faults.clone().map(|(fault, _)| {
        let broken = half().breaks(FaultPosition::InBlock(0), fault);
        [broken.into(), Turn::text("Whole.")]
    });
    let server = AnthropicServer::start(ModelScript::new(turns.into_iter().flatten()));
    let mut claude = Options::new().start(build, &server);

    for (index, (fault, is_retry_streamed)) in faults.into_iter().enumerate() {
        let output = claude.turn("Go.").await;

        output.assert_success("Whole.");
        let requests = server.log().main_requests();
        let streams: Vec<bool> = requests.iter().map(|request| request.stream).collect();
        assert_eq!(streams[2 * index..], [true, is_retry_streamed], "{fault:?}");
    }
    claude.kill().await;
}

async fn a_stream_that_is_cut_after_a_block_is_treated_as_each_build_does(build: Build) {
    let broken = half()
        .says("More.")
        .breaks(FaultPosition::AfterBlock(0), StreamFault::Cut);
    let server = AnthropicServer::start([broken.into(), Turn::text("Whole.")]).unverified();

    let ended = Options::new().start(build, &server).finish("Go.").await;

    match build {
        Build::OLDER => {
            let output = ended.assert_error();
            assert!(
                output.contains("Connection closed mid-response"),
                "{output}"
            );
            assert_eq!(server.log().main_requests().len(), 1);
        }
        _ => {
            ended.assert_success("Whole.");
            assert_eq!(server.log().main_requests().len(), 2);
        }
    }
}
