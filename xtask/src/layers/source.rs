//! One file: what it defines, what it imports, which paths its code names.

use std::collections::HashSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, UseTree};

use crate::command::Outcome;

/// A name that a `use` item brings in; `*` for all of a module's.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) name: String,
    /// As written, resolved from `module`.
    pub(super) path: Vec<String>,
    /// The file's module, or one inside the file.
    pub(super) module: Vec<String>,
    pub(super) line: usize,
}

/// A path in code.
#[derive(Debug)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) module: Vec<String>,
    pub(super) line: usize,
}

/// A file.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) module: Vec<String>,
    pub(super) file: String,
    pub(super) imports: Vec<Import>,
    pub(super) mentions: Vec<Mention>,
    /// Full paths of its items.
    pub(super) items: HashSet<Vec<String>>,
}

impl Source {
    /// Parse a file that is this module.
    pub(super) fn parse(module: &[String], file: &str, text: &str) -> Outcome<Source> {
        let parsed =
            syn::parse_file(text).map_err(|e| format!("{file}:{}: {e}", e.span().start().line))?;
        let mut source = Source {
            module: module.to_vec(),
            file: file.to_owned(),
            imports: Vec::new(),
            mentions: Vec::new(),
            items: HashSet::new(),
        };
        source.read(module, &parsed.items);
        Ok(source)
    }

    fn read(&mut self, module: &[String], items: &[Item]) {
        for item in items {
            let (attributes, name) = described(item);
            if attributes.iter().any(is_for_tests) {
                continue;
            }
            if let Some(name) = name {
                self.items.insert([module, &[name]].concat());
            }
            match item {
                Item::Use(item) => self.import(module, &mut Vec::new(), &item.tree),
                Item::Mod(item) => {
                    if let Some((_, items)) = &item.content {
                        self.read(&[module, &[item.ident.to_string()]].concat(), items);
                    }
                }
                other => self.scan(module, &[], other.to_token_stream()),
            }
        }
    }

    fn import(&mut self, module: &[String], path: &mut Vec<String>, tree: &UseTree) {
        let mut add = |name: String, ident: &str, line: usize| {
            let mut path = path.clone();
            if ident != "self" && ident != "*" {
                path.push(ident.to_owned());
            }
            // `{self}` brings in the last name of the path.
            let name = if name == "self" { path.last().cloned().unwrap_or(name) } else { name };
            self.imports.push(Import { name, path, module: module.to_vec(), line });
        };
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.import(module, path, &tree.tree);
                path.pop();
            }
            UseTree::Name(tree) => {
                let name = tree.ident.to_string();
                add(name.clone(), &name, tree.ident.span().start().line);
            }
            UseTree::Rename(tree) => {
                let line = tree.ident.span().start().line;
                add(tree.rename.to_string(), &tree.ident.to_string(), line);
            }
            UseTree::Glob(tree) => {
                add("*".into(), "*", tree.star_token.spans[0].start().line);
            }
            UseTree::Group(tree) => {
                for tree in &tree.items {
                    self.import(module, path, tree);
                }
            }
        }
    }

    /// Paths of at least two names, also those inside macros and of `use` inside functions.
    fn scan(&mut self, module: &[String], prefix: &[String], tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let separator = |at: usize| {
            let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
            colon(at) && colon(at + 1)
        };
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => {
                    self.scan(module, &[], group.stream());
                    at += 1;
                }
                TokenTree::Ident(first) => {
                    // What comes after `<T as Trait>::` or a leading `::` is no path of ours.
                    let continued = at >= 2 && separator(at - 2);
                    let mut path = prefix.to_vec();
                    path.push(first.to_string());
                    at += 1;
                    while separator(at) {
                        match tokens.get(at + 2) {
                            Some(TokenTree::Ident(next)) => path.push(next.to_string()),
                            Some(TokenTree::Group(group))
                                if group.delimiter() == Delimiter::Brace && !continued =>
                            {
                                self.scan(module, &path, group.stream());
                                at += 3;
                                continue;
                            }
                            _ => break,
                        }
                        at += 3;
                    }
                    if path.len() > 1 && !continued {
                        let line = first.span().start().line;
                        self.mentions.push(Mention { path, module: module.to_vec(), line });
                    }
                    while separator(at) && !matches!(tokens.get(at + 2), Some(TokenTree::Group(_)))
                    {
                        at += 2;
                    }
                }
                _ => at += 1,
            }
        }
    }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.meta.to_token_stream().to_string().replace(' ', "").contains("(test")
}

/// An item's attributes and the name that it defines.
fn described(item: &Item) -> (&[Attribute], Option<String>) {
    macro_rules! named {
        ($item:expr) => {
            (&$item.attrs, Some($item.ident.to_string()))
        };
    }
    match item {
        Item::Const(item) => named!(item),
        Item::Enum(item) => named!(item),
        Item::Fn(item) => (&item.attrs, Some(item.sig.ident.to_string())),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref().map(ToString::to_string)),
        Item::Mod(item) => named!(item),
        Item::Static(item) => named!(item),
        Item::Struct(item) => named!(item),
        Item::Trait(item) => named!(item),
        Item::Type(item) => named!(item),
        Item::Union(item) => named!(item),
        Item::Use(item) => (&item.attrs, None),
        Item::ForeignMod(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}
