//! A faster clock: waiting an hour for quota takes less than a second.
//!
//! In tests, use `VirtualClock` of `autonoe-testkit` instead. Run it with
//! `cargo run --example custom_clock`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::time::{Duration, Instant};

use autonoe_core::event::InstructionName;
use autonoe_core::futures::future::BoxFuture;
use autonoe_core::jiff::{SignedDuration, Timestamp};
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::time::{Clock, SystemClock};
use autonoe_core::{OnQuota, RunControl, RunEvent, RunEventKind, SessionRunner};
use autonoe_scripted::{ScriptedBackend, SessionScript};

/// A clock that runs ten thousand times faster than the system clock.
struct FastClock {
    started: Instant,
    start: Timestamp,
}

const SPEED: u32 = 10_000;

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.started.elapsed() * SPEED);
        let now = passed.map(|passed| self.start.checked_add(passed));
        now.ok().and_then(Result::ok).unwrap_or(Timestamp::MAX)
    }

    // Rounded up: after the sleep, at least this time has passed by `now`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        SystemClock.sleep(duration / SPEED + Duration::from_millis(1))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let start = Timestamp::now();
    let clock = FastClock {
        started: Instant::now(),
        start,
    };
    let reset = start + SignedDuration::from_hours(1);
    let agents = ScriptedBackend::new([
        SessionScript::new("waits").hits_quota(Some(reset)),
        SessionScript::new("plans").ends(),
    ]);
    let texts = [(InstructionName::Initializer, "Plan what SPEC.md asks for.")];
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(agents)
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new(texts))
        .clock(clock)
        .on_quota(OnQuota::Wait)
        .max_iterations(1)
        .observer(|event: &RunEvent<'_>| {
            if let RunEventKind::SessionStarted { number, .. } = &event.kind {
                println!("{}: session {number}", event.at);
            }
        })
        .build()?;
    println!("{}", runner.run(&RunControl::new()).await);
    Ok(())
}
