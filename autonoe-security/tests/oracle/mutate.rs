//! Makes new commands of known ones.

/// Pieces of shell that change what a text means.
const PIECES: &[&str] = &[
    " ",
    "\n",
    "\t",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "(",
    ")",
    "{ ",
    "; }",
    "$",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "\\\n",
    "#",
    "!",
    "<",
    ">",
    ">>",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<<",
    "<(",
    ">(",
    "$((",
    "))",
    "((",
    "[[ ",
    " ]]",
    "[ ",
    " ]",
    "${x:-",
    "${x#",
    "${x/",
    "}",
    "${x:",
    "${#x}",
    "$x",
    "\"$x\"",
    "$'",
    "\\x65",
    "x=",
    "x=1;",
    "x='a[$(evil)]';",
    "x=$(cat f);",
    "a[",
    "]",
    "=",
    "evil",
    "$(evil)",
    "`evil`",
    " evil",
    ";evil",
    "\nevil",
    "-v",
    " -eq ",
    "*",
    "?",
    "~",
    "{a,b}",
    "{1..3}",
    "if ",
    "then ",
    "fi",
    "while ",
    "do ",
    "done",
    "for x in ",
    "case x in x) ",
    ";;",
    "esac",
    "time ",
    "! ",
    "command ",
    "echo ",
    "ls ",
    "cat ",
    "test ",
    "printf ",
    "read x",
    "declare ",
    "export ",
    "local ",
    "set -e;",
    "cd src",
    "timeout 5 ",
    "find . -exec ",
    " \\;",
    "EOF",
    "&>",
    "2>&1",
    "/tmp/x",
    "src/a",
    "1",
    "0",
    "i",
    "@",
    "%",
    "x+=",
    "x=(",
    "${x[@]}",
    "${x[0]}",
    "$!",
    "$?",
    "wait ",
    "kill ",
    "let ",
    "\u{e9}",
];

/// Makes one command after another, always the same ones for the same seed.
pub(crate) struct Mutator {
    corpus: Vec<String>,
    state: u64,
}

impl Mutator {
    pub(crate) fn new(corpus: Vec<String>, seed: u64) -> Self {
        Self {
            corpus,
            state: seed,
        }
    }

    /// Returns the next mutated command.
    pub(crate) fn next(&mut self) -> String {
        let mut text: Vec<char> = self.pick_command().chars().collect();
        for _ in 0..=self.below(4) {
            self.mutate(&mut text);
        }
        text.into_iter().collect()
    }

    /// Returns a text of pieces in no order.
    #[allow(dead_code, reason = "not every test that makes commands wants noise")]
    pub(crate) fn noise(&mut self) -> String {
        let count = self.below(40);
        let pieces = (0..count).map(|_| match self.below(6) {
            0 => char::from_u32(u32::try_from(self.below(0x250)).unwrap_or(0))
                .unwrap_or(' ')
                .to_string(),
            _ => PIECES[self.below(PIECES.len())].to_owned(),
        });
        pieces.collect()
    }

    fn mutate(&mut self, text: &mut Vec<char>) {
        let at = self.below(text.len() + 1);
        match self.below(8) {
            0..=3 => {
                let piece = PIECES[self.below(PIECES.len())];
                text.splice(at..at, piece.chars());
            }
            4 => {
                let end = (at + 1 + self.below(5)).min(text.len());
                text.drain(at.min(end)..end);
            }
            5 => {
                let other: Vec<char> = self.pick_command().chars().collect();
                let from = self.below(other.len() + 1);
                let to = (from + 1 + self.below(20)).min(other.len());
                text.splice(at..at, other[from.min(to)..to].iter().copied());
            }
            6 => {
                let end = (at + 1 + self.below(8)).min(text.len());
                let copy: Vec<char> = text[at.min(end)..end].to_vec();
                let to = self.below(text.len() + 1);
                text.splice(to..to, copy);
            }
            _ => {
                let other: Vec<char> = self.pick_command().chars().collect();
                let join = ["; ", " && ", "\n", " | ", " || "][self.below(5)];
                text.extend(join.chars().chain(other));
            }
        }
    }

    fn pick_command(&mut self) -> String {
        let at = self.below(self.corpus.len());
        self.corpus[at].clone()
    }

    /// Returns a number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % limit.max(1) as u64).unwrap_or(0)
    }
}
