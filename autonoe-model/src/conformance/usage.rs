//! Checks of reported token usage.

use autonoe_core::agent::TokenUsage;
use autonoe_testkit::conformance::Checks;

use super::ProviderScenario;
use super::answers::{TEXT, request};
use super::recorded_answer::Recorder;
use crate::contract::{AssistantMessage, CallUsage};

pub(super) async fn check(checks: &mut Checks, ear: &Recorder<'_>) {
    let plain = TokenUsage {
        input: 1_203,
        output: 87,
        ..TokenUsage::default()
    };
    let table = [
        ("what a call used is told", plain),
        (
            "what a cache gave is told apart",
            TokenUsage {
                cache_read: 40_009,
                ..plain
            },
        ),
        (
            "what a cache was given is told apart",
            TokenUsage {
                cache_write: 511,
                ..plain
            },
        ),
        (
            "what hidden thoughts used is told apart",
            TokenUsage {
                reasoning: 31,
                ..plain
            },
        ),
    ];
    for (check, usage) in table {
        checks
            .run(check, async {
                let scenario = ProviderScenario::Answers {
                    message: AssistantMessage::text(TEXT),
                    usage,
                };
                let recorded = ear.play(&scenario, &request()).await?;
                let reported = recorded.reply()?.usage;
                let expected = CallUsage::Complete(usage);
                ensure!(
                    reported == expected,
                    "it used {usage:?} and told {reported:?}"
                );
                Ok(())
            })
            .await;
    }
}
