//! The program itself.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::{env, thread};

use tokio::signal::unix::{SignalKind, signal};

use super::asked::Asked;
use super::inlet::listen;
use super::outlet::Outlet;
use super::player::Player;
use super::recording::Recording;
use super::shape::Shapes;
use super::{FakeScript, Part, Signal, Surroundings};

/// The variable with the path of the script.
pub const SCRIPT: &str = "FAKE_CLAUDE_SCRIPT";

/// The variable with the path of a file that the talk is written to.
pub const LOG: &str = "FAKE_CLAUDE_LOG";

/// Plays `script` as the program, over these streams, and returns the exit code.
///
/// Nothing else is read, written or changed, except by tools that the script lets happen.
/// The threads that read `stdin` end with it.
///
/// ```
/// use autonoe_testkit::fake_claude::{FakeScript, Surroundings, play};
///
/// let mut said = Vec::new();
/// let version = Surroundings::new(["--version".to_owned()], "/");
/// let code = play(&FakeScript::says("Hello."), version, &b""[..], &mut said, &mut Vec::new());
///
/// assert_eq!((code, said.as_slice()), (0, &b"2.1.325 (Claude Code)\n"[..]));
/// ```
pub fn play(
    script: &FakeScript,
    surroundings: Surroundings,
    stdin: impl Read + Send + 'static,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let Surroundings {
        args,
        directory,
        tells_states,
        log,
        signals,
    } = surroundings;
    let asked = Asked::of(&args);
    if asked.version {
        let version = script.build.version();
        return u8::from(writeln!(stdout, "{version} (Claude Code)").is_err());
    }
    let prepared = Shapes::of(script.build).and_then(|shapes| {
        let out = Outlet::new(stdout, stderr, log.as_deref())?;
        Ok((shapes, out))
    });
    let Ok((shapes, out)) = prepared else {
        return CANNOT_PLAY;
    };
    let events = listen(stdin, signals);
    let place = (directory, tells_states);
    let mut player = Player::new(script, shapes, asked, place, out, events);
    let code = match &script.plays {
        Part::Turns(turns) => player.play(turns),
        Part::Recording(path) => match Recording::load(path) {
            Ok(recording) => player.replay(&recording),
            Err(error) => {
                let path = path.display();
                player
                    .out
                    .complain(&format!("fake-claude: {path}: {error}"));
                CANNOT_PLAY
            }
        },
    };
    player.out.note_exit(code, &args);
    code
}

/// The exit code of a program that has nothing to play.
const CANNOT_PLAY: u8 = 70;

/// Is the program `fake-claude`: plays the script that `FAKE_CLAUDE_SCRIPT` names.
///
/// For a program of your own, in the tests of a crate that cannot install ours. It takes
/// over the signals of the process.
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
        Some(path) => load(path),
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
        directory: env::current_dir().unwrap_or_default(),
        tells_states: variable("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")
            .is_some_and(|value| value == "1"),
        log: variable(LOG).map(PathBuf::from),
        signals: Some(signals()),
    };
    let (mut stdout, mut stderr) = (io::stdout().lock(), io::stderr().lock());
    play(&script, surroundings, io::stdin(), &mut stdout, &mut stderr).into()
}

fn load(path: OsString) -> Result<FakeScript, String> {
    let path = PathBuf::from(path);
    let mut script = FakeScript::load(&path)
        .map_err(|error| format!("fake-claude: {}: {error}", path.display()))?;
    // Where a script lies beside its recording, it names it by its name.
    if let (Part::Recording(recording), Some(folder)) = (&mut script.plays, path.parent()) {
        *recording = folder.join(&recording);
    }
    Ok(script)
}

/// Takes over the signals that ask a process to end.
fn signals() -> mpsc::Receiver<Signal> {
    let (tell, told) = mpsc::channel();
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
                if tell.send(got).is_err() {
                    return;
                }
            }
        });
    });
    // A signal that came before would end the process as if it had no script.
    let _ = is_ready.recv();
    told
}
