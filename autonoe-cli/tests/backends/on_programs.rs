//! The vendors' programs as backends, each in a place, on a scripted model.

use std::sync::Arc;
use std::time::Duration;

use autonoe_acp::{AcpAgents, AcpOptions};
use autonoe_claude::{ClaudeAgents, ClaudeOptions, ConfigFolder};
use autonoe_codex::{CodexAgents, CodexOptions, CodexProvider};
use autonoe_core::OuterSandbox;
use autonoe_testkit::model_server::Refusal;
use autonoe_testkit::model_server::anthropic::{Claim, RateLimits};
use jiff::Timestamp;

use crate::backends::place::Place;
use crate::backends::programs;
use crate::backends::run::Agents;

/// Returns Claude Code of this version, with the login of a subscription.
pub(crate) fn claude(version: &str, place: &Place, url: String) -> Agents {
    let environment = place.environment([
        ("ANTHROPIC_BASE_URL", url),
        ("CLAUDE_CODE_OAUTH_TOKEN", "dummy".to_owned()),
    ]);
    let mut options = ClaudeOptions::new(programs::claude(version), environment);
    options.config = ConfigFolder::PerSession;
    options.temporary = place.temporary();
    Agents {
        factory: Arc::new(ClaudeAgents::new(options)),
        outer_sandbox: None,
    }
}

/// Returns Codex in an outer sandbox.
pub(crate) fn codex(place: &Place, url: &str) -> Agents {
    let environment = place.environment([("PASSE_PARTOUT", "dummy".to_owned())]);
    let provider = CodexProvider::new(url, "PASSE_PARTOUT").with_max_retries(1);
    let options = CodexOptions::new(programs::codex(), environment)
        .with_model("gpt-5.5")
        .with_provider(provider)
        .with_temporary(place.temporary());
    Agents {
        factory: Arc::new(CodexAgents::new(options)),
        outer_sandbox: Some(OuterSandbox::bubblewrap()),
    }
}

/// Returns Gemini CLI in an outer sandbox.
pub(crate) fn gemini(place: &Place, url: String) -> Agents {
    let environment = place.environment([
        ("GEMINI_API_KEY", "dummy".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", url),
    ]);
    let options = AcpOptions::gemini(programs::node(), programs::gemini(), environment)
        .with_model("gemini-2.5-flash")
        .with_temporary(place.temporary());
    Agents {
        factory: Arc::new(AcpAgents::new(options)),
        outer_sandbox: Some(OuterSandbox::bubblewrap()),
    }
}

/// How Anthropic refuses a subscription that is spent.
pub(crate) fn quota_of_claude() -> Refusal {
    Refusal::quota(&RateLimits::rejected(Claim::FiveHour, in_five_hours()))
}

/// How OpenAI refuses a subscription that is spent.
pub(crate) fn quota_of_codex() -> Refusal {
    let second = in_five_hours().as_second();
    Refusal::new(
        429,
        "usage_limit_reached",
        "The usage limit has been reached",
    )
    .with_field("plan_type", "plus".into())
    .with_field("resets_at", second.into())
    .with_header("x-codex-primary-used-percent", "100")
    .with_header("x-codex-primary-window-minutes", "300")
    .with_header("x-codex-primary-reset-at", &second.to_string())
}

fn in_five_hours() -> Timestamp {
    Timestamp::now() + Duration::from_secs(5 * 3600)
}
