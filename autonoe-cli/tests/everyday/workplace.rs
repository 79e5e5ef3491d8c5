//! `Workplace`, a user's machine: a project, a home, the programs on the path, and the command.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use autonoe_process::Marker;
use autonoe_testkit::program::{TIMEOUT, names_in};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::backends::backend::Backend;
use crate::backends::model_server::{Server, patient_codex_script};
use crate::backends::programs;
use crate::backends::run_script::RunScript;
use crate::runs::support::autonoe::CommandOutput;

/// A variable that every process of a run inherits.
const MARKER: &str = "AUTONOE_TEST_WORKPLACE";

/// Git identity of the user, as in most homes.
const GIT_CONFIG: &str = "[user]\n\tname = Ada\n\temail = ada@example.org\n";

/// Subject of the commit that a repository has before a run.
const FIRST_COMMIT: &str = "Start the project";

/// Credentials in the environment of the user. No other text contains these values.
pub(crate) const MODEL_KEY: &str = "hush-model-key";
pub(crate) const GITHUB_TOKEN: &str = "hush-github-token";
pub(crate) const NPM_TOKEN: &str = "hush-npm-token";

/// Replaces the packages that `npx` would fetch: `custom-mcp-server` is a server with one tool, and
/// everything else, such as the built-in browser, is a server without tools.
const NPX: &str = r"#!/usr/bin/env node
const schema = { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] };
const remember = { name: 'remember', description: 'Remembers a note', inputSchema: schema };
const tools = process.argv[2] === 'custom-mcp-server' ? [remember] : [];
const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'npx', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: { note } }) => ({
    content: [{ type: 'text', text: `${name}: ${note}` }],
  }),
};
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = handlers[method]?.(params ?? {}) ?? {};
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
}).on('close', () => process.exit(0));
";

/// A project with a specification and without the built-in browser, with the configuration that
/// users start with.
pub(crate) struct Workplace {
    _folders: TempDir,
    folder: PathBuf,
    project: PathBuf,
    backend: Backend,
}

impl Workplace {
    /// Creates a workplace whose project has this name.
    ///
    /// It is not in `/tmp`, which is another directory in a sandbox.
    pub(crate) fn new(backend: Backend, project: &str) -> Self {
        let folders = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let folder = folders.path().canonicalize().expect("it exists");
        let project = folder.join(project);
        for path in [&folder.join("home"), &folder.join("bin"), &project] {
            fs::create_dir(path).expect("writable");
        }
        let workplace = Self {
            _folders: folders,
            folder,
            project,
            backend,
        };
        fs::write(workplace.home().join(".gitconfig"), GIT_CONFIG).expect("writable");
        workplace.install_programs();
        workplace.write("SPEC.md", "# A greeting\n\nThere is a greeting.\n");
        workplace.configure(&json!({}));
        workplace
    }

    /// Puts the agent and the language tools on the path. On the test machine they may be behind
    /// shims that need another home.
    fn install_programs(&self) {
        let link = |name: &str, target: &Path| {
            symlink(target, self.folder.join("bin").join(name)).expect("writable");
        };
        match self.backend {
            Backend::Claude(version) => link("claude", &programs::claude(version)),
            Backend::Codex => link("codex", &programs::codex()),
            Backend::Gemini => link("gemini", &programs::gemini()),
            Backend::Model(_) | Backend::Scripted => {}
        }
        link("node", &programs::node());
        link("python3", &python());
        // Projects with their own MCP servers have the built-in browser too, which `npx` fetches
        // from the network.
        let npx = self.folder.join("bin/npx");
        fs::write(&npx, NPX).expect("writable");
        fs::set_permissions(&npx, fs::Permissions::from_mode(0o755)).expect("ours");
    }

    /// Makes the project a repository and commits everything in it.
    pub(crate) fn start_repository(&self) {
        self.write(".gitignore", "__pycache__/\nnode_modules/\ntarget/\n");
        let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        let commit = ["commit", "--quiet", "-m", FIRST_COMMIT];
        self.git(&["init", "--quiet", "-b", "main"]);
        self.git(&["add", "-A"]);
        let committed = self.git(&[&identity[..], &commit].concat());
        assert_eq!(committed, "");
    }

    /// Returns the subjects of the commits since [`Self::start_repository`], oldest first, with their
    /// authors.
    pub(crate) fn commits(&self) -> Vec<String> {
        let log = self.git(&["log", "--reverse", "--format=%an: %s", "main"]);
        let mut commits: Vec<_> = log.lines().map(str::to_owned).collect();
        let first = format!("Ada: {FIRST_COMMIT}");
        commits.retain(|commit| *commit != first);
        commits
    }

    /// Returns the files that differ from the last commit, without Autonoe's own.
    pub(crate) fn uncommitted(&self) -> String {
        self.git(&["status", "--short", "--", ".", ":!.autonoe"])
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.project.clone()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Writes `agent.json` with these fields.
    pub(crate) fn configure(&self, fields: &Value) {
        // The built-in browser comes from the network.
        let mut config = json!({"mcpServers": {}});
        for (name, value) in fields.as_object().expect("an object") {
            config[name] = value.clone();
        }
        self.write(".autonoe/agent.json", &config.to_string());
    }

    /// Writes a ledger with pending deliverables.
    pub(crate) fn plan<'a>(&self, goals: impl IntoIterator<Item = &'a str>) {
        let deliverables = goals.into_iter().enumerate().map(|(index, goal)| {
            json!({
                "id": deliverable_id(index), "description": goal,
                "acceptanceCriteria": ["it works"],
            })
        });
        let ledger = json!({"deliverables": deliverables.collect::<Vec<_>>()});
        self.write(".autonoe/status.json", &ledger.to_string());
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("inside the project")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    /// Returns the text of a file of the project, or the error.
    pub(crate) fn read(&self, name: &str) -> String {
        let text = fs::read_to_string(self.root().join(name));
        text.unwrap_or_else(|error| format!("({error})"))
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.root().join(name).exists()
    }

    /// Returns the entries of the project, without Autonoe's own.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = names_in(&self.root());
        names.retain(|name| name != ".autonoe");
        names
    }

    /// Runs Git in the project, outside any sandbox, and returns its output or its error.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(self.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let ended = CommandOutput::run(git);
        let output = match ended.code {
            Some(0) => ended.stdout,
            _ => ended.stderr,
        };
        output.trim().to_owned()
    }

    /// Returns the IDs of deliverables that passed, and of those that did not.
    pub(crate) fn deliverables(&self) -> (Vec<String>, Vec<String>) {
        let ledger: Value =
            serde_json::from_str(&self.read(".autonoe/status.json")).unwrap_or_default();
        let deliverables = ledger["deliverables"].as_array().cloned();
        let id = |deliverable: &Value| deliverable["id"].as_str().unwrap_or_default().to_owned();
        let (passed, others): (Vec<_>, Vec<_>) = deliverables
            .unwrap_or_default()
            .into_iter()
            .partition(|deliverable| deliverable["passed"] == true);
        (
            passed.iter().map(id).collect(),
            others.iter().map(id).collect(),
        )
    }

    /// Prepares `autonoe` with these arguments, in the environment of the user.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autonoe"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", self.search_path())
            .env("HOME", self.home())
            .env("LANG", "C.UTF-8")
            .env("GITHUB_TOKEN", GITHUB_TOKEN)
            .env("NPM_TOKEN", NPM_TOKEN)
            .env(MARKER, &self.folder)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    /// Starts the scripted model of a script.
    pub(crate) fn serve(&self, run_script: &RunScript) -> Server {
        let root = self.root();
        match self.backend {
            Backend::Codex => self
                .backend
                .serve_script(patient_codex_script(run_script, &root)),
            backend => backend.serve(run_script, &root),
        }
    }

    /// Prepares `autonoe run` without pauses, with `server` as the model.
    pub(crate) fn run(&self, server: &Server, arguments: &[&str]) -> Command {
        self.command_on(server, &[&["run", "--pause=0s"], arguments].concat())
    }

    /// Prepares `autonoe ask` with `server` as the model.
    pub(crate) fn ask_command(&self, server: &Server, arguments: &[&str]) -> Command {
        self.command_on(server, &[&["ask"], arguments].concat())
    }

    /// Prepares `autonoe` with these arguments, with `server` as the model.
    pub(crate) fn command_on(&self, server: &Server, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        let url = server.base_url();
        match self.backend {
            Backend::Claude(_) => {
                command
                    .env("ANTHROPIC_BASE_URL", url)
                    .env("ANTHROPIC_API_KEY", MODEL_KEY)
                    // Nothing listens there, so no fetch leaves the machine.
                    .env("HTTPS_PROXY", "http://127.0.0.1:9")
                    .env("NO_PROXY", "127.0.0.1");
            }
            Backend::Codex => {
                command
                    .args(["--backend=codex", "--model=gpt-5.5"])
                    .env("OPENAI_BASE_URL", url)
                    .env("OPENAI_API_KEY", MODEL_KEY);
            }
            Backend::Gemini => {
                command
                    .args(["--backend=gemini", "--model=gemini-2.5-flash"])
                    .env("GOOGLE_GEMINI_BASE_URL", url)
                    .env("GEMINI_API_KEY", MODEL_KEY);
            }
            Backend::Model(_) => {
                let provider =
                    json!({"type": "anthropic", "key": {"env": "THE_KEY"}, "baseUrl": url});
                let models = json!({"providers": {"scripted": provider}});
                self.write(".autonoe/models.json", &models.to_string());
                command
                    .arg("--backend=model:scripted/claude-sonnet-4-5")
                    .env("THE_KEY", MODEL_KEY);
            }
            Backend::Scripted => unreachable!("scripted agents call no model"),
        }
        command
    }

    /// Returns the output of `autonoe log`.
    pub(crate) fn log(&self) -> String {
        let ended = CommandOutput::run(self.command(&["log"]));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout
    }

    /// Returns the entries that `autonoe log --json` prints.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let ended = CommandOutput::run(self.command(&["log", "--json"]));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let lines = ended.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("a journal entry"))
            .collect()
    }

    /// Returns the processes that run in the workplace or were started from it.
    ///
    /// A process with a cleared environment is found by its directory or its arguments.
    pub(crate) fn processes(&self) -> Vec<String> {
        let folder = self.folder.to_str().expect("UTF-8");
        let processes = fs::read_dir("/proc")
            .expect("procfs")
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let pid: u32 = name.to_str()?.parse().ok()?;
                let read = |file: &str| {
                    let text = fs::read(entry.path().join(file)).unwrap_or_default();
                    String::from_utf8_lossy(&text).replace('\0', " ")
                };
                let directory = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
                let arguments = read("cmdline");
                let is_left = pid != std::process::id()
                    && (directory.starts_with(folder)
                        || arguments.contains(folder)
                        || read("environ").contains(folder));
                is_left.then(|| format!("{pid} {arguments}"))
            });
        processes.collect()
    }

    /// Waits until no process is left.
    pub(crate) fn wait_for_processes(&self) {
        let started = Instant::now();
        while !self.processes().is_empty() {
            let processes = self.processes();
            assert!(started.elapsed() < TIMEOUT, "still running: {processes:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn search_path(&self) -> String {
        let mut folders = vec![self.folder.join("bin")];
        // Cargo runs tests with its own path in this variable; rustc is beside it.
        let cargo = std::env::var_os("CARGO").map(PathBuf::from);
        folders.extend(cargo.as_deref().and_then(Path::parent).map(Path::to_owned));
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        folders.extend(std::env::split_paths(&inherited));
        let path = std::env::join_paths(folders).expect("no colon in the names");
        path.into_string().expect("UTF-8")
    }
}

impl Drop for Workplace {
    /// Kills the processes that a failed test left running.
    fn drop(&mut self) {
        let marker = Marker::new(MARKER, self.folder.to_string_lossy()).expect("a marker");
        marker.kill_all(TIMEOUT);
    }
}

/// Returns the ID of the deliverable at this index.
pub(crate) fn deliverable_id(index: usize) -> String {
    format!("DL-{:03}", index + 1)
}

/// Returns the Python interpreter behind any shim.
fn python() -> PathBuf {
    let program = "import sys; print(sys.executable)";
    let output = Command::new("python3")
        .args(["-c", program])
        .output()
        .expect("Python 3 is installed");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}
