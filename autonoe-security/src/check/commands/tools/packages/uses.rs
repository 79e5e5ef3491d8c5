//! Uses of packages that are denied by their first words or options.

use super::Package;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::tool_options::option_name;
use crate::{Denial, Rule};

/// Subcommands that publish, deploy or use an account, in every package.
const PUBLISHING: &[&str] =
    words!("adduser deploy gh-deploy login logout publish signin signout submit unpublish yank");

/// Subcommands that precede such a subcommand.
const GROUPS: &[&str] = words!(
    "app apps auth cloud connect function functions package pages pkg release site subgraph trunk",
    "worker workers"
);

/// Packages of which some uses are denied.
struct Uses {
    names: &'static [&'static str],
    /// The only allowed first words; if empty, all that are not denied.
    allowed: &'static [&'static str],
    /// Denied words among the first two operands, and denied options.
    denied: &'static [&'static str],
    effect: Effect,
}

#[derive(Clone, Copy)]
enum Effect {
    Publishes,
    InstallsHooks,
    Attaches,
    EndsProcesses,
    ChangesMachine,
    PrintsSecrets,
}

/// Packages that publish and have the option `--dry-run`.
const DRY_RUN: &[&str] = words!(
    "auto chromatic clean-publish jsr lerna multi-semantic-release nx python-semantic-release",
    "release-it release-please release-plz semantic-release semantic-release-monorepo wrangler",
);

/// Names of packages that are also common names of scripts.
const PLAIN_WORDS: &[&str] = words!("auto lt now render");

/// Words that print, and change nothing.
const PRINTING: &[&str] = words!("--dry-run --help --version -h -v -V help version");

const USES: &[Uses] = &[
    Uses {
        names: words!(
            "angular-cli-ghpages auto aws awscli chrome-webstore-upload chromatic clean-publish",
            "cloudflared codecov flyctl gatsby-plugin-s3 gem-release gh-pages ghp-import kamal",
            "keyring localtunnel lt multi-semantic-release ngrok np npm-cli-adduser npm-cli-login",
            "npm-publish now publish-please release-it semantic-release semantic-release-monorepo",
            "serveo shipjs storybook-to-ghpages surge tmole tunnelmole untun unleash",
        ),
        allowed: PRINTING,
        denied: &[],
        effect: Effect::Publishes,
    },
    Uses {
        names: words!("vercel vc"),
        allowed: words!("build dev --help --version -h -v help"),
        denied: &[],
        effect: Effect::Publishes,
    },
    Uses {
        names: words!("heroku planetscale pscale railway render"),
        allowed: words!("local --help --version -h -v help"),
        denied: &[],
        effect: Effect::Publishes,
    },
    Uses {
        names: words!(
            "amplify anaconda apollo appcenter aws-amplify aws-cdk beachball bit cdk changeset",
            "changesets clasp contentful convex crev dep dist docusaurus eas eas-cli electron-builder",
            "electron-forge ember expo fastlane figma firebase firebase-tools graphql-hive hexo hf",
            "huggingface-cli jsr lambda lerna maturin mike mkdocs modal mono ng ntl netlify netlify-cli nuxthub",
            "nx nx-cloud ovsx pact-broker pkg-pr-new pm2 pod python-semantic-release release-plz rover",
            "rush sentry sentry-cli serverless shopify shuttle sls snyk sst supabase symfony turbo",
            "twine vapor vsce wandb web-ext workspace workspaces wrangler ws zapier",
        ),
        allowed: &[],
        denied: &[],
        effect: Effect::Publishes,
    },
    Uses {
        names: words!("anaconda hf huggingface-cli maturin twine"),
        allowed: &[],
        denied: words!("auth upload register"),
        effect: Effect::Publishes,
    },
    Uses {
        names: words!("amplify apollo clasp supabase zapier"),
        allowed: &[],
        denied: words!("client:push link push secrets service:push"),
        effect: Effect::Publishes,
    },
    Uses {
        names: words!("aws-cdk cdk eas eas-cli serverless sls sst"),
        allowed: &[],
        denied: words!("bootstrap build destroy remove update"),
        effect: Effect::Publishes,
    },
    Uses {
        names: words!(
            "bit dist fastlane pkg-pr-new release-plz sentry sentry-cli snyk turbo web-ext"
        ),
        allowed: &[],
        denied: words!("auth deliver export host link match pilot release releases sign supply"),
        effect: Effect::Publishes,
    },
    Uses {
        names: words!("cap pod shipit"),
        allowed: &[],
        denied: words!("deploy push"),
        effect: Effect::Publishes,
    },
    Uses {
        names: words!("expo wrangler"),
        allowed: &[],
        denied: words!("rollback secret --remote --tunnel"),
        effect: Effect::Publishes,
    },
    Uses {
        names: words!("ghooks git-hooks husky husky-init pre-push simple-git-hooks yorkie"),
        // They ignore `--dry-run`.
        allowed: words!("--help --version -h -v -V help version"),
        denied: &[],
        effect: Effect::InstallsHooks,
    },
    Uses {
        names: words!("overcommit"),
        allowed: words!("--run -r --list-hooks -l --version -v --help -h"),
        denied: &[],
        effect: Effect::InstallsHooks,
    },
    Uses {
        names: words!("lefthook prek captainhook grumphp"),
        allowed: &[],
        denied: words!(
            "add configure git:deinit git:init init-template-dir install install-hooks uninstall"
        ),
        effect: Effect::InstallsHooks,
    },
    Uses {
        names: words!("git-format-staged is-ci is-ci-cli mrm"),
        allowed: &[],
        denied: words!("--install husky lint-staged"),
        effect: Effect::InstallsHooks,
    },
    Uses {
        names: words!(
            "hypno inspect-process llnode manhole-cli pyrasite pyrasite-shell rbtrace tree-kill"
        ),
        allowed: words!("--help --version"),
        denied: &[],
        effect: Effect::Attaches,
    },
    Uses {
        names: words!(
            "0x austin austin-python flamegraph instruments ndb node-inspect py-spy rbspy"
        ),
        allowed: &[],
        denied: words!("-p --pid --attach top dump"),
        effect: Effect::Attaches,
    },
    Uses {
        names: words!("asyncio debugpy memray pystack rdbg scalene viztracer"),
        allowed: &[],
        denied: words!(
            "attach detach ps pstree remote --attach --attach_installed --connect --pid -A"
        ),
        effect: Effect::Attaches,
    },
    Uses {
        names: words!("pm2"),
        allowed: &[],
        denied: words!("all kill"),
        effect: Effect::EndsProcesses,
    },
    Uses {
        names: words!("nx"),
        allowed: &[],
        denied: words!("--stop"),
        effect: Effect::EndsProcesses,
    },
    Uses {
        names: words!("eslint_d prettierd turbo"),
        allowed: &[],
        denied: words!("restart stop"),
        effect: Effect::EndsProcesses,
    },
    Uses {
        names: words!("ipykernel jupyter kernelspec labextension"),
        allowed: &[],
        denied: words!("install remove uninstall"),
        effect: Effect::ChangesMachine,
    },
    Uses {
        names: words!("corepack pm2"),
        allowed: &[],
        denied: words!("disable enable startup unstartup"),
        effect: Effect::ChangesMachine,
    },
    Uses {
        names: words!("n nvm"),
        allowed: words!("--help --version -V -h ls list"),
        denied: &[],
        effect: Effect::ChangesMachine,
    },
    Uses {
        names: words!("playwright playwright-core test"),
        allowed: &[],
        denied: words!("install-deps uninstall --with-deps"),
        effect: Effect::ChangesMachine,
    },
    Uses {
        names: words!("browsers"),
        allowed: &[],
        denied: words!("clear --install-deps"),
        effect: Effect::ChangesMachine,
    },
    Uses {
        names: words!("php-cs-fixer infection symfony"),
        allowed: &[],
        denied: words!("self-update self:update selfupdate"),
        effect: Effect::ChangesMachine,
    },
    Uses {
        names: words!("doppler infisical op"),
        allowed: &[],
        denied: words!("configure export get inject item read secrets signin"),
        effect: Effect::PrintsSecrets,
    },
    Uses {
        names: words!("heroku railway @railway/cli sst"),
        allowed: &[],
        denied: words!(
            "auth auth:token config config:get secret secrets variables variable vars whoami"
        ),
        effect: Effect::PrintsSecrets,
    },
    Uses {
        names: words!("dotenvx"),
        allowed: &[],
        denied: words!("decrypt get keypair"),
        effect: Effect::PrintsSecrets,
    },
    Uses {
        names: words!("eas eas-cli netlify netlify-cli convex"),
        allowed: &[],
        denied: words!("env env:get env:list env:pull env:export"),
        effect: Effect::PrintsSecrets,
    },
];

pub(super) fn check(package: &Package<'_, '_>) -> Checked {
    let own = package.args.iter().take_while(|arg| !arg.is("--"));
    let own: Vec<&Arg<'_>> = own.collect();
    let is = |text: &'static str| move |arg: &&Arg<'_>| arg.is(text);
    let only_tries = DRY_RUN.contains(&package.name) && own.iter().any(is("--dry-run"));
    let prints_help = own.first().is_some_and(is("--help")) || own.last().is_some_and(is("--help"));
    if only_tries || prints_help {
        return Ok(());
    }
    let mut is_known_publisher = package.is_installed;
    for uses in USES {
        // Scripts of projects often have these names.
        let is_script = !package.is_installed && PLAIN_WORDS.contains(&package.name);
        if is_script || !uses.names.contains(&package.name) {
            continue;
        }
        is_known_publisher |= matches!(uses.effect, Effect::Publishes);
        if denies(uses, &own) {
            return Err(deny(package, uses.effect));
        }
    }
    if is_known_publisher && (publishes(&own) || releases(package.name, &own)) {
        return Err(deny(package, Effect::Publishes));
    }
    Ok(())
}

fn denies(uses: &Uses, args: &[&Arg<'_>]) -> bool {
    let first = args.first().and_then(|arg| arg.known()).unwrap_or_default();
    let mut operands = operands(args);
    let mut options = args.iter().map(|arg| arg.text.as_ref());
    (!uses.allowed.is_empty() && !uses.allowed.contains(&first))
        || operands.any(|word| uses.denied.contains(&word))
        || options.any(|text| {
            let is_short = |option: &&str| option.len() == 2 && text.starts_with(*option);
            text.starts_with('-')
                && (uses.denied.contains(&option_name(text)) || uses.denied.iter().any(is_short))
        })
}

/// Returns the first two arguments that are not options.
fn operands<'a>(args: &'a [&Arg<'_>]) -> impl Iterator<Item = &'a str> {
    let words = args.iter().map(|arg| arg.text.as_ref());
    words.filter(|text| !text.starts_with('-')).take(2)
}

/// Returns whether the first words publish: `login`, `login:ci`, `pages deploy`.
fn publishes(args: &[&Arg<'_>]) -> bool {
    let mut operands = operands(args);
    let publishes = |word: &str| word.split(':').any(|part| PUBLISHING.contains(&part));
    let (first, second) = (operands.next().unwrap_or_default(), operands.next());
    publishes(first) || (GROUPS.contains(&first) && second.is_some_and(publishes))
}

/// Returns whether a package publishes by an option, or by a subcommand without others.
fn releases(name: &str, args: &[&Arg<'_>]) -> bool {
    let value_of = |names: [&str; 2]| {
        let at = args
            .iter()
            .position(|arg| names.contains(&option_name(&arg.text)))?;
        let attached = args[at].text.split_once('=').map(|(_, value)| value);
        attached.or_else(|| args.get(at + 1).map(|arg| arg.text.as_ref()))
    };
    let mut words = operands(args);
    match name {
        "electron-builder" => value_of(["--publish", "-p"]).is_some_and(|value| value != "never"),
        "nx" => {
            words.next() == Some("release")
                && !matches!(words.next(), Some("version" | "changelog" | "plan"))
        }
        _ => false,
    }
}

fn deny(package: &Package<'_, '_>, effect: Effect) -> Denial {
    let name = package.name;
    let (rule, reason, instead) = match effect {
        Effect::Publishes => (
            Rule::R51,
            format!("'{name}' publishes, deploys or uses an account"),
            "build and test locally, and leave it to the user",
        ),
        Effect::InstallsHooks => (
            Rule::R92,
            format!("'{name}' would change the hooks of the repository"),
            "run the checks themselves, such as npx lint-staged or npm test",
        ),
        Effect::Attaches => (
            Rule::R92,
            format!("'{name}' would attach to a running process"),
            "let it start the program: py-spy record -- python app.py",
        ),
        Effect::EndsProcesses => (
            Rule::R87,
            format!("'{name}' would end processes that the agent may not have started"),
            "end only your own, by name (pm2 stop NAME) or kill $!",
        ),
        Effect::ChangesMachine => (
            Rule::R52,
            format!("'{name}' would change the machine"),
            "change the project only",
        ),
        Effect::PrintsSecrets => (
            Rule::R94,
            format!("'{name}' would print secrets"),
            "work without credentials: use test values in files of the project",
        ),
    };
    Denial::by(rule, package.span, reason).instead(instead)
}
