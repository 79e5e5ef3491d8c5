//! Instructions and requests to a member: its inbox, and the files `pause`, `resume` and `stop`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use autonoe_core::project::replace_file_durably;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::file::{create_json, make_folder, read_bytes, read_json, remove};
use super::{FolderError, FolderLock, MemberFolder};

/// An instruction posted to a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PostedInstruction {
    /// The number of the instruction in the member, starting at 1. Agents receive instructions in
    /// this order.
    pub number: u64,
    /// The text for the agent.
    pub text: String,
    /// The time at which it was posted.
    pub at: Timestamp,
}

/// The highest number: file names have ten digits, so that they sort in order.
const MOST: u64 = 9_999_999_999;

/// Content of an inbox, in order.
#[derive(Debug, Default)]
pub(crate) struct InboxContent {
    pub(crate) instructions: Vec<PostedInstruction>,
    /// Files that are not instructions, each with its problem. They stay in the inbox.
    pub(crate) unreadable: Vec<(String, String)>,
}

impl MemberFolder {
    /// Posts an instruction, durably, and returns its number.
    ///
    /// # Errors
    ///
    /// [`FolderError::Held`] if another process keeps the lock of senders, or the folder cannot be
    /// written.
    pub fn post(&self, text: &str, at: Timestamp) -> Result<u64, FolderError> {
        make_folder(&self.file("inbox"))?;
        // One sender at a time: if two senders found the same number free, the first could post its
        // instruction and have it delivered and moved away before the second writes. The second
        // instruction would then never be delivered.
        let _lock = FolderLock::acquire_waiting(&self.file("post.lock"))?;
        loop {
            let number = self.next_number()?;
            let instruction = PostedInstruction {
                number,
                text: text.to_owned(),
                at,
            };
            // A program that ignores the lock may have created the file.
            if create_json(&self.inbox_file(number), &instruction)? {
                return Ok(number);
            }
        }
    }

    /// Withdraws an instruction that no agent has received; returns whether it was still there.
    pub(crate) fn withdraw(&self, number: u64) -> Result<bool, FolderError> {
        remove(&self.inbox_file(number))
    }

    /// Moves an instruction that an agent has received to `taken`.
    pub(crate) fn mark_delivered(&self, number: u64) -> Result<(), FolderError> {
        make_folder(&self.file("taken"))?;
        for name in [name_of(number), text_name_of(number)] {
            let to = self.file("taken").join(&name);
            match fs::rename(self.file("inbox").join(&name), &to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(FolderError::unwritable(&to, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Turns the text file `name` into an instruction, and returns its number. The caller holds the
    /// lock of senders.
    pub(super) fn adopt_text(&self, name: &str) -> Result<u64, FolderError> {
        let number = self.next_number()?;
        let to = self.file("inbox").join(text_name_of(number));
        fs::rename(self.file("inbox").join(name), &to)
            .map_err(|source| FolderError::unwritable(&to, source))?;
        Ok(number)
    }

    /// Returns the content of the inbox, in order. Text files that are not instructions yet are
    /// left out: see [`TextFiles`](super::TextFiles).
    pub(crate) fn inbox(&self) -> Result<InboxContent, FolderError> {
        let inbox = self.file("inbox");
        let mut waiting = InboxContent::default();
        for name in names_in(&inbox)?.into_iter().filter(|it| !is_text_name(it)) {
            let last = waiting.instructions.last().map(|last| last.number);
            let read = match number_of(&name) {
                None => Err("its name is not that of an instruction".to_owned()),
                Some(number) if last == Some(number) => {
                    Err("another instruction has the same number".to_owned())
                }
                Some(number) if name == text_name_of(number) => {
                    read_text(&inbox.join(&name), number).map_err(|error| error.to_string())
                }
                Some(number) => self.read_posted(number).map_err(|error| error.to_string()),
            };
            match read {
                Ok(instruction) => waiting.instructions.extend(instruction),
                Err(problem) => waiting.unreadable.push((name, problem)),
            }
        }
        Ok(waiting)
    }

    fn read_posted(&self, number: u64) -> Result<Option<PostedInstruction>, FolderError> {
        let path = self.inbox_file(number);
        let posted: Option<PostedInstruction> = read_json(&path)?;
        match posted {
            Some(posted) if posted.number != number => {
                let problem = format!("it contains instruction {}", posted.number);
                Err(FolderError::corrupt(&path, problem))
            }
            posted => Ok(posted),
        }
    }

    fn next_number(&self) -> Result<u64, FolderError> {
        // The order matters: a file that is moved between the two reads is seen twice at most. A
        // missed number would be used again.
        let inbox = names_in(&self.file("inbox"))?;
        let received = names_in(&self.file("taken"))?;
        let numbers = inbox
            .iter()
            .chain(&received)
            .filter_map(|name| number_of(name));
        match numbers.max().unwrap_or_default() {
            MOST.. => {
                let problem = "all numbers are used";
                Err(FolderError::corrupt(&self.file("inbox"), problem))
            }
            last => Ok(last + 1),
        }
    }

    fn inbox_file(&self, number: u64) -> std::path::PathBuf {
        self.file("inbox").join(name_of(number))
    }
}

fn name_of(number: u64) -> String {
    format!("{number:010}.json")
}

/// Returns the file name of an instruction that was a text file.
fn text_name_of(number: u64) -> String {
    format!("{number:010}.text")
}

/// Returns whether a file in the inbox is a text that can become an instruction.
pub(super) fn is_text_name(name: &str) -> bool {
    name.ends_with(".txt") || name.ends_with(".md")
}

fn read_text(path: &Path, number: u64) -> Result<Option<PostedInstruction>, FolderError> {
    let Some(bytes) = read_bytes(path)? else {
        return Ok(None);
    };
    let text =
        String::from_utf8(bytes).map_err(|error| FolderError::corrupt(path, error.to_string()))?;
    let modified = fs::metadata(path).and_then(|found| found.modified());
    let modified = modified.map_err(|source| FolderError::unreadable(path, source))?;
    let at = Timestamp::try_from(modified).unwrap_or_default();
    Ok(Some(PostedInstruction { number, text, at }))
}

/// Parses the number of an instruction from its file name. Numbers above [`MOST`] are never
/// assigned, so such a file is not an instruction.
fn number_of(name: &str) -> Option<u64> {
    let (digits, _) = name.split_once('.')?;
    let number = digits.parse().ok()?;
    let is_instruction = name_of(number) == name || text_name_of(number) == name;
    (number <= MOST && is_instruction).then_some(number)
}

/// Returns the file names in a folder, sorted. Names that begin with a dot are left out: they
/// belong to files that are being written.
pub(super) fn names_in(folder: &Path) -> Result<BTreeSet<String>, FolderError> {
    let unreadable = |source| FolderError::unreadable(folder, source);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(source) => return Err(unreadable(source)),
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let name = entry.map_err(unreadable)?.file_name();
        let name = name.to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.insert(name);
        }
    }
    Ok(names)
}

/// File name of the pause request.
const PAUSE: &str = "pause";

/// File name of the request that a member that asks a person continues without an answer.
const RESUME: &str = "resume";

/// File name of the stop request, which contains the reason.
const STOP: &str = "stop";

impl MemberFolder {
    /// Requests that the member pauses: it starts nothing more until it is resumed.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn request_pause(&self) -> Result<(), FolderError> {
        let path = self.file(PAUSE);
        let written = replace_file_durably(&path, b"");
        written.map_err(|source| FolderError::unwritable(&path, source))
    }

    /// Requests that the member resumes: after a pause, or without an answer to its question.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn request_resume(&self) -> Result<(), FolderError> {
        // A member with an unreadable status has no known question.
        let state = self.state().ok().flatten();
        if state.is_some_and(|state| state.progress.question.is_some()) {
            // Before the pause ends, so that the member resumes only once.
            let path = self.file(RESUME);
            let written = replace_file_durably(&path, b"");
            written.map_err(|source| FolderError::unwritable(&path, source))?;
        }
        remove(&self.file(PAUSE)).map(|_| ())
    }

    /// Removes the request to continue without an answer; returns whether there was one.
    pub(crate) fn take_resume_request(&self) -> Result<bool, FolderError> {
        remove(&self.file(RESUME))
    }

    /// Requests that the member ends. The first reason is kept.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn request_stop(&self, reason: &str) -> Result<(), FolderError> {
        create_json(&self.file(STOP), &reason).map(|_| ())
    }

    /// Returns whether a pause is requested.
    pub fn is_pause_requested(&self) -> Result<bool, FolderError> {
        let path = self.file(PAUSE);
        match path.symlink_metadata() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(FolderError::unreadable(&path, source)),
        }
    }

    /// Returns the reason of a stop request, if there is one. A file without a valid reason is a
    /// request, too.
    pub fn stop_requested(&self) -> Result<Option<String>, FolderError> {
        let reason = read_json(&self.file(STOP));
        match reason {
            Err(FolderError::Corrupt { .. }) => Ok(Some("a stop file exists".to_owned())),
            reason => reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::strategy::MemberId;

    fn folder(root: &Path) -> MemberFolder {
        let folder = MemberFolder::new(root, &MemberId::new("a")).expect("an id");
        fs::create_dir_all(folder.path().join("inbox")).expect("writable");
        folder
    }

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    #[test]
    fn instructions_of_many_senders_get_a_number_each_and_none_is_lost() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());

        thread::scope(|scope| {
            for sender in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for number in 0..20 {
                        let text = format!("{sender}-{number}");
                        while let Err(error) = folder.post(&text, now()) {
                            // On a slow machine, the other senders can hold the lock for longer
                            // than `post` waits for it.
                            assert!(matches!(error, FolderError::Held { .. }), "{error}");
                        }
                        if let Some(first) = folder.inbox().expect("there").instructions.first() {
                            folder.mark_delivered(first.number).expect("writable");
                        }
                    }
                });
            }
        });

        let left = folder.inbox().expect("there").instructions.len();
        let received = names_in(&folder.file("taken")).expect("there").len();
        assert_eq!(left + received, 80);
        assert_eq!(folder.next_number().expect("there"), 81);
    }

    #[test]
    fn a_sender_does_not_wait_for_ever_for_one_that_keeps_the_lock() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let lock = FolderLock::acquire(&folder.file("post.lock")).expect("it is free");

        let refused = folder.post("one", now());

        assert!(matches!(refused, Err(FolderError::Held { .. })));
        drop(lock);
        assert_eq!(folder.post("one", now()).expect("it is free"), 1);
    }

    #[test]
    fn a_number_is_never_assigned_twice() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());

        assert_eq!(folder.post("one", now()).expect("writable"), 1);
        folder.mark_delivered(1).expect("writable");
        assert_eq!(folder.post("two", now()).expect("writable"), 2);
    }

    #[test]
    fn an_unassigned_number_is_not_an_instruction() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let name = format!("{}.json", u64::MAX);
        fs::write(folder.file("inbox").join(&name), "{}").expect("writable");

        assert_eq!(folder.post("one", now()).expect("writable"), 1);
        assert_eq!(folder.post("two", now()).expect("writable"), 2);
        assert_eq!(folder.inbox().expect("there").unreadable[0].0, name);

        fs::write(folder.inbox_file(MOST), "{}").expect("writable");
        let refused = folder.post("three", now());
        assert!(matches!(refused, Err(FolderError::Corrupt { .. })));
    }

    #[test]
    fn a_file_that_is_no_instruction_is_reported_and_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        folder.post("one", now()).expect("writable");
        fs::write(folder.inbox_file(2), "{").expect("writable");
        fs::write(folder.file("inbox").join("note.bin"), "hello").expect("writable");
        fs::copy(folder.inbox_file(1), folder.inbox_file(3)).expect("writable");

        let waiting = folder.inbox().expect("there");

        let texts: Vec<_> = waiting.instructions.iter().map(|one| &*one.text).collect();
        assert_eq!(texts, ["one"]);
        let names: Vec<_> = waiting.unreadable.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["0000000002.json", "0000000003.json", "note.bin"]);
        assert_eq!(names_in(&folder.file("inbox")).expect("there").len(), 4);
    }
}
