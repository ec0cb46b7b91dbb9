//! Reads the file.

use memtrail_leb128::{Cursor, unzigzag};
use memtrail_trace::BlockId;

use crate::format::{MAGIC, OLDEST, VERSION, kind};
use crate::graph::{
    Block, Bytes, Edge, HeapBlock, Module, Node, Place, References, Root, Thread, Variable,
};

/// Why bytes are no such file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It begins in another way.
    #[error("not a file of references")]
    Magic,
    /// Another version of memtrail wrote it.
    #[error("references of format {0}; this memtrail reads formats {OLDEST} to {VERSION}")]
    Version(u64),
    /// It ends early, or has numbers that make no sense.
    #[error("damaged references at byte {at}")]
    Damaged {
        /// Where.
        at: usize,
    },
}

impl References {
    /// Reads a file's bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(Error::Magic)?;
        let mut cursor = Cursor::new(rest);
        let version = cursor.number();
        let found = match version {
            Some(OLDEST..=VERSION) => contents(&mut cursor),
            Some(other) => return Err(Error::Version(other)),
            None => None,
        };
        found.filter(|_| cursor.is_at_end()).ok_or(Error::Damaged { at: MAGIC.len() + cursor.at() })
    }
}

fn contents(cursor: &mut Cursor<'_>) -> Option<References> {
    let taken_unix_us = cursor.number()?;
    let count = cursor.count()?;
    let modules = (0..count).map(|_| cursor.text()).collect::<Option<Vec<_>>>()?;
    let count = cursor.count().filter(|&count| u32::try_from(count).is_ok())?;
    let block = |cursor: &mut Cursor<'_>| {
        let sampled = cursor.number()?.checked_sub(1).map(BlockId);
        Some(Block { sampled, size: Bytes(cursor.number()?) })
    };
    let blocks = (0..count).map(|_| block(cursor)).collect::<Option<Vec<_>>>()?;
    let count = cursor.count()?;
    let mut from = 0_u32;
    let mut edge = |cursor: &mut Cursor<'_>| {
        from = from.checked_add(u32::try_from(cursor.number()?).ok()?)?;
        let at = Bytes(cursor.number()?);
        let to = i64::from(from).checked_add(unzigzag(cursor.number()?))?;
        Some(Edge {
            from: node(u64::from(from), &blocks)?,
            at,
            to: node(to.try_into().ok()?, &blocks)?,
        })
    };
    let edges = (0..count).map(|_| edge(cursor)).collect::<Option<Vec<_>>>()?;
    let count = cursor.count()?;
    let root = |cursor: &mut Cursor<'_>| {
        Some(Root { place: place(cursor, &modules)?, to: node(cursor.number()?, &blocks)? })
    };
    let roots = (0..count).map(|_| root(cursor)).collect::<Option<Vec<_>>>()?;
    Some(References { taken_unix_us, modules, blocks, edges, roots })
}

fn node(number: u64, blocks: &[Block]) -> Option<Node> {
    let number = u32::try_from(number).ok()?;
    ((number as usize) < blocks.len()).then_some(Node(number))
}

fn place(cursor: &mut Cursor<'_>, modules: &[String]) -> Option<Place> {
    let thread = |cursor: &mut Cursor<'_>| Some(Thread(cursor.number()?.try_into().ok()?));
    Some(match cursor.number()? {
        data @ (kind::DATA | kind::NAMED_DATA | kind::POSITIONED_DATA) => {
            let module = Module(cursor.number()?.try_into().ok()?);
            modules.get(module.0 as usize)?;
            let address = cursor.number()?;
            let name = if data == kind::DATA { None } else { Some(cursor.text()?) };
            let position = if data == kind::POSITIONED_DATA { Some(cursor.text()?) } else { None };
            let variable = name.map(|name| Variable { name, position });
            Place::Data { module, address, variable }
        }
        kind::STACK => Place::Stack(thread(cursor)?),
        kind::THREAD_LOCAL => Place::ThreadLocal(thread(cursor)?),
        kind::SYSTEM_CALL => Place::SystemCall(thread(cursor)?),
        kind::HEAP => Place::Heap {
            block: HeapBlock(cursor.number()?.try_into().ok()?),
            at: Bytes(cursor.number()?),
            is_garbage: false,
        },
        kind::ELSEWHERE => Place::Elsewhere,
        _ => return None,
    })
}
