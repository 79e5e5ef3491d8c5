//! Tests of Bash: output, time limits, and process cleanup.

use std::time::Duration;

use autonoe_core::ToolContext;
use autonoe_core::agent::Sandbox;
use autonoe_core::tool::ToolErrorCode;
use autonoe_model::tools::ToolLimits;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::tools::fixture::{Fixture, eventually};

/// With a sandbox and without one.
const BOTH: [Sandbox; 2] = [Sandbox::Required, Sandbox::Off];

#[tokio::test]
async fn stdout_and_stderr_are_in_order_with_the_exit_code() {
    for sandbox in BOTH {
        let fixture = Fixture::with(|options| options.sandbox = sandbox);

        let command = "echo one; echo two >&2; echo three; pwd; exit 3";
        let output = fixture.call("Bash", json!({"command": command})).await;

        let output = output.expect("it ran");
        let root = fixture.root().display().to_string();
        assert_eq!(
            output.output,
            format!("one\ntwo\nthree\n{root}\n[exit code 3]\n")
        );
        assert_eq!(output.metadata["exitCode"], 3);
        let silent = fixture
            .ok("Bash", json!({"command": "true", "description": "x"}))
            .await;
        assert_eq!(silent, "[no output]\n");
        fixture.eventually_nothing_is_left();
    }
}

#[tokio::test]
async fn quotes_line_ends_and_dashes_of_a_command_reach_the_shell() {
    let fixture = Fixture::new();
    let command = "printf '%s|' \"a b\" 'c\"d' $'e\\nf'\ncat <<'E'\n$HOME `x`\nE\n";

    assert_eq!(
        fixture.ok("Bash", json!({"command": command})).await,
        "a b|c\"d|e\nf|$HOME `x`\n"
    );
    let dashed = fixture
        .ok("Bash", json!({"command": "-x 2>/dev/null; echo $?"}))
        .await;
    assert_eq!(dashed, "127\n");
}

#[tokio::test]
async fn stdin_is_empty_and_each_command_has_a_new_shell() {
    let fixture = Fixture::new();
    let read = fixture
        .ok("Bash", json!({"command": "read x; echo \"$?\"; cat"}))
        .await;
    fixture
        .ok(
            "Bash",
            json!({"command": "cd src; export A=1; echo x > /tmp/x"}),
        )
        .await;

    let second_output = fixture
        .ok("Bash", json!({"command": "pwd; echo \"<$A>\"; ls /tmp"}))
        .await;

    assert_eq!(read, "1\n");
    assert_eq!(second_output, format!("{}\n<>\n", fixture.root().display()));
}

#[tokio::test]
async fn a_command_over_its_time_limit_is_killed_with_its_child_processes() {
    let times_out = |sandbox: Sandbox| async move {
        let fixture = Fixture::with(|options| options.sandbox = sandbox);
        let command = format!(
            "{}; trap '' INT TERM; echo begun; sleep 600; sleep 600",
            fixture.daemon()
        );

        let input = json!({"command": command, "timeout": 10_000});
        let error = fixture
            .call("Bash", input)
            .await
            .expect_err("it took too long");

        assert_eq!(error.code, ToolErrorCode::TIMEOUT);
        assert!(
            error
                .to_string()
                .starts_with("begun\n[killed after 10000 milliseconds"),
            "{error:?}"
        );
        assert_eq!(fixture.processes(), 0);
    };

    futures::future::join_all(BOTH.map(times_out)).await;
}

#[tokio::test]
async fn background_processes_end_with_the_command() {
    for sandbox in BOTH {
        let fixture = Fixture::with(|options| options.sandbox = sandbox);
        let command = format!(
            "{}; sleep 600 & nohup sleep 600 >/dev/null 2>&1 & echo done",
            fixture.daemon()
        );

        let output = fixture.ok("Bash", json!({"command": command})).await;

        assert_eq!(output, "done\n");
        assert_eq!(fixture.processes(), 0);
    }
}

#[tokio::test]
async fn a_daemon_that_node_starts_without_an_environment_ends_with_the_command() {
    let fixture = Fixture::with(|options| options.sandbox = Sandbox::Off);
    let daemon = r#"node -e "require('child_process').spawn('sleep',['97'],{detached:true,stdio:'ignore',env:{}}).unref()""#;
    let command = format!(
        "{daemon}
         for process in /proc/[0-9]*; do
             [ $process/cwd -ef . ] && [ $(<$process/comm) = sleep ] && echo ${{process#/proc/}}
         done; true"
    );

    let output = fixture.ok("Bash", json!({"command": command})).await;

    let pid = output.trim();
    assert!(pid.parse::<u32>().is_ok(), "no daemon: {output}");
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
    assert_ne!(name.unwrap_or_default(), "sleep\n", "it still runs");
}

#[tokio::test]
async fn a_command_that_is_cancelled_or_dropped_is_ended() {
    for sandbox in BOTH {
        let fixture = Fixture::with(|options| options.sandbox = sandbox);
        let command = format!("{}; touch begun; sleep 600", fixture.daemon());
        let input = json!({"command": command});
        let mark = fixture.root().join("begun");
        let call = |context: ToolContext| fixture.toolbox().call("Bash", input.clone(), context);
        let started = async || {
            while !mark.exists() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            assert!(fixture.processes() > 0);
            std::fs::remove_file(&mark).expect("ours");
        };

        let token = CancellationToken::new();
        let cancelled = call(fixture.context().with_cancellation(token.clone()));
        let (result, ()) = tokio::join!(cancelled, async {
            started().await;
            token.cancel();
        });
        assert_eq!(
            result.expect_err("cancelled").code,
            ToolErrorCode::CANCELLED
        );
        fixture.eventually_nothing_is_left();

        tokio::select! {
            _ = call(fixture.context()) => panic!("it does not end by itself"),
            () = started() => {}
        }
        fixture.eventually_nothing_is_left();
    }
}

#[tokio::test]
async fn direct_tool_call_can_be_cancelled() {
    let fixture = Fixture::new();
    let options = autonoe_model::BuiltInOptions::default();
    let bash = crate::tools::fixture::tool(&fixture.root(), &options, "Bash");
    let token = CancellationToken::new();
    let context = fixture.context().with_cancellation(token.clone());

    let call = bash.call(json!({"command": "touch begun; sleep 600"}), &context);
    let (result, ()) = tokio::join!(call, async {
        while !fixture.root().join("begun").exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        token.cancel();
    });

    assert_eq!(
        result.expect_err("cancelled").code,
        ToolErrorCode::CANCELLED
    );
    assert_eq!(fixture.processes(), 0);
}

#[tokio::test]
async fn long_output_is_cut_in_the_middle() {
    let limits = ToolLimits {
        output_bytes: 1_000,
        ..ToolLimits::default()
    };
    let fixture = Fixture::with(|options| options.limits = limits);
    let before = memory();

    let command = "echo first; head -c 90000000 /dev/zero | tr '\\0' x; echo; echo last";
    let output = fixture
        .call("Bash", json!({"command": command}))
        .await
        .expect("it ran");

    assert!(output.output.starts_with("first\nxxx"));
    assert!(output.output.ends_with("xxx\nlast\n"));
    assert!(output.output.len() < 1_100, "{}", output.output.len());
    assert_eq!(output.metadata["leftOutBytes"], 90_000_000 + 12 - 1_000);
    let more = memory().saturating_sub(before);
    assert!(more < 30_000_000, "{more} bytes more");
}

#[tokio::test]
async fn an_endless_flood_ends_with_its_time() {
    let fixture = Fixture::new();

    let input = json!({"command": "yes & yes >&2", "timeout": 300});
    let error = fixture
        .call("Bash", input)
        .await
        .expect_err("it took too long");

    assert_eq!(error.code, ToolErrorCode::TIMEOUT);
    assert!(error.to_string().len() < 31_000);
    assert_eq!(fixture.processes(), 0);
}

#[tokio::test]
async fn invalid_utf8_in_output_becomes_replacement_characters() {
    let fixture = Fixture::new();

    let output = fixture
        .ok("Bash", json!({"command": "printf 'a\\377b\\0c'"}))
        .await;

    assert_eq!(output, "a\u{fffd}b\0c\n");
}

#[tokio::test]
async fn invalid_commands_are_refused() {
    let fixture = Fixture::new();
    for input in [
        json!({"command": "  "}),
        json!({"command": "a\u{0}b"}),
        json!({"command": "true", "timeout": 0}),
        json!({"command": "true", "timeout": 600_001}),
        json!({"command": "true", "run_in_background": true}),
        json!({}),
    ] {
        let code = fixture.refused("Bash", input.clone()).await;
        assert_eq!(code, ToolErrorCode::VALIDATION_ERROR, "{input}");
    }
}

#[tokio::test]
async fn a_sandbox_that_breaks_later_means_no_command() {
    let fixture = Fixture::new();
    let bwrap = fixture.root().with_file_name("bwrap");
    std::os::unix::fs::symlink("/usr/bin/bwrap", &bwrap).expect("writable");
    let options = autonoe_model::BuiltInOptions {
        bubblewrap: bwrap.clone(),
        ..autonoe_model::BuiltInOptions::default()
    };
    let bash = crate::tools::fixture::tool(&fixture.root(), &options, "Bash");
    let input = json!({"command": "touch ran"});

    std::fs::remove_file(&bwrap).expect("ours");
    let missing = bash.call(input.clone(), &fixture.context()).await;
    let script = "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n";
    std::fs::write(&bwrap, script).expect("writable");
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&bwrap, std::fs::Permissions::from_mode(0o755)).expect("ours");
    let broken = bash.call(input, &fixture.context()).await;

    for result in [missing, broken] {
        assert_eq!(
            result.expect_err("refused").code,
            ToolErrorCode::CONFIG_ERROR
        );
    }
    assert!(!fixture.root().join("ran").exists());
}

/// Returns the memory use of this process, in bytes.
fn memory() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("a number") * 4096
}

#[tokio::test]
async fn many_commands_run_at_once() {
    let fixture = Fixture::new();

    let calls = (0..8).map(|number| {
        let command = format!("sleep 0.1; echo {number}");
        fixture.ok("Bash", json!({"command": command}))
    });
    let outputs = futures::future::join_all(calls).await;

    let expected: Vec<_> = (0..8).map(|number| format!("{number}\n")).collect();
    assert_eq!(outputs, expected);
    eventually("the end of all", || fixture.processes() == 0);
}
