//! Programs print, and end, as they do without us.

use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{build, build_embedded, build_plugin, strip};
use memtrail_test_support::running::Case;

fn same(compiler: &str, program: &str, arguments: &[&str]) {
    Case::new(&build(&named(compiler), program), arguments).same();
}

on_each!(churn, |compiler| same(compiler, "churn", &["10"]));
on_each!(deep, |compiler| same(compiler, "deep", &[]));
on_each!(from_c, |compiler| same(compiler, "from_c", &[]));
on_each!(threads, |compiler| same(compiler, "threads", &[]));
on_each!(thread_blocks, |compiler| same(compiler, "thread_blocks", &[]));
on_each!(exceptions, |compiler| same(compiler, "exceptions", &[]));
on_each!(finalisers, |compiler| same(compiler, "finalisers", &[]));
on_each!(compact, |compiler| same(compiler, "compact", &[]));
on_each!(signals, |compiler| same(compiler, "signals", &[]));
on_each!(memprof_user, |compiler| same(compiler, "memprof_user", &[]));
on_each!(lifetimes, |compiler| same(compiler, "lifetimes", &[]));
on_each!(named_places, |compiler| same(compiler, "named", &[]));
on_each!(environment, |compiler| same(compiler, "environment", &["a b", "", "--", "-o"]));
on_each!(embedded, |compiler| {
    Case::new(&build_embedded(&named(compiler)), &[]).same();
});
on_each!(plugin, |compiler| {
    let (host, plugin) = build_plugin(&named(compiler));
    Case::new(&host, &[plugin.to_str().expect("a path in UTF-8")]).same();
});
on_each!(stripped, |compiler| {
    Case::new(&strip(&build(&named(compiler), "churn")), &["2"]).same();
});

#[test]
fn domains() {
    same("ocaml-5.3.0", "domains", &[]);
}

#[test]
fn fibers() {
    same("ocaml-5.3.0", "fibers", &[]);
}

/// At a rate of 1 every block is sampled: callbacks everywhere, tables at their largest.
mod every_block {
    use super::*;

    fn same(compiler: &str, program: &str, arguments: &[&str]) {
        let program = build(&named(compiler), program);
        Case::new(&program, arguments).options(&["--rate", "1"]).same();
    }

    on_each!(deep, |compiler| same(compiler, "deep", &[]));
    on_each!(from_c, |compiler| same(compiler, "from_c", &[]));
    on_each!(threads, |compiler| same(compiler, "threads", &[]));
    on_each!(exceptions, |compiler| same(compiler, "exceptions", &[]));
    on_each!(finalisers, |compiler| same(compiler, "finalisers", &[]));
    on_each!(compact, |compiler| same(compiler, "compact", &[]));

    #[test]
    fn domains() {
        same("ocaml-5.3.0", "domains", &[]);
    }

    #[test]
    fn fibers() {
        same("ocaml-5.3.0", "fibers", &[]);
    }
}

on_each!(filter, |compiler| {
    let lines: Vec<String> = (0..20_000).map(|i| format!("line {i} of standard input")).collect();
    let text = lines.join("\n");
    Case::new(&build(&named(compiler), "pipes"), &[]).stdin(text.as_bytes()).same();
});
