//! Texts that are almost others.

/// Things that mean something to a shell.
const TOKENS: &[&str] = &[
    "a",
    "b",
    "x",
    "1",
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "while",
    "until",
    "do",
    "done",
    "for",
    "in",
    "case",
    "esac",
    "{",
    "}",
    "!",
    "[[",
    "]]",
    "[",
    "]",
    "time",
    "-p",
    "--",
    "select",
    "function",
    "coproc",
    ";",
    ";;",
    ";&",
    ";;&",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "(",
    ")",
    "((",
    "))",
    "<",
    ">",
    "<<",
    "<<-",
    "<<<",
    ">>",
    ">&",
    "<&",
    "<>",
    ">|",
    "&>",
    "&>>",
    "2>",
    "2>&1",
    ">&-",
    "\n",
    " ",
    "\t",
    "\\",
    "\\\n",
    "'",
    "\"",
    "`",
    "$",
    "$(",
    "$((",
    "${",
    "${x",
    "$x",
    "$'",
    "$\"",
    "$[",
    "<(",
    ">(",
    "=",
    "+=",
    "x=",
    "x=(",
    "x[",
    "x[0]=",
    "declare ",
    "#",
    "~",
    "*",
    "?",
    "+",
    "@",
    "^",
    "%",
    "/",
    ":",
    ":-",
    ":=",
    "-",
    ",",
    "..",
    "{a,b}",
    "{1..3}",
    "{Z..a}",
    "@P",
    "@Q",
    "#x",
    "!x",
    "[@]",
    "E",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "==",
    "=~",
    "!=",
    "-f",
    "-eq",
    "=(",
    "()",
    "{x}>",
    "é",
    "\r",
    "$'\\x24'",
    "\"${",
    "'}",
    "\"}",
    "\\\"",
    "\\`",
    "$#",
    "$?",
    "$@",
    "$$",
    "99999999999>",
    "~/",
];

/// Texts with much in them, to begin with.
const SEEDS: &[&str] = &[
    "case \"$x\" in (a|b*) ls;; [0-9]) pwd ;& *) echo \"$x\";;& \"\") ;; esac",
    "if [[ -f a && ( $x == b* || ! $y =~ ^(a|b)+$ ) ]]; then ls; elif (( x > 1 )); then a; else b; fi",
    "for ((i=0; i<3; i++)); do echo $((i*2)) ${a[i]} ${#a[@]} \"${b[@]}\"; done",
    "while read l; do echo \"${l%%:*} ${l/a/b} ${l//x} ${l^^} ${l:1:2} ${l:-x}\"; done < <(ls) >o 2>&1",
    "cat <<E | grep x && echo y\na $x ${y:-z} $(date) `pwd` \\$z $((1+2))\nE\n",
    "cat <<-'E' > f; ls\n\ta $(x)\n\tE\n",
    "echo $(cat <<E\nhello $(ls)\nE\n) \"a $(echo \"b $(c)\")\" `echo \\`ls\\``",
    "declare -A m=([a]=1 [\"b c\"]=2) x=y; z=(a \"b\" $(c) [3]=d e{1,2}); echo ${!m[@]} ${m[a]}",
    "{ a; b & c; } | ( d && e || f ) |& g 2>/dev/null >&2 &> x <<< \"s $v\" 3<&0 4>&-",
    "! time -p ls {a,b}/{1..3}.txt ~/x a=~ $'a\\tb' $\"l\" 'q' \"d\\\"q\" e\\ f",
    "((echo a); (echo b)) && (( a = b ? 1 : 2 )) || ( (x) )",
    "\"${x:-'$(a)'}\" \"${x#'a'}\" ${x:=$(y)} ${x:?e} ${x:+\"a b\"} ${x@Q} ${!p*} ${#x} $# $? ${10}",
    "a=1 b=$(c) d[$((1+1))]=2 e+=f g=(\"$@\") cmd >f 2>>g",
    "[[ $x == @(a|b)* && $y != +([0-9]) ]] && [[ $z =~ [[:space:]]*(a|b)\\.c ]]",
    "while ((i<3)) do ls; done; if (a) then b; fi; if { a; } then b; elif [[ c ]] then d; fi",
    "echo \"a\\\nb\" c \\\n  d && \\\n  e",
];

/// Makes texts that are almost Bash, always the same from the same seed.
pub(crate) struct Mutator {
    state: u64,
    seeds: Vec<String>,
}

impl Mutator {
    pub(crate) fn new(seed: u64, texts: Vec<String>) -> Self {
        let short = texts.into_iter().filter(|text| text.len() < 600);
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            seeds: short
                .chain(SEEDS.iter().map(|text| text.to_string()))
                .collect(),
        }
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).expect("it fits") % limit.max(1)
    }

    /// The next text.
    pub(crate) fn text(&mut self) -> String {
        let mut text = match self.below(10) {
            0 => self.tokens(),
            1 => {
                let (mut text, other) = (self.seed(), self.seed());
                let at = self.place(&text);
                text.insert_str(at, &other);
                text
            }
            _ => self.seed(),
        };
        for _ in 0..1 + self.below(4) {
            self.change(&mut text);
        }
        text.replace('\0', "")
    }

    fn seed(&mut self) -> String {
        let number = self.below(self.seeds.len());
        self.seeds[number].clone()
    }

    fn tokens(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.below(14) {
            text += self.token();
            if self.below(3) == 0 {
                text.push(' ');
            }
        }
        text
    }

    pub(crate) fn token(&mut self) -> &'static str {
        TOKENS[self.below(TOKENS.len())]
    }

    fn change(&mut self, text: &mut String) {
        let (a, b) = (self.place(text), self.place(text));
        let (start, end) = (a.min(b), a.max(b).min(a.min(b) + 8));
        let end = (start..=end).rev().find(|at| text.is_char_boundary(*at));
        let part = start..end.unwrap_or(start);
        match self.below(5) {
            0 | 1 => text.insert_str(start, self.token()),
            2 => text.replace_range(part, ""),
            3 => {
                let copy = text[part].to_owned();
                let at = self.place(text);
                text.insert_str(at, &copy);
            }
            _ => {
                let moved = text[part.clone()].to_owned();
                text.replace_range(part, "");
                let at = self.place(text);
                text.insert_str(at, &moved);
            }
        }
    }

    /// A boundary between two characters.
    fn place(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0)
    }
}

/// A number from the environment, to make more of it than in every run.
pub(crate) fn number(variable: &str, otherwise: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.map_or(otherwise, |text| text.parse().expect("a number"))
}
