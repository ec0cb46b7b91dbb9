//! What published programs work on in tests: seconds, not minutes, and enough for some collections.

use std::fmt::Write as _;

/// So many pieces, each made from its number.
fn repeated(head: &str, count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).fold(head.to_owned(), |mut text, i| {
        writeln!(text, "{}", piece(i)).expect("a string");
        text
    })
}

pub fn ocaml() -> String {
    repeated("", 300, |i| {
        format!("let f{i} x y = List.fold_left (fun a e -> a + e * {i}) x [y; x + {i}]")
    })
}

pub fn coq() -> String {
    repeated("Require Import Arith Lia.\n", 20, |i| {
        format!("Lemma l{i} : forall a b, a < b -> a + {i} < b + {i} + 1.\nProof. lia. Qed.")
    })
}

/// Which requires nothing.
pub fn coq_alone() -> String {
    repeated("", 100, |i| {
        format!(
            "Lemma l{i} : forall a b : nat, a = b -> {i} + b = {i} + a.\nProof. intros a b h. now rewrite h. Qed."
        )
    })
}

pub const SEMANTIC_PATCH: &str = "\
@@
expression x, n;
@@
- x = malloc(n);
+ x = calloc(1, n);
  ...
- memset(x, 0, n);
";

pub fn c() -> String {
    repeated("#include <stdlib.h>\n#include <string.h>\n", 60, |i| {
        format!(
            "char *f{i}(int n) {{\n  char *p;\n  p = malloc(n);\n  if (!p) return 0;\n  \
             memset(p, 0, n);\n  p[0] = {i};\n  return p;\n}}"
        )
    })
}

/// Two libraries and what uses them, without a program: nothing that is linked.
pub fn dune() -> Vec<(&'static str, String)> {
    vec![
        ("dune-project", "(lang dune 2.0)\n".into()),
        ("first/dune", "(library (name first))\n".into()),
        ("first/first.ml", ocaml()),
        ("second/dune", "(library (name second) (libraries first))\n".into()),
        ("second/second.ml", "let sum = First.f1 1 2 + First.f299 3 4\n".into()),
    ]
}

pub fn preprocessed() -> String {
    let head = "#define TWICE(x) ((x) + (x))\n#define WIDE 4\n";
    repeated(head, 20_000, |i| format!("#if WIDE > {}\nlet v{i} = TWICE({i})\n#endif", i % 8))
}

pub fn grammar() -> String {
    let levels = 40;
    let mut text = String::from("%token <int> INT\n%token LPAREN RPAREN EOF\n");
    text = repeated(&text, levels, |i| format!("%token OP{i}\n%left OP{i}"));
    text.push_str("%start <int> main\n%%\nmain: e = expression EOF { e }\nexpression:\n");
    text.push_str("| n = INT { n }\n| LPAREN e = expression RPAREN { e }\n");
    repeated(&text, levels, |i| format!("| a = expression OP{i} b = expression {{ a * {i} + b }}"))
}

pub fn javascript() -> String {
    repeated("// @flow\n", 150, |i| {
        format!(
            "type T{i} = {{ a: number, b: ?string, c: Array<T{}> }};\n\
             function f{i}(x: T{i}): number {{ return x.a + x.c.length; }}\n\
             export const v{i} = (y: T{i}): string => f{i}(y);",
            i.saturating_sub(1)
        )
    })
}

pub const RULES: &str = "\
rules:
- id: same-operands
  languages: [python]
  message: compares $X with itself
  severity: WARNING
  pattern: $X == $X
- id: open-without-close
  languages: [python]
  message: $F is not closed
  severity: ERROR
  patterns:
  - pattern: $F = open(...)
  - pattern-not-inside: |
      $F = open(...)
      ...
      $F.close()
";

pub fn python() -> String {
    repeated("", 200, |i| {
        format!(
            "def f{i}(a, b):\n    x = open('n{i}')\n    for j in range({i}):\n        \
             if a == a and j < b:\n            x.write(str([a, b, j, {i}]))\n    return a + b"
        )
    })
}
