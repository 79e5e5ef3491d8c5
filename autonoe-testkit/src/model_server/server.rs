//! A server that plays a script.

use std::sync::Arc;

use super::listener::Listener;
use super::playing::Playing;
use super::scripted::ScriptedApi;
use super::vendor::Vendor;
use super::{Request, RequestLog, Script};

/// A server that plays a [`Script`], on a free port of the loopback address.
///
/// It is what the servers of all vendors have in common; each of them is one:
/// [`AnthropicServer`](super::anthropic::AnthropicServer),
/// [`OpenAiServer`](super::openai::OpenAiServer),
/// [`GeminiServer`](super::gemini::GeminiServer). It answers on a thread of its own, with and
/// without a stream, and it is gone when it is dropped.
///
/// ```
/// use autonoe_testkit::model_server::anthropic::AnthropicServer;
/// use autonoe_testkit::model_server::gemini::GeminiServer;
/// use autonoe_testkit::model_server::openai::OpenAiServer;
/// use autonoe_testkit::model_server::{ModelServer, Refusal, Script, Turn};
///
/// let script = || Script::new([Turn::from(Refusal::overloaded()), Turn::text("Good morning.")]);
/// let anthropic = AnthropicServer::start(script()).unverified();
/// let openai = OpenAiServer::start(script()).unverified();
/// let gemini = GeminiServer::start(script()).unverified();
///
/// let servers: [&ModelServer; 3] = [&anthropic, &openai, &gemini];
/// for server in servers {
///     assert_eq!(server.problems(), ["nobody asked for the last 2 of 2 turns"]);
/// }
/// ```
#[derive(Debug)]
pub struct ModelServer {
    listener: Listener,
    log: RequestLog<Request>,
    playing: Arc<Playing>,
    on_drop: OnDrop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Verify,
    Ignore,
}

impl ModelServer {
    /// Starts a server of this vendor, or panics: a test cannot go on then.
    pub(super) fn start(vendor: impl Vendor, script: Script) -> Self {
        let playing = Arc::new(Playing::new(script));
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

    /// Returns where to reach it, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> std::net::SocketAddr {
        self.listener.address()
    }

    /// Returns what it was asked so far.
    pub fn log(&self) -> &RequestLog<Request> {
        &self.log
    }

    /// Returns what went wrong so far: requests without an answer, turns that are left over.
    pub fn problems(&self) -> Vec<String> {
        let unanswered = self.log.unanswered();
        let mut problems: Vec<String> = unanswered.iter().map(ToString::to_string).collect();
        let (left, all) = self.playing.left_over();
        if left > 0 {
            problems.push(format!("nobody asked for the last {left} of {all} turns"));
        }
        problems
    }

    /// Fails the test if anything went wrong or was left over.
    ///
    /// # Panics
    ///
    /// There are [`problems`](Self::problems).
    pub fn verify(&self) {
        let problems = self.problems();
        assert!(
            problems.is_empty(),
            "the script of the model server was not played as written:\n- {}\nIt was asked:\n{}",
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
