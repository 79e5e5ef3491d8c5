//! Texts of denials: fixed sentences and advice.

use autonoe_security::{BashSecurity, Layer, PolicyConfig, Profile, Verdict};

use crate::policy::support::{destructive, run, sync, validator};

fn line(verdict: &Verdict) -> String {
    verdict.denial().expect("it is denied").to_string()
}

#[test]
fn specified_denial_reasons_are_unchanged() {
    let reason = |verdict: Verdict| verdict.denial().map(|denial| denial.reason.to_string());

    assert_eq!(
        reason(run("wget example.com")).as_deref(),
        Some("Command 'wget' is not in the allowlist")
    );
    assert_eq!(
        reason(destructive("rm ../file.txt")).as_deref(),
        Some("Path '../file.txt' escapes project directory")
    );
    assert_eq!(
        reason(destructive("rm --no-preserve-root x")).as_deref(),
        Some("Flag '--no-preserve-root' is not allowed with rm")
    );
    assert_eq!(
        reason(run("find . -delete")).as_deref(),
        Some("Flag '-delete' is not allowed with find")
    );
}

#[test]
fn in_sync_mode_advice_names_tmp_only_where_it_is_allowed() {
    for (refused, advised) in [
        ("npm test > test.log", Some("npm test > /tmp/test.log")),
        ("echo x | tee notes.md", Some("echo x | tee /tmp/notes.md")),
        ("sort -o a b", Some("sort -o /tmp/a b")),
        ("echo x > /tmp", Some("echo x > /tmp/a")),
        ("echo x > /etc/a", Some("echo x > /tmp/a")),
        ("sed -i s/a/b/ /tmp/x", None),
        ("touch /tmp/x", None),
        ("mkdir /tmp/x", None),
        ("cp a /tmp/b", None),
    ] {
        let line = line(&sync(refused));

        assert_eq!(line.contains("in /tmp"), advised.is_some(), "{line}");
        assert!(!line.contains("the project and /tmp"), "{line}");
        if let Some(advised) = advised {
            assert!(sync(advised).is_allowed(), "{advised}");
        }
    }
}

#[test]
fn denial_line_has_rule_reason_and_advice() {
    let lines = [
        line(&run("ls; wget x")),
        line(&run("curl example.com")),
        line(&run("sort \"$f\"")),
        line(&run("echo x > \"$out\"")),
        line(&run("cat > .autonoe/status.json")),
        line(&run("PAGER=less git log")),
        line(&sync("npm install")),
        line(&run("ls \"")),
    ];

    assert_eq!(
        lines,
        [
            "Command 'wget' is not in the allowlist: only commands of the active profiles and those \
             that the operator added run; test local servers with curl http://localhost:80, and read \
             web pages with WebFetch, if you have it (rule R7)",
            "curl may reach another machine: only localhost is reachable; reach servers on localhost \
             only, such as curl http://localhost:3000/; read web pages with WebFetch, if you have it \
             (rule R86)",
            "an argument of sort is unknown until it runs: the value can become an option; \
             put -- before it, or begin it with static text such as ./ (rule R21)",
            "the target of the write is an unknown value: the target of a write must be known \
             before the command runs; write the path literally (rule R27)",
            "'.autonoe/status.json' must not be written to: the path is protected; use the \
             deliverable tools for .autonoe (rule R29)",
            "the variable 'PAGER' may not be set to this value: only harmless values of this \
             variable are allowed; set it to cat or true (rule R16)",
            "'npm' with these arguments can do more than verify: a sync allows only commands that \
             verify; run tests, type checks, linters or builds that change no source (rule R64)",
            "the quote is never closed at byte 3: the policy denies text that it does not fully understand; \
             check the quotes and brackets (rule R3)",
        ]
    );
}

#[test]
fn a_copy_and_a_forced_add_are_refused_for_what_they_would_write() {
    for (command, rule, reason) in [
        (
            "cp -r src /etc",
            "R28",
            "Path '/etc' escapes project directory",
        ),
        (
            "cp -r src ~",
            "R29",
            "the home directory must not be written to",
        ),
        (
            "git add -f ':/'",
            "R93",
            "git add --force would add the ignored .autonoe and .harness",
        ),
        (
            "cp \"$x\" /tmp/",
            "R21",
            "an argument of cp is unknown until it runs",
        ),
        (
            "for x in .git a; do cp -r \"$x\" /tmp/; done",
            "R29",
            "the copy of '\"$x\"' may be called .git",
        ),
        (
            "cp -r .autonoe /tmp/",
            "R29",
            "the copy of '.autonoe' may be called .autonoe",
        ),
        (
            "cp --parents .git/config /tmp/x",
            "R29",
            "the copy of '.git/config' may have a path with .git",
        ),
    ] {
        let verdict = run(command);

        let denial = verdict.denial().expect("it is denied");
        assert_eq!(denial.rule, rule, "{command}");
        assert_eq!(denial.reason, reason, "{command}");
    }
}

#[test]
fn denial_has_the_deciding_layer() {
    let layer = |verdict: Verdict| verdict.denial().map(|denial| denial.layer);

    assert_eq!(layer(run("ls (")), Some(Layer::Grammar));
    assert_eq!(layer(run("eval ls")), Some(Layer::Baseline));
    assert_eq!(layer(run("wget x")), Some(Layer::Profile));
    assert_eq!(layer(run("curl x")), Some(Layer::Baseline));
    assert_eq!(layer(sync("curl localhost")), Some(Layer::Mode));
    assert_eq!(layer(sync("npm install")), Some(Layer::Mode));
    assert_eq!(layer(sync("echo x > a")), Some(Layer::Mode));
}

#[test]
fn denial_span_covers_the_denied_part() {
    let place = |command: &str| {
        let verdict = run(command);
        let denial = verdict.denial().expect("it is denied");
        command[denial.span.clone().expect("a place")].to_owned()
    };

    assert_eq!(place("ls && echo \"$(wget x)\""), "wget");
    assert_eq!(place("cat <<EOF\n$(sudo id)\nEOF"), "sudo");
    assert_eq!(place("if true; then bazel; fi"), "bazel");
    assert_eq!(place("curl localhost example.com"), "example.com");
    assert_eq!(place("echo x > /etc/hosts"), "/etc/hosts");
}

#[test]
fn explaining_shows_every_command_also_when_all_are_allowed() {
    let validator = validator(PolicyConfig::default());

    let explained =
        validator.explain("A=1; for f in a b; do wc -l \"$f\"; done | sort && echo \"$(date)\"");

    let found: Vec<_> = explained
        .commands
        .iter()
        .map(|found| (found.name.as_deref(), found.verdict.is_allowed()))
        .collect();
    let expected = [None, Some("wc"), Some("sort"), Some("echo"), Some("date")];
    assert_eq!(found, expected.map(|name| (name, true)));
    assert!(explained.verdict.is_allowed());
}

#[test]
fn a_denial_points_to_the_expansion_that_is_to_blame() {
    let blamed = |command: &'static str| {
        let verdict = run(command);
        let span = verdict.denial().and_then(|denial| denial.span.clone());
        &command[span.expect("a place")]
    };

    assert_eq!(blamed("echo $((1 + $(cat f)))"), "$(cat f)");
    assert_eq!(blamed("echo $((1 + \"$x\"))"), "1 + \"$x\"");
    assert_eq!(blamed("echo $((1 + ${x}))"), "${x}");
    assert_eq!(blamed("echo a; wait \"$x\""), "\"$x\"");
}

#[test]
fn advice_fits_the_command() {
    let advice = |command| {
        let verdict = run(command);
        verdict.denial().and_then(|denial| denial.instead.clone())
    };

    assert_eq!(
        advice("find \"$d\"").as_deref(),
        Some("begin it with static text such as ./")
    );
    assert_eq!(
        advice("git checkout \"$b\"").as_deref(),
        Some("set it to literal text in this command, or begin it with static text")
    );
    assert_eq!(
        advice("x=$(cat f); sort $x").as_deref(),
        Some("put it into quotes, after static text")
    );
    assert_eq!(
        advice("set -o posix").as_deref(),
        Some("use -e, -u, -x, -v, -f, -E or -o pipefail")
    );
}

#[test]
fn a_denial_has_an_alternative_for_the_agent_and_a_remedy_for_the_operator() {
    let rust = PolicyConfig {
        profiles: Some([Profile::Rust].into()),
        ..PolicyConfig::default()
    };
    for (verdict, instead, remedy) in [
        (
            run("ed x"),
            "change files with sed -i or the Edit tool, and search them with sed -n, awk or grep",
            Some(r#"add "ed" to "allowCommands" in .autonoe/agent.json"#),
        ),
        (
            run("podman ps"),
            "use a file tool or another command; if there is none, leave this out and name the \
             command in your last message",
            Some(r#"add "podman" to "allowCommands" in .autonoe/agent.json"#),
        ),
        (
            run("../deploy.sh"),
            "run commands by their names, and scripts of the project by their path inside it",
            Some(r#"add "../deploy.sh" to "allowCommands" in .autonoe/agent.json"#),
        ),
        (
            sync("./deploy.sh"),
            "run the tests, type checks, linters or builds of the project directly",
            None,
        ),
        (
            run("bash -c \"$X\""),
            "write them literally, in single quotes",
            None,
        ),
        (
            run("curl -L localhost"),
            "leave out -L, and print the Location header with -i",
            None,
        ),
        (
            run("kill 1234"),
            "keep the ID in a variable of the same command (server & pid=$!; ..; kill \"$pid\"), or use kill $(lsof -ti:PORT) with the port of your server",
            None,
        ),
        (
            run("pkill -f node"),
            "name the script too, as in pkill -f \"node server.js\", or use kill $(lsof -ti:PORT)",
            None,
        ),
        (
            run("pkill node"),
            "name the script too, as in pkill -f \"node server.js\", or use kill $(lsof -ti:PORT)",
            None,
        ),
        (
            run("killall java"),
            "end a server with kill $(lsof -ti:PORT), and your own jobs with kill %1 or kill $!",
            Some(r#"add "killall" to "allowCommands" in .autonoe/agent.json"#),
        ),
        (
            validator(rust.clone()).check("mvn test"),
            "use the tools of the project's own languages",
            Some(r#"add "java" to "profile" in .autonoe/agent.json"#),
        ),
        (
            run("gradlew test"),
            "run the wrapper of the project by its path: ./gradlew or ./mvnw",
            Some(r#"add "gradlew" to "allowCommands" in .autonoe/agent.json"#),
        ),
        (
            run("mvn deploy"),
            "use verify or install, and leave it to the user",
            None,
        ),
        (
            run("./gradlew -I /tmp/x.gradle build"),
            "leave the option out; settings belong into build.gradle and gradle.properties",
            None,
        ),
        (
            run("cmake --build build --target install"),
            "build and test only: leave installing and uploading to the user",
            None,
        ),
        (
            run("rg -l old src | xargs sed -i 's/old/new/'"),
            "search in a folder of the project for files with an extension, and separate the names by \
             NUL: rg -l0 -g '*.ts' old src | xargs -0 sed -i 's/old/new/', or git grep -lz old -- \
             'src/*.ts'",
            None,
        ),
        (
            run("cargo unknown-plugin"),
            "use a subcommand of cargo, or run the program of the project itself: cargo run -p NAME",
            None,
        ),
        (
            sync("podman ps"),
            "verify with another command; if there is none, leave this out and name the command in \
             your last message",
            Some(r#"add "podman" to "allowCommands.sync" in .autonoe/agent.json"#),
        ),
        (
            validator(rust).check("npm test"),
            "use the tools of the project's own languages",
            Some(r#"add "node" to "profile" in .autonoe/agent.json"#),
        ),
        (
            run("pkill postgres"),
            "end your own background jobs with kill %1 or kill $!, and servers with kill \
             $(lsof -ti:PORT)",
            Some(r#"add "postgres" to "allowPkillTargets" in .autonoe/agent.json"#),
        ),
        (
            run("rm x"),
            "use git rm or git mv for tracked files, and leave others in place",
            Some("run with --allow-destructive"),
        ),
        (sync("rm x"), "verify without changing files", None),
        (
            run("git clean -f"),
            "list the files with git clean -n, and leave them in place",
            Some("run with --allow-destructive"),
        ),
    ] {
        let denial = verdict.denial().expect("it is denied");
        let found = (denial.instead.as_deref(), denial.remedy.as_deref());
        assert_eq!(found, (Some(instead), remedy), "{denial}");
    }
}

#[test]
fn programs_of_sed_and_awk_are_refused_with_an_alternative_and_no_setting() {
    for (verdict, rule, instead) in [
        (
            sync("sed -i s/a/b/ x"),
            "R84",
            "print the result without -i: sed 's/old/new/' FILE",
        ),
        (
            run("sed 's/a/b/w out' x"),
            "R80",
            "redirect the output of sed: sed -n '/x/p' FILE > OUT",
        ),
        (
            run("sed 1e x"),
            "R80",
            "run the command itself, and pipe its output to sed",
        ),
        (
            run("sed -f x.sed y"),
            "R80",
            "write the script literally, in single quotes: sed 's/old/new/' FILE",
        ),
        (
            run("sed \"s/a/$b/\" x"),
            "R80",
            "write the script literally, in single quotes: sed -n '10,20p' FILE",
        ),
        (
            run("sed -n 1p \"$f\""),
            "R21",
            "write the script literally; read a file that is a variable with sed -n '10,20p' -- \
             \"$f\", and change files with find src -name '*.ts' -exec sed -i 's/old/new/' {} +",
        ),
        (
            run("awk '{print | \"sort\"}' x"),
            "R81",
            "put the pipe into the shell: awk '{print $1}' FILE | sort",
        ),
        (
            run("awk \"{print \\$1 $x}\" x"),
            "R81",
            "write the program in single quotes, and pass values with -v: \
             awk -v n=\"$n\" '$1 == n' FILE",
        ),
        (
            run("rg --pre x y"),
            "R82",
            "search plain files: rg PATTERN DIR",
        ),
        (sync("touch x"), "R63", "verify without changing files"),
    ] {
        let denial = verdict.denial().expect("it is denied");
        assert_eq!(denial.rule, rule, "{denial}");
        assert_eq!(denial.instead.as_deref(), Some(instead), "{denial}");
        assert_eq!(denial.remedy, None, "{denial}");
    }
}

#[test]
fn oversized_commands_are_denied_with_advice() {
    let long = format!("echo {}", "a".repeat(200_000));
    let deep = format!("{}ls{}", "( ".repeat(100), " )".repeat(100));

    for command in [long, deep] {
        let verdict = run(&command);
        let denial = verdict.denial().expect("it is denied");
        assert_eq!(denial.rule, "R1");
        assert_eq!(
            denial.instead.as_deref(),
            Some("split it into several commands")
        );
    }
}

#[test]
fn variables_with_too_many_values_are_refused_and_others_are_judged_with_each() {
    let words = |count: usize| -> Vec<String> { (0..count).map(|it| format!("w{it}")).collect() };
    let in_loop = |count: usize, body: &str| {
        let words = words(count).join(" ");
        format!("for x in {words}; do {body}; done")
    };
    let refused = [
        in_loop(65, "npm run \"$x\""),
        in_loop(5_000, &format!("npm run{}", " $x".repeat(7_000))),
        in_loop(60, "npm run \"$x\"; ".repeat(4_000).trim_end_matches("; ")),
    ];
    for command in refused {
        let verdict = run(&command);

        let denial = verdict.denial().expect("it is denied");
        assert_eq!(denial.rule, "R21");
        assert_eq!(
            denial.instead.as_deref(),
            Some("use fewer values in one command")
        );
    }

    assert!(run(&in_loop(64, "npm run \"$x\"")).is_allowed());
    assert!(!run("for x in a publish; do npm \"$x\"; done").is_allowed());
}
