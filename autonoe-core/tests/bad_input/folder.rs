//! [`Folder`], a project to be damaged.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use autonoe_core::project::OpenProject;
use autonoe_core::time::SeededIds;
use autonoe_core::{ExitReason, Project, ProjectRun, RunControl};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use serde_json::json;

/// A project with all its files, in a folder that is deleted at the end of the test.
pub(crate) struct Folder {
    outer: tempfile::TempDir,
    project_dir: PathBuf,
}

impl Folder {
    /// Creates a project as a run leaves it that created some deliverables and passed them.
    pub(crate) fn new(deliverables: usize) -> Self {
        let outer = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(outer.path()).expect("it is there");
        let project_dir = root.join("project");
        fs::create_dir_all(project_dir.join(".autonoe")).expect("writable");
        fs::write(root.join("foreign"), "somebody's data\n").expect("writable");
        for (name, bytes) in files(deliverables).iter() {
            fs::write(project_dir.join(name), bytes).expect("writable");
        }
        let folder = Self { outer, project_dir };
        folder.open_up();
        folder
    }

    /// Returns the folder around the project.
    pub(crate) fn outer(&self) -> &Path {
        self.outer.path()
    }

    pub(crate) fn project_dir(&self) -> &Path {
        &self.project_dir
    }

    /// Returns the path of a file or folder of the project.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project_dir.join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("writable");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("readable")
    }

    /// Creates a file of `length` zeros, which takes no space on the disk.
    pub(crate) fn make_huge(&self, name: &str, length: u64) {
        let file = fs::File::create(self.path(name)).expect("writable");
        file.set_len(length).expect("it takes no room");
    }

    /// Removes the file or folder `name`.
    pub(crate) fn remove(&self, name: &str) {
        let path = self.path(name);
        if path.is_dir() {
            fs::remove_dir_all(path).expect("ours");
        } else if path.exists() {
            fs::remove_file(path).expect("ours");
        }
    }

    pub(crate) fn put_folder(&self, name: &str) {
        self.remove(name);
        fs::create_dir(self.path(name)).expect("writable");
    }

    /// Creates a symlink to `target`, which is relative to the folder of the symlink.
    pub(crate) fn put_symlink(&self, name: &str, target: &str) {
        self.remove(name);
        symlink(target, self.path(name)).expect("writable");
    }

    /// Creates a pipe: opening it blocks until another process opens the other end.
    pub(crate) fn put_pipe(&self, name: &str) {
        self.remove(name);
        let status = Command::new("mkfifo").arg(self.path(name)).status();
        assert!(status.expect("mkfifo is there").success());
    }

    /// Creates a socket without a listener.
    pub(crate) fn put_socket(&self, name: &str) {
        self.remove(name);
        UnixListener::bind(self.path(name)).expect("writable");
    }

    /// Sets the permissions of the file or folder `name`; an empty name is the project itself.
    pub(crate) fn allow(&self, name: &str, mode: u32) {
        allow(&self.path(name), mode);
    }

    /// Grants everybody all permissions.
    pub(crate) fn open_up(&self) {
        allow(self.outer(), 0o755);
        open_up(self.outer());
    }
}

/// The files of a project by name.
type Files = Arc<BTreeMap<String, Vec<u8>>>;

/// Returns the files that a run leaves. The run is executed once per number of deliverables.
fn files(deliverables: usize) -> Files {
    static DONE: Mutex<BTreeMap<usize, Files>> = Mutex::new(BTreeMap::new());
    let mut done = DONE.lock().expect("no panic");
    done.entry(deliverables)
        .or_insert_with(|| Arc::new(left_by_run(deliverables)))
        .clone()
}

fn left_by_run(deliverables: usize) -> BTreeMap<String, Vec<u8>> {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("SPEC.md"), "# Shop").expect("writable");
    runtime().block_on(run(dir.path(), deliverables));
    fs::write(dir.path().join(".autonoe/agent.json"), "{}\n").expect("writable");
    let own = fs::read_dir(dir.path().join(".autonoe")).expect("readable");
    let own = own.map(|entry| {
        let name = entry.expect("readable").file_name();
        format!(".autonoe/{}", name.to_str().expect("text"))
    });
    own.chain(["SPEC.md".to_owned()])
        .map(|name| {
            let bytes = fs::read(dir.path().join(&name)).expect("readable");
            (name, bytes)
        })
        .collect()
}

async fn run(project_dir: &Path, deliverables: usize) {
    let ids: Vec<String> = (0..deliverables).map(|n| format!("DL-{n:03}")).collect();
    let plan: Vec<_> = ids
        .iter()
        .map(|id| json!({"id": id, "description": "a thing", "acceptanceCriteria": ["it works"]}))
        .collect();
    let plans = SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", json!({ "deliverables": plan }))
        .ends();
    let passes = ids.iter().fold(SessionScript::new("passes"), |script, id| {
        let passed = json!({"deliverableId": id, "status": "passed"});
        script.uses_tool("mcp__autonoe__set_status", passed)
    });
    let project = Project::find(project_dir, None).expect("it is there");
    let agents = ScriptedBackend::new([plans, passes.ends()]);
    let report = ProjectRun::new(
        OpenProject::options(&project).clock(Arc::new(VirtualClock::new())),
        Arc::new(agents),
    )
    .configure(|runner| runner.ids(Arc::new(SeededIds::new(1))))
    .run(&RunControl::new())
    .await
    .expect("it starts");
    assert_eq!(report.exit, ExitReason::AllPassed);
}

/// Returns a runtime in which waiting takes no time.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

fn open_up(folder: &Path) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            allow(&path, 0o777);
            open_up(&path);
        } else {
            allow(&path, 0o666);
        }
    }
}
