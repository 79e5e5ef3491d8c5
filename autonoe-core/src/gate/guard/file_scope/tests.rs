//! Tests of the folders that file tools may use.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[cfg(unix)]
mod with_symlinks;

fn project_paths() -> ProjectPaths {
    ProjectPaths::new("/no-srv/project").with_home("/no-home/user")
}

fn read(paths: &[&str]) -> ToolKind {
    ToolKind::Read {
        paths: paths.iter().map(PathBuf::from).collect(),
    }
}

fn write(paths: &[&str]) -> ToolKind {
    ToolKind::Write {
        paths: paths.iter().map(PathBuf::from).collect(),
    }
}

fn passes(kind: ToolKind, project_paths: &ProjectPaths) -> bool {
    let call = ToolCall::new("tool", json!({}))
        .with_kind(kind)
        .in_dir(&project_paths.project);
    FileScope::new(project_paths.clone())
        .evaluate(&call, &Resolver::default())
        .is_ok()
}

// Shows: spec/6.1/layer-2-file-scope, spec/6.3/write
#[test]
fn writes_stay_inside_the_project_and_tmp_without_the_folder_of_sessions() {
    for (path, pass) in [
        ("a", true),
        ("src/new/a.rs", true),
        ("./a/../b", true),
        ("/no-srv/project/a", true),
        ("/tmp/a", true),
        (".gitignore", true),
        (".github/workflows/ci.yml", true),
        (".autonoe-note.md", true),
        ("~draft", true),
        ("", false),
        (".", false),
        ("a/..", false),
        ("/no-srv/project", false),
        ("/tmp", false),
        ("../a", false),
        ("/no-srv/project-two/a", false),
        ("/no-srv/project/../a", false),
        ("/tmp/../etc/a", false),
        ("/etc/passwd", false),
        ("~/a", false),
        ("~other/a", false),
        ("..\\..\\a", false),
        ("a\\..\\..\\b", false),
        ("\\etc\\passwd", false),
        ("a\0b", false),
        (" /etc/passwd", false),
        ("\t~/.bashrc", false),
        ("\u{feff}../a", false),
        (" .git/config", false),
        (".git/hooks/pre-commit", false),
        ("sub/.GIT/config", false),
        (".git\\config", false),
        ("/tmp/x/.git/config", false),
        ("/tmp/autonoe-claude-x/a", true),
        ("/tmp/autonoe-1000.log", true),
        ("autonoe-1000/a", true),
        ("/tmp/autonoe-1000", false),
        ("/tmp/autonoe-1000/x", false),
        ("/tmp/AUTONOE-0/x", false),
        ("/tmp/x/../autonoe-1000/.autonoe/s/bash-setup.sh", false),
        ("/tmp\\autonoe-1000\\x", false),
    ] {
        assert_eq!(passes(write(&[path]), &project_paths()), pass, "{path:?}");
    }
}

#[test]
fn every_path_of_a_call_counts_and_no_path_is_too_few() {
    assert!(!passes(write(&["a", "../b"]), &project_paths()));
    assert!(!passes(write(&[]), &project_paths()));
    assert!(!passes(read(&["a", "~/.ssh"]), &project_paths()));
    assert!(!passes(read(&[]), &project_paths()));
}

// Shows: spec/6.1/layer-2-file-scope, spec/6.2/read
#[test]
fn reads_are_open_apart_from_credentials() {
    for (path, pass) in [
        ("a", true),
        (".", true),
        ("/usr/include/stdio.h", true),
        ("/etc/hosts", true),
        ("~/code/other", true),
        (".npmrc", true),
        ("../other", true),
        ("~/.ssh/id_rsa", false),
        ("/no-home/user/.ssh/id_rsa", false),
        ("/no-home/user/code/../.ssh", false),
        ("../../no-home/user/.aws/credentials", false),
        ("/no-home/user/.SSH/id_rsa", false),
        ("\\no-home\\user\\.ssh\\id_rsa", false),
        ("~\\.ssh\\id_rsa", false),
        (" ~/.ssh/id_rsa", false),
        ("\n/etc/shadow ", false),
        ("~root/.ssh/id_rsa", false),
        ("~/.claude.json", false),
        ("~/.codex/auth.json", false),
        ("/proc/self/environ", false),
        ("/proc/1/task/1/environ", false),
        ("/etc/shadow", false),
        ("/etc/../etc/shadow", false),
        ("~", false),
        ("~/.config", false),
        ("/no-home", false),
        ("/", false),
    ] {
        assert_eq!(passes(read(&[path]), &project_paths()), pass, "{path:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_beside_credentials_may_be_read() {
    assert!(passes(read(&["/proc/meminfo"]), &project_paths()));
    assert!(!passes(read(&["/proc"]), &project_paths()));
    for link in ["cwd", "root"] {
        let path = format!("/proc/self/{link}/etc/shadow");
        assert!(!passes(read(&[&path]), &project_paths()), "{path}");
    }
}

#[test]
fn without_a_home_credentials_are_known_by_their_names() {
    let project_paths = ProjectPaths::new("/no-srv/project");

    assert!(!passes(read(&["/x/user/.ssh/id_rsa"]), &project_paths));
    assert!(!passes(read(&["~/.ssh/id_rsa"]), &project_paths));
    assert!(passes(read(&["~/code/a"]), &project_paths));
    assert!(!passes(write(&["~/code/a"]), &project_paths));
    assert!(passes(read(&["."]), &project_paths));
}

#[test]
fn only_web_urls_may_be_fetched() {
    for (url, pass) in [
        ("https://example.com/file:x", true),
        (" HTTP://example.com", true),
        ("file:///etc/shadow", false),
        (" FILE:/etc/shadow", false),
        ("fi\tle:///etc/shadow", false),
        ("\u{200b}file:///etc/shadow", false),
        ("view-source:file:///etc/shadow", false),
        ("ftp://example.com", false),
        ("data:text/plain,x", false),
        ("", false),
        ("日本語", false),
    ] {
        assert_eq!(
            passes(ToolKind::Fetch { url: url.into() }, &project_paths()),
            pass,
            "{url}"
        );
    }
}

#[test]
fn a_shell_command_runs_in_the_project_or_tmp() {
    for (directory, pass) in [
        ("/no-srv/project", true),
        ("/no-srv/project/src", true),
        ("", true),
        ("src", true),
        ("/tmp", true),
        ("/tmp/x", true),
        ("/tmp/autonoe-1000", false),
        ("/tmp/autonoe-1000/.autonoe/s", false),
        ("/", false),
        ("/no-home/user", false),
        ("/no-srv/project/..", false),
        ("/no-srv/project/.autonoe", false),
        ("/no-srv/project/src/../.AUTONOE/x", false),
        ("/no-srv/project/.git/hooks", false),
        (".autonoe", false),
    ] {
        let call = ToolCall::new("Bash", json!({"command": "rm status.json"})).in_dir(directory);

        let verdict = FileScope::new(project_paths()).evaluate(&call, &Resolver::default());

        assert_eq!(verdict.is_ok(), pass, "{directory:?}: {verdict:?}");
    }
}

#[tokio::test]
async fn a_block_names_the_path_and_an_alternative() {
    for (path, mode, reason) in [
        (
            "/etc/x",
            Mode::Run,
            "\"/etc/x\" is outside the project; write inside the project or /tmp",
        ),
        (
            "/etc/x",
            Mode::Sync,
            "\"/etc/x\" is outside the project; write inside the project",
        ),
        (
            "/tmp/autonoe-1000/x",
            Mode::Run,
            "\"/tmp/autonoe-1000/x\" is in Autonoe's folder for sessions; write to another \
             place in /tmp",
        ),
    ] {
        let mut call = ToolCall::new("Write", json!({ "file_path": path }));
        call.mode = mode;

        let decision = FileScope::new(project_paths())
            .check(&call, &project_paths())
            .await;

        assert_eq!(decision, HookDecision::block(reason), "{path} {mode:?}");
    }
}

proptest! {
    #[test]
    fn a_write_that_lands_outside_never_passes(path in "(/|\\.\\./|\\./|~/|no-srv/|project/|tmp/|[a-z.]{1,3}/){0,8}[a-z]{0,3}") {
        let project_paths = project_paths();

        let passed = passes(write(&[&path]), &project_paths);

        let lands = crate::gate::lexical_path::normalise(&project_paths.project.join(&path));
        let is_below = |root: &Path| lands.starts_with(root) && lands != root;
        prop_assert!(!passed || is_below(&project_paths.project) || is_below(Path::new("/tmp")));
    }

    #[test]
    fn no_path_causes_a_panic(path in ".*", home in any::<bool>()) {
        let project_paths = if home { project_paths() } else { ProjectPaths::new("/no-srv/project") };

        passes(read(&[&path]), &project_paths);
        passes(write(&[&path]), &project_paths);
    }
}

#[test]
fn tools_without_declared_files_must_not_name_credentials() {
    let navigate = |url: &str| ("mcp__playwright__browser_navigate", json!({ "url": url }));
    let upload = |path: &str| {
        (
            "mcp__playwright__browser_file_upload",
            json!({ "paths": [path] }),
        )
    };
    for ((name, input), pass) in [
        (navigate("http://localhost:3000/x"), true),
        (navigate("file:///no-srv/project/index.html"), true),
        (navigate("file:///tmp/report.html"), true),
        (navigate("file:///etc/hosts"), false),
        (navigate("file:///no-home/user/.ssh/id_rsa"), false),
        (navigate("file:///no-srv/project/../../etc/shadow"), false),
        (navigate("view-source:file:///proc/self/environ"), false),
        (upload("fixtures/photo.png"), true),
        (upload("/no-srv/project/.npmrc"), true),
        (upload("/no-home/user/.ssh/id_rsa"), false),
        (upload("~/.aws/credentials"), false),
        (upload("../../no-home/user/.netrc"), false),
        (upload("/etc/shadow"), false),
        (
            ("mcp__db__query", json!({"file": "/run/secrets/db"})),
            false,
        ),
        (("mcp__db__query", json!({"sql": "select 1 / 2"})), true),
        (("Unknown", json!({"path": "~/.kube/config"})), false),
        (("Task", json!({"prompt": "/etc/shadow"})), true),
        (
            ("mcp__autonoe__create", json!({"name": "/etc/shadow"})),
            true,
        ),
    ] {
        let call = ToolCall::new(name, input).in_dir("/no-srv/project");
        let result = FileScope::new(project_paths()).evaluate(&call, &Resolver::default());

        assert_eq!(result.is_ok(), pass, "{name} {}: {result:?}", call.input);
    }
}
