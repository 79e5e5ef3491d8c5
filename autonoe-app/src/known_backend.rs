//! [`KnownBackend`], a backend that is linked into the programs of Autonoe, with its key variables,
//! cost source and server checks.

use autonoe_model::price::TokenCounts;

use crate::mcp_servers::CheckedServers;

/// A backend that is linked into the programs of Autonoe.
///
/// A new backend needs a variant. Each `match` then asks what the backend needs, instead of giving
/// it a default that nobody chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownBackend {
    Acp,
    Claude,
    Codex,
    Gemini,
    Model,
    Scripted,
}

/// Source of the costs of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CostSource {
    /// The backend reports them, or it has no costs.
    Backend,
    /// Autonoe computes them from the tokens that the backend reports. `provider` is the provider
    /// of the model, if it is known.
    Tokens {
        provider: Option<&'static str>,
        counts: TokenCounts,
    },
}

impl KnownBackend {
    /// Returns the backend whose spec has this tag.
    pub(crate) fn from_tag(tag: &str) -> Option<Self> {
        Some(match tag {
            "acp" => Self::Acp,
            "claude" => Self::Claude,
            "codex" => Self::Codex,
            "gemini" => Self::Gemini,
            "model" => Self::Model,
            "scripted" => Self::Scripted,
            _ => return None,
        })
    }

    /// Returns the MCP servers to check before a run; `None` if the backend starts no servers.
    pub(crate) fn checked_servers(self) -> Option<CheckedServers> {
        match self {
            Self::Model => Some(CheckedServers::All),
            // Claude Code and Codex would fail in each session, and Gemini CLI would silently omit
            // the server.
            Self::Claude => Some(CheckedServers::ProgramsInProject),
            Self::Acp | Self::Codex | Self::Gemini => Some(CheckedServers::Programs),
            Self::Scripted => None,
        }
    }

    /// Returns how the costs of the backend are known.
    pub(crate) fn cost_source(self) -> CostSource {
        match self {
            Self::Claude | Self::Model | Self::Scripted => CostSource::Backend,
            Self::Codex => CostSource::Tokens {
                provider: Some("openai"),
                counts: TokenCounts::EachCall,
            },
            Self::Gemini => CostSource::Tokens {
                provider: Some("google"),
                counts: TokenCounts::Partial,
            },
            // The provider of its model is unknown.
            Self::Acp => CostSource::Tokens {
                provider: None,
                counts: TokenCounts::Partial,
            },
        }
    }

    /// Returns the variables with the keys of the backend; `None` if they are unknown, because they
    /// depend on its configuration.
    pub(crate) fn key_variables(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Claude => Some(&[
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN",
                // For Claude on Google's cloud.
                "GOOGLE_APPLICATION_CREDENTIALS",
            ]),
            Self::Codex => Some(&["CODEX_API_KEY", "OPENAI_API_KEY"]),
            Self::Gemini => Some(&[
                "GEMINI_API_KEY",
                "GOOGLE_API_KEY",
                "GOOGLE_APPLICATION_CREDENTIALS",
            ]),
            Self::Acp | Self::Model | Self::Scripted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::spec::{SpecPort, registered_specs};

    use super::*;

    #[test]
    fn every_registered_backend_is_known() {
        let specs = registered_specs(SpecPort::Backend);

        assert_eq!(specs.len(), 6);
        for spec in specs {
            assert!(KnownBackend::from_tag(spec.tag).is_some(), "{}", spec.tag);
        }
    }
}
