//! Checks of reported token usage.

use autonoe_core::agent::TokenUsage;
use autonoe_testkit::conformance::Checks;

use super::ProviderScenario;
use super::answers::{TEXT, request};
use super::recorded_answer::Recorder;
use crate::contract::{AssistantMessage, CallUsage};

pub(super) async fn check(checks: &mut Checks, recorder: &Recorder<'_>) {
    let plain = TokenUsage {
        input: 1_203,
        output: 87,
        ..TokenUsage::default()
    };
    let table = [
        ("the usage of a call is reported", plain),
        (
            "tokens read from a cache are reported separately",
            TokenUsage {
                cache_read: 40_009,
                ..plain
            },
        ),
        (
            "tokens written to a cache are reported separately",
            TokenUsage {
                cache_write: 511,
                ..plain
            },
        ),
        (
            "tokens of hidden thinking are reported separately",
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
                let recorded = recorder.play(&scenario, &request()).await?;
                let reported = recorded.reply()?.usage;
                let expected = CallUsage::Complete(usage);
                ensure!(
                    reported == expected,
                    "it used {usage:?} and reported {reported:?}"
                );
                Ok(())
            })
            .await;
    }
}
