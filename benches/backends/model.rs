//! Scripted model server in a child process of this program.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{ModelScript, ReceivedPrompt, Turn};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::memory::tree_kib;
use crate::workspace::{self, Workspace};

/// The argument of a process that serves a model.
pub(crate) const SERVE: &str = "serve";

/// Time that a session has until its second request.
const PATIENCE: Duration = Duration::from_secs(180);

/// A vendor whose API serves the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    Anthropic,
    OpenAi,
    Google,
}

/// Action of the model when it receives the result of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    Ends,
    Hangs,
}

/// A model that calls one tool and measures the memory of the program before it continues.
pub(crate) struct Model {
    process: Child,
    pub(crate) url: String,
    lines: UnboundedReceiver<String>,
}

impl Model {
    /// Starts a model that serves the programs of `place`.
    pub(crate) async fn start(vendor: Vendor, then: Then, place: &Workspace) -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut process = Command::new(program)
            .args([SERVE, &format!("{vendor:?}"), &format!("{then:?}")])
            .arg(&place.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdout = BufReader::new(process.stdout.take().expect("it is piped"));
        let (sender, mut lines) = unbounded_channel();
        thread::spawn(move || {
            let mut lines = stdout.lines().map_while(Result::ok);
            lines.all(|line| sender.send(line).is_ok())
        });
        let url = lines.recv().await.expect("it says where it is");
        Self {
            process,
            url,
            lines,
        }
    }

    /// Waits for the second request of a session, and returns the memory of all processes started
    /// in its place, in KiB.
    pub(crate) async fn wait_for_second_request(&mut self) -> u64 {
        let line = timeout(PATIENCE, self.lines.recv()).await;
        let line = line.expect("it asks in time").expect("it goes on");
        line.parse().expect("a number")
    }
}

impl Drop for Model {
    /// The model process exits when its standard input is closed.
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Serves a model until standard input is closed.
pub(crate) fn serve(arguments: &[String]) {
    let [vendor, then, place] = arguments else {
        panic!("not as a model is started: {arguments:?}");
    };
    let ends = then == &format!("{:?}", Then::Ends);
    let vendor = [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google]
        .into_iter()
        .find(|known| &format!("{known:?}") == vendor)
        .expect("a vendor");
    let marker = workspace::marker(place);
    let script = ModelScript::from_fn(move |prompt: &ReceivedPrompt| {
        if prompt.tool_results().is_empty() {
            let (tool, input) = vendor.hello();
            return Turn::tool(tool, input);
        }
        print_line(&tree_kib(&marker).to_string());
        if ends {
            Turn::text("Done.")
        } else {
            Turn::hang()
        }
    });
    match vendor {
        Vendor::Anthropic => {
            let server = AnthropicServer::start(script).unverified();
            print_url_and_wait_for_end_of_input(&server.url());
        }
        Vendor::OpenAi => {
            let server = OpenAiServer::start(script).unverified();
            print_url_and_wait_for_end_of_input(&server.api_url());
        }
        Vendor::Google => {
            let server = GeminiServer::start(script).unverified();
            print_url_and_wait_for_end_of_input(&server.url());
        }
    }
}

fn print_url_and_wait_for_end_of_input(url: &str) {
    print_line(url);
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

fn print_line(line: &str) {
    let mut stdout = std::io::stdout().lock();
    // The parent process may have exited already.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}
