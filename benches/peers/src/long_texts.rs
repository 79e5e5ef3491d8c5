//! Cost of judging texts of one construct by length.

use std::hint::black_box;
use std::time::{Duration, Instant};

use autonoe_security::{BashSecurity, BashValidator};

/// Lengths of the texts, in KiB.
pub(crate) const SIZES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Number of measurements of each text; the best counts.
const ROUNDS: usize = 9;

/// Cost of texts of one construct, in the order of [`SIZES`].
pub(crate) struct Cost {
    pub(crate) construct: &'static str,
    pub(crate) times: Vec<Duration>,
}

pub(crate) fn measure(validator: &BashValidator) -> Vec<Cost> {
    let costs = CONSTRUCTS
        .iter()
        .map(|(construct, start, piece, end)| Cost {
            construct,
            times: SIZES
                .iter()
                .map(|size| {
                    let room = size * 1024 - start.len() - end.len();
                    let text = format!("{start}{}{end}", piece.repeat(room / piece.len()));
                    best_time(validator, &text)
                })
                .collect(),
        });
    costs.collect()
}

fn best_time(validator: &BashValidator, text: &str) -> Duration {
    let times = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        black_box(validator.check(text).is_allowed());
        started.elapsed()
    });
    times.min().expect("some rounds")
}

pub(crate) fn print(costs: &[Cost]) {
    let titles = SIZES.map(|size| format!("{size} KiB"));
    println!("| construct | {} |", titles.join(" | "));
    println!("| --- |{}", " --- |".repeat(SIZES.len()));
    for cost in costs {
        let times = cost.times.iter();
        let times: Vec<String> = times
            .map(|time| format!("{:.2} ms", time.as_secs_f64() * 1e3))
            .collect();
        println!("| {} | {} |", cost.construct, times.join(" | "));
    }
}

/// Name, prefix, repeated text and suffix of each construct.
const CONSTRUCTS: &[(&str, &str, &str, &str)] = &[
    ("one long word", "echo ", "a", ""),
    ("many words", "echo", " a", ""),
    ("many commands", "", "ls;", ""),
    ("many lines", "", "git status\n", ""),
    (
        "a here-document",
        "cat <<'EOF'\n",
        "some text $(no) `no`\n",
        "EOF\n",
    ),
    (
        "an open here-document",
        "cat <<EOF\n",
        "text $x ${y:-z}\n",
        "EOF\n",
    ),
    ("many here-documents", "", "cat <<E\nE\n", ""),
    ("here-documents on one line", "cat", " <<E", "\n"),
    ("substitutions side by side", "echo", " $(ls)", ""),
    ("quoted substitutions", "echo", " \"$(date)\"", ""),
    ("variables", "x=1; echo", " $x", ""),
    ("many variables", "", "a=$b b=$a;", ""),
    ("arithmetic", "i=0;", "i=$((i+1));", ""),
    ("one long expression", "echo $((1", "+1", "))"),
    ("subscripts", "echo $((", "a[", "))"),
    ("open brackets", "", "((", ""),
    ("open subshells", "", "(", ""),
    ("open substitutions", "echo ", "$(", ""),
    ("open quotes in quotes", "echo ", "\"$(", ""),
    ("back-quotes", "echo ", "`ls` ", ""),
    ("braces", "echo ", "{a,b}", ""),
    ("open braces", "echo ", "{", ""),
    ("patterns", "ls ", "*?[a]", ""),
    ("open brackets of patterns", "ls ", "[", ""),
    ("redirections", "ls", " >a", ""),
    ("assignments", "", "A=1 ", "ls"),
    ("moves", "", "cd a;", ""),
    ("moves in a loop", "for i in 1 2; do ", "cd a;", " done"),
    ("loops in loops", "", "for i in a; do ", ""),
    ("pipes", "ls", "|cat", ""),
    ("conditions", "[[ a", " || a", " ]]"),
    ("a case of many arms", "case x in ", "a) ls;;", " esac"),
    ("comments", "", "# a\n", ""),
    ("continuations", "ls", " \\\n", ""),
    ("options of git", "git log", " -n 1", ""),
    ("an expression of find", "find .", " -name a", ""),
];
