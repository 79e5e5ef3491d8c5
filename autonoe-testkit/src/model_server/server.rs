//! Server that plays a script.

use std::sync::Arc;

use super::listener::Listener;
use super::script_state::ScriptState;
use super::scripted::ScriptedApi;
use super::vendor::Vendor;
use super::{ModelScript, Request, RequestLog};

/// A server that plays a [`ModelScript`], on a free port of the loopback address.
///
/// The common part of the servers of all vendors:
/// [`AnthropicServer`](super::anthropic::AnthropicServer),
/// [`OpenAiServer`](super::openai::OpenAiServer), [`GeminiServer`](super::gemini::GeminiServer). It
/// answers on its own thread, with and without a stream, and stops when it is dropped.
///
/// ```
/// use autonoe_testkit::model_server::anthropic::AnthropicServer;
/// use autonoe_testkit::model_server::gemini::GeminiServer;
/// use autonoe_testkit::model_server::openai::OpenAiServer;
/// use autonoe_testkit::model_server::{ModelScript, ModelServer, Refusal, Turn};
///
/// let turns = || [Turn::from(Refusal::overloaded()), Turn::text("Good morning.")];
/// let script = || ModelScript::new(turns());
/// let anthropic = AnthropicServer::start(script()).unverified();
/// let openai = OpenAiServer::start(script()).unverified();
/// let gemini = GeminiServer::start(script()).unverified();
///
/// let servers: [&ModelServer; 3] = [&anthropic, &openai, &gemini];
/// for server in servers {
///     assert_eq!(server.problems(), ["the last 2 of 2 turns were not requested"]);
/// }
/// ```
#[derive(Debug)]
pub struct ModelServer {
    listener: Listener,
    log: RequestLog<Request>,
    playing: Arc<ScriptState>,
    on_drop: OnDrop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Verify,
    Ignore,
}

impl ModelServer {
    /// Starts a server of this vendor; panics on failure, because the test cannot continue then.
    pub(super) fn start(vendor: impl Vendor, script: ModelScript) -> Self {
        let playing = Arc::new(ScriptState::new(script));
        let (listener, log) = Listener::start(ScriptedApi::new(vendor, playing.clone()))
            .expect("a server can be started on the loopback address");
        Self {
            listener,
            log,
            playing,
            on_drop: OnDrop::Verify,
        }
    }

    /// Does not fail the test on drop.
    pub(super) fn ignore_on_drop(&mut self) {
        self.on_drop = OnDrop::Ignore;
    }

    /// Returns the URL of the server, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns the listening address.
    pub fn address(&self) -> std::net::SocketAddr {
        self.listener.address()
    }

    /// Returns the log of requests so far.
    pub fn log(&self) -> &RequestLog<Request> {
        &self.log
    }

    /// Returns the problems so far: unanswered requests and unused turns.
    pub fn problems(&self) -> Vec<String> {
        let unanswered = self.log.unanswered();
        let mut problems: Vec<String> = unanswered.iter().map(ToString::to_string).collect();
        let (left, all) = self.playing.unused_turns();
        if left > 0 {
            problems.push(format!("the last {left} of {all} turns were not requested"));
        }
        problems
    }

    /// Fails the test if there was a problem or a turn is unused.
    ///
    /// # Panics
    ///
    /// If there are [`problems`](Self::problems).
    pub fn verify(&self) {
        let problems = self.problems();
        assert!(
            problems.is_empty(),
            "the script of the model server was not played as written:\n- {}\nIt received:\n{}",
            problems.join("\n- "),
            self.log.render(),
        );
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.listener.stop();
        if self.on_drop == OnDrop::Verify && !std::thread::panicking() {
            self.verify();
        }
    }
}
