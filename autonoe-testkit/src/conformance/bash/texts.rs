//! Hostile and malformed command texts.

/// A text with a label, because some texts are too long to print.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) label: String,
    pub(super) text: String,
}

fn short(text: impl Into<String>) -> Text {
    let text = text.into();
    Text {
        label: format!("{text:?}"),
        text,
    }
}

fn long(label: &str, text: String) -> Text {
    Text {
        label: label.to_owned(),
        text,
    }
}

/// Returns texts that a validator may not expect.
pub(super) fn hostile() -> Vec<Text> {
    let mut texts: Vec<Text> = [
        "",
        " ",
        "\n",
        "\t \r\n",
        "\u{0}",
        "ls\u{0}",
        "ls \u{0} && rm -rf /",
        "\u{feff}ls",
        "\u{1b}[2J",
        "\u{7f}\u{8}\u{7}",
        "\r",
        "ls\\",
        "\\",
        "#",
        "# only a comment",
        "ls # 'not a quote",
        "!",
        "!!",
        "=",
        "a=",
        "$",
        "$$",
        "$!",
        "${",
        "$(",
        "$((",
        "$'",
        "$\"",
        "`",
        "'",
        "\"",
        "<<",
        "<<<",
        "<<EOF",
        "cat <<EOF\nnever closed",
        "cat <<'\u{1F980}'\n$(rm)\n\u{1F980}",
        "<(",
        ">(",
        ">",
        ">&",
        "2>&1",
        "&",
        "&&",
        "|",
        "||",
        ";",
        ";;",
        "(",
        ")",
        "{",
        "}",
        "[[",
        "]]",
        "{a,b}{c,d}",
        "{1..999999999}",
        "~",
        "*",
        "?",
        "[",
        "if",
        "then",
        "do",
        "case x in",
        "function",
        "f() { f | f & }; f",
        "time",
        "coproc",
        "exec",
        "eval",
        "eval eval eval",
        "for ((;;)); do :; done",
        "ls -la",
        "rm -rf /",
        "echo \u{202e}txt.exe",
        "echo e\u{301}\u{1F980}\u{200d}漢字",
        "\u{ff52}\u{ff4d} -rf /",
        "r\u{ad}m x",
        "echo \u{fffd}\u{ffff}\u{10ffff}",
        "\u{a0}ls\u{2003}-l",
        "ls;\u{85}rm x",
        "ls\u{2028}rm x",
        "a\u{308}=1 b",
        "漢字 'ü",
        "🦀 \"🦀",
        "x='🦀",
        "\u{e000}(",
    ]
    .map(short)
    .to_vec();
    for open in [
        "$(",
        "(",
        "{ ",
        "`",
        "\"$(",
        "${a:-",
        "$((",
        "<(",
        "[[ ",
        "if ",
        "case x in (",
        "\\`",
    ] {
        texts.push(long(&format!("{open:?} 10,000 times"), open.repeat(10_000)));
    }
    for (open, close) in [
        ("$(", ")"),
        ("(", ")"),
        ("{ ", ";}"),
        ("\"$(", ")\""),
        ("${a:-", "}"),
    ] {
        let text = format!("{}ls{}", open.repeat(10_000), close.repeat(10_000));
        texts.push(long(&format!("{open:?} {close:?} 10,000 deep"), text));
    }
    const LENGTH: usize = 128 * 1024;
    for part in [
        "a", " ", "\u{0}", "'", "\"", "\\", "\n", ";", "é", "🦀", "ls;", "ls|", "ls&&", "x=1 ",
        "$a", "<<a\n",
    ] {
        texts.push(long(
            &format!("128 KiB of {part:?}"),
            part.repeat(LENGTH / part.len()),
        ));
    }
    texts.push(long(
        "a pipeline of 10,000 commands",
        vec!["cat"; 10_000].join(" | "),
    ));
    texts
}

/// Returns texts that are not valid Bash: `bash -n` rejects each of them.
pub(super) fn not_bash() -> Vec<Text> {
    let mut texts = Vec::new();
    // Whatever command a policy allows, a syntax error follows it.
    for command in ["ls", "echo a", "git status"] {
        for end in [
            "'never closed",
            "\"never closed",
            "`never closed",
            "$(never closed",
            "${never_closed",
            "$((1 +",
            "<(never closed",
            "&& (ls",
            "; { ls",
            "; if true; then ls",
            "; while true; do ls",
            "; for a in b; do ls",
            "; case a in",
            ")",
            "; }",
            "|",
            "&&",
            "| | ls",
            "&& ;",
            ";; ls",
            ">",
        ] {
            texts.push(short(format!("{command} {end}")));
        }
    }
    texts
}
