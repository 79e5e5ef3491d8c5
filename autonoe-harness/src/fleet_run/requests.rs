//! What a fleet is asked for by files: to hold, to go on and to end.

use super::FleetHome;
use crate::{FolderError, HarnessFolder};

impl FleetHome {
    /// Asks a fleet to end for good. The first reason stands.
    ///
    /// Who leads it stops its members; if nobody does, they are asked here, and the next one who
    /// leads it ends it.
    ///
    /// # Errors
    ///
    /// A folder cannot be written.
    pub fn ask_stop(&self, fleet: &str, reason: &str) -> Result<(), FolderError> {
        self.make_desk(fleet)?.request_stop(reason)?;
        if self.coordinator(fleet)?.is_none() {
            for member in self.at_work(fleet)? {
                member.request_stop(reason)?;
            }
        }
        Ok(())
    }

    /// Asks a fleet to begin nothing more until it is resumed: no member is started, and those at
    /// work have no further turn.
    ///
    /// # Errors
    ///
    /// A folder cannot be written.
    pub fn ask_pause(&self, fleet: &str) -> Result<(), FolderError> {
        self.make_desk(fleet)?.request_pause()?;
        for member in self.at_work(fleet)? {
            member.request_pause()?;
        }
        Ok(())
    }

    /// Asks a fleet to go on, with all of its members, also those that were paused alone.
    ///
    /// # Errors
    ///
    /// A folder cannot be written.
    pub fn ask_resume(&self, fleet: &str) -> Result<(), FolderError> {
        let desk = self.desk(fleet)?;
        if desk.path().exists() {
            desk.request_resume()?;
        }
        for member in self.at_work(fleet)? {
            member.request_resume()?;
        }
        Ok(())
    }

    /// Tells whether a fleet was asked to hold.
    ///
    /// # Errors
    ///
    /// It cannot be looked at.
    pub fn pause_asked(&self, fleet: &str) -> Result<bool, FolderError> {
        self.desk(fleet)?.is_pause_requested()
    }

    /// Returns why a fleet was asked to end, if it was.
    ///
    /// # Errors
    ///
    /// It cannot be looked at.
    pub fn stop_asked(&self, fleet: &str) -> Result<Option<String>, FolderError> {
        self.desk(fleet)?.stop_requested()
    }

    /// Returns the members of a fleet that were started and have not ended.
    fn at_work(&self, fleet: &str) -> Result<Vec<HarnessFolder>, FolderError> {
        let mut at_work = Vec::new();
        for member in self.folders_of(fleet)? {
            if member.outcome()?.is_none() {
                at_work.push(member);
            }
        }
        Ok(at_work)
    }
}
