//! Entry points and command-line arguments of the program.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use super::FakeScript;
use super::recording::Lines;
use super::replay::Replay;
use super::streams::{Output, ReceivedSignal, listen};

/// The environment variable with the path of the script.
pub const SCRIPT: &str = "FAKE_CLAUDE_SCRIPT";

/// The environment variable with the path of the log file for all input and output.
pub const LOG: &str = "FAKE_CLAUDE_LOG";

/// The environment of the program: everything that is not in its script.
#[derive(Debug)]
#[non_exhaustive]
pub struct Env {
    /// The arguments, without the program name.
    pub args: Vec<String>,
    /// The working directory.
    pub directory: PathBuf,
    /// A log file for all input and output, in the format of a recorded session.
    pub log: Option<PathBuf>,
    /// The signals that the program receives.
    pub signals: Option<mpsc::Receiver<ReceivedSignal>>,
}

impl Env {
    /// Creates an environment with these arguments and this directory, without signals.
    pub fn new(args: impl IntoIterator<Item = String>, directory: impl Into<PathBuf>) -> Self {
        Self {
            args: args.into_iter().collect(),
            directory: directory.into(),
            log: None,
            signals: None,
        }
    }
}

/// Plays `script` as the program, over these streams, and returns the exit code.
///
/// Nothing else is read, written or changed. The threads that read `stdin` end when it does.
///
/// ```
/// use autonoe_testkit::fake_claude::{FakeScript, Env, play};
///
/// let script = FakeScript::says(["Hello."]);
/// let version = Env::new(["--version".to_owned()], "/");
/// let mut written = Vec::new();
/// let code = play(&script, version, &b""[..], &mut written, &mut Vec::new());
///
/// assert_eq!((code, written.as_slice()), (0, &b"2.1.325 (Claude Code)\n"[..]));
/// ```
pub fn play(
    script: &FakeScript,
    env: Env,
    stdin: impl Read + Send + 'static,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let arguments = Arguments::read(&env.args);
    if arguments.version {
        let version = script.build.version();
        return u8::from(writeln!(stdout, "{version} (Claude Code)").is_err());
    }
    let prepared = Lines::load(script.build).and_then(|lines| {
        let output = Output::new(stdout, stderr, env.log.as_deref())?;
        Ok((lines, output))
    });
    let Ok((lines, output)) = prepared else {
        return CANNOT_PLAY;
    };
    let inputs = listen(stdin, env.signals);
    let mut replay = Replay::new(script, lines, arguments, env.directory, output, inputs);
    let code = replay.play(&script.plays);
    replay.output.log_exit(code, &env.args);
    code
}

/// The exit code of a program without a playable script.
pub(super) const CANNOT_PLAY: u8 = 70;

/// Runs the program `fake-claude`: plays the script that `FAKE_CLAUDE_SCRIPT` names.
///
/// Use it in your own binary, in the tests of a crate that cannot install `fake-claude`. It handles
/// the signals of the process.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     autonoe_testkit::fake_claude::main(std::env::args(), |name| std::env::var_os(name))
/// }
/// ```
pub fn main(
    arguments: impl IntoIterator<Item = String>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> ExitCode {
    let script = match variable(SCRIPT) {
        None => Err(format!("fake-claude: {SCRIPT} does not name a script")),
        Some(path) => FakeScript::load(&path)
            .map_err(|error| format!("fake-claude: {}: {error}", path.display())),
    };
    let script = match script {
        Ok(script) => script,
        Err(complaint) => {
            let _ = writeln!(io::stderr(), "{complaint}");
            return CANNOT_PLAY.into();
        }
    };
    let env = Env {
        args: arguments.into_iter().skip(1).collect(),
        directory: std::env::current_dir().unwrap_or_default(),
        log: variable(LOG).map(PathBuf::from),
        signals: Some(signals()),
    };
    let (mut stdout, mut stderr) = (io::stdout().lock(), io::stderr().lock());
    play(&script, env, io::stdin(), &mut stdout, &mut stderr).into()
}

/// Catches the signals that request a process to terminate.
fn signals() -> mpsc::Receiver<ReceivedSignal> {
    let (sender, signals) = mpsc::channel();
    let (ready, is_ready) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let all = (
                signal(SignalKind::interrupt()),
                signal(SignalKind::terminate()),
                signal(SignalKind::hangup()),
            );
            let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) = all else {
                return;
            };
            let _ = ready.send(());
            loop {
                let got = tokio::select! {
                    _ = interrupt.recv() => ReceivedSignal::Interrupt,
                    _ = terminate.recv() => ReceivedSignal::Terminate,
                    _ = hangup.recv() => ReceivedSignal::Hangup,
                };
                if sender.send(got).is_err() {
                    return;
                }
            }
        });
    });
    // An earlier signal would end the process as if it had no script.
    let _ = is_ready.recv();
    signals
}

/// The arguments that affect the program's output.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arguments {
    pub(super) version: bool,
    pub(super) permission_mode: Option<String>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) settings: Value,
    pub(super) model: Option<String>,
    pub(super) session: Option<String>,
    /// MCP servers of the host, if the arguments name them.
    pub(super) servers: Vec<String>,
}

impl Arguments {
    /// Parses the arguments, in the forms `--name=value` and `--name value`.
    pub(super) fn read(args: &[String]) -> Self {
        let value = |name: &str| {
            args.iter().enumerate().find_map(|(at, arg)| {
                let rest = arg.strip_prefix("--")?.strip_prefix(name)?;
                match rest.strip_prefix('=') {
                    Some(value) => Some(value.to_owned()),
                    None if rest.is_empty() => args.get(at + 1).cloned(),
                    None => None,
                }
            })
        };
        let json = |text: Option<String>| -> Value {
            text.and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default()
        };
        let list = |text: String| {
            let names = text.split(',').map(str::trim);
            names
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let config = json(value("mcp-config"));
        let servers = config["mcpServers"].as_object().into_iter().flatten();
        Self {
            version: args.iter().any(|arg| arg == "-v" || arg == "--version"),
            permission_mode: value("permission-mode"),
            tools: value("tools").map(list),
            settings: json(value("settings")),
            model: value("model"),
            session: value("session-id").or_else(|| value("resume")),
            servers: servers
                .filter(|(_, server)| server["type"] == "sdk")
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_an_argument_are_read() {
        let args = [
            "--verbose",
            "--permission-mode",
            "dontAsk",
            "--tools=Read,Bash",
            r#"--settings={"sandbox":{"enabled":true}}"#,
            r#"--mcp-config={"mcpServers":{"ours":{"type":"sdk"},"other":{"command":"x"}}}"#,
            "--resume=1234",
        ]
        .map(str::to_owned);

        assert_eq!(
            Arguments::read(&args),
            Arguments {
                version: false,
                permission_mode: Some("dontAsk".into()),
                tools: Some(vec!["Read".into(), "Bash".into()]),
                settings: json!({"sandbox": {"enabled": true}}),
                model: None,
                session: Some("1234".into()),
                servers: vec!["ours".into()],
            }
        );
        assert!(Arguments::read(&["-v".to_owned()]).version);
        assert_eq!(
            Arguments::read(&["--tools=".to_owned()]).tools,
            Some(vec![])
        );
    }
}
