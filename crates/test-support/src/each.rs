//! A test for each of the compilers that tests run with.

/// One test for each compiler, named after it; those for compilers that not everybody has do nothing where they
/// are not installed.
#[macro_export]
macro_rules! on_each {
    ($name:ident, $check:expr) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            #[test]
            fn system() {
                $check("system");
            }
            #[test]
            fn ocaml_4_14() {
                $check("ocaml-4.14.1000");
            }
            #[test]
            fn ocaml_5_1() {
                if $crate::compilers::is_installed("ocaml-5.1.4") {
                    $check("ocaml-5.1.4");
                }
            }
            #[test]
            fn ocaml_5_3() {
                $check("ocaml-5.3.0");
            }
            #[test]
            fn ocaml_5_4() {
                if $crate::compilers::is_installed("ocaml-5.4") {
                    $check("ocaml-5.4");
                }
            }
            #[test]
            fn ocaml_5_5() {
                if $crate::compilers::is_installed("ocaml-5.5") {
                    $check("ocaml-5.5");
                }
            }
        }
    };
}

/// The tests of [`on_each`], and one for the compiler with flambda.
#[macro_export]
macro_rules! on_each_build {
    ($name:ident, $check:expr) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            #[test]
            fn system() {
                $check("system");
            }
            #[test]
            fn ocaml_4_14() {
                $check("ocaml-4.14.1000");
            }
            #[test]
            fn ocaml_4_14_flambda() {
                if $crate::compilers::is_installed("ocaml-4.14-flambda") {
                    $check("ocaml-4.14-flambda");
                }
            }
            #[test]
            fn ocaml_5_1() {
                if $crate::compilers::is_installed("ocaml-5.1.4") {
                    $check("ocaml-5.1.4");
                }
            }
            #[test]
            fn ocaml_5_3() {
                $check("ocaml-5.3.0");
            }
            #[test]
            fn ocaml_5_4() {
                if $crate::compilers::is_installed("ocaml-5.4") {
                    $check("ocaml-5.4");
                }
            }
            #[test]
            fn ocaml_5_5() {
                if $crate::compilers::is_installed("ocaml-5.5") {
                    $check("ocaml-5.5");
                }
            }
        }
    };
}
