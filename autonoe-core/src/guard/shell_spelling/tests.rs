use proptest::prelude::*;

use super::*;

#[test]
fn every_expansion_that_could_come_out_as_the_name_is_found() {
    for command in [
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
        "cat <<'E'\nrm .auto*\nE",
    ] {
        assert!(could_spell_the_name(command), "{command:?}");
    }
}

#[test]
fn no_construct_hides_what_comes_behind_it() {
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
        for behind in ["rm -rf .*", "rm -rf .??*"] {
            for tail in ["", "; echo ok", "; echo '", "; echo '\"'", "; echo \"'\""] {
                let command = format!("{before} ; {behind} {tail}");

                assert!(could_spell_the_name(&command), "{command:?}");
            }
        }
    }
}

#[test]
fn everyday_commands_are_let_through() {
    for command in [
        "ls -la",
        "rm *",
        "ls */ **/*.rs src/*.*",
        "cat .autonoe-note.md",
        "echo x >> .autonoe-note.md",
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
    ] {
        assert!(!could_spell_the_name(command), "{command:?}");
    }
}

#[test]
fn a_hostile_command_takes_no_time() {
    for piece in [
        "{", "[", "(", "{.a,", "*", "[.a]", "${", "$(", "'", "\\", "`", "(`", "\"$(", "<<E\n",
        "<<E ", "<<E\n$(", "# ",
    ] {
        could_spell_the_name(&piece.repeat(200_000));
    }
}

proptest! {
    #[test]
    fn the_plain_name_is_found_wherever_it_stands(
        // An escape or an expansion before the name can make it another one, and comments and
        // the delimiters of here-documents are not looked at.
        before in "[^\\\\$'\"\n#<]{0,16}[ /=]", after in "([ /;)].{0,16})?",
    ) {
        let command = format!("{before}.autonoe{after}");

        prop_assert!(could_spell_the_name(&command), "{command:?}");
    }

    #[test]
    fn no_text_makes_it_panic(command in ".*", shell in "([\"'`$(){}<#\\\\\n E]|<<E|\\$\\{x%){0,40}") {
        could_spell_the_name(&command);
        could_spell_the_name(&shell);
        text_could_spell_the_name(&shell);
    }
}
