//! The programs that are recorded: two of ours, and three that Debian ships.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::folders::scratch;
use crate::command::{Outcome, cache, repository, run};

/// A command to measure. It is run in `folder`.
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) folder: PathBuf,
}

impl Subject {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder);
        command
    }
}

/// All of them, built and with their input written.
pub(super) fn all() -> Outcome<Vec<Subject>> {
    let folder = scratch()?;
    let write = |file: &str, text: &str| {
        let path = folder.join(file);
        fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    for name in ["steady", "churn"] {
        let source = repository().join(format!("tests/programs/{name}.ml"));
        let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
        let file = format!("{name}.ml");
        write(&file, &text)?;
        run(Command::new("ocamlopt").current_dir(&folder).args(["-g", "-o", name, &file]))?;
    }
    write("functions.ml", &functions(1_500))?;
    write("theory.v", &theory(60))?;
    let subject = |name, program: &Path, arguments: &[&str]| Subject {
        name,
        program: program.to_owned(),
        arguments: arguments.iter().map(ToString::to_string).collect(),
        folder: folder.clone(),
    };
    Ok(vec![
        // Shallow stacks, some 7e7 words a second.
        subject("steady", &folder.join("steady"), &["150"]),
        // The worst case: shallow stacks, and 1e9 words a second.
        subject("churn", &folder.join("churn"), &["60"]),
        // Stacks of hundreds of frames.
        subject("ocamlopt.opt", Path::new("ocamlopt.opt"), &["-c", "functions.ml"]),
        subject("coqc", Path::new("coqc"), &["theory.v"]),
    ])
}

/// Programs with large heaps when they end, built and with their input written.
pub(super) fn heaps() -> Outcome<Vec<Subject>> {
    let folder = scratch()?.join("heaps");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let write = |file: &str, text: &str| {
        let path = folder.join(file);
        fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    let source = repository().join("tests/programs/tables.ml");
    let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    write("tables.ml", &text)?;
    write("functions.ml", &functions(6_000))?;
    write("lines.ml", &lines(560_000))?;
    let libraries = "Require Import Reals Lra QArith FSets MSets Strings.String Floats Sorting.\n";
    write("theory.v", &format!("{libraries}{}", theory(150)))?;
    let subject = |name, program: PathBuf, arguments: &[&str]| Subject {
        name,
        program,
        arguments: arguments.iter().map(ToString::to_string).collect(),
        folder: folder.clone(),
    };
    let build = |ocamlopt: &Path, name: &str| -> Outcome<PathBuf> {
        run(Command::new(ocamlopt).current_dir(&folder).args(["-g", "-o", name, "tables.ml"]))?;
        Ok(folder.join(name))
    };
    let tables = build(Path::new("ocamlopt"), "tables")?;
    let mut subjects = vec![
        subject("tables", tables.clone(), &["1000000", "0"]),
        subject("list", tables, &["0", "100000000"]),
        subject("ocamlopt.opt", "ocamlopt.opt".into(), &["-c", "functions.ml"]),
        subject("coqc", "coqc".into(), &["theory.v"]),
        // The worst: two pointers a block, and every fourth block is shared.
        subject("cppo", "cppo".into(), &["lines.ml"]),
    ];
    let multicore = cache()?.join("ocaml-5.3.0/bin/ocamlopt");
    if multicore.exists() {
        let program = build(&multicore, "tables-5")?;
        subjects.push(subject("tables, OCaml 5.3", program, &["1000000", "0"]));
    }
    Ok(subjects)
}

/// So many short definitions.
fn lines(count: usize) -> String {
    let lines: Vec<String> = (0..count).map(|i| format!("let f{i} x = x + {i}\n")).collect();
    lines.concat()
}

/// A module of that many functions, each different.
fn functions(count: usize) -> String {
    let one = |i| {
        format!(
            "let f{i} t x =
  let rec go acc = function
    | Leaf -> Node (Leaf, x + {i}, acc)
    | Node (l, y, r) when x < y -> go (Node (r, y * {i}, acc)) l
    | Node (l, y, r) -> Node (go acc l, y, go (Node (l, {i}, r)) r)
  in
  match go Leaf t with
  | Leaf -> []
  | Node (_, y, _) -> List.map (fun z -> (z, y + {i})) [ x; y; {i} ]\n"
        )
    };
    let mut parts = vec![String::from("type t = Leaf | Node of t * int * t\n")];
    parts.extend((0..count).map(one));
    parts.concat()
}

/// A theory that uses the standard library, with that many lemmas of each of three kinds.
fn theory(count: usize) -> String {
    let head = "\
Require Import Arith List Lia ZArith Ring.
Import ListNotations.
Fixpoint sum (l : list nat) : nat := match l with [] => 0 | x :: rest => x + sum rest end.\n";
    let one = |i| {
        format!(
            "Lemma sum_app_{i} : forall a b, sum (a ++ b) + {i} = sum a + sum b + {i}.
Proof. induction a as [| x a IH]; intros b; simpl; [ reflexivity | specialize (IH b); lia ]. Qed.
Lemma order_{i} : forall a b c d e, a < b -> b < c -> c < d -> d < e -> a + 3 < e + {i}.
Proof. intros; lia. Qed.
Lemma square_{i} : (forall a b c : Z, (a + b + c) * (a + b + c) + {i}
  = a*a + b*b + c*c + 2*a*b + 2*a*c + 2*b*c + {i})%Z.
Proof. intros; ring. Qed.\n"
        )
    };
    let mut parts = vec![head.to_owned()];
    parts.extend((0..count).map(one));
    parts.concat()
}
