//! Checks of the lifetime of calls and of concurrent calls.

use autonoe_core::agent::TokenUsage;
use autonoe_testkit::conformance::Checks;
use futures::future::join_all;

use super::ProviderScenario;
use super::answers::{TEXT, answers, first_text, request};
use super::recorded_answer::{Recorder, impossible, record_answer};
use crate::contract::{AssistantMessage, MessagePart};

/// Number of concurrent calls.
const AT_ONCE: usize = 4;

pub(super) async fn check(checks: &mut Checks, recorder: &Recorder<'_>) {
    let pauses = ProviderScenario::Pauses { text: TEXT.into() };
    checks
        .run("nothing is sent before the stream is polled", async {
            let scenario = answers([MessagePart::text(TEXT)]);
            let stage = recorder.stage(&scenario).await?;
            let unpolled = stage.model().stream(&request());
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            let sent = stage.requests().len();
            ensure!(sent == 0, "{sent} requests arrived");
            drop(unpolled);
            // Proves that a sent request is observable.
            recorder.record(&scenario, &*stage, &request()).await?;
            match stage.requests().len() {
                0 => Err(impossible()),
                _ => Ok(()),
            }
        })
        .await;
    checks
        .run("a dropped stream ends the call", async {
            let stage = recorder.stage(&pauses).await?;
            let mut stream = stage.model().stream(&request());
            recorder.within(first_text(&mut stream)).await??;
            drop(stream);
            recorder.within(stage.wait_for_disconnect()).await
        })
        .await;
    checks
        .run("several calls are answered at once", async {
            let stage = recorder.stage(&pauses).await?;
            let model = stage.model();
            let mut streams: Vec<_> = (0..AT_ONCE).map(|_| model.stream(&request())).collect();
            // None of them ends, so they cannot wait for each other.
            let started = join_all(streams.iter_mut().map(first_text));
            for started in recorder.within(started).await? {
                started?;
            }
            Ok(())
        })
        .await;
    checks
        .run("answers at once are not mixed up", async {
            let scenario = ProviderScenario::Answers {
                message: AssistantMessage::text(TEXT),
                usage: TokenUsage {
                    input: 9,
                    output: 8,
                    ..TokenUsage::default()
                },
            };
            let stage = recorder.stage(&scenario).await?;
            let request = request();
            let all = (0..AT_ONCE).map(|_| record_answer(&scenario, &*stage, &request));
            for recorded in recorder.within(join_all(all)).await? {
                let text = recorded.reply()?.message.to_text();
                ensure!(text == TEXT, "the text is {text:?}");
                ensure!(
                    recorded.texts().concat() == TEXT,
                    "the events are {:?}",
                    recorded.events
                );
            }
            Ok(())
        })
        .await;
}
