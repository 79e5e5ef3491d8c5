//! Folders and files that may not be read or written, and a full disk: a clear error, and no file changed.
#![cfg(all(feature = "project", target_os = "linux"))]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use autonoe_core::{
    Deliverable, DeliverableId, DeliverableRepository, Durability, Epoch,
    FileDeliverableRepository, FileJournal, Journal, JournalLine, LedgerBook, Mode, Project, RunId,
    RunJournal, RunLimits, RunLock, SystemClock,
};
use jiff::Timestamp;

/// The environment variables that turn this test program into one that tries something.
const DIR: &str = "AUTONOE_TEST_TRY_DIR";
const WHAT: &str = "AUTONOE_TEST_TRY";

/// What stands before an error in the output of a try.
const SAID: &str = "it said: ";

type Tried = Result<(), Box<dyn Error>>;

/// Runs in a process of its own, as an ordinary user: tries something and tells the error.
#[test]
fn tries_what_it_is_told_to() {
    let (Some(dir), Ok(what)) = (std::env::var_os(DIR), std::env::var(WHAT)) else {
        return;
    };
    match attempt(dir.as_ref(), &what) {
        Ok(()) => println!("\n{SAID}nothing"),
        Err(error) => println!("\n{SAID}{}", chain(error.as_ref())),
    }
}

fn attempt(dir: &Path, what: &str) -> Tried {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let project = Project::find(dir, None)?;
    match what {
        "find" => {}
        "specification" => drop(project.specification()?),
        "lock" => drop(RunLock::acquire(&project, Timestamp::now())?),
        "journal" => drop(FileJournal::open(&project)?),
        "append" => append(&FileJournal::open(&project)?)?,
        "load" => {
            let repository = FileDeliverableRepository::open(&project)?;
            runtime.block_on(repository.load())?;
        }
        "save" => {
            let repository = FileDeliverableRepository::at(project.status_path());
            let book = LedgerBook::new(Arc::new(repository), Arc::new(SystemClock), Epoch(1));
            runtime.block_on(create(&book, "DL-NEW"))?;
        }
        other => panic!("nobody knows how to {other}"),
    }
    Ok(())
}

async fn create(book: &LedgerBook, id: &str) -> Tried {
    let id = DeliverableId::new(id)?;
    let criteria = ["it works, and all of it"];
    book.update(|state, today| {
        let item = Deliverable::new(id.clone(), "a thing that is wanted", criteria)?;
        state.ledger.create([item], today)
    })
    .await?;
    Ok(())
}

fn append(journal: &FileJournal) -> Tried {
    let line = JournalLine::RunStarted {
        limits: RunLimits::new(Mode::Run),
        epoch: Epoch(1),
    };
    let run = RunId::new("run");
    journal.append(&run, Timestamp::UNIX_EPOCH, &line, Durability::Synced)?;
    Ok(())
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// How large a file may become.
#[derive(Clone, Copy)]
enum Disk {
    Free,
    /// No file grows beyond 1024 bytes, as if the disk were full.
    Full,
}

/// A project that everybody may use, until a test says otherwise.
struct Hostile {
    folder: tempfile::TempDir,
    project: Project,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Hostile {
    /// Makes a project with a ledger of `deliverables` and a journal of `lines`.
    fn new(deliverables: usize, lines: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("project");
        fs::create_dir(&root).expect("writable");
        fs::write(root.join("SPEC.md"), "# Shop").expect("writable");
        let project = Project::find(&root, None).expect("it is there");
        let repository = FileDeliverableRepository::open(&project).expect("writable");
        let book = LedgerBook::new(Arc::new(repository), Arc::new(SystemClock), Epoch(1));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        for number in 0..deliverables {
            let id = format!("DL-{number:03}");
            let created = runtime.block_on(create(&book, &id));
            created.expect("writable");
        }
        let journal = FileJournal::open(&project).expect("writable");
        (0..lines).for_each(|_| append(&journal).expect("writable"));
        let files = contents(&root);
        let it = Self {
            folder,
            project,
            files,
        };
        it.open_up();
        it
    }

    /// Lets everybody do everything.
    fn open_up(&self) {
        allow(self.folder.path(), 0o755);
        allow(self.project.root(), 0o777);
        allow(&self.project.state_dir(), 0o777);
        for file in self.files.keys() {
            allow(file, 0o666);
        }
    }

    /// Tries `what` as an ordinary user and returns the error, with `PROJECT` for the folder.
    fn says(&self, what: &str, disk: Disk) -> String {
        // The folder of this program may be closed to other users.
        let program = self.folder.path().join("try");
        let own = std::env::current_exe().expect("this program");
        if !program.exists() {
            fs::hard_link(&own, &program)
                .or_else(|_| fs::copy(&own, &program).map(drop))
                .expect("it can be copied");
        }
        let mut words: Vec<&str> = Vec::new();
        if is_root() {
            words.extend(["setpriv", "--reuid", "65534", "--regid", "65534"]);
            words.extend(["--clear-groups", "--"]);
        }
        if let Disk::Full = disk {
            let limit = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
            words.extend(["bash", "-c", limit]);
        }
        words.push(program.to_str().expect("text"));
        words.extend(["tries_what_it_is_told_to", "--exact", "--nocapture"]);
        let output = Command::new(words[0])
            .args(&words[1..])
            .current_dir("/")
            .env(DIR, self.project.root())
            .env(WHAT, what)
            .output()
            .unwrap_or_else(|error| panic!("{} is needed for this test: {error}", words[0]));
        let text = String::from_utf8_lossy(&output.stdout);
        let said = text.lines().find_map(|line| line.strip_prefix(SAID));
        let root = self.project.root().to_str().expect("text");
        said.unwrap_or_else(|| panic!("{what} told nothing: {output:?}"))
            .replace(root, "PROJECT")
    }

    /// Fails if a file has changed, come or gone.
    fn assert_unchanged(&self) {
        self.open_up();
        let now = contents(self.project.root());
        assert!(
            now == self.files,
            "changed: {:?}, was {:?}",
            now.keys(),
            self.files.keys()
        );
    }
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

/// Returns all files in `folder` and what they hold.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).expect("readable");
            files.insert(path, bytes);
        }
    }
    files
}

/// Root may do everything, so that nothing would be refused.
fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id is there");
    output.stdout == b"0\n"
}

#[test]
fn a_project_folder_that_cannot_be_read_is_named() {
    let hostile = Hostile::new(3, 1);
    allow(hostile.project.root(), 0o000);

    let said = hostile.says("find", Disk::Free);

    insta::assert_snapshot!(said, @r#""PROJECT" cannot be read; check its owner and permissions: Permission denied (os error 13)"#);
    hostile.assert_unchanged();
}

#[test]
fn a_specification_that_cannot_be_read_is_named() {
    let hostile = Hostile::new(3, 1);
    allow(&hostile.project.root().join("SPEC.md"), 0o000);

    let said = hostile.says("specification", Disk::Free);

    insta::assert_snapshot!(said, @r#""PROJECT/SPEC.md" cannot be read; check its owner and permissions: Permission denied (os error 13)"#);
    hostile.assert_unchanged();
}

#[test]
fn a_state_folder_that_cannot_be_made_is_named() {
    let hostile = Hostile::new(3, 1);
    fs::remove_dir_all(hostile.project.state_dir()).expect("ours");
    let before = contents(hostile.project.root());
    allow(hostile.project.root(), 0o555);

    let said = hostile.says("lock", Disk::Free);

    insta::assert_snapshot!(said, @r#""PROJECT/.autonoe" cannot be written to; check its owner and permissions, and the space left: Permission denied (os error 13)"#);
    assert_eq!(contents(hostile.project.root()), before);
    assert!(!hostile.project.state_dir().exists());
}

#[test]
fn a_state_folder_that_is_read_only_is_named_by_all_who_write_there() {
    let hostile = Hostile::new(3, 1);
    allow(&hostile.project.state_dir(), 0o555);
    for file in hostile.files.keys() {
        allow(file, 0o444);
    }

    let said = ["lock", "journal", "load", "save"]
        .map(|what| format!("{what}: {}", hostile.says(what, Disk::Free)))
        .join("\n");

    insta::assert_snapshot!(said, @r#"
    lock: "PROJECT/.autonoe" cannot be written to; check its owner and permissions, and the space left: Permission denied (os error 13)
    journal: "PROJECT/.autonoe" cannot be written to; check its owner and permissions, and the space left: Permission denied (os error 13)
    load: "PROJECT/.autonoe" cannot be written to; check its owner and permissions, and the space left: Permission denied (os error 13)
    save: PROJECT/.autonoe/status.json cannot be read or written: Permission denied (os error 13)
    "#);
    hostile.assert_unchanged();
}

#[test]
fn a_state_folder_with_writable_files_in_which_none_can_be_made_is_named() {
    let hostile = Hostile::new(3, 1);
    allow(&hostile.project.state_dir(), 0o555);

    let said = ["lock", "save"]
        .map(|what| format!("{what}: {}", hostile.says(what, Disk::Free)))
        .join("\n");

    insta::assert_snapshot!(said, @r#"
    lock: "PROJECT/.autonoe/run.lock" cannot be written to; check its owner and permissions, and the space left: Permission denied (os error 13)
    save: PROJECT/.autonoe/status.json cannot be read or written: Permission denied (os error 13)
    "#);
    hostile.assert_unchanged();
}

#[test]
fn a_status_file_that_cannot_be_read_is_named_and_not_replaced() {
    let hostile = Hostile::new(3, 1);
    allow(&hostile.project.status_path(), 0o000);

    let said = ["load", "save"]
        .map(|what| format!("{what}: {}", hostile.says(what, Disk::Free)))
        .join("\n");

    insta::assert_snapshot!(said, @r"
    load: PROJECT/.autonoe/status.json cannot be read or written: Permission denied (os error 13)
    save: PROJECT/.autonoe/status.json cannot be read or written: Permission denied (os error 13)
    ");
    hostile.assert_unchanged();
}

#[test]
fn a_ledger_that_does_not_fit_on_the_disk_stays_as_it_was() {
    let hostile = Hostile::new(20, 1);

    let said = hostile.says("save", Disk::Full);

    insta::assert_snapshot!(said, @"PROJECT/.autonoe/status.json cannot be read or written: File too large (os error 27)");
    hostile.assert_unchanged();
}

#[test]
fn a_journal_on_a_full_disk_stays_as_it_was() {
    let hostile = Hostile::new(3, 10);

    let said = hostile.says("append", Disk::Full);

    insta::assert_snapshot!(said, @r#"the journal cannot be written: "PROJECT/.autonoe/journal.jsonl": File too large (os error 27)"#);
    hostile.assert_unchanged();
}

#[test]
fn a_journal_line_that_fits_only_in_part_leaves_nothing_behind() {
    let hostile = Hostile::new(3, 3);
    let path = hostile.project.journal_path();
    let before = fs::read(&path).expect("readable");

    let said = hostile.says("append", Disk::Full);

    assert!(said.contains("File too large"), "{said}");
    // The next line would be glued to a part that was left.
    assert_eq!(fs::read(&path).expect("readable"), before);
    Journal::read(&path).expect("whole");
}
