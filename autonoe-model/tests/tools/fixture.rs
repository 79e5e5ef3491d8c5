//! Test fixture: a workspace with a neighbour, and its tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_core::time::SessionKey;
use autonoe_core::tool::{ToolErrorCode, Toolbox};
use autonoe_core::{RunId, Tool, ToolContext, ToolError, ToolOutput};
use autonoe_model::{BuiltInOptions, built_in_tools};
use serde_json::Value;
use tempfile::TempDir;

/// Far longer than anything takes here.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A workspace, and a neighbour that must stay inaccessible.
pub(crate) struct Fixture {
    folder: TempDir,
    run: String,
    toolbox: Toolbox,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// The folder is not in `/tmp`, because a sandbox has its own.
    pub(crate) fn with(change: impl FnOnce(&mut BuiltInOptions)) -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        for name in ["project/src", "neighbour"] {
            fs::create_dir_all(folder.path().join(name)).expect("writable");
        }
        fs::write(folder.path().join("neighbour/key"), "secret\n").expect("writable");
        let mut options = BuiltInOptions::default();
        change(&mut options);
        let tools = built_in_tools(&folder.path().join("project"), &options)
            .expect("these tests need bubblewrap");
        let name = folder.path().file_name().expect("it has one");
        Self {
            run: format!("run{}", name.to_string_lossy()),
            folder,
            toolbox: Toolbox::new(tools),
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn neighbour(&self) -> PathBuf {
        self.folder.path().join("neighbour")
    }

    /// Writes a file, and creates its directories.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("in the project")).expect("writable");
        fs::write(&path, content).expect("writable");
        path
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).expect("readable")
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.root().join(name)).expect("writable");
    }

    pub(crate) fn context(&self) -> ToolContext {
        ToolContext::new(SessionKey {
            run: RunId::new(&self.run),
            number: 1,
        })
    }

    /// Calls a tool, and fails after the time limit.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Result<ToolOutput, ToolError> {
        let call = self.toolbox.call(tool, input, self.context());
        tokio::time::timeout(DEADLINE, call)
            .await
            .expect("it does not take as long as that")
    }

    /// Calls a tool that succeeds, and returns its text output.
    pub(crate) async fn ok(&self, tool: &str, input: Value) -> String {
        let output = self.call(tool, input).await;
        output.expect("it succeeds").output
    }

    /// Calls a tool that fails, and returns the error code.
    pub(crate) async fn refused(&self, tool: &str, input: Value) -> ToolErrorCode {
        let refused = self.call(tool, input).await;
        refused.expect_err("it is refused").code
    }

    pub(crate) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// Returns a command that goes into the background twice, in its own session and with its own
    /// environment. Its processes are identified by their names.
    pub(crate) fn daemon(&self) -> String {
        let run = &self.run;
        let sleep = format!("(exec -a daemon-of-{run} sleep 600)");
        format!("(env -i setsid bash -c 'trap \"\" HUP INT TERM; {sleep} & {sleep}' &)")
    }

    /// Finds the running processes of commands, including those that are in a sandbox or have
    /// cleared their environment.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let entries = fs::read_dir("/proc").expect("Linux").flatten();
        let marks = [
            format!("AUTONOE_TOOL_CALL={}-", self.run),
            format!("daemon-of-{}", self.run),
        ];
        let has_mark = |path: PathBuf| {
            ["environ", "cmdline"].iter().any(|file| {
                let bytes = fs::read(path.join(file)).unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes);
                marks.iter().any(|mark| text.contains(mark))
            })
        };
        let found = entries.filter(|entry| has_mark(entry.path()));
        let names = found.map(|entry| entry.file_name());
        names
            .filter_map(|name| name.to_str()?.parse().ok())
            .collect()
    }

    /// Counts the running processes of commands.
    pub(crate) fn processes(&self) -> usize {
        self.pids().len()
    }

    pub(crate) fn eventually_nothing_is_left(&self) {
        eventually("the end of the last process", || self.processes() == 0);
    }
}

/// Waits until `is_so`, and fails after the time limit.
pub(crate) fn eventually(condition: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "waited in vain for {condition}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the tool `name` in the workspace `root`.
pub(crate) fn tool(root: &Path, options: &BuiltInOptions, name: &str) -> Arc<dyn Tool> {
    let mut tools = built_in_tools(root, options)
        .expect("these tests need bubblewrap")
        .into_iter();
    let found = tools.find(|tool| tool.definition().name == name);
    found.expect("it is among them")
}
