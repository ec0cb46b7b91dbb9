//! Maps by the tags of dynamic values, which are declared as maps from integers to values of any type:
//!
//! ```ocaml
//! module Map (Value : sig type 'a t end) : sig
//!   type t
//!   val find : 'a tag -> t -> 'a Value.t
//! end = struct
//!   type t = Obj.t Value.t IntMap.t
//! end
//! ```
//!
//! The key of a node is a tag, so `Obj.t` stands there for the type that the tag is of.

use crate::builtin::Builtin;
use crate::instances::{Type, TypeId};
use crate::shape::Fields;
use crate::shapes::Shapes;

/// The field of a node with the key.
const KEY: usize = 1;
/// The field of a node with the value.
pub(crate) const VALUE: usize = 2;
/// The fields of a node: left subtree, key, value, right subtree, height.
const FIELDS: usize = 5;
/// Types inside types are looked at so far.
const MAX_DEPTH: u32 = 8;

impl Shapes<'_> {
    /// What a node of a map with fields of these types holds, if its keys are integers and its values speak of `Obj.t`,
    /// in a program with dynamic values whose tags are known.
    pub(crate) fn map_node(&mut self, types: &[TypeId]) -> Option<Fields> {
        let table = self.instances.table;
        if types.len() != FIELDS || table.dynamic.is_empty() {
            return None;
        }
        let key = self.instances.head(types[KEY]);
        let int = self.instances.texts.id("int");
        let value = types[VALUE];
        if *self.instances.get(key) != Type::Constant(int) || !self.speaks_of_any(value, MAX_DEPTH)
        {
            return None;
        }
        // A tag of several types of tags may stand for several types: then it says nothing.
        let mut tags: Vec<_> = table.dynamic.iter().map(|known| (known.hash, known.ty)).collect();
        tags.sort_unstable();
        tags.dedup();
        let is_only = |group: &&[(u32, _)]| group.len() == 1;
        let tags = tags.chunk_by(|a, b| a.0 == b.0).filter(is_only).flatten();
        let mut by_tag = Vec::new();
        for (hash, term) in tags {
            let of = self.instances.closed(*term);
            by_tag.push((i64::from(*hash), self.with_any(value, of, MAX_DEPTH)));
        }
        Some(Fields::ByTag { by_tag: by_tag.into(), otherwise: types.into() })
    }

    /// Whether a type is `Obj.t`, or has it as an argument.
    fn speaks_of_any(&self, ty: TypeId, depth: u32) -> bool {
        let Type::Declared(declaration, arguments) = self.instances.get(ty) else { return false };
        self.instances.builtin(*declaration) == Builtin::Anything
            || depth > 0 && arguments.iter().any(|ty| self.speaks_of_any(*ty, depth - 1))
    }

    /// A type with another in the place of `Obj.t`.
    fn with_any(&mut self, ty: TypeId, of: TypeId, depth: u32) -> TypeId {
        let Type::Declared(declaration, arguments) = self.instances.get(ty) else { return ty };
        let declaration = *declaration;
        if self.instances.builtin(declaration) == Builtin::Anything {
            return of;
        }
        if depth == 0 {
            return ty;
        }
        let arguments = arguments.clone();
        let arguments =
            arguments.iter().map(|ty| self.with_any(*ty, of, depth - 1)).collect::<Box<[TypeId]>>();
        self.instances.id(Type::Declared(declaration, arguments))
    }
}
