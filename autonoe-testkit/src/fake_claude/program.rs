//! Entry points of the program.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use super::FakeScript;
use super::arguments::Arguments;
use super::recording::Lines;
use super::replay::{CANNOT_PLAY, Replay};
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
