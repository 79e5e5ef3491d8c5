//! Tests of commands that name the ledger.

use autonoe_security::is_reading_program;
use proptest::prelude::*;

use super::*;
use crate::gate::guard::reading_command::READERS;

/// Returns whether the guard allows the command.
fn passes(command: &str) -> bool {
    could_change_autonoe(command) == Ok(false)
}

/// Commands that name the ledger through an expansion and could change it.
const SPELLED: &[&str] = &[
    "rm .autonoe",
    "rm .AutoNoe/x",
    "rm .auto\"noe\"",
    "rm .auto'noe'/x",
    "rm .auto\\noe",
    "rm .auto\\\nnoe",
    "rm .auto*",
    "rm .a?tonoe",
    "rm .[a]utonoe/x",
    "rm .[!b]utonoe",
    "rm .[[:alpha:]]utonoe",
    "rm .*",
    "rm ./.*",
    "rm .??*",
    "rm .\"auto\"*",
    "rm {.autonoe,x}",
    "rm .{auto,x}noe",
    "rm .auto{noe,x}",
    "rm {x,.auto}noe",
    "rm {a,{.au,b}to}noe",
    "rm .{a..b}utonoe",
    "rm {a/.auto,b}noe/x",
    "rm {.auto,../x}noe",
    "rm ${x:-.auto*}",
    "rm .auto$x",
    "rm .auto${x}",
    "rm .au${x}noe",
    "rm ${a}noe",
    "rm \"$a\"noe",
    "rm ${x:-.auto}noe",
    "rm .auto$(echo noe)",
    "rm $(echo .auto)noe",
    "rm `echo .auto`noe",
    "rm .@(autonoe)",
    "rm @(.auto)noe",
    "rm .+(a)utonoe",
    "x=.auto*; rm $x",
    "bash -c 'rm .auto*'",
    "cat <<E\ndon't\nE\nrm .auto\"noe\"",
    "cat <<E\ndon't\nE\nrm .auto$x",
    "rm .autonoe.",
    "rm .autonoe:",
    "rm .[!]]utonoe",
    "rm .[^]]utonoe",
    "rm .[]a]utonoe",
    "rm .[[a]utonoe",
    "rm .[a\\ ]utonoe",
    "rm .[a' ']utonoe",
    "a=autonoe; rm -r \".$a\"",
    "rm -r \".$(echo autonoe)\"",
    "rm ${x}.a*",
    "echo 'unfinished; rm .*",
    "cat <<E\n$(rm -rf .*)\nE",
    "rm -rf .AUTONOE/",
    "echo x > .autonoe/status.json",
    "echo x > .auto\"noe\"/status.json",
    "echo x > .auto\\noe/status.json",
    "copy x .autonoe\\status.json",
    "rm .\u{200b}autonoe/x",
    "rm $'\\x2eautonoe'",
    "rm $'\\056autonoe'",
    "node -e \"rm('\\u002eautonoe')\"",
    "node -e \"rm('\\u{2e}autonoe')\"",
    "node -e \"fs.rmSync('.autonoe',{recursive:true})\"",
    "shopt -s dotglob; rm *",
    "shopt -s \"dot\"glob; rm *",
    "GLOBIGNORE=x; rm *",
    "rm .autonoe.bak",
];

/// Commands that name the ledger literally and could change it.
const MENTIONED: &[&str] = &[
    "ls .autonoe/status.json | xargs uniq x",
    "echo .autonoe -delete | xargs find",
    "echo --output=.autonoe/x | xargs git log",
    "echo .autonoe | xargs sort",
    "find .autonoe -type f -exec uniq {} +",
    "find .autonoe -exec env sort {} +",
    "ls -d .autonoe | xargs -I{} time -o {}/status.json cat x",
    "time -o .autonoe/x ls",
    "fd -Hx rm . .autonoe",
    "fd -xrm . .autonoe",
    "fd --exec=rm . .autonoe",
    "fd -x sort .autonoe",
    "base64 -o .autonoe/x y",
    "git checkout -- .autonoe/status.json",
    "git diff --output=.autonoe/status.json",
    "git -c a=b add .autonoe",
    "git rm .autonoe/status.json",
    "git .autonoe",
    "git stash push .autonoe",
    "git restore .autonoe",
    "git clean -fdx .autonoe",
    "git apply <<'E'\n+++ b/.autonoe/x\nE",
    "sort -o .autonoe/status.json a",
    "sort a -uo .autonoe/status.json",
    "sort --ou=.autonoe/status.json a",
    "uniq a .autonoe/status.json",
    "uniq - .autonoe/status.json",
    "uniq -- -a .autonoe/status.json",
    "uniq .autonoe/*",
    "find . -path './.autonoe/*' -delete",
    "find .autonoe -exec rm {} +",
    "find .autonoe -fprint x",
    "find . -not -path './.autonoe/*' -exec rm {} +",
    "tree -o .autonoe/x",
    "ls -d .autonoe | tee x | xargs rm -r",
    "cat .autonoe/status.json | tee .auto*",
    "cat x | tee .autonoe/status.json",
    "cat x > .autonoe/status.json",
    "cat x >.autonoe/status.json",
    "cat x >| .autonoe/status.json",
    "cat x &> .autonoe/status.json",
    "cat x <> .autonoe/status.json",
    "cat x 2>> '.autonoe/status.json'",
    "{ cat x; } > .autonoe/status.json",
    "> .autonoe/status.json",
    "cat .autonoe/x > a*",
    "cat .autonoe/x > >(sh)",
    "{ ls -d .autonoe; } > >(xargs rm -r)",
    "cat $(rm .autonoe)",
    "ls .autonoe; rm -r .autonoe",
    "ls .autonoe\nrm -r .auto*",
    "ls .autonoe & rm .autonoe/x",
    "l* .autonoe",
    "$ls .autonoe",
    "./ls .autonoe",
    "tee .autonoe/x",
    "rm .autonoe/x",
    "cp x .autonoe",
    "mkdir -p .autonoe",
    "touch .autonoe/x",
    "sed -i s/a/b/ .autonoe/status.json",
    "cd .autonoe",
    "cd .autonoe && cat status.json",
    "cd \"$(dirname .autonoe/x)\" && rm x",
    "ls -d .autonoe | xargs rm -r",
    "ls -d .autonoe |\nxargs rm -r",
    "ls -d .autonoe | while read f; do rm -r \"$f\"; done",
    "while read f; do rm -r \"$f\"; done < <(ls -d .autonoe)",
    "while read f; do rm -r \"$f\"; done <<< .autonoe",
    "read x <<< .autonoe; rm -r $x",
    "cat .autonoe/x |& sh",
    "cat .autonoe/x \\\n| sh",
    "cat <<'E' | sh\nrm -r .auto*\nE",
    "sh <<'E'\nrm -r .auto*\nE",
    "python3 - <<'E'\nimport shutil; shutil.rmtree('.autonoe')\nE",
    "ls -d .autonoe; rm -r $_",
    "ls -d .autonoe; eval 'rm -r $_'",
    "eval 'x=.autonoe'; rm -r $x",
    "eval \"rm -r .autonoe\"",
    "trap 'rm -r .autonoe' EXIT",
    "alias ls=rm\nls -r .autonoe",
    "hash -p /bin/rm ls; ls -r .autonoe",
    "enable -n test; test .autonoe",
    "PATH=.; ls .autonoe",
    "PATH=. ls .autonoe",
    "source x; ls .autonoe",
    "if true; then true; ls -d .autonoe; fi | xargs rm -r",
    "for f in .autonoe/*; do rm \"$f\"; done",
    "for f in $(ls -d .auto*); do rm -r $f; done",
    "x=.autonoe; rm -r $x",
    "x=.autonoe; y=$x; z=\"$y/status.json\"; rm \"$z\"",
    "x=(.autonoe); rm -r \"${x[@]}\"",
    ": ${x:=.autonoe}; rm -r $x",
    "printf -v x .autonoe; rm -r $x",
    "declare x=.autonoe; rm -r $x",
    "set -- .autonoe; rm -r \"$1\"",
    "x=.autonoe bash -c 'rm -r $x'",
    "x=.autonoe; export x; bash -c 'rm -r $x'",
    "bash -c 'rm -r \"$1\"' _ .autonoe",
    "bash -c \"$(cat .autonoe/x)\"",
    "env x=.autonoe bash -c 'rm -r $x'",
    "env PAGER='rm -r .autonoe' git log",
    "GIT_EXTERNAL_DIFF=rm git diff .autonoe",
    "timeout 5 rm -r .autonoe",
    "command rm -r .autonoe",
    "sudo --weird cat rm .autonoe",
    "xargs -a .autonoe/x rm",
    "nohup bash -c 'timeout 5 rm -r .autonoe'",
    "f() { rm -r .autonoe; }; f",
    "cat .autonoe/x 'unfinished",
    "rm -r $(echo .autonoe)",
    "rm -r \"${x/y/.autonoe}\"",
    "npm test -- .autonoe",
    "tar czf x.tgz .autonoe --remove-files",
];

/// Commands that read the ledger or only mention it.
const READING: &[&str] = &[
    "ls -la .autonoe",
    "/bin/ls .autonoe",
    "cat .autonoe/status.json",
    "cat '.autonoe/status.json'",
    "cat \"/srv/project/.autonoe/status.json\"",
    "cat .autonoe/*.json",
    "cat .autonoe/{a,b}",
    "cat \".autonoe/$x\"",
    "cat .autonoe/x # y",
    "cat .autonoe/x &",
    "jq . < .autonoe/status.json",
    "head -n 5 ./.autonoe/status.json",
    "tail .autonoe/status.json",
    "wc -l .autonoe/status.json",
    "grep -c passed .autonoe/status.json",
    "diff .autonoe/status.json other.json",
    "sed -n '1,20p' .autonoe/status.json",
    "cat .autonoe/status.json | jq .",
    "cat .autonoe/status.json | python3 -m json.tool | head -50",
    "cat .autonoe/status.json | tee x",
    "tee docs/ledger.md <<'EOF'\nThe ledger is in .autonoe/status.json.\nEOF",
    "cat .autonoe/status.json 2>/dev/null",
    "cat .autonoe/status.json >/dev/null 2>&1",
    "ls -la .autonoe/ 2>/dev/null || echo none",
    "ls .autonoe && cat .autonoe/status.json",
    "ls .autonoe; rm x",
    "ls .autonoe\nnpm test",
    "jq '.deliverables[] | select(.passed)' .autonoe/status.json",
    "cd /srv/project && cat .autonoe/status.json",
    "test -d .autonoe && echo yes",
    "[ -d .autonoe ] || echo no",
    "[[ -d .autonoe ]] && npm test",
    "if [ -f .autonoe/status.json ]; then npm test; fi",
    "for f in .autonoe/*.json; do cat \"$f\"; done",
    "n=$(jq length .autonoe/status.json); [ \"$n\" -gt 3 ] && npm test",
    "echo \"$(cat .autonoe/status.json)\"",
    "grep -rn \"foo\" --exclude-dir=.autonoe .",
    "grep -rl foo --exclude-dir=.autonoe . | xargs sed -i s/a/b/",
    "npm test 2>&1 | grep -v .autonoe",
    "git status .autonoe",
    "git log -- .autonoe/status.json",
    "git log --oneline -5 -- .autonoe/status.json",
    "git --no-pager log -- .autonoe",
    "GIT_PAGER=cat git log -p -- .autonoe/status.json",
    "git -C . show HEAD:.autonoe/status.json > /tmp/x",
    "git diff HEAD~1 -- . ':!.autonoe'",
    "git stash push -- . ':(exclude).autonoe'",
    "git add .autonoe/status.json && git commit -m \"chore: status\"",
    "git commit -m \"Ignore .autonoe directory\"",
    "git commit -am 'Keep .autonoe/status.json out of the index' && git push",
    "git commit -m \"$(cat <<'EOF'\nIgnore .autonoe\n\nIt's the ledger.\nEOF\n)\"",
    "git commit -F - <<'EOF'\nIgnore .autonoe\nEOF",
    "git tag -a v1 -m 'before .autonoe'",
    "git check-ignore .autonoe",
    "find . -not -path './.autonoe/*'",
    "find . -type f -not -path './.autonoe/*' -name '*.rs' | xargs wc -l",
    "find . -path ./.autonoe -prune -o -name '*.ts' -print | sort | head",
    "find . -name '*.ts' -not -path './.autonoe/*' -exec grep -l foo {} +",
    "tree -I '.autonoe'",
    "tree -a -L 2 -I 'node_modules|.git|.autonoe'",
    "rg --files -g '!.autonoe'",
    "echo \".autonoe/\" >> .gitignore",
    "grep -q '^.autonoe' .gitignore || echo .autonoe >> .gitignore",
    "cat .autonoe/status.json > x",
    "cat .autonoe/x > \"a b\"",
    "cat > docs/ledger.md <<'EOF'\nThe ledger is in .autonoe/status.json.\nEOF",
    "cat <<'E'\nrm .auto*\nE",
    "cat .autonoe/a | sort -u | uniq -c | cut -c 1-3 | tr a b | tac",
    "bash -c 'cd /srv/project && cat .autonoe/status.json'",
    "timeout 5 cat .autonoe/status.json",
    "shopt -s dotglob; ls *",
    "x=.autonoe; ls",
    "x=.autonoe; cat \"$x/status.json\"",
    "rsync -a --exclude=.autonoe . /tmp/copy",
];

/// Commands that do not involve the ledger.
const OTHERS: &[&str] = &[
    // Bash removes the backslash, so this is `src.auto*`.
    "cp x src\\.auto*",
    "",
    "ls -la",
    "npm test",
    "rm *",
    "rm .autonoes",
    "ls */ **/*.rs src/*.*",
    "cat .autonoe-note.md",
    "echo x >> .autonoe-note.md",
    "git add .autonoe-note.md && git commit -m x",
    "cat .autonoe_x .autonoex",
    "cat .gitignore .env.* .a .b*",
    "grep -rn \"import .* from\" src",
    "grep -E '^.*$' a",
    "rg 'fn .*test' src",
    "for f in *.rs; do echo \"$f\"; done",
    "echo $HOME/x ${name}.txt $a $(date) `date`",
    "mkdir -p src/{a,b,auto}",
    "npm run build && (cd web && npm test)",
    "[ -f a ] && [[ $x == *.rs ]]",
    "node -e \"console.log([1].map(a => ({a, b: 1})))\"",
    "rm [0-9].* x[a-c].*",
    "echo $? $* $@ $# $$ $! $-",
    "rm $dir* \"$name\".* lib$x*",
    "git log --format='%h %s' HEAD~3..HEAD",
    "git show HEAD@{1}",
    "cd ../x && ls ..",
    "autonoe run",
    "cargo test -p autonoe-core",
    "cat > src/a.rs <<'EOF'\nlet re = Regex::new(r\"(.*)\"); // don't\nEOF",
    "cat <<EOF > a\n^.*$ \"$x\" ${y%.*}\nEOF\nls",
    "git commit -m \"fix(#12): match (.*)\"",
    "git commit -m \"$(cat <<'EOF'\nfix: don't match (.*)\n\nIt's \"done\".\nEOF\n)\"",
    "grep -v '^#' f | grep -E '= .*'",
    "sed -e 's/#.*$//' f",
    "grep -E '.*' f # that's all",
    "echo $((1 << 2)) && grep '= .*' f",
    "for f in *.md; do mv \"$f\" \"${f%.*}.txt\"; done",
    "echo ${f##*.} \"${f%.$ext}\" ${f/.*/x} ${a[0]%.*}",
    "rm .*.swp .*.yml",
    "echo ${v}e $(date)e \"$a.$b\"",
    "node -e 'const e = /[.].*/; f(`${e}`)'",
    "printf 'a\\n\\x41\\0'",
    "echo \\x",
    "ls # .autonoe",
    "eval \"$x\"",
];

#[test]
fn commands_that_could_change_the_ledger_are_found() {
    let passed: Vec<_> = [SPELLED, MENTIONED].concat();
    let passed: Vec<_> = passed.iter().filter(|command| passes(command)).collect();

    assert_eq!(passed, [&""; 0]);
}

#[test]
fn commands_that_read_the_ledger_or_only_mention_it_pass() {
    let blocked: Vec<_> = READING.iter().filter(|command| !passes(command)).collect();

    assert_eq!(blocked, [&""; 0]);
}

#[test]
fn other_commands_pass() {
    let blocked: Vec<_> = OTHERS.iter().filter(|command| !passes(command)).collect();

    assert_eq!(blocked, [&""; 0]);
}

#[test]
fn no_construct_hides_the_commands_after_it() {
    for before in [
        "echo \"$(echo '\"')\"",
        "echo \"`echo '\"'`\"",
        "echo \"${x%'\"'}\"",
        "echo \"${x:-'}\"",
        "echo \"${x:-\"'\"}\"",
        "echo ${x%$'\\''}",
        "echo ${x%'}'}",
        "echo \"`echo \\\" ' \\\"`\"",
        "echo `#`",
        "echo ` # '`",
        "echo $((1 #))",
        "echo $[1 #]",
        "a[1 #]=x",
        "a[1 #']=x\n'",
        "ls @(a)#x",
        "echo a\\ #b",
        "echo ''#b",
        "echo a#'b'",
        "# don't\necho",
        "echo # it's\necho",
        "echo \"$(case x in x) echo '\"';; esac)\"",
        "echo \"$([[ a =~ [(] ]])\"",
        "cat <<E\ndon't\nE\n",
        "cat <<'E'\n\"\nE\n",
        "cat <<-E\n\tit's\n\tE\n",
        "cat <<A <<B\n'\nA\n\"\nB\n",
        "cat <<E\nfoo\\\nE\n'\nE\n",
        "cat <<<\"don't\"",
        "echo $(cat <<E)\n'\nE\n",
        "echo \"$(cat <<'E'\n\"\nE\n)\"",
        "echo $'\\''",
        "echo \"a'b\"",
        "echo \\\"",
        "echo \\'",
    ] {
        for hidden in ["rm -rf .*", "rm -rf .??*", "rm -r .autonoe"] {
            for tail in ["", "; echo ok", "; echo '", "; echo '\"'", "; echo \"'\""] {
                let command = format!("{before} ; {hidden} {tail}");

                assert!(!passes(&command), "{command:?}");
            }
        }
    }
}

#[test]
fn a_hostile_command_causes_no_panic() {
    for piece in [
        "{", "[", "(", "{.a,", "*", "[.a]", "${", "$(", "'", "\\", "`", "(`", "\"$(", "<<E\n",
        "<<E ", "<<E\n$(", "# ", "env ", "ls|", "x=$x;", "git -C ",
    ] {
        passes(&format!("ls .autonoe; {}", piece.repeat(4_000)));
    }
    let chain: String = (0..1_000)
        .map(|at| format!("x{at}=$x{}\n", at + 1))
        .collect();
    assert!(!passes(&format!("{chain}x1000=.autonoe; rm $x0")));
}

/// Commands that only read, unless an option or an operand makes them write.
const READERS_WITH_OPTIONS: [&str; 23] = [
    "awk", "base64", "bc", "command", "env", "fd", "file", "find", "gawk", "git", "iconv", "mawk",
    "nice", "nohup", "rg", "sed", "sort", "time", "tree", "type", "uniq", "xargs", "xxd",
];

proptest! {
    #[test]
    fn only_a_reading_command_may_mention_the_ledger(
        before in "([a-z;&| -]|ls |cat ){0,12}", after in "([ /;&|<>()][ -~]{0,12})?",
    ) {
        let command = format!("{before} .autonoe{after}");
        let own = before.rsplit([';', '&', '|']).next().unwrap_or_default();
        let first = own.split_whitespace().next().unwrap_or_default();

        let is_reader = is_reading_program(first)
            || READERS.contains(&first)
            || READERS_WITH_OPTIONS.contains(&first);
        prop_assert!(!passes(&command) || is_reader, "{command:?}");
    }

    #[test]
    fn no_text_causes_a_panic(command in ".*", shell in "([\"'`$(){}<#\\\\\n E]|<<E|\\$\\{x%|\\.autonoe){0,40}") {
        passes(&command);
        passes(&shell);
    }
}
