//! When a call begins and ends, and how many there may be.

use autonoe_core::TokenUsage;
use autonoe_testkit::conformance::Checks;
use futures::future::join_all;

use super::Scenario;
use super::answers::{TEXT, answers, first_text, request};
use super::heard::{Ear, impossible, listen};
use crate::contract::{AssistantMessage, Part};

/// How often a client is asked at once.
const AT_ONCE: usize = 4;

pub(super) async fn check(checks: &mut Checks, ear: &Ear<'_>) {
    let pauses = Scenario::Pauses { text: TEXT.into() };
    checks
        .run("nothing is sent before the stream is polled", async {
            let scenario = answers([Part::text(TEXT)]);
            let stage = ear.stage(&scenario).await?;
            let unpolled = stage.model().stream(&request());
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            let sent = stage.requests().len();
            ensure!(sent == 0, "{sent} requests came");
            drop(unpolled);
            // It can be seen, if it is sent.
            ear.hear(&scenario, &*stage, &request()).await?;
            match stage.requests().len() {
                0 => Err(impossible()),
                _ => Ok(()),
            }
        })
        .await;
    checks
        .run("a dropped stream ends the call", async {
            let stage = ear.stage(&pauses).await?;
            let mut stream = stage.model().stream(&request());
            ear.within(first_text(&mut stream)).await??;
            drop(stream);
            ear.within(stage.client_left()).await
        })
        .await;
    checks
        .run("several calls are answered at once", async {
            let stage = ear.stage(&pauses).await?;
            let model = stage.model();
            let mut streams: Vec<_> = (0..AT_ONCE).map(|_| model.stream(&request())).collect();
            // None of them has an end, so that they cannot wait for each other.
            let begun = join_all(streams.iter_mut().map(first_text));
            for begun in ear.within(begun).await? {
                begun?;
            }
            Ok(())
        })
        .await;
    checks
        .run("answers at once are not mixed up", async {
            let scenario = Scenario::Answers {
                message: AssistantMessage::text(TEXT),
                usage: TokenUsage {
                    input: 9,
                    output: 8,
                    ..TokenUsage::default()
                },
            };
            let stage = ear.stage(&scenario).await?;
            let request = request();
            let all = (0..AT_ONCE).map(|_| listen(&scenario, &*stage, &request));
            for heard in ear.within(join_all(all)).await? {
                let said = heard.reply()?.message.to_text();
                ensure!(said == TEXT, "it said {said:?}");
                ensure!(heard.texts().concat() == TEXT, "it told {:?}", heard.events);
            }
            Ok(())
        })
        .await;
}
