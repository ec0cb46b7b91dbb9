//! A report with pseudonyms in place of the program's own names.
//!
//! A pseudonym is made of the name alone, so that a name has the same one in every report.

use memtrail_engine::is_library_name;
use memtrail_profile::report::{CallerChain, Frame, Report};
use xxhash_rust::xxh3::xxh3_64;

/// Replaces names of the program's own functions, modules and files; those of libraries stay.
pub(super) fn redact(report: &mut Report, installed: &[String]) {
    for place in &mut report.places {
        let is_file = place.function.is_none() && place.file.is_some();
        let is_library = !is_file && is_library_name(&place.name, installed);
        if !is_library {
            place.name = match (&place.function, &place.file) {
                (None, Some(_)) => file(&place.name),
                _ => function(&place.name),
            };
            place.function = place.function.as_deref().map(function);
            place.file = place.file.as_deref().map(file);
        }
        place.file = place.file.as_deref().map(|path| base(path).to_owned());
        redact_chains(&mut place.callers, installed);
    }
}

fn redact_chains(chains: &mut [CallerChain], installed: &[String]) {
    for chain in chains {
        for frame in chain.chain.iter_mut().chain(&mut chain.outermost) {
            redact_frame(frame, installed);
        }
        redact_chains(&mut chain.branches, installed);
    }
}

fn redact_frame(frame: &mut Frame, installed: &[String]) {
    if !is_library_name(&frame.name, installed) {
        frame.name = function(&frame.name);
        frame.function = function(&frame.function);
        frame.file = file(&frame.file);
    }
    frame.file = base(&frame.file).to_owned();
}

/// `Shop.Cart.(fun)` as `M1f3a.M90c2.(fun)`: each part by itself, so that modules stay distinct.
fn function(name: &str) -> String {
    let part = |part: &str| match part.chars().next() {
        Some('(') | None => part.to_owned(),
        Some(first) if first.is_ascii_uppercase() => format!("M{}", digits(part)),
        _ => format!("f{}", digits(part)),
    };
    // Names of C++ and Rust have dots inside types, which tell nothing.
    if name.contains("::") {
        return format!("f{}", digits(name));
    }
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}

/// `src/cart.ml` as `file1f3a.ml`.
fn file(path: &str) -> String {
    match base(path).rsplit_once('.') {
        Some((name, extension)) if extension.len() <= 4 => {
            format!("file{}.{extension}", digits(name))
        }
        _ if path.is_empty() => String::new(),
        _ => format!("file{}", digits(path)),
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn digits(name: &str) -> String {
    format!("{:06x}", xxh3_64(name.as_bytes()) >> 40)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn pseudonyms_depend_on_names_alone() {
        let name = function("Shop.Cart.(fun)");
        assert_eq!(name, function("Shop.Cart.(fun)"));
        assert!(
            name.starts_with('M') && name.ends_with(".(fun)") && !name.contains("Cart"),
            "{name}"
        );
        assert_ne!(function("Shop.Cart.add"), function("Shop.Cart.sub"));
        assert_eq!(function("Shop.Cart.add").split('.').next(), name.split('.').next());
        let file = file("/home/me/src/cart.ml");
        assert!(
            file.starts_with("file")
                && Path::new(&file).extension() == Some("ml".as_ref())
                && !file.contains("cart"),
            "{file}"
        );
    }

    #[test]
    fn names_with_types_in_them_are_one_part() {
        let name = function("<shop::Cart<alloc::string::String> as core::ops::Drop>::drop");
        assert!(name.starts_with('f') && name.len() == 7, "{name}");
    }
}
