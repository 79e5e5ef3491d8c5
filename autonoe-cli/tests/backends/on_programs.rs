//! The vendors' programs as backends, in a temporary project, on a scripted model.

use std::sync::Arc;
use std::time::Duration;

use autonoe_acp::{AcpBackend, AcpOptions};
use autonoe_claude::{ClaudeBackend, ClaudeOptions, ConfigFolder};
use autonoe_codex::{CodexBackend, CodexOptions, CodexProvider};
use autonoe_core::agent::OuterSandbox;
use autonoe_testkit::model_server::Refusal;
use autonoe_testkit::model_server::anthropic::{Claim, RateLimits};
use jiff::Timestamp;

use crate::backends::programs;
use crate::backends::run::Agents;
use crate::backends::workspace::TempWorkspace;

/// Returns Claude Code of this version, with a subscription login.
pub(crate) fn claude(version: &str, place: &TempWorkspace, url: String) -> Agents {
    let environment = place.environment([
        ("ANTHROPIC_BASE_URL", url),
        ("CLAUDE_CODE_OAUTH_TOKEN", "dummy".to_owned()),
    ]);
    let mut options = ClaudeOptions::new(programs::claude(version), environment);
    options.config = ConfigFolder::PerSession;
    options.program.temporary = place.temporary();
    Agents {
        factory: Arc::new(ClaudeBackend::new(options)),
        outer_sandbox: None,
    }
}

/// Returns Codex in an outer sandbox.
pub(crate) fn codex(place: &TempWorkspace, url: &str) -> Agents {
    let environment = place.environment([("PASSE_PARTOUT", "dummy".to_owned())]);
    let mut provider = CodexProvider::new(url, "PASSE_PARTOUT");
    provider.max_retries = Some(1);
    let mut options = CodexOptions::new(programs::codex(), environment);
    options.program.model = Some("gpt-5.5".into());
    options.program.temporary = place.temporary();
    options.provider = Some(provider);
    Agents {
        factory: Arc::new(CodexBackend::new(options)),
        outer_sandbox: Some(OuterSandbox::bubblewrap()),
    }
}

/// Returns Gemini CLI in an outer sandbox.
pub(crate) fn gemini(place: &TempWorkspace, url: String) -> Agents {
    let environment = place.environment([
        ("GEMINI_API_KEY", "dummy".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", url),
    ]);
    let mut options = AcpOptions::gemini(programs::node(), programs::gemini(), environment);
    options.program.model = Some("gemini-2.5-flash".into());
    options.program.temporary = place.temporary();
    Agents {
        factory: Arc::new(AcpBackend::new(options)),
        outer_sandbox: Some(OuterSandbox::bubblewrap()),
    }
}

/// The response of Anthropic for an exhausted subscription.
pub(crate) fn claude_quota_refusal() -> Refusal {
    Refusal::quota(&RateLimits::rejected(Claim::FiveHour, in_five_hours()))
}

/// The response of OpenAI for an exhausted subscription.
pub(crate) fn codex_quota_refusal() -> Refusal {
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
