//! The program at work.

mod calls;
mod control;
mod decision;
mod greeting;
mod mishaps;
mod pieces;
mod replay;
mod turns;
mod words;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use serde_json::Value;

use self::calls::OpenCall;
use super::asked::Asked;
use super::host::Host;
use super::inlet::Event;
use super::outlet::Outlet;
use super::shape::Shapes;
use super::{Build, FakeScript, FakeTurn, Fault, Part, Signal};

/// The program at work.
pub(super) struct Player<'w> {
    build: Build,
    shapes: Shapes,
    asked: Asked,
    faults: Vec<Fault>,
    session: String,
    directory: PathBuf,
    tells_states: bool,
    pub(super) out: Outlet<'w>,
    queue: Sender<Event>,
    events: Receiver<Event>,
    host: Host,
    /// Calls that have no result yet.
    open: Vec<OpenCall>,
    /// The calls that started tasks, by the ids of these.
    tasks: HashMap<String, String>,
    /// Whether a turn is under way.
    is_working: bool,
    /// Whether pieces of an answer were shown, and not its end.
    is_answering: bool,
    /// Whether a recorded conversation says what is answered when.
    is_replaying: bool,
    has_greeted: bool,
    written: usize,
    /// With which code it dies in the middle of the next line, if it does.
    cut: Option<u8>,
    ids: u64,
    spent: Spent,
}

/// What all turns so far came to.
#[derive(Debug, Default)]
struct Spent {
    cost_usd: f64,
    input: u64,
    output: u64,
    results: u64,
    /// In the turn under way: results of tools, refused calls, and the last words.
    tool_results: u64,
    denials: Vec<Value>,
    last_text: String,
    has_failed: bool,
}

/// Why the program does not go on with what it does.
#[derive(Debug)]
pub(super) enum Stop {
    /// The host interrupts the turn, by the request with this id.
    Interrupt(String),
    /// The host ends the session, by the request with this id.
    EndSession(String),
    /// A signal ends it.
    Signal(Signal),
    /// It is over.
    Exit(u8),
}

impl<'w> Player<'w> {
    pub(super) fn new(
        script: &FakeScript,
        shapes: Shapes,
        asked: Asked,
        place: (PathBuf, bool),
        out: Outlet<'w>,
        (queue, events): (Sender<Event>, Receiver<Event>),
    ) -> Self {
        let (directory, tells_states) = place;
        let process = std::process::id();
        let session = format!("{process:08x}-0000-4000-8000-000000000000");
        let mut player = Self {
            build: script.build,
            shapes,
            session: asked.session.clone().unwrap_or(session),
            asked,
            faults: script.faults.clone(),
            directory,
            tells_states,
            out,
            queue,
            events,
            host: Host::default(),
            open: Vec::new(),
            tasks: HashMap::new(),
            is_working: false,
            is_answering: false,
            is_replaying: matches!(script.plays, Part::Recording(_)),
            has_greeted: false,
            written: 0,
            cut: None,
            ids: 0,
            spent: Spent::default(),
        };
        player.out.pace = player.faults.iter().find_map(|fault| match fault {
            Fault::Slow { chunk, pause_ms } => Some((*chunk, Duration::from_millis(*pause_ms))),
            _ => None,
        });
        player
    }

    /// Plays turns until the program ends; returns its exit code.
    pub(super) fn play(&mut self, turns: &[FakeTurn]) -> u8 {
        let Err(stop) = self.turns(turns) else {
            return self.exit_code();
        };
        self.end(&stop)
    }

    fn turns(&mut self, turns: &[FakeTurn]) -> Result<(), Stop> {
        self.begin()?;
        let mut turns = turns.iter();
        let mut next = turns.next();
        loop {
            if let Some((id, request)) = self.host.take_request("initialize") {
                self.initialize(&id, &request)?;
            } else if let Some(turn) = next
                && (turn.after_task.is_some() || self.host.prompts > 0)
            {
                if turn.after_task.is_none() {
                    self.host.prompts -= 1;
                }
                self.turn(turn)?;
                next = turns.next();
                if self.host.is_gone && self.may_die() {
                    return Ok(());
                }
            } else if self.host.prompts > 0 {
                self.out
                    .complain("fake-claude: the script has no turn for this prompt");
                return Err(Stop::Exit(70));
            } else {
                self.pump(None)?;
            }
        }
    }

    /// Returns the exit code, and does what comes before it.
    fn end(&mut self, stop: &Stop) -> u8 {
        match stop {
            Stop::Exit(code) => *code,
            Stop::Interrupt(_) | Stop::EndSession(_) => self.exit_code(),
            Stop::Signal(Signal::Interrupt) => 0,
            Stop::Signal(signal) => {
                // The older build leaves a tool behind that runs.
                if self.build != Build::V2_1_197 {
                    self.kill_commands();
                }
                if *signal == Signal::Terminate {
                    143
                } else {
                    129
                }
            }
        }
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.spent.has_failed)
    }

    fn may_die(&self) -> bool {
        !self.faults.contains(&Fault::NeverDies)
    }

    /// Waits for whatever comes next, but not longer than `until`.
    fn pump(&mut self, until: Option<Instant>) -> Result<(), Stop> {
        let event = match until {
            None => self.events.recv().ok(),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                self.events.recv_timeout(left).ok()
            }
        };
        match event {
            Some(event) => self.take(event),
            None => Ok(()),
        }
    }

    /// Waits until something is so.
    fn wait_until(&mut self, is_so: impl Fn(&Self) -> bool) -> Result<(), Stop> {
        while !is_so(self) {
            self.pump(None)?;
        }
        Ok(())
    }

    fn fresh_id(&mut self) -> String {
        self.ids += 1;
        format!(
            "{:08x}-0000-4000-8000-{:012x}",
            std::process::id(),
            self.ids
        )
    }
}
