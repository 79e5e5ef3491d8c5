//! Scripted model servers for a script.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;

use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{
    ModelScript, ModelServer, ReceivedPrompt, Refusal, ScriptedMessage, Turn,
};
use serde_json::json;

use crate::backends::dialect::Dialect;
use crate::backends::run_script::{End, RunScript};

/// Part of the ID of a call that waits for the command of an earlier call.
pub(crate) const CONTINUED: &str = "_continued";

/// A model service.
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
    pub(crate) fn serve(self, script: ModelScript) -> Server {
        match self {
            Self::Anthropic => Server::Anthropic(AnthropicServer::start(script)),
            Self::OpenAi => Server::OpenAi(OpenAiServer::start(script)),
            Self::Google => Server::Google(GeminiServer::start(script)),
        }
    }
}

impl Server {
    /// Disables the check on drop that the script was played to its end.
    pub(crate) fn unverified(self) -> Self {
        match self {
            Self::OpenAi(server) => Self::OpenAi(server.unverified()),
            Self::Anthropic(server) => Self::Anthropic(server.unverified()),
            Self::Google(server) => Self::Google(server.unverified()),
        }
    }

    /// Returns the base URL for clients of the vendor.
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

/// Returns the answers of the model of a script, for an agent that works in `root`.
///
/// A refused client may retry, and gets the same response.
pub(crate) fn script(
    run_script: &RunScript,
    dialect: Dialect,
    root: &Path,
    quota_spent: &Refusal,
) -> ModelScript {
    let mut script = ModelScript::new::<Turn>([]);
    for session in &run_script.sessions {
        let turns = session.steps.iter().map(|calls| dialect.turn(calls, root));
        script = turns.fold(script, ModelScript::then);
        let refusal = match session.end {
            End::Text(text) => {
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
            .rest_fn(move |_| refusal.clone().into());
    }
    script
}

/// Returns the answers of a model that waits for commands which Codex leaves running after its own
/// time limit.
///
/// The number of requests depends on the machine, so the server does not verify that the script was
/// played to its end.
pub(crate) fn patient_codex_script(run_script: &RunScript, root: &Path) -> ModelScript {
    let mut turns = VecDeque::new();
    for session in &run_script.sessions {
        let steps = session.steps.iter();
        turns.extend(steps.map(|calls| Dialect::Codex.turn(calls, root)));
        let End::Text(text) = session.end else {
            panic!("{:?} is not supported", session.end);
        };
        turns.push_back(Turn::text(text));
    }
    let turns = Mutex::new(turns);
    ModelScript::from_fn(move |prompt| {
        let next = || turns.lock().ok()?.pop_front();
        let turn = waits_for_command(prompt).or_else(next);
        turn.unwrap_or_else(|| Turn::text("The script is over."))
    })
}

/// Returns a turn that waits for the last command, if it is still running.
fn waits_for_command(prompt: &ReceivedPrompt) -> Option<Turn> {
    let results = prompt.tool_results();
    let last = results.last()?;
    let (_, session) = last.text.split_once("Process running with session ID ")?;
    let session: u32 = session.split_whitespace().next()?.parse().ok()?;
    let input = json!({"session_id": session, "chars": "", "yield_time_ms": 30_000});
    let id = format!("{}{CONTINUED}", last.tool_use_id);
    Some(
        ScriptedMessage::new()
            .uses_tool_as(id, "write_stdin", input)
            .into(),
    )
}
