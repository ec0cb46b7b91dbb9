//! The interpreter of an unpacked compiler, for programs that `ocamlc` makes.
//!
//! The packages' interpreter needs the newer C library. One is linked here from the runtime's archive and the list of
//! primitives that the packages' own prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::{Outcome, output, run};

/// Links `bin/ocamlrun`. `unpacked` starts the packages' interpreter.
pub(super) fn link_interpreter(
    gcc: &str,
    unpacked: &mut Command,
    standard: &Path,
    bin: &Path,
    work: &Path,
) -> Outcome {
    let primitives = output(unpacked.arg("-p"))?;
    let source = work.join("primitives.c");
    let text = format!("{}{}", table(&primitives), settings(standard));
    fs::write(&source, text).map_err(|e| format!("cannot write {}: {e}", source.display()))?;
    let mut link = Command::new(gcc);
    link.args(["-w", "-O1", "-Wl,-E", "-o"]).arg(bin.join("ocamlrun")).arg(&source);
    run(link.arg(standard.join("libcamlrun_pic.a")).args(["-lm", "-lpthread"]))
}

/// The C source of the table of primitives, as OCaml's own `prims.c`.
fn table(primitives: &str) -> String {
    let each = |form: fn(&str) -> String| primitives.lines().map(form).collect::<String>();
    format!(
        "{}typedef long (*primitive)();\nprimitive const caml_builtin_cprim[] = {{\n{}  0 }};\n\
         const char * const caml_names_of_builtin_cprim[] = {{\n{}  0 }};\n",
        each(|name| format!("long {name}();\n")),
        each(|name| format!("  {name},\n")),
        each(|name| format!("  \"{name}\",\n")),
    )
}

/// Variables that 5.5's interpreter has beside the table: it looks for bytecode at the end of a file.
fn settings(standard: &Path) -> String {
    format!(
        "__attribute__((weak)) const int caml_byte_program_mode = 0;\n\
         __attribute__((weak)) const char *caml_runtime_standard_library_default = \"{}\";\n",
        standard.display()
    )
}

/// The end of the script `ocamlc`: runs the compiler, then lets its program begin with that interpreter.
pub(super) fn script(compiler: &str, stubs: &Path, bin: &Path) -> String {
    let (stubs, bin) = (stubs.display(), bin.display());
    format!(
        "export CAML_LD_LIBRARY_PATH='{stubs}'\n\
         program=a.out\nlast=\nfor word; do [ \"$last\" = -o ] && program=$word; last=$word; done\n\
         {compiler} -dllpath '{stubs}' \"$@\" || exit\n\
         if head -c 19 \"$program\" 2>/dev/null | grep -aq '^#!/usr/bin/ocamlrun'; then\n  \
           {{ echo '#!{bin}/ocamlrun'; tail -n +2 \"$program\"; }} > \"$program.new\" &&\n    \
           chmod 755 \"$program.new\" && mv \"$program.new\" \"$program\"\n\
         fi\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_ends_with_nothing() {
        let source = table("caml_a\ncaml_b");
        assert!(source.contains("  caml_a,\n  caml_b,\n  0 };"), "{source}");
        assert!(source.contains("  \"caml_b\",\n  0 };"), "{source}");
    }
}
