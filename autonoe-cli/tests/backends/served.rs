//! The scripted model of a story.

use std::path::Path;

use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{MainRequests, ModelServer, Refusal, Script, Turn};

use crate::backends::dialect::Dialect;
use crate::backends::story::{End, Story};

/// A service that models are asked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    Anthropic,
    OpenAi,
    Google,
}

/// A scripted server of a vendor.
pub(crate) enum Server {
    Anthropic(AnthropicServer),
    OpenAi(OpenAiServer),
    Google(GeminiServer),
}

impl Vendor {
    pub(crate) fn serve(self, script: Script) -> Server {
        match self {
            Self::Anthropic => Server::Anthropic(AnthropicServer::start(script)),
            Self::OpenAi => Server::OpenAi(OpenAiServer::start(script)),
            Self::Google => Server::Google(GeminiServer::start(script)),
        }
    }
}

impl Server {
    /// Does not fail the test on drop if the script was not played to its end.
    pub(crate) fn unverified(self) -> Self {
        match self {
            Self::OpenAi(server) => Self::OpenAi(server.unverified()),
            Self::Anthropic(server) => Self::Anthropic(server.unverified()),
            Self::Google(server) => Self::Google(server.unverified()),
        }
    }

    /// Returns where clients of the vendor look for it.
    pub(crate) fn base_url(&self) -> String {
        match self {
            Self::OpenAi(server) => server.api_url(),
            Self::Anthropic(server) => server.url(),
            Self::Google(server) => server.url(),
        }
    }
}

impl std::ops::Deref for Server {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        match self {
            Self::Anthropic(server) => server,
            Self::OpenAi(server) => server,
            Self::Google(server) => server,
        }
    }
}

/// Returns what the model of a story answers to an agent that works in `root`.
///
/// Who is refused may ask again, and is told the same.
pub(crate) fn script(
    story: &Story,
    dialect: Dialect,
    root: &Path,
    main: MainRequests,
    quota_spent: &Refusal,
) -> Script {
    let mut script = Script::new::<Turn>([]).with_main_requests(main);
    for session in &story.sessions {
        let turns = session.steps.iter().map(|calls| dialect.turn(calls, root));
        script = turns.fold(script, Script::then);
        let refusal = match session.end {
            End::Says(text) => {
                script = script.then(Turn::text(text));
                continue;
            }
            End::QuotaSpent => quota_spent.clone(),
            End::LoginRefused => Refusal::invalid_key(),
            End::ModelUnknown => Refusal::model_not_found("one"),
            End::Unpaid => Refusal::payment_required(),
        };
        script = script
            .then(refusal.clone())
            .rest_by(move |_| refusal.clone().into());
    }
    script
}
