//! The program itself.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use super::FakeScript;
use super::arguments::Arguments;
use super::lines::Lines;
use super::replay::Replay;
use super::streams::{Output, Signal, listen};

/// The variable with the path of the script.
pub const SCRIPT: &str = "FAKE_CLAUDE_SCRIPT";

/// The variable with the path of a file that everything read and written is logged to.
pub const LOG: &str = "FAKE_CLAUDE_LOG";

/// The surroundings of the program: all that is not in its script.
#[derive(Debug)]
#[non_exhaustive]
pub struct Surroundings {
    /// Its arguments, without its name.
    pub args: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
    /// A file that everything read and written is logged to, in the form of a recorded session.
    pub log: Option<PathBuf>,
    /// The signals that it gets.
    pub signals: Option<mpsc::Receiver<Signal>>,
}

impl Surroundings {
    /// Makes surroundings with these arguments, in this directory, without signals.
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
/// Nothing else is read, written or changed. The threads that read `stdin` end with it.
///
/// ```
/// use autonoe_testkit::fake_claude::{FakeScript, Surroundings, play};
///
/// let script = FakeScript::says(["Hello."]);
/// let version = Surroundings::new(["--version".to_owned()], "/");
/// let mut written = Vec::new();
/// let code = play(&script, version, &b""[..], &mut written, &mut Vec::new());
///
/// assert_eq!((code, written.as_slice()), (0, &b"2.1.325 (Claude Code)\n"[..]));
/// ```
pub fn play(
    script: &FakeScript,
    surroundings: Surroundings,
    stdin: impl Read + Send + 'static,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let arguments = Arguments::read(&surroundings.args);
    if arguments.version {
        let version = script.build.version();
        return u8::from(writeln!(stdout, "{version} (Claude Code)").is_err());
    }
    let prepared = Lines::of(script.build).and_then(|lines| {
        let output = Output::new(stdout, stderr, surroundings.log.as_deref())?;
        Ok((lines, output))
    });
    let Ok((lines, output)) = prepared else {
        return CANNOT_PLAY;
    };
    let inputs = listen(stdin, surroundings.signals);
    let mut replay = Replay::new(
        script,
        lines,
        arguments,
        surroundings.directory,
        output,
        inputs,
    );
    let code = replay.play(&script.plays);
    replay.output.log_exit(code, &surroundings.args);
    code
}

/// The exit code of a program that has nothing to play.
pub(super) const CANNOT_PLAY: u8 = 70;

/// Runs the program `fake-claude`: plays the script that `FAKE_CLAUDE_SCRIPT` names.
///
/// For a program of your own, in the tests of a crate that cannot install ours. It handles the
/// signals of the process.
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
        None => Err(format!("fake-claude: {SCRIPT} names no script")),
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
    let surroundings = Surroundings {
        args: arguments.into_iter().skip(1).collect(),
        directory: std::env::current_dir().unwrap_or_default(),
        log: variable(LOG).map(PathBuf::from),
        signals: Some(signals()),
    };
    let (mut stdout, mut stderr) = (io::stdout().lock(), io::stderr().lock());
    play(&script, surroundings, io::stdin(), &mut stdout, &mut stderr).into()
}

/// Catches the signals that ask a process to end.
fn signals() -> mpsc::Receiver<Signal> {
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
                    _ = interrupt.recv() => Signal::Interrupt,
                    _ = terminate.recv() => Signal::Terminate,
                    _ = hangup.recv() => Signal::Hangup,
                };
                if sender.send(got).is_err() {
                    return;
                }
            }
        });
    });
    // A signal that came before would end the process as if it had no script.
    let _ = is_ready.recv();
    signals
}
