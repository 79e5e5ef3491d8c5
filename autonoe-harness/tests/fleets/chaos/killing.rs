//! Kills processes of a fleet at random times.

use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

use autonoe_harness::FleetOrder;

use super::scenario::Rng;
use crate::fleets::fixture::{DEADLINE, Project};
use crate::fleets::ledger::Entry;
use crate::fleets::roles::{Host, write_order};

/// Maximum number of kills per round.
const MOST_KILLS: u64 = 5;

/// A fleet whose processes are killed until it has ended.
pub(super) struct Killing<'a> {
    project: &'a Project,
    host: Host,
    pace: Duration,
    started: Instant,
    pub(super) kills: Vec<Kill>,
}

/// Whether all planned kills happened before the fleet ended.
pub(super) enum Planned {
    All,
    Some,
}

/// The killed process, and the time.
pub(super) struct Kill {
    pub(super) target: String,
    at: Duration,
}

impl fmt::Debug for Kill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", self.target, self.at)
    }
}

impl<'a> Killing<'a> {
    pub(super) fn start(project: &'a Project, order: &FleetOrder, pace: Duration) -> Self {
        write_order(project, order);
        Self {
            project,
            host: Host::start(project, pace),
            pace,
            started: Instant::now(),
            kills: Vec::new(),
        }
    }

    /// Kills processes at random times of a `life`.
    pub(super) fn kill_at_random(&mut self, rng: &mut Rng, life: Duration) -> Planned {
        let kills = 0..=rng.below(MOST_KILLS);
        let mut moments: Vec<_> = kills.map(|_| rng.time_below(life)).collect();
        moments.sort();
        for moment in moments {
            while self.started.elapsed() < moment {
                if self.host.ended().is_some() {
                    return Planned::Some;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            match rng.below(10) {
                0..4 => self.kill_coordinator(rng),
                4..9 => self.kill_member(rng),
                _ => {
                    self.kill_member(rng);
                    self.kill_coordinator(rng);
                }
            }
        }
        Planned::All
    }

    fn kill_coordinator(&mut self, rng: &mut Rng) {
        if self.host.ended().is_some() {
            return;
        }
        self.host.kill();
        self.note("the coordinator".to_owned());
        // The next coordinator finds members that run, that are leaving, or none.
        if rng.below(2) == 0 {
            std::thread::sleep(rng.time_below(Duration::from_millis(100)));
        }
        self.host = Host::start(self.project, self.pace);
    }

    fn kill_member(&mut self, rng: &mut Rng) {
        let folders = self.project.home().member_folders("f").expect("readable");
        let living = folders.into_iter().filter_map(|folder| {
            // A file that is being written is read at the next kill.
            let pid = folder.view().ok()?.pid?;
            Some((folder.id().to_string(), pid))
        });
        let Some((target, pid)) = rng.one_of(living) else {
            return;
        };
        let mut kill = Command::new("kill");
        kill.args(["-KILL", &pid.to_string()]);
        // It may have ended already, which is fine.
        if kill.output().expect("it starts").status.success() {
            self.note(target);
        }
    }

    fn note(&mut self, target: String) {
        let at = self.started.elapsed();
        self.kills.push(Kill { target, at });
    }

    /// Waits for the end of the fleet, under a coordinator that is not killed.
    pub(super) fn until_it_ends(&mut self) -> Duration {
        let started = Instant::now();
        while self.host.ended().is_none() {
            assert!(started.elapsed() < DEADLINE, "it does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
        let entries = self.project.ledger().entries();
        let has_ended = entries
            .iter()
            .any(|entry| matches!(entry, Entry::Fleet { .. }));
        assert!(has_ended, "its coordinator left without an outcome");
        self.started.elapsed()
    }
}
