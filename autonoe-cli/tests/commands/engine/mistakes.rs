//! Engines that are not there, or are none.

use crate::commands::setting::Setting;

const COMMANDS: [&[&str]; 4] = [
    &["submit", "shop"],
    &["submit", "shop", "--wait"],
    &["engine", "status", "shop-1"],
    &["engine", "logs", "shop-1", "--follow"],
];

#[test]
fn a_program_that_is_not_installed_is_named_with_how_to_install_it() {
    for words in COMMANDS {
        let said = Setting::new().autonoe_in_time(words);

        insta::allow_duplicates! {
            insta::assert_snapshot!(said.screen(), @r"
            exit 1
            --- stdout
            --- stderr
            error: there is no program autonoe-worker, which speaks with the server
              hint: `cargo install --locked --path autonoe-temporal/worker` installs autonoe-worker; --engine-program names it
            ");
        }
    }
}

#[test]
fn a_program_that_was_named_and_is_not_there_is_no_other_one() {
    let setting = Setting::new().program("autonoe-worker", "exit 0");

    let said = setting.autonoe(&["engine", "status", "r", "--engine-program", "no/such"]);

    assert_eq!(said.code, 1);
    assert!(
        said.stderr.contains("there is no program no/such"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_server_that_is_away_is_told_in_the_words_of_the_program() {
    let complaint = "echo 'error: there is no Temporal server at http://h:1' >&2; exit 1";
    for words in COMMANDS {
        let setting = Setting::new().program("autonoe-worker", complaint);

        let said = setting.autonoe_in_time(words);

        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{words:?}");
        let there = "there is no Temporal server at http://h:1";
        assert!(said.stderr.contains(there), "{}", said.screen());
    }
}

#[test]
fn a_program_that_is_none_of_ours_is_told_as_that() {
    for (script, told) in [
        ("echo hello; read line", "hello"),
        ("exit 3", "has no engine"),
        (
            r#"echo '{"hello":{"protocol":"autonoe-engine","version":99}}'; read line"#,
            "version 99",
        ),
        (
            r#"echo '{"hello":{"protocol":"autonoe-engine","version":1}}'; read a; read b; echo '{"id":1}'"#,
            "the engine cannot be asked any more",
        ),
        (
            r#"echo '{"hello":{"protocol":"autonoe-engine","version":1}}'; read a; read b; exit 7"#,
            "the engine cannot be asked any more",
        ),
    ] {
        let setting = Setting::new().program("autonoe-worker", script);

        let said = setting.autonoe_in_time(&["submit", "shop", "--wait"]);

        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{script}");
        assert!(said.stderr.contains(told), "{script}: {}", said.screen());
    }
}

#[test]
fn who_waits_is_told_at_once_that_the_program_has_died() {
    let script = r#"echo '{"hello":{"protocol":"autonoe-engine","version":1}}'
        read hello; read submit; echo '{"id":1,"tell":{"submitted":"shop-1"}}'
        read question; echo 'out of memory' >&2; exit 7"#;
    let setting = Setting::new().program("autonoe-worker", script);

    let said = setting.autonoe_in_time(&["submit", "shop", "--run=shop-1", "--wait"]);

    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    let screen = said.screen();
    for word in [
        "answers no more; it ended with code 7; it complained: out of memory",
        "hint: the run shop-1 may go on; `autonoe engine logs shop-1 --follow` tells it",
    ] {
        assert!(screen.contains(word), "{screen}");
    }
}

#[test]
fn a_file_that_is_no_program_is_told_as_that() {
    let setting = Setting::new().file("worker", "no program");

    let said = setting.autonoe(&["engine", "status", "r", "--engine-program", "worker"]);

    assert_eq!(said.code, 1);
    assert!(
        said.stderr.contains("cannot be started"),
        "{}",
        said.screen()
    );
}

#[test]
fn a_host_that_is_refused_is_told() {
    let (setting, cluster) = super::cluster::cluster();

    let said = setting.autonoe(&["submit", "shop", "--run=a", "--host=nowhere"]);

    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(
        said.stderr.contains("there is no such host"),
        "{}",
        said.screen()
    );
    assert_eq!(cluster.run("a"), None);
}
