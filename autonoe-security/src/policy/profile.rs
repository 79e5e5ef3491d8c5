//! Language profiles and their commands.

use std::fmt;

/// A language whose commands a policy may allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Profile {
    /// Node.js and Deno.
    Node,
    /// Bun.
    Bun,
    /// Python.
    Python,
    /// Ruby.
    Ruby,
    /// Go.
    Go,
    /// Rust.
    Rust,
    /// PHP.
    Php,
    /// Java and other languages that Maven and Gradle build.
    Java,
    /// C and C++.
    C,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 9] = [
        Self::Node,
        Self::Bun,
        Self::Python,
        Self::Ruby,
        Self::Go,
        Self::Rust,
        Self::Php,
        Self::Java,
        Self::C,
    ];

    /// Returns the name used in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Bun => "bun",
            Self::Python => "python",
            Self::Ruby => "ruby",
            Self::Go => "go",
            Self::Rust => "rust",
            Self::Php => "php",
            Self::Java => "java",
            Self::C => "c",
        }
    }

    /// Returns the commands of the language.
    pub fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Node => words!(
                "node deno npm npx yarn pnpm vitest jest mocha tsc eslint prettier biome esbuild",
                "vite webpack rollup next nuxt astro remix ava cypress oxlint playwright prisma",
                "stylelint svelte-check ts-node tsup tsx vue-tsc",
            ),
            Self::Bun => words!("bun bunx"),
            Self::Python => words!(
                "python python3 pip pip3 pipx uv venv virtualenv conda poetry pdm hatch flit",
                "pytest tox nox mypy pyright ruff flake8 pylint black django-admin flask uvicorn",
                "gunicorn alembic autopep8 bandit basedpyright celery coverage daphne hypercorn",
                "isort pre-commit pycodestyle pydocstyle pyflakes uvx yapf jupyter maturin mkdocs",
                "pip-audit pip-compile pip-sync pipenv radon sphinx-build streamlit twine vulture",
            ),
            Self::Ruby => words!(
                "ruby irb gem bundle bundler rake thor rspec minitest cucumber rubocop standard",
                "rails hanami puma unicorn brakeman rackup reek sidekiq standardrb",
            ),
            Self::Go => words!(
                "go gofmt goimports golangci-lint staticcheck golint gopls dlv goreleaser errcheck",
                "ginkgo gofumpt govulncheck revive gotestsum mockgen sqlc stringer swag templ wire",
            ),
            Self::Rust => words!(
                "rustc rustup cargo rustfmt cargo-fmt clippy cargo-clippy rust-analyzer",
                "cargo-watch cargo-nextest diesel mdbook sqlx wasm-pack",
            ),
            Self::Php => words!(
                "php composer phpunit pest codeception phpcs phpcbf phpstan psalm php-cs-fixer",
                "artisan symfony laminas behat codecept infection paratest phpmd pint rector",
            ),
            Self::Java => words!("mvn gradle javac java jar javap jps jshell"),
            Self::C => words!(
                "cmake ctest ninja meson gcc g++ cc c++ clang clang++ clang-format clang-tidy cppcheck",
                "clang-format-diff run-clang-tidy",
            ),
        }
    }

    /// Returns the processes that `pkill` may kill.
    pub fn pkill_targets(self) -> &'static [&'static str] {
        match self {
            Self::Node => words!("node npm npx vite next"),
            Self::Bun => words!("bun"),
            Self::Python => words!("python python3 uvicorn gunicorn"),
            Self::Ruby => words!("ruby puma unicorn rails"),
            Self::Go => words!("go"),
            Self::Rust => words!("cargo"),
            Self::Php => words!("php artisan"),
            Self::Java => words!("java mvn gradle"),
            Self::C => &[],
        }
    }

    /// Returns the profile that contains the command `name`.
    pub fn from_command(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|profile| profile.commands().contains(&name))
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
