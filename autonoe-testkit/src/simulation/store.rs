//! The project as a model: lock, epoch, ledger, outcome records, journal, each write atomic.

use std::collections::BTreeMap;

use autonoe_core::{Epoch, JournalLine, LedgerView, RunFact, RunReport};

/// Which of the rules are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// All of them.
    All,
    /// Writes with an old epoch are taken.
    NoFence,
    /// Nobody writes down that a session is over before it is reported.
    NoOutcomeRecord,
}

/// Somebody else has taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fenced;

/// The one project that all hosts share.
///
/// A session's step in the ledger and its outcome record are one write. With
/// two, a crash between them would repeat the step; no rule could mend that.
#[derive(Debug)]
pub struct Store {
    rules: Rules,
    epoch: Epoch,
    /// Until when the lock is taken, in milliseconds.
    locked_until: u64,
    ledger: LedgerView,
    /// The numbers of the sessions that took effect, in order.
    pub(super) effects: Vec<u32>,
    outcomes: BTreeMap<u32, RunFact>,
    /// What hosts have written down, in order.
    pub journal: Vec<JournalLine>,
    /// What the run came to.
    pub ended: Option<RunReport>,
    pub(super) refused: u64,
}

impl Store {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            epoch: Epoch(0),
            locked_until: 0,
            ledger: LedgerView::default(),
            effects: Vec::new(),
            outcomes: BTreeMap::new(),
            journal: Vec::new(),
            ended: None,
            refused: 0,
        }
    }

    /// Returns the ledger.
    pub fn ledger(&self) -> LedgerView {
        self.ledger
    }

    /// Takes the lock and raises the epoch, unless the lock is taken or the run over.
    pub fn take_over(&mut self, now: u64, until: u64) -> Option<Epoch> {
        if now < self.locked_until || self.ended.is_some() {
            return None;
        }
        self.locked_until = until;
        self.epoch = self.next_epoch();
        Some(self.epoch)
    }

    /// Returns the epoch of who takes over next. Nothing is changed.
    pub fn next_epoch(&self) -> Epoch {
        Epoch(self.epoch.0 + 1)
    }

    /// Keeps off all before `epoch`.
    ///
    /// # Errors
    ///
    /// Somebody else has taken over.
    pub fn raise(&mut self, epoch: Epoch) -> Result<(), Fenced> {
        self.fence(epoch)?;
        self.epoch = self.epoch.max(epoch);
        Ok(())
    }

    /// Keeps the lock. Who has lost it learns so, whatever the rules: the fence is about writes.
    ///
    /// # Errors
    ///
    /// Somebody else has taken over.
    pub fn keep_lock(&mut self, epoch: Epoch, until: u64) -> Result<(), Fenced> {
        if epoch < self.epoch {
            return Err(Fenced);
        }
        self.locked_until = until;
        Ok(())
    }

    /// Frees the lock of a host that is gone, as the system does.
    pub fn free_lock(&mut self, epoch: Epoch) {
        if epoch == self.epoch {
            self.locked_until = 0;
        }
    }

    /// Writes what session `number` did, and its outcome record.
    ///
    /// # Errors
    ///
    /// Somebody else has taken over.
    pub fn end_session(
        &mut self,
        epoch: Epoch,
        number: u32,
        ledger: LedgerView,
        ended: &RunFact,
    ) -> Result<(), Fenced> {
        self.fence(epoch)?;
        self.effects.push(number);
        self.ledger = ledger;
        if self.rules != Rules::NoOutcomeRecord {
            self.outcomes.insert(number, ended.clone());
        }
        Ok(())
    }

    /// Returns the outcome record of session `number`.
    pub fn outcome(&self, number: u32) -> Option<&RunFact> {
        self.outcomes.get(&number)
    }

    /// Writes down a line.
    ///
    /// # Errors
    ///
    /// Somebody else has taken over.
    pub fn append(&mut self, epoch: Epoch, line: JournalLine) -> Result<(), Fenced> {
        self.fence(epoch)?;
        if let JournalLine::RunEnded { report } = &line {
            self.ended.get_or_insert_with(|| report.clone());
        }
        self.journal.push(line);
        Ok(())
    }

    fn fence(&mut self, epoch: Epoch) -> Result<(), Fenced> {
        if epoch >= self.epoch || self.rules == Rules::NoFence {
            return Ok(());
        }
        self.refused += 1;
        Err(Fenced)
    }
}
