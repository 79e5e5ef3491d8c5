//! Tests in a real terminal, which must be restored when the view is closed.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use autonoe_dashboard::DashboardFeed;
use autonoe_dashboard::terminal::{FullScreen, ViewInput, show};
use crossterm::event::EventStream;
use futures::StreamExt;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use tokio::sync::mpsc;

use crate::sample::fleet;

/// Environment variable that makes this process the program in the terminal.
const PROGRAM: &str = "AUTONOE_DASHBOARD_IN_TERMINAL";

/// Time limit of each step on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    }
}

/// A program in a terminal, and its screen.
struct Window {
    child: Box<dyn portable_pty::Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    seen: Arc<Mutex<(vt100::Parser, Vec<u8>)>>,
    master: Box<dyn MasterPty + Send>,
}

impl Window {
    /// Starts this program again, to show a fleet.
    fn open() -> Self {
        let pair = native_pty_system()
            .openpty(size(24, 80))
            .expect("a terminal");
        let mut command = CommandBuilder::new(std::env::current_exe().expect("this program"));
        command.args([
            "terminal::real::child_process_shows_a_fleet",
            "--exact",
            "--nocapture",
        ]);
        command.env(PROGRAM, "1");
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).expect("it starts");
        // Otherwise the exit of the program would not be noticed.
        drop(pair.slave);
        let side = |length| NonZero::new(length).expect("it is not");
        let screen = vt100::Parser::new(side(24), side(80), 0);
        let seen = Arc::new(Mutex::new((screen, Vec::new())));
        let mut output = pair.master.try_clone_reader().expect("it can be read");
        std::thread::spawn({
            let seen = seen.clone();
            move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = output.read(&mut bytes) {
                    let (screen, all) = &mut *seen.lock().expect("nobody panics");
                    screen.process(&bytes[..count]);
                    all.extend_from_slice(&bytes[..count]);
                }
            }
        });
        Self {
            child,
            keyboard: pair.master.take_writer().expect("it can be written"),
            seen,
            master: pair.master,
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard
            .write_all(keys.as_bytes())
            .expect("it listens");
        self.keyboard.flush().expect("it listens");
    }

    /// Waits until the screen and the whole output satisfy a condition.
    fn wait_until(&self, description: &str, is_so: impl Fn(&vt100::Screen, &str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (screen, all) = {
                let seen = self.seen.lock().expect("nobody panics");
                (seen.0.screen().clone(), seen.1.clone())
            };
            if is_so(&screen, &String::from_utf8_lossy(&all)) {
                return;
            }
            let contents = screen.contents();
            assert!(
                Instant::now() < deadline,
                "waited in vain for {description}:\n{contents}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for_text(&self, text: &str) {
        self.wait_until(text, |screen, _| screen.contents().contains(text));
    }

    fn end(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("ours") {
                return status.exit_code();
            }
            assert!(Instant::now() < deadline, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn terminal_session_sends_intent_and_restores_screen() {
    let mut window = Window::open();

    window.wait_for_text("Build the shop");
    window.wait_until("another screen", |screen, _| screen.alternate_screen());
    window.press("p");
    window.wait_for_text("sent to api: pause");
    window.press("\u{1b}[B\r");
    window.wait_for_text("▸ pages");
    window.wait_for_text("backend   codex");
    window.press("q");

    // In a restored terminal, a line break returns to the left edge.
    window.wait_until("its last words", |_, all| {
        all.contains("asked: api pause\r\n")
    });
    assert_eq!(window.end(), 0);
    window.wait_until("the old screen", |screen, _| {
        !screen.alternate_screen() && !screen.hide_cursor()
    });
}

#[test]
fn a_terminal_that_grows_is_filled_and_control_c_leaves() {
    let mut window = Window::open();
    window.wait_for_text("Build the shop");

    let side = |length| NonZero::new(length).expect("it is not");
    let mut seen = window.seen.lock().expect("nobody panics");
    seen.0.screen_mut().set_size(side(30), side(140));
    drop(seen);
    window
        .master
        .resize(size(30, 140))
        .expect("it can be resized");

    window.wait_for_text("claude sonnet");
    window.press("\u{3}");
    assert_eq!(window.end(), 0);
}

/// Program in the terminal, if this process was started as one.
#[test]
fn child_process_shows_a_fleet() {
    if std::env::var_os(PROGRAM).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let intent = runtime.block_on(async {
        let feed = DashboardFeed::new(fleet());
        let (intents, mut receiver) = mpsc::channel(4);
        let keys = EventStream::new();
        let inputs = keys.filter_map(|event| async { ViewInput::from_event(&event.ok()?) });
        let mut screen = FullScreen::enter(std::io::stdout()).expect("a terminal");
        let ended = show(screen.terminal(), &feed, Box::pin(inputs), &intents).await;
        ended.expect("it is drawn");
        receiver.try_recv().ok()
    });
    if let Some(intent) = intent {
        println!("asked: {} {}", intent.member, intent.action);
    }
}
