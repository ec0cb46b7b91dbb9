//! Why a unit lacks names, and what to do about it: of all files that were not used, the one that tells most.

use std::path::Path;

use memtrail_types::{Problem, Reason, Unit};

/// Why a unit of a program lacks names.
pub(super) fn reason(unit: &Unit, program: &Path) -> String {
    let problem = |problem: &Problem| {
        let detail = match problem.detail.as_str() {
            "" => String::new(),
            detail => format!(" ({detail})"),
        };
        format!("{}: {}{detail}", problem.file, problem.reason)
    };
    match (worst(unit, program), &unit.layout) {
        (Some(found), _) => problem(found),
        (None, Some(_)) => "only its interface was found (.cmi)".into(),
        (None, None) => "no file found".into(),
    }
}

/// The most informative problem: that of the best file among those that are nearest to the program. A library elsewhere may have
/// a module of the same name. Of several, it is the one that was tried first.
fn worst<'u>(unit: &'u Unit, program: &Path) -> Option<&'u Problem> {
    unit.problems.iter().rev().max_by_key(|problem| {
        let rank = match problem.reason {
            Reason::OtherUnit => 0,
            Reason::Foreign => 1,
            Reason::Incomplete => 2,
            Reason::Stale => 3,
            Reason::Damaged => 4,
            Reason::OtherImplementation | Reason::OtherSize => 5,
        };
        let folders = Path::new(&problem.file).components().zip(program.components());
        let shared = folders.take_while(|(file, program)| file == program).count();
        (rank > 0, shared, rank)
    })
}

/// What to do, once for each kind of problem.
pub(super) fn hints(lacking: &[&Unit], program: &Path) -> Vec<&'static str> {
    let mut hints: Vec<&str> = lacking
        .iter()
        .map(|unit| match worst(unit, program).map(|problem| problem.reason) {
            None | Some(Reason::OtherUnit | Reason::Incomplete) => {
                "name the folder with the .cmt and .cmi files of these units with --types DIR, or install \
                 the -dev packages of their libraries; `dune build @check` writes .cmt files, other builds \
                 need -bin-annot"
            }
            Some(Reason::Stale | Reason::OtherImplementation | Reason::OtherSize) => {
                "files are of another build than the program: name the folder of the right one with \
                 --types DIR, or build again, and record again"
            }
            Some(Reason::Damaged) => "build damaged files again, or reinstall their package",
            Some(Reason::Foreign) => {
                "files were made by another version of OCaml: name its ocamlopt with --compiler FILE"
            }
        })
        .collect();
    hints.sort_unstable();
    hints.dedup();
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stale file beside the program was not named, but that of a library that has a module of the same name.
    #[test]
    fn the_file_beside_the_program_tells_what_is_wrong() {
        let problem =
            |file: &str, reason| Problem { file: file.into(), reason, detail: String::new() };
        let program = Path::new("/home/me/shop/server");
        let said = |problems: &[Problem]| {
            let unit = Unit {
                name: "Lib".into(),
                interface: None,
                implementation: None,
                fields: Some(1),
                layout: None,
                problems: problems.to_vec(),
            };
            reason(&unit, program)
        };
        let own = problem("/home/me/shop/lib.cmt", Reason::Stale);
        let own_interface = problem("/home/me/shop/lib.cmi", Reason::Stale);
        let other = problem("/usr/lib/ocaml/coq/lib.cmti", Reason::Stale);
        let text = "/home/me/shop/lib.cmt: its digest is not the program's";
        assert_eq!(said(&[own, own_interface, other.clone()]), text);
        let foreign = problem("/home/me/shop/lib.cmt", Reason::Foreign);
        let text = "/home/me/shop/lib.cmt: another version of the compiler made it";
        assert_eq!(said(&[other.clone(), foreign]), text);
        let of_other_unit = problem("/home/me/shop/lib.cmt", Reason::OtherUnit);
        let text = "/usr/lib/ocaml/coq/lib.cmti: its digest is not the program's";
        assert_eq!(said(&[of_other_unit, other]), text);
    }
}
