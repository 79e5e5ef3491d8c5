//! The section "Two workers in six commands" of the guide, executed line by line.

use std::fs;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use autonoe_temporal_support::{eventually, free_port, temporal_program};
use tempfile::TempDir;

use crate::cluster::PROGRAM;

const GUIDE: &str = include_str!("../../../../docs/guides/cluster.md");

/// The file that `cargo xtask test-temporal` installs the server from.
const REQUIREMENTS: &str = include_str!("../../../tests/server-requirements.txt");

/// Returns the first block of this language below the heading.
fn block(language: &str) -> &'static str {
    let (_, section) = GUIDE
        .split_once("## Two workers in six commands\n")
        .expect("the section");
    let (_, block) = section
        .split_once(&format!("```{language}\n"))
        .expect("the block");
    block.split_once("```").expect("its end").0
}

/// The home of a new user, with the programs on `PATH`.
struct Home {
    folder: TempDir,
    port: u16,
    background: Vec<Child>,
}

impl Home {
    fn new() -> Self {
        let home = Self {
            folder: tempfile::tempdir().expect("a folder"),
            port: free_port(),
            background: Vec::new(),
        };
        let shop = home.folder.path().join("projects/shop");
        fs::create_dir_all(&shop).expect("a folder");
        fs::write(shop.join("SPEC.md"), "# A greeting\n").expect("writable");
        let agents = home.folder.path().join("agents.json");
        fs::write(agents, block("json")).expect("writable");
        home
    }

    /// Prepares a line of the guide, with a port that is free on this machine.
    fn command(&self, line: &str) -> Command {
        let port = self.port;
        let line = if line.starts_with("temporal ") {
            format!("{line} --port {port}")
        } else {
            format!("{line} --address http://127.0.0.1:{port}")
        };
        let folder = |program: &Path| program.parent().expect("a folder").display().to_string();
        let path = [
            folder(Path::new(PROGRAM)),
            folder(&temporal_program()),
            "/usr/bin:/bin".to_owned(),
        ];
        let mut command = Command::new("setpriv");
        // `exec`, so that the signal reaches the program.
        command.args(["--pdeathsig", "KILL", "--", "bash", "-c"]);
        command.arg(format!("exec {line}"));
        command.env_clear().env("PATH", path.join(":"));
        command.env("HOME", self.folder.path());
        command.current_dir(self.folder.path()).process_group(0);
        command.stdin(Stdio::null());
        command
    }

    /// Starts a line that ends with `&`, and waits until its program is ready.
    async fn start(&mut self, line: &str) {
        let log = format!("{}.log", self.background.len());
        let log = self.folder.path().join(log);
        let file = fs::File::create(&log).expect("writable");
        let mut command = self.command(line);
        command.stdout(Stdio::null()).stderr(file);
        self.background.push(command.spawn().expect("it starts"));
        let port = self.port;
        eventually(line, || {
            if line.starts_with("temporal ") {
                TcpStream::connect(("127.0.0.1", port)).is_ok()
            } else {
                let log = fs::read_to_string(&log).expect("readable");
                log.contains("takes runs from the queue")
            }
        })
        .await;
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for child in &mut self.background {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[tokio::test]
async fn a_new_user_gets_a_finished_run_on_two_workers_with_six_commands() {
    let lines: Vec<_> = block("console")
        .lines()
        .map(|line| line.strip_prefix("$ ").expect("a command"))
        .collect();
    assert_eq!(lines.len(), 6, "{lines:?}");
    // The test command has installed this version from the same package.
    let package = lines[0].strip_prefix("pip install ").expect("pip");
    assert!(REQUIREMENTS.contains(package), "{package}");

    let mut home = Home::new();
    let mut outputs = Vec::new();
    for line in &lines[1..] {
        if let Some(line) = line.strip_suffix(" &") {
            home.start(line).await;
        } else {
            let mut command = home.command(line);
            let ended = tokio::task::spawn_blocking(move || command.output().expect("it starts"));
            let ended = ended.await.expect("it ends");
            assert!(ended.status.success(), "{line}: {ended:?}");
            outputs.push(String::from_utf8_lossy(&ended.stdout).into_owned());
        }
    }

    let [report, status] = &outputs[..] else {
        panic!("{outputs:?}");
    };
    assert!(
        report.contains("all achievable deliverables passed"),
        "{report}"
    );
    let host = status
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("host "));
    assert!(
        host.is_some_and(|host| ["one", "two"].contains(&host.trim())),
        "{status}"
    );
    let greeting = home.folder.path().join("projects/shop/greeting.txt");
    assert_eq!(
        fs::read_to_string(greeting).expect("it is there"),
        "Hello.\n"
    );
}
