//! Options that a compiler passes to the linker: `-Wl,OPTION,VALUE`.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::is_library;
use crate::check::write_target::Root;

/// Options without a value, as they must be written after `-Wl,`.
const FLAGS: &[&str] = words!(
    "--allow-multiple-definition --allow-shlib-undefined --allow-undefined --as-needed --build-id --cref",
    "--copy-dt-needed-entries --demangle --disable-new-dtags --discard-all --eh-frame-hdr",
    "--emit-relocs --enable-new-dtags --end-group --export-all --export-all-symbols --export-dynamic",
    "--fatal-warnings --gc-sections --large-address-aware --no-allow-shlib-undefined --no-as-needed",
    "--no-copy-dt-needed-entries --no-demangle --no-entry --no-export-dynamic --no-fatal-warnings",
    "--no-gc-sections --no-relax --no-undefined --no-warnings --no-whole-archive --omagic --pie",
    "--print-gc-sections --print-memory-usage --relax --start-group --stats --strip-all --strip-debug",
    "--trace --verbose --warn-common --warn-unresolved-symbols --whole-archive -( -) -Bdynamic",
    "-Bstatic -Bsymbolic -Bsymbolic-functions -E -O0 -O1 -O2 -O3 -S -dead_strip -export_dynamic -no_pie",
    "-no_warn_duplicate_libraries -pie -r -s -static -t -v -x",
);

/// Options with a word as their value, after `=` or a comma.
const WORDS: &[&str] = words!(
    "--build-id --compress-debug-sections --defsym --entry --exclude-libs --hash-style --icf --soname",
    "--sort-section --stack --subsystem --threads --undefined --unresolved-symbols --wrap -e -h -m",
    "-soname -stack_size -u -undefined -z -install_name",
);

/// Options with a folder or a file to read as their value.
const PATHS: &[&str] = words!(
    "--dynamic-list --rpath --rpath-link --version-script -exported_symbols_list -rpath -rpath-link",
    "-L",
);

/// Options with a file to write as their value.
const OUTPUTS: &[&str] = words!("--Map -Map -map");

/// Checks the text after `-Wl,`.
pub(super) fn check(call: &Call<'_, '_, '_>, passed: &Arg<'_>) -> Checked {
    let deny = |option: &str| {
        Err(call
            .deny_flag(Rule::R101, &format!("-Wl,{option}"), passed.span)
            .instead("link without it; options such as -Wl,--as-needed are allowed"))
    };
    let Some(text) = passed.known() else {
        return deny(&passed.text);
    };
    let mut words = text.split(',');
    while let Some(word) = words.next() {
        if FLAGS.contains(&word) {
            continue;
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let is_valued = [WORDS, PATHS, OUTPUTS].iter().any(|it| it.contains(&name));
        let value = value.or_else(|| if is_valued { words.next() } else { None });
        let Some(value) = value.filter(|value| is_valued && !value.starts_with(['-', '@'])) else {
            return deny(word);
        };
        if OUTPUTS.contains(&name) {
            let file = Arg::plain(value.to_owned(), passed.span);
            call.check_write_target(&file, Root::Refused)?;
        } else if PATHS.contains(&name) {
            let is_origin = value.starts_with("$ORIGIN") || value.starts_with("@loader_path");
            let is_plain = value.split(':').all(|path| is_library(call, path));
            if !is_origin && !is_plain {
                return deny(word);
            }
        } else if value.contains('/') {
            return deny(word);
        }
    }
    Ok(())
}
