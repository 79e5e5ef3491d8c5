//! Reader of the parts of a `Dockerfile` that the checks compare.

use std::collections::{BTreeMap, BTreeSet};

/// A `Dockerfile`: its stages in order, with the values of its build arguments filled in.
#[derive(Debug)]
pub(super) struct Dockerfile {
    pub(super) stages: Vec<Stage>,
}

/// One stage, from its `FROM` to the next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stage {
    /// The name behind `AS`; the last stage has none.
    pub(super) name: Option<String>,
    /// An image, or the name of an earlier stage.
    pub(super) from: String,
    /// The instructions after `FROM`.
    pub(super) instructions: Vec<Instruction>,
}

/// One instruction on one line, for example `COPY` and `. .`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) keyword: String,
    pub(super) text: String,
}

impl Dockerfile {
    pub(super) fn parse(text: &str) -> Self {
        let mut arguments = BTreeMap::new();
        let mut stages: Vec<Stage> = Vec::new();
        for line in joined_lines(text) {
            let (keyword, text) = line.split_once(' ').unwrap_or((&line, ""));
            let text = filled_in(text.trim(), &arguments);
            match (keyword, stages.last_mut()) {
                ("ARG", _) => {
                    arguments.extend(text.split_once('=').map(|(name, value)| {
                        let value = value.to_owned();
                        (name.to_owned(), value)
                    }));
                }
                ("FROM", _) => {
                    let (from, name) = match text.split_once(" AS ") {
                        Some((from, name)) => (from.to_owned(), Some(name.to_owned())),
                        None => (text, None),
                    };
                    stages.push(Stage {
                        name,
                        from,
                        instructions: Vec::new(),
                    });
                }
                (keyword, Some(stage)) => stage.instructions.push(Instruction {
                    keyword: keyword.to_owned(),
                    text,
                }),
                (_, None) => {}
            }
        }
        Self { stages }
    }

    /// Returns the arguments of every `command` that a `RUN` starts, without options and quotes.
    ///
    /// For example the packages of all `apt-get install`.
    pub(super) fn operands(&self, command: &str) -> BTreeSet<String> {
        let instructions = self.stages.iter().flat_map(|stage| &stage.instructions);
        instructions
            .filter(|instruction| instruction.keyword == "RUN")
            .flat_map(|run| run.text.split("&&"))
            .filter_map(|part| part.split_once(command).map(|(_, operands)| operands))
            .flat_map(str::split_whitespace)
            .map(|word| word.trim_matches('"'))
            .filter(|word| !word.starts_with('-'))
            .map(str::to_owned)
            .collect()
    }
}

/// Returns the lines without comments, each with the lines that a backslash adds to it.
fn joined_lines(text: &str) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut continues = false;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (line, more) = match line.strip_suffix('\\') {
            Some(line) => (line.trim_end(), true),
            None => (line, false),
        };
        match joined.last_mut() {
            Some(last) if continues => {
                last.push(' ');
                last.push_str(line);
            }
            _ => joined.push(line.to_owned()),
        }
        continues = more;
    }
    joined
}

fn filled_in(text: &str, arguments: &BTreeMap<String, String>) -> String {
    arguments
        .iter()
        .fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("${{{name}}}"), value)
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const TEXT: &str = include_str!("../../../Dockerfile");
    const IGNORED: &str = include_str!("../../../.dockerignore");

    fn image() -> Dockerfile {
        Dockerfile::parse(TEXT)
    }

    /// Returns the instructions of one keyword of a stage and of the stages that it is made from.
    fn inherited(image: &Dockerfile, stage: &Stage, keyword: &str) -> Vec<String> {
        let parent = image
            .stages
            .iter()
            .find(|other| other.name.as_ref() == Some(&stage.from));
        let mut texts = parent.map_or_else(Vec::new, |parent| inherited(image, parent, keyword));
        let own = stage.instructions.iter();
        texts.extend(
            own.filter(|instruction| instruction.keyword == keyword)
                .map(|instruction| instruction.text.clone()),
        );
        texts
    }

    /// Returns the stages that have the command, which are those that people run.
    fn targets(image: &Dockerfile) -> Vec<&Stage> {
        let has_command = |stage: &&Stage| {
            let copied = inherited(image, stage, "COPY");
            copied
                .iter()
                .any(|copy| copy.ends_with("/usr/local/bin/autonoe"))
        };
        image.stages.iter().filter(has_command).collect()
    }

    #[test]
    fn it_reads_stages_arguments_and_continued_lines() {
        let text = "# syntax\nARG V=1.2\nFROM x:${V}-slim AS a\nARG V\nRUN apt-get install --yes \\\n    # why\n    \
                    b \"c\" \\\n    && rm d\nFROM a\nCOPY --from=a /e /f\n";

        let image = Dockerfile::parse(text);

        let run = Instruction {
            keyword: "RUN".into(),
            text: "apt-get install --yes b \"c\" && rm d".into(),
        };
        let copy = Instruction {
            keyword: "COPY".into(),
            text: "--from=a /e /f".into(),
        };
        let stage = |name: Option<&str>, from: &str, instruction: Instruction| Stage {
            name: name.map(str::to_owned),
            from: from.into(),
            instructions: vec![instruction],
        };
        assert_eq!(
            image.stages,
            [stage(Some("a"), "x:1.2-slim", run), stage(None, "a", copy)]
        );
        let operands = image.operands("apt-get install");
        assert_eq!(operands, BTreeSet::from(["b".to_owned(), "c".to_owned()]));
    }

    #[test]
    fn each_target_installs_its_tools() {
        let image = image();
        for (target, programs) in [
            ("base", &["jq", "openssh-client", "gnupg", "git"][..]),
            ("browser", &["chromium"]),
            ("node", &["bun@", "typescript@", "corepack enable"]),
            ("bun", &["bun@"]),
            ("python", &["python3", "python3-venv", "uv=="]),
            ("golang", &["build-essential"]),
            ("ruby", &["ruby", "bundler"]),
            ("rust", &["build-essential"]),
            ("php", &["php-cli", "composer"]),
        ] {
            let stage = image
                .stages
                .iter()
                .find(|stage| stage.name.as_deref() == Some(target));
            let stage = stage.unwrap_or_else(|| panic!("there is no target {target}"));
            let runs = inherited(&image, stage, "RUN").join(" && ");
            for program in programs {
                assert!(runs.contains(program), "{target}: {program}: {runs}");
            }
        }
    }

    #[test]
    fn every_target_of_a_language_has_chromium_and_its_variables() {
        let image = image();
        for stage in targets(&image) {
            if matches!(stage.name.as_deref(), None | Some("base")) {
                continue;
            }
            let runs = inherited(&image, stage, "RUN").join(" && ");
            let variables = inherited(&image, stage, "ENV").join(" ");
            assert!(runs.contains(" chromium "), "{stage:?}");
            for variable in [
                "PLAYWRIGHT_MCP_EXECUTABLE_PATH=/usr/bin/chromium",
                "PLAYWRIGHT_MCP_SANDBOX=false",
            ] {
                assert!(variables.contains(variable), "{variable}: {stage:?}");
            }
        }
    }

    #[test]
    fn a_stage_uses_only_stages_before_it() {
        let mut known = BTreeSet::new();
        for stage in image().stages {
            let is_image = stage.from.contains(':');
            assert!(is_image || known.contains(&stage.from), "{stage:?}");
            for instruction in &stage.instructions {
                let from = instruction
                    .text
                    .split_once("--from=")
                    .map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
                if let (Some(from), "COPY") = (from, instruction.keyword.as_str()) {
                    assert!(known.contains(from), "{instruction:?}");
                }
            }
            known.extend(stage.name);
        }
    }

    #[test]
    fn every_target_runs_as_a_user_other_than_root() {
        let image = image();
        let targets = targets(&image);
        assert!(targets.len() >= 10, "{targets:?}");
        for stage in targets {
            let users = inherited(&image, stage, "USER");
            assert_eq!(users.last().map(String::as_str), Some("1000"), "{stage:?}");
        }
    }

    #[test]
    fn every_file_that_is_copied_from_the_repository_exists_and_is_not_ignored() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let ignored: Vec<_> = IGNORED.lines().collect();
        let mut sources = Vec::new();
        for stage in image().stages {
            for instruction in stage.instructions {
                if instruction.keyword == "COPY" && !instruction.text.contains("--from=") {
                    let words: Vec<_> = instruction.text.split(' ').collect();
                    let (_, copied) = words.split_last().expect("it names files");
                    sources.extend(copied.iter().map(|&source| source.to_owned()));
                }
            }
        }

        assert!(!sources.is_empty());
        for source in &sources {
            assert!(root.join(source).exists(), "{source}");
            assert!(!ignored.contains(&source.as_str()), "{source}");
        }
        // The build in the image needs these.
        for needed in ["Cargo.toml", "Cargo.lock", "autonoe-cli", "docs", "xtask"] {
            assert!(root.join(needed).exists(), "{needed}");
            assert!(!ignored.contains(&needed), "{needed}");
        }
    }
}
