//! Folders that a tool empties before it writes to them, or that it deletes.

use super::{Tool, own_args};
use crate::Denial;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::build_output::{is_bundle_folder, is_cache, may_be_emptied};
use crate::check::call::Checked;
use crate::check::path;
use crate::policy::Policy;

/// A use of tools that empties a folder.
struct Emptying {
    tools: &'static [&'static str],
    /// Beginnings of arguments, one of which must be present; if empty, every use counts.
    uses: &'static [&'static str],
    /// Options whose value is the folder.
    options: &'static [&'static str],
    /// The folder as an operand: the word in front of it, or nothing, and the number of operands in
    /// between.
    operand: Option<(&'static str, usize)>,
    allowed: Folders,
}

/// The folders that may be emptied.
#[derive(Clone, Copy)]
enum Folders {
    /// Those that only build tools write.
    Made,
    /// Those of bundles and reports, also below another folder.
    Bundles,
    /// Those of [`Self::Bundles`], and those of documentation.
    Pages,
    /// Virtual environments, and those of [`Self::Made`].
    Environments,
    /// Those of [`Self::Made`], and paths with a hidden name that contains `cache`.
    Caches,
    /// Those of [`Self::Made`], and paths whose last name begins with one of these.
    Named(&'static [&'static str]),
}

const BUNDLES: Emptying = Emptying {
    tools: &[],
    uses: &[],
    options: &[],
    operand: None,
    allowed: Folders::Bundles,
};

const TABLE: &[Emptying] = &[
    Emptying {
        tools: words!("cargo"),
        uses: words!("clean"),
        options: words!("--target-dir"),
        allowed: Folders::Made,
        ..BUNDLES
    },
    Emptying {
        tools: words!("pytest"),
        options: words!("--basetemp"),
        allowed: Folders::Made,
        ..BUNDLES
    },
    Emptying {
        tools: words!("pytest"),
        uses: words!("--clean-alluredir"),
        options: words!("--alluredir"),
        allowed: Folders::Made,
        ..BUNDLES
    },
    Emptying {
        tools: words!("jest"),
        options: words!("--coverageDirectory"),
        allowed: Folders::Made,
        ..BUNDLES
    },
    Emptying {
        tools: words!("astro vite vitepress"),
        options: words!("--outDir"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("vitest"),
        options: words!("--coverage.reportsDirectory"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("playwright"),
        options: words!("--output"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("tsup"),
        uses: words!("--clean"),
        options: words!("-d --out-dir"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("webpack"),
        uses: words!("--output-clean --clean"),
        options: words!("-o --output-path"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("deno"),
        uses: words!("--clean"),
        options: words!("--coverage="),
        ..BUNDLES
    },
    Emptying {
        tools: words!("cargo"),
        uses: words!("vendor"),
        operand: Some(("vendor", 0)),
        ..BUNDLES
    },
    Emptying {
        tools: words!("go"),
        uses: words!("vendor"),
        options: words!("-o"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("mkdocs"),
        options: words!("-d --site-dir"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("mdbook"),
        options: words!("-d --dest-dir"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("sphinx-build sphinx"),
        uses: words!("clean"),
        operand: Some(("clean", 1)),
        ..BUNDLES
    },
    Emptying {
        tools: words!("conda"),
        uses: words!("--all env"),
        options: words!("-p --prefix"),
        allowed: Folders::Environments,
        ..BUNDLES
    },
    Emptying {
        tools: words!("venv virtualenv"),
        uses: words!("--clear -c"),
        operand: Some(("", 0)),
        allowed: Folders::Environments,
        ..BUNDLES
    },
    Emptying {
        tools: words!("uv"),
        uses: words!("--clear -c"),
        operand: Some(("venv", 0)),
        allowed: Folders::Environments,
        ..BUNDLES
    },
    Emptying {
        tools: words!("pnpm"),
        uses: words!("deploy"),
        operand: Some(("deploy", 0)),
        ..BUNDLES
    },
    Emptying {
        tools: words!("build-storybook storybook"),
        options: words!("-o --output-dir"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("c8 nyc"),
        options: words!("-t --temp-dir --temp-directory --tempDirectory --tempDir"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("docusaurus expo turbo tsdown"),
        options: words!("-d --out --out-dir --output-dir"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("ember ng openapi-ts svelte-package vue-cli-service vuepress"),
        options: words!("-d -o --dest --output --output-path --outputPath"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("typedoc"),
        options: words!("--out"),
        allowed: Folders::Pages,
        ..BUNDLES
    },
    Emptying {
        tools: words!("rsbuild rslib"),
        options: words!("--dist-path"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("jekyll"),
        options: words!("-d --destination"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("hugo hugo-bin hugo-extended"),
        uses: words!("--cleanDestinationDir"),
        options: words!("-d --destination"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("pelican"),
        uses: words!("-d --delete-output-directory"),
        options: words!("-o --output"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("babel swc"),
        uses: words!("--delete-dir-on-start"),
        options: words!("-d --out-dir"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("allure allure-commandline"),
        uses: words!("--clean -c"),
        options: words!("-o --output --report-dir"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("pkgroll"),
        uses: words!("--clean-dist"),
        options: words!("-d --dist"),
        ..BUNDLES
    },
    Emptying {
        tools: words!("wasm-pack"),
        options: words!("-d --out-dir"),
        allowed: Folders::Named(words!("dist pkg")),
        ..BUNDLES
    },
    Emptying {
        tools: words!("coverage"),
        uses: words!("erase"),
        options: words!("--data-file"),
        allowed: Folders::Named(words!(".coverage")),
        ..BUNDLES
    },
    // Without `--cache`, they delete the file of an earlier cache.
    Emptying {
        tools: words!("eslint next stylelint"),
        options: words!("--cache-file --cache-location"),
        allowed: Folders::Caches,
        ..BUNDLES
    },
    Emptying {
        tools: words!("jest"),
        uses: words!("--clearCache"),
        options: words!("--cacheDirectory"),
        allowed: Folders::Caches,
        ..BUNDLES
    },
    Emptying {
        tools: words!("uv"),
        uses: words!("clean"),
        options: words!("--cache-dir"),
        allowed: Folders::Caches,
        ..BUNDLES
    },
    Emptying {
        tools: words!("yarn"),
        uses: words!("clean"),
        options: words!("--cache-folder"),
        allowed: Folders::Caches,
        ..BUNDLES
    },
    // Packages that are not installed are removed.
    Emptying {
        tools: words!("pnpm yarn"),
        options: words!("--modules-dir --modules-folder"),
        allowed: Folders::Named(words!("node_modules")),
        ..BUNDLES
    },
];

/// Checks that a tool empties only folders that tools fill.
pub(in crate::check::commands) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let entries = TABLE.iter().filter(|it| it.tools.contains(&tool.name));
    let own = Tool {
        args: own_args(tool.name, tool.args),
        ..*tool
    };
    for emptying in entries.filter(|it| it.counts(tool)) {
        let policy = tool.call.policy();
        // The options of a subcommand may look like those of a program that it starts.
        let read = if emptying.uses.is_empty() { &own } else { tool };
        for folder in emptying.folders(read) {
            let path = match folder.known() {
                Some(text) => Some(text.to_owned()),
                None => super::outputs::known_folders(tool, &folder),
            };
            let places = path.and_then(|path| tool.call.directories.resolve(&path));
            let may_be = |place: &String| emptying.allowed.contain(policy, place);
            if !places.is_some_and(|places| places.iter().all(may_be)) {
                return Err(deny(&folder, emptying.allowed));
            }
        }
    }
    Ok(())
}

impl Emptying {
    fn counts(&self, tool: &Tool<'_, '_, '_, '_>) -> bool {
        // It keeps what is there.
        let keeps = tool.name == "cargo" && tool.has("--no-delete");
        let is_use = |arg: &Arg<'_>| {
            let text = arg.text.as_ref();
            self.uses.iter().any(|word| {
                let is_shortened =
                    word.starts_with("--") && text.len() > 3 && word.starts_with(text);
                text == *word || is_shortened
            })
        };
        !keeps && (self.uses.is_empty() || tool.args.iter().any(is_use))
    }

    fn folders<'s>(&self, tool: &Tool<'_, '_, '_, 's>) -> Vec<Arg<'s>> {
        let mut folders: Vec<Arg<'s>> =
            tool.values_of(self.options).into_iter().flatten().collect();
        if let Some((word, between)) = self.operand {
            let mut operands = tool.words().into_iter();
            if !word.is_empty() {
                operands.by_ref().find(|operand| operand.is(word));
            }
            folders.extend(operands.nth(between).cloned());
        }
        folders
    }
}

impl Folders {
    fn contain(self, policy: &Policy, place: &str) -> bool {
        match self {
            Self::Made => may_be_emptied(policy, place),
            Self::Bundles => is_bundle_folder(policy, place),
            Self::Pages => {
                let below = path::below(place, policy.project_dir());
                is_bundle_folder(policy, place) || below.contains("/doc")
            }
            Self::Environments => {
                path::file_name(place).contains("env") || may_be_emptied(policy, place)
            }
            Self::Caches => {
                let below = path::below(place, policy.project_dir());
                below.split('/').any(is_cache) || may_be_emptied(policy, place)
            }
            Self::Named(names) => {
                let name = path::file_name(place);
                let is_named = names.iter().any(|known| name.starts_with(known));
                is_named || may_be_emptied(policy, place)
            }
        }
    }
}

fn deny(folder: &Arg<'_>, allowed: Folders) -> Denial {
    let (effect, instead) = match allowed {
        Folders::Caches => (
            "deleted",
            "use a cache such as .cache or node_modules/.cache",
        ),
        Folders::Named(_) => ("deleted", "leave the option out, or use a path in /tmp"),
        _ => ("emptied", "use a folder below target, build, dist or /tmp"),
    };
    let reason = format!("'{}' would be {effect}", folder.text);
    Denial::by(Rule::R92, folder.span, reason).instead(instead)
}
