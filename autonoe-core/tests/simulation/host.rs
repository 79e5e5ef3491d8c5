//! A host that drives the run while it holds the lock.

use autonoe_core::{Epoch, RunFact, RunMachine};

/// One of the machines that may drive the run.
#[derive(Debug, Default)]
pub(crate) struct Host {
    /// Counts the starts; what an earlier life had in mind is gone.
    pub(crate) life: u32,
    /// An earlier life whose agent lives on after the crash.
    pub(crate) orphan: Option<u32>,
    pub(crate) down: bool,
    pub(crate) asleep_until: u64,
    /// Until when it cannot reach the store.
    pub(crate) cut_off_until: u64,
    pub(crate) drive: Option<Drive>,
}

/// The run in the hands of a host. Whether it still is the latest, only the store knows.
#[derive(Debug)]
pub(crate) struct Drive {
    pub(crate) epoch: Epoch,
    /// `None` until the journal is read.
    pub(crate) machine: Option<RunMachine>,
    pub(crate) session: Option<Session>,
}

/// A session of a drive.
#[derive(Debug)]
pub(crate) enum Session {
    Working { number: u32 },
    Over { number: u32, ended: Box<RunFact> },
}

impl Host {
    /// Tells whether what `life` began is still there.
    pub(crate) fn lives(&self, life: u32) -> bool {
        !self.down && self.life == life
    }

    /// Tells whether the agent that `life` started is still there.
    pub(crate) fn agent_lives(&self, life: u32) -> bool {
        self.lives(life) || self.orphan == Some(life)
    }

    /// Gives the run up, having learnt that another host has it.
    pub(crate) fn give_up(&mut self, epoch: Epoch) {
        if self
            .drive
            .as_ref()
            .is_some_and(|drive| drive.epoch == epoch)
        {
            self.drive = None;
        }
    }
}

impl Drive {
    pub(crate) fn new(epoch: Epoch) -> Self {
        Self {
            epoch,
            machine: None,
            session: None,
        }
    }
}
