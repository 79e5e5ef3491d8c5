//! Support for tests of backends that drive a real program: timeouts, folders, git, hosts to kill,
//! and observed runs.
//!
//! ```
//! use autonoe_testkit::program::files_in;
//!
//! let project = tempfile::tempdir()?;
//! std::fs::write(project.path().join("hello.txt"), "hello")?;
//!
//! assert_eq!(files_in(project.path()), ["hello.txt"]);
//! # Ok::<(), std::io::Error>(())
//! ```

// Only for the pages of Autonoe itself.
#[doc(hidden)]
pub mod chromium;
mod watched_run;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::tool::{Attachment, ToolDefinition, ToolErrorCode};
use autonoe_core::{
    AgentClient, AgentError, StreamEvent, Tool, ToolContext, ToolError, ToolOutput,
};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

pub use watched_run::{WatchedRun, status_on_disk};

/// The time limit of any step on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(600);

/// Waits until `is_so` returns true.
///
/// # Panics
///
/// If it takes longer than `PATIENCE`.
pub async fn eventually(expected: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < TIMEOUT, "waited in vain for {expected}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for `future`.
///
/// # Panics
///
/// If it takes longer than `PATIENCE`.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = timeout(TIMEOUT, future).await;
    answer.expect("it does not take as long as that")
}

/// Sends one prompt, and returns all events of the response and the error that ended it.
///
/// # Panics
///
/// If the next event takes too long.
pub async fn collect_events(
    client: &mut dyn AgentClient,
    prompt: &str,
) -> (Vec<StreamEvent>, Option<AgentError>) {
    let (mut events, mut error) = (Vec::new(), None);
    let mut stream = client.query(prompt.into());
    while let Some(item) = timeout(TIMEOUT, stream.next()).await.expect("it goes on") {
        match item {
            Ok(event) => events.push(event),
            Err(failed) => error = Some(failed),
        }
    }
    (events, error)
}

/// A test in a child process that acts as the host of a session; it is killed on drop at the
/// latest.
///
/// The test finds its role in its environment variables.
#[derive(Debug)]
pub struct HostProcess(Child);

impl HostProcess {
    /// Starts the test `name` of this program, with `variables`. Its output is written to `log`.
    ///
    /// # Panics
    ///
    /// If the process cannot be started.
    pub fn start<'v>(
        name: &str,
        variables: impl IntoIterator<Item = (&'v str, &'v OsStr)>,
        log: &Path,
    ) -> Self {
        let log = File::create(log).expect("writable");
        let child = Command::new(std::env::current_exe().expect("this program"))
            .arg(name)
            .args(["--exact", "--nocapture"])
            .envs(variables)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("open"))
            .stderr(log)
            .spawn();
        Self(child.expect("it starts"))
    }

    /// Returns whether the process has ended.
    ///
    /// # Panics
    ///
    /// If the system does not report its status.
    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("ours").is_some()
    }

    /// Kills the process.
    ///
    /// # Panics
    ///
    /// If the process cannot be killed.
    pub fn kill(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A PNG image of one pixel.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\
    \x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdacd\xf8\xcfP\x0f\x00\x03\x86\x01\x80Z4}k\x00\x00\x00\x00IEND\xaeB`\x82";

/// The tool `photo`: returns a picture, and records the context of each call.
///
/// With `{"fails": true}` it fails with the code `FILM_FULL` and returns the picture too.
/// With `{"needs_model": true}` it requests a model.
#[derive(Debug)]
pub struct PhotoTool {
    definition: ToolDefinition,
    contexts: Mutex<Vec<ToolContext>>,
}

impl PhotoTool {
    /// The picture in base64.
    pub const BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    /// Creates the tool.
    pub fn new() -> Arc<Self> {
        let schema = json!({"type": "object", "properties": {
            "fails": {"type": "boolean"}, "needs_model": {"type": "boolean"},
        }});
        Arc::new(Self {
            definition: ToolDefinition::new("photo", "Takes a photo.", schema).read_only(),
            contexts: Mutex::default(),
        })
    }

    /// Returns the contexts of the calls so far.
    pub fn contexts(&self) -> Vec<ToolContext> {
        let contexts = self.contexts.lock();
        contexts.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Tool for PhotoTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let contexts = self.contexts.lock();
        let mut contexts = contexts.unwrap_or_else(PoisonError::into_inner);
        contexts.push(context.clone());
        if input["needs_model"] == true {
            let code = ToolErrorCode::LLM_ASSIST_REQUIRED.as_str();
            let request = json!({
                "action": code, "prompt": "Describe the photo.", "message": "it is dark",
            });
            return Ok(ToolOutput::json(&request).with_metadata(ToolOutput::ERROR, code));
        }
        let picture = Attachment {
            media_type: "image/png".to_owned(),
            name: Some("photo.png".to_owned()),
            data: PICTURE.into(),
        };
        let output = if input["fails"] == true {
            ToolOutput::new("the film is full after this photo")
                .with_title("Took the last photo")
                .with_metadata(ToolOutput::ERROR, "FILM_FULL")
        } else {
            ToolOutput::new("the photo is attached").with_title("Took a photo")
        };
        Ok(output.with_attachment(picture))
    }
}

/// Returns the names in `folder`, in order.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the names of the sessions that have their own folder or temporary files in `temporary`,
/// in order. The parent of their folders is not included.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn sessions_in(temporary: &Path) -> Vec<String> {
    let (parents, mut names): (Vec<_>, Vec<_>) = names_in(temporary)
        .into_iter()
        .partition(|name| ProjectPaths::is_session_parent(name));
    for parent in parents {
        names.extend(names_in(&temporary.join(parent).join(".autonoe")));
    }
    names.sort();
    names.dedup();
    names
}

/// Returns the ids and names of the running processes whose working directory is `folder`. Only on
/// Linux; on other systems it returns none.
pub fn processes_in(folder: &Path) -> Vec<(u32, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let process = |pid: u32| {
        let directory = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        (directory == folder).then(|| (pid, name.trim_end().to_owned()))
    };
    pids.filter_map(process).collect()
}

/// Returns the files of a project, in order, without those of Autonoe.
///
/// Folders are not included: the sandbox of a program may leave an empty one.
///
/// # Panics
///
/// If the project cannot be read.
pub fn files_in(project: &Path) -> Vec<String> {
    let (state_dir, mut files) = (project.join(".autonoe"), Vec::new());
    let mut folders = vec![project.to_owned()];
    while let Some(folder) = folders.pop() {
        for name in names_in(&folder) {
            match folder.join(name) {
                path if path == state_dir => {}
                path if path.is_dir() => folders.push(path),
                path => files.extend(path.strip_prefix(project).map(Path::to_owned)),
            }
        }
    }
    let mut names: Vec<_> = files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    names.sort();
    names
}

/// Runs git in `folder`, as the user Ada and without the settings of this machine, and returns its
/// output.
///
/// # Panics
///
/// If git cannot be run, or fails.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git");
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
