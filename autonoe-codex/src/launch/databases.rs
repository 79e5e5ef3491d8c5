//! The databases that a program has open, and whether somebody else wrote to them.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::hash::BuildHasher;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::furnishing::{changed, plain_file};

/// What the program makes beside its databases, which says nothing.
const LOCK: &str = ".sqlite-maintenance.lock";

/// A frame of a write-ahead log begins with so many bytes, and the log itself with so many.
const FRAME_HEAD: usize = 24;
const LOG_HEAD: usize = 32;

/// Which databases the program changes between conversations that are not kept, and that are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changing {
    /// Its log only.
    Log,
    /// Its log, and what it notes of conversations that are kept.
    LogAndConversations,
}

/// What was in the databases of a program before any tool ran.
///
/// They cannot be brought back while the program has them open, so nothing may have changed. The
/// program itself moves pages from the write-ahead log to the database now and then. So it is not
/// the bytes of files that count, but the pages: each must have been there at first.
#[derive(Debug)]
pub(super) struct Databases {
    pages: Pages,
    /// Files that the program had open elsewhere.
    elsewhere: BTreeSet<Inode>,
    changing: Changing,
    /// Nobody outside of this process can make two pages look the same.
    hasher: RandomState,
}

/// The pages of each database, by its name.
type Pages = BTreeMap<String, HashSet<Page>>;

/// The number of a page, and a hash of what it says.
type Page = (u32, u64);

/// What the system knows a file by, whatever it is named.
type Inode = (u64, u64);

/// A file in the folder of databases, by its name.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Database(&'a str),
    /// The write-ahead log of a database.
    Log(&'a str),
    /// The index of such a log. It decides only which of the pages are read.
    Index(&'a str),
    Lock,
    Unknown,
}

impl Databases {
    /// Looks at the databases in `folder` that the process `program` has open.
    pub(super) fn look(folder: &Path, program: u32, changing: Changing) -> io::Result<Self> {
        let hasher = RandomState::new();
        let (found, here) = read(folder, &hasher)?;
        let elsewhere = open_files(program)?.difference(&here).copied().collect();
        let is_fixed = |name: &String| !may_change(name, changing);
        let pages = found.into_iter().filter(|(name, _)| is_fixed(name));
        Ok(Self {
            pages: pages.collect(),
            elsewhere,
            changing,
            hasher,
        })
    }

    /// Looks whether nothing has come into the databases, and that they are what `program` has open.
    pub(super) fn verify(&self, folder: &Path, program: u32) -> io::Result<()> {
        let (found, here) = read(folder, &self.hasher)?;
        for name in self.pages.keys() {
            if !found.contains_key(name) {
                return Err(changed(name));
            }
        }
        for (name, pages) in &found {
            let is_known = match self.pages.get(name) {
                Some(before) => pages.is_subset(before),
                None => may_change(name, self.changing),
            };
            if !is_known {
                return Err(changed(name));
            }
        }
        // One that was moved away could be written from there.
        let mut open = open_files(program)?;
        open.retain(|file| !here.contains(file) && !self.elsewhere.contains(file));
        match open.is_empty() {
            true => Ok(()),
            false => Err(changed("what the program has open")),
        }
    }
}

/// Tells whether the program changes the database `name` by itself.
fn may_change(name: &str, changing: Changing) -> bool {
    let are_kept = changing == Changing::LogAndConversations;
    let is_of_conversations = name.starts_with("state_") || name.starts_with("thread_history_");
    name.starts_with("logs_") || (are_kept && is_of_conversations)
}

/// Reads all pages of all databases in `folder`, and which files are there.
fn read(folder: &Path, hasher: &RandomState) -> io::Result<(Pages, BTreeSet<Inode>)> {
    let (mut databases, mut logs) = (BTreeMap::new(), BTreeMap::new());
    let mut here = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file = plain_file(&entry.path())?;
        here.insert((file.dev(), file.ino()));
        let name = entry.file_name();
        match part(&name.to_string_lossy()) {
            Part::Database(name) => drop(databases.insert(name.to_owned(), entry.path())),
            Part::Log(name) => drop(logs.insert(name.to_owned(), entry.path())),
            Part::Index(_) | Part::Lock => {}
            Part::Unknown => return Err(changed("the folder of databases")),
        }
    }
    if let Some(name) = logs.keys().find(|name| !databases.contains_key(*name)) {
        return Err(changed(name));
    }
    let pages = databases.into_iter().map(|(name, path)| {
        let log = logs.get(&name).map_or_else(|| Ok(Vec::new()), fs::read)?;
        let pages = pages(&fs::read(path)?, &log, hasher).ok_or_else(|| changed(&name))?;
        Ok((name, pages))
    });
    Ok((pages.collect::<io::Result<_>>()?, here))
}

fn part(name: &str) -> Part<'_> {
    if name == LOCK {
        return Part::Lock;
    }
    let of = |end| name.strip_suffix(end).filter(|name| !name.is_empty());
    if let Some(name) = of(".sqlite") {
        Part::Database(name)
    } else if let Some(name) = of(".sqlite-wal") {
        Part::Log(name)
    } else if let Some(name) = of(".sqlite-shm") {
        Part::Index(name)
    } else {
        Part::Unknown
    }
}

/// Returns the pages in a database and in its write-ahead log, also those that do not count (any
/// more); `None` if they are neither.
fn pages(database: &[u8], log: &[u8], hasher: &RandomState) -> Option<HashSet<Page>> {
    if database.is_empty() && log.is_empty() {
        return Some(HashSet::new());
    }
    // One that is 64 KiB does not fit into the two bytes.
    let size = match u16::from_be_bytes([*database.get(16)?, *database.get(17)?]) {
        1 => 65_536,
        size if size >= 512 => usize::from(size),
        _ => return None,
    };
    let frame = FRAME_HEAD + size;
    let frames = log.get(LOG_HEAD..).unwrap_or_default();
    let is_whole = log.is_empty() || log.len() >= LOG_HEAD;
    if !is_whole || !database.len().is_multiple_of(size) || !frames.len().is_multiple_of(frame) {
        return None;
    }
    let of_database = (1..).zip(database.chunks_exact(size));
    let of_log = frames.chunks_exact(frame).filter_map(|frame| {
        let number = frame.first_chunk::<4>()?;
        Some((u32::from_be_bytes(*number), &frame[FRAME_HEAD..]))
    });
    let all = of_database.chain(of_log);
    Some(
        all.map(|(number, page)| (number, hasher.hash_one(page)))
            .collect(),
    )
}

/// Returns the files that a process has open.
fn open_files(process: u32) -> io::Result<BTreeSet<Inode>> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(format!("/proc/{process}/fd"))? {
        match fs::metadata(entry?.path()) {
            Ok(file) if file.is_file() => drop(files.insert((file.dev(), file.ino()))),
            Ok(_) => {}
            // It was closed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::PathBuf;

    use super::*;

    const SIZE: usize = 512;

    /// A database of pages that say one byte each, without anything that SQLite would want.
    fn database(pages: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = pages.iter().flat_map(|page| vec![*page; SIZE]).collect();
        bytes[16..18].copy_from_slice(&512_u16.to_be_bytes());
        bytes
    }

    fn log(frames: &[(u32, u8)]) -> Vec<u8> {
        let mut bytes = vec![0; LOG_HEAD];
        for (number, page) in frames {
            bytes.extend(number.to_be_bytes());
            bytes.extend([0; FRAME_HEAD - 4]);
            bytes.extend(vec![*page; SIZE]);
        }
        bytes
    }

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            let folder = Self(tempfile::tempdir().expect("a folder"));
            folder.write("queue_1.sqlite", &database(&[1, 2]));
            folder.write("queue_1.sqlite-wal", &log(&[(2, 3), (3, 4)]));
            folder.write("queue_1.sqlite-shm", b"index");
            folder.write("logs_2.sqlite", &database(&[1]));
            folder
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, bytes: &[u8]) {
            fs::write(self.path(name), bytes).expect("writable");
        }

        fn remove(&self, name: &str) {
            fs::remove_file(self.path(name)).expect("it is there");
        }

        fn look(&self) -> Databases {
            let databases = Databases::look(self.0.path(), std::process::id(), Changing::Log);
            databases.expect("it can be read")
        }

        fn is_same(&self, databases: &Databases) -> bool {
            databases.verify(self.0.path(), std::process::id()).is_ok()
        }
    }

    #[test]
    fn pages_may_move_from_the_log_to_the_database_and_the_log_of_the_program_may_grow() {
        let folder = Folder::new();
        let databases = folder.look();
        assert!(folder.is_same(&databases));

        folder.write("queue_1.sqlite", &database(&[1, 3, 4]));
        folder.remove("queue_1.sqlite-wal");
        folder.remove("queue_1.sqlite-shm");
        folder.write("logs_2.sqlite", &database(&[7, 8, 9]));
        folder.write("logs_2.sqlite-wal", &log(&[(1, 1)]));
        folder.write(LOCK, b"");
        assert!(folder.is_same(&databases));
    }

    #[test]
    fn whatever_else_comes_or_goes_is_seen() {
        type Change = fn(&Folder);
        let changes: [(&str, Change); 8] = [
            ("page", |it| it.write("queue_1.sqlite", &database(&[1, 9]))),
            ("number", |it| {
                it.write("queue_1.sqlite-wal", &log(&[(1, 3)]));
            }),
            ("frame", |it| {
                it.write("queue_1.sqlite-wal", &log(&[(2, 3), (3, 9)]));
            }),
            ("rest", |it| it.write("queue_1.sqlite-wal", b"evil")),
            ("gone", |it| it.remove("queue_1.sqlite")),
            ("new", |it| it.write("state_9.sqlite", &database(&[1]))),
            ("other", |it| it.write("anything", b"")),
            ("link", |it| {
                let file = it.path("queue_1.sqlite");
                fs::hard_link(file, it.0.path().with_extension("linked")).expect("writable");
            }),
        ];
        for (name, change) in changes {
            let folder = Folder::new();
            let databases = folder.look();

            change(&folder);

            assert!(!folder.is_same(&databases), "{name}");
            let _ = fs::remove_file(folder.0.path().with_extension("linked"));
        }
    }

    #[test]
    fn a_database_that_is_open_and_was_moved_away_is_seen() {
        let (folder, elsewhere) = (Folder::new(), tempfile::tempdir().expect("a folder"));
        let path = folder.path("queue_1.sqlite-wal");
        let open = File::open(&path).expect("it is there");
        let databases = folder.look();

        let away = elsewhere.path().join("away");
        fs::rename(&path, &away).expect("writable");
        fs::copy(&away, &path).expect("writable");

        assert!(!folder.is_same(&databases));
        drop(open);
    }
}
