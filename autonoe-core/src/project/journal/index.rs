//! [`JournalIndex`], which finds the lines of a run without parsing those of other runs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};

use super::file_journal::{JournalEntry, parse_run};
use super::reader::{JournalReadError, journal_paths};
use crate::project::Project;
use crate::project::log_lines::{LogLines, Position, open, parse_line};
use crate::time::RunId;

/// The runs of a journal, and the positions of their lines.
///
/// It needs memory for the runs and one line, however long the journal is. A line is parsed when it
/// is [requested](Self::entries); lines of other runs are not parsed.
///
/// ```
/// use autonoe_core::project::JournalIndex;
/// use autonoe_core::Project;
///
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let mut index = JournalIndex::read_all(&project)?;
///
/// if let Some(last) = index.runs().last().cloned() {
///     for entry in index.entries(&last) {
///         println!("{}", entry?.at);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JournalIndex {
    /// They stay open: a new run may rotate them.
    files: Vec<(PathBuf, File)>,
    runs: Vec<RunId>,
    /// The start and the end of the lines of each run.
    extents: HashMap<String, Extent>,
}

/// From the first line of a run to the end of its last one.
#[derive(Clone, Debug)]
struct Extent {
    first_file: usize,
    first: Position,
    last_file: usize,
    end: u64,
}

impl JournalIndex {
    /// Reads the journal at `path`; a missing file has no runs.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or contains a line that this version of Autonoe did not write.
    /// Other errors of a line are found when it is requested.
    pub fn read(path: &Path) -> Result<Self, JournalReadError> {
        Self::from_paths([path.to_owned()])
    }

    /// Reads the journal of `project`, after the rotated ones.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), for each of the files.
    pub fn read_all(project: &Project) -> Result<Self, JournalReadError> {
        Self::from_paths(journal_paths(project))
    }

    fn from_paths(paths: impl IntoIterator<Item = PathBuf>) -> Result<Self, JournalReadError> {
        let mut index = Self {
            files: Vec::new(),
            runs: Vec::new(),
            extents: HashMap::new(),
        };
        for path in paths {
            if let Some(file) = open(&path, u64::MAX)? {
                index.add(&path, &file)?;
                index.files.push((path, file));
            }
        }
        Ok(index)
    }

    fn add(&mut self, path: &Path, file: &File) -> Result<(), JournalReadError> {
        let mut lines = LogLines::<JournalEntry, _>::new(path, file, Position::START);
        while let Some((at, line)) = lines.next_line()? {
            let end = at.offset + line.len() as u64;
            let run = match parse_run(line) {
                Some(run) => Cow::Borrowed(run),
                None => Cow::Owned(
                    parse_line::<JournalEntry>(path, at.number, line)?
                        .run
                        .to_string(),
                ),
            };
            let file = self.files.len();
            if let Some(extent) = self.extents.get_mut(&*run) {
                (extent.last_file, extent.end) = (file, end);
                continue;
            }
            self.runs.push(RunId::new(&*run));
            let extent = Extent {
                first_file: file,
                first: at,
                last_file: file,
                end,
            };
            self.extents.insert(run.into_owned(), extent);
        }
        Ok(())
    }

    /// Returns the runs in the order of their start.
    pub fn runs(&self) -> &[RunId] {
        &self.runs
    }

    /// Returns the file of the last line, and the position in it where the lines of the same run
    /// start.
    pub(super) fn into_last_run(mut self) -> Option<(File, Position)> {
        let last = self
            .extents
            .into_values()
            .max_by_key(|extent| (extent.last_file, extent.end))?;
        let first = if last.first_file == last.last_file {
            last.first
        } else {
            Position::START
        };
        Some((self.files.swap_remove(last.last_file).1, first))
    }

    /// Reads the lines of a run, in order. Each is parsed once.
    ///
    /// An item is an error if the file can no longer be read or the line cannot be parsed; it is
    /// the last item.
    pub fn entries(&mut self, run: &RunId) -> RunEntries<'_> {
        RunEntries {
            left: self.extents.get(run.as_str()).cloned(),
            run: Some(run.clone()),
            files: &self.files,
            lines: None,
        }
    }

    /// Reads the lines of all runs, in order, otherwise as [`entries`](Self::entries).
    pub fn all_entries(&mut self) -> RunEntries<'_> {
        let last_file = self.files.len().checked_sub(1);
        RunEntries {
            left: last_file.map(|last_file| Extent {
                first_file: 0,
                first: Position::START,
                last_file,
                end: u64::MAX,
            }),
            run: None,
            files: &self.files,
            lines: None,
        }
    }
}

/// The lines of a part of a file.
type EntryLines<'i> = LogLines<JournalEntry, BufReader<Take<&'i File>>>;

/// The lines of a run: see [`JournalIndex::entries`].
#[derive(Debug)]
pub struct RunEntries<'i> {
    /// The run; `None` for all of them.
    run: Option<RunId>,
    files: &'i [(PathBuf, File)],
    /// The extent of the unread lines, without those of `lines`.
    left: Option<Extent>,
    lines: Option<(&'i Path, EntryLines<'i>)>,
}

impl RunEntries<'_> {
    /// Starts reading the next file; returns `false` if there is none.
    fn next_file(&mut self) -> Result<bool, JournalReadError> {
        let Some(extent) = self.left.take() else {
            return Ok(false);
        };
        let files = self.files;
        let (path, file) = &files[extent.first_file];
        let start = extent.first;
        let unreadable = |source| JournalReadError::Unreadable {
            path: path.clone(),
            source,
        };
        let mut input: &File = file;
        input
            .seek(SeekFrom::Start(start.offset))
            .map_err(unreadable)?;
        let is_last = extent.first_file == extent.last_file;
        let length = if is_last {
            extent.end - start.offset
        } else {
            u64::MAX
        };
        self.lines = Some((path, LogLines::new(path, input.take(length), start)));
        self.left = (!is_last).then(|| Extent {
            first_file: extent.first_file + 1,
            first: Position::START,
            ..extent
        });
        Ok(true)
    }

    fn next_entry(&mut self) -> Result<Option<JournalEntry>, JournalReadError> {
        loop {
            let Some((path, lines)) = &mut self.lines else {
                if self.next_file()? {
                    continue;
                }
                return Ok(None);
            };
            let Some((at, line)) = lines.next_line()? else {
                self.lines = None;
                continue;
            };
            let run_id = self.run.as_ref();
            let is_other = |run: &str| run_id.is_some_and(|id| id.as_str() != run);
            if parse_run(line).is_some_and(is_other) {
                continue;
            }
            let entry: JournalEntry = parse_line(path, at.number, line)?;
            if !is_other(entry.run.as_str()) {
                return Ok(Some(entry));
            }
        }
    }
}

impl Iterator for RunEntries<'_> {
    type Item = Result<JournalEntry, JournalReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_entry();
        if next.is_err() {
            (self.lines, self.left) = (None, None);
        }
        next.transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jiff::Timestamp;

    use super::*;
    use crate::project::log_lines::parsed_lines;
    use crate::run::JournalLine;
    use crate::time::Epoch;

    fn line(run: &str, epoch: u64) -> String {
        let entry = JournalEntry {
            version: 1,
            run: RunId::new(run),
            at: Timestamp::UNIX_EPOCH,
            line: JournalLine::FlowResumed {
                epoch: Epoch(epoch),
            },
        };
        serde_json::to_string(&entry).expect("it serialises") + "\n"
    }

    fn epochs(index: &mut JournalIndex, run: &str) -> Vec<u64> {
        let entries = index.entries(&RunId::new(run)).map(|entry| {
            match entry.expect("it can be understood").line {
                JournalLine::FlowResumed { epoch } => epoch.0,
                line => panic!("{line:?}"),
            }
        });
        entries.collect()
    }

    #[test]
    fn each_line_is_parsed_once_and_only_if_it_is_requested() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("journal.jsonl");
        let lines = |run: usize| (0..20).map(move |epoch| line(&format!("run-{run:04}"), epoch));
        let text: String = (0..500).flat_map(lines).collect();
        fs::write(&path, text).expect("writable");
        let before = parsed_lines();

        let mut index = JournalIndex::read(&path).expect("readable");
        assert_eq!(index.runs().len(), 500);
        assert_eq!(parsed_lines(), before);

        assert_eq!(epochs(&mut index, "run-0499"), Vec::from_iter(0..20));
        assert_eq!(parsed_lines(), before + 20);

        for run in index.runs().to_vec() {
            assert_eq!(epochs(&mut index, run.as_str()).len(), 20);
        }
        assert_eq!(parsed_lines(), before + 20 + 500 * 20);
    }

    #[test]
    fn runs_that_alternate_and_span_files_are_found_whole() {
        let dir = tempfile::tempdir().expect("a folder");
        let paths = ["a", "b", "c"].map(|name| dir.path().join(name));
        let texts = [
            [line("one", 1), line("two", 1), line("one", 2)].concat(),
            [line("one", 3), line("two", 2)].concat(),
            // In the format of other tools, and with a line that a kill has torn.
            [
                line("two", 3).replace(",\"", ", \""),
                "{\"v\":1,\"ru".into(),
            ]
            .concat(),
        ];
        for (path, text) in paths.iter().zip(&texts) {
            fs::write(path, text).expect("writable");
        }

        let mut index = JournalIndex::from_paths(paths.clone()).expect("readable");
        // A journal that a new run rotates can still be read.
        fs::rename(&paths[1], dir.path().join("aside")).expect("writable");

        assert_eq!(index.runs(), [RunId::new("one"), RunId::new("two")]);
        assert_eq!(epochs(&mut index, "one"), [1, 2, 3]);
        assert_eq!(epochs(&mut index, "two"), [1, 2, 3]);
        assert!(epochs(&mut index, "three").is_empty());
        let all: Result<Vec<_>, _> = index.all_entries().collect();
        let entries = all.expect("readable").into_iter();
        let runs: Vec<_> = entries.map(|entry| entry.run.to_string()).collect();
        assert_eq!(runs, ["one", "two", "one", "one", "two", "two"]);
    }

    #[test]
    fn a_line_that_cannot_be_understood_is_an_error_for_its_run_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("journal.jsonl");
        let broken = "{\"v\":1,\"run\":\"one\",\"at\":7}\n";
        fs::write(&path, [&line("two", 1), broken, &line("two", 2)].concat()).expect("writable");

        let mut index = JournalIndex::read(&path).expect("readable");

        assert_eq!(epochs(&mut index, "two"), [1, 2]);
        let one: Vec<_> = index.entries(&RunId::new("one")).collect();
        let error = one[0].as_ref().expect_err("it is broken");
        assert!(matches!(error, JournalReadError::Corrupt { number: 2, .. }));
        fs::write(&path, "not ours\n").expect("writable");
        assert!(JournalIndex::read(&path).is_err());
    }
}
