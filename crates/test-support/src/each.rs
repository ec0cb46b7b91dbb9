//! A test for each of the compilers that tests run with.

/// One test for each compiler, named after it.
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
            fn ocaml_5_3() {
                $check("ocaml-5.3.0");
            }
        }
    };
}
