//! Tests of processes that are killed while they create, merge and remove worktrees.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use autonoe_harness::Worktrees;

use crate::isolation::fixture::{Repo, author, commands, pass};

/// Makes this program a process that is killed, in this folder.
const FOLDER: &str = "AUTONOE_ISOLATION_KILLED";
/// Number of kills, set by the torture command.
const ROUNDS: &str = "AUTONOE_TORTURE_ROUNDS";
const THIS: &str = "isolation::killed::nothing_that_was_committed_is_lost_by_a_kill";
/// Time limit of a process for its first worktree.
const LIMIT: Duration = Duration::from_secs(120);

#[tokio::test]
async fn nothing_that_was_committed_is_lost_by_a_kill() {
    if let Some(folder) = env::var_os(FOLDER) {
        work_until_killed(&PathBuf::from(folder)).await;
        return;
    }
    let rounds = env::var(ROUNDS).ok().and_then(|rounds| rounds.parse().ok());
    let rounds = rounds.unwrap_or(5_u32);
    let repo = Repo::new();
    let (mut committed, mut reported) = (Vec::new(), 0);
    let mut base = repo.git(&["rev-parse", "main"]);
    // Time of a worktree from its first to its last step, which depends on the machine.
    let mut life = None;
    for round in 0..rounds {
        let (mut child, lines) = start(&repo, round);
        wait_for("made", &lines);
        match life {
            None => {
                let started = Instant::now();
                committed.extend(
                    wait_for("made", &lines)
                        .iter()
                        .filter_map(|line| commit_in(line)),
                );
                life = Some(started.elapsed());
            }
            // At some time of its life, or of the next one.
            Some(life) => std::thread::sleep(life * (round * 37 % 120) / 100),
        }
        child.kill().expect("it lives");
        child.wait().expect("it ended");
        let rest: Vec<String> = lines.iter().collect();
        committed.extend(rest.iter().filter_map(|line| commit_in(line)));

        after_a_kill(&repo, &committed).await;
        reported += committed.len();
        committed.clear();
        // Commits in the base stay there, so each round checks for new ones.
        repo.git(&["merge-base", "--is-ancestor", &base, "main"]);
        base = repo.git(&["rev-parse", "main"]);
    }
    println!("killed {rounds} times, {reported} commits were reported");
    assert!(reported > 0);
}

/// Waits until the process prints `word`, and returns its output before that.
fn wait_for(word: &str, output: &Receiver<String>) -> Vec<String> {
    let lines = std::iter::repeat_with(|| output.recv_timeout(LIMIT).expect("it goes on"));
    lines.take_while(|line| !line.contains(word)).collect()
}

fn commit_in(line: &str) -> Option<String> {
    let commit = line.split_once("committed ")?.1;
    Some(commit.to_owned())
}

/// Checks that nothing is lost, and resumes the worktrees that were left.
async fn after_a_kill(repo: &Repo, committed: &[String]) {
    let worktrees = repo.worktrees().await;
    let swept = worktrees.clean_up().await.expect("it is repaired");
    for commit in committed {
        let on = repo.git(&["branch", "--contains", commit, "--format=%(refname)"]);
        assert!(!on.is_empty(), "{commit} is on no branch");
    }
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    repo.is_clean();

    for retained in &swept.retained {
        let name = retained.place.folder.file_name().expect("a name");
        let name = name.to_str().expect("it is plain");
        let worktree = worktrees.open_existing(name).await.expect("it is free");
        let worktree = worktree.expect("it is there");
        worktree
            .commit_all(&author(), "Left")
            .await
            .expect("committed");
        worktree.merge_if(&author(), pass).await.expect("merged");
        worktree.remove().await.expect("nothing is lost");
    }
    // Each reported commit is in the base now, and nothing else is left.
    for commit in committed {
        repo.git(&["merge-base", "--is-ancestor", commit, "main"]);
    }
    assert_eq!(repo.branches(), ["main"], "{swept:?}");
    let left: Vec<_> = fs::read_dir(repo.trees())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| name != ".gitignore" && name != ".lock" && name != "..step.json.tmp")
        .filter(|name| !name.to_string_lossy().starts_with(".merge-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    repo.is_clean();
}

fn start(repo: &Repo, round: u32) -> (Child, Receiver<String>) {
    let mut child = Command::new(env::current_exe().expect("this program"))
        .args([THIS, "--exact", "--nocapture"])
        .env(FOLDER, repo.path().parent().expect("it has one"))
        .env("AUTONOE_ISOLATION_ROUND", round.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program");
    let output = child.stdout.take().expect("a pipe");
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        for line in lines.filter(|line| line.contains("made") || line.contains("committed")) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    (child, lines)
}

/// Creates worktrees, works in them, merges and removes them, in an endless loop.
async fn work_until_killed(folder: &Path) {
    let round = env::var("AUTONOE_ISOLATION_ROUND").expect("all variables are set");
    let (repo, trees) = (folder.join("repo"), folder.join("trees"));
    let worktrees = Worktrees::open(&repo, &trees, "fleet", commands()).await;
    let worktrees = worktrees.expect("a repository");
    for number in 0.. {
        let name = format!("r{round}n{number}");
        let worktree = worktrees.create(&name, "main").await.expect("it is made");
        print_line("made");
        for part in 0..20 {
            let file = worktree.folder().join(format!("{part}.txt"));
            fs::write(file, format!("{name}\n")).expect("a file");
        }
        fs::write(worktree.folder().join(&name), "new\n").expect("a file");
        let commit = worktree
            .commit_all(&author(), &name)
            .await
            .expect("committed");
        print_line(&format!("committed {commit}"));
        worktree.merge_if(&author(), pass).await.expect("merged");
        worktree.remove().await.expect("nothing is lost");
    }
}

fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .expect("the parent reads it");
}
