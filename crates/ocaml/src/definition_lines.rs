//! Lines of a unit's variables, in the order in which their values are computed, which is that of the source.
//!
//! A variable whose value has no place is defined no earlier than one that is computed before it has lines, and no later
//! than where the next one behind it begins. Lines that are not in this order bound nothing: those of a module are computed
//! after what is in it.

/// What is known of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known<'a> {
    /// Its value is made in these lines of a file.
    Lines(&'a [u8], u32, u32),
    /// It is computed here, but has no lines.
    Unplaced,
    /// Nothing: its value may be one that was computed before.
    Nothing,
}

/// Lines between which a variable is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between<'a> {
    /// The source file.
    pub file: &'a [u8],
    /// The first line.
    pub first: u32,
    /// The last one; `None` if that is unknown.
    pub last: Option<u32>,
}

/// For each variable of a unit that has no lines of its own, those between which it is defined. None if the
/// unit's lines are of several files.
pub fn between<'a>(unit: &[Known<'a>]) -> Vec<Option<Between<'a>>> {
    let mut found = vec![None; unit.len()];
    let of = |known: &Known<'a>| match *known {
        Known::Lines(file, first, last) => Some((file, first, last)),
        Known::Unplaced | Known::Nothing => None,
    };
    let mut all = unit.iter().filter_map(of);
    let Some((file, ..)) = all.next() else { return found };
    if all.any(|(other, ..)| other != file) {
        return found;
    }
    let firsts: Vec<Option<u32>> =
        unit.iter().map(|known| of(known).map(|(_, first, _)| first)).collect();
    let is_in_order = in_order(&firsts);
    let mut latest = None;
    let mut next = vec![None; unit.len()];
    for ((known, next), is_in_order) in unit.iter().zip(&mut next).zip(&is_in_order).rev() {
        *next = latest;
        if let Some((_, first, _)) = of(known).filter(|_| *is_in_order) {
            latest = Some(first);
        }
    }
    let mut earliest = 1;
    for (at, known) in unit.iter().enumerate() {
        let (Some(next), Some(is_in_order)) = (next.get(at), is_in_order.get(at)) else { break };
        if let (Known::Unplaced, Some(found)) = (known, found.get_mut(at)) {
            *found = Some(Between { file, first: earliest, last: *next });
        }
        if let Some((_, first, last)) = of(known).filter(|_| *is_in_order) {
            // Lines that are behind the next definition are not its own.
            let is_own = next.is_none_or(|next| last <= next);
            earliest = earliest.max(if is_own { last } else { first });
        }
    }
    found
}

/// Which of some lines are of the longest part that is in order; of several such parts, that with the later lines.
fn in_order(lines: &[Option<u32>]) -> Vec<bool> {
    // From behind: for each length, the last line that such a part begins with and its place; for each line the one behind.
    let mut starts: Vec<(u32, usize)> = Vec::new();
    let mut behind: Vec<Option<usize>> = vec![None; lines.len()];
    for (at, line) in lines.iter().enumerate().rev() {
        let Some(line) = *line else { continue };
        let length = starts.partition_point(|(start, _)| line <= *start);
        if let Some(behind) = behind.get_mut(at) {
            *behind = length.checked_sub(1).and_then(|shorter| Some(starts.get(shorter)?.1));
        }
        match starts.get_mut(length) {
            Some(start) => *start = (line, at),
            None => starts.push((line, at)),
        }
    }
    let mut part = vec![false; lines.len()];
    let mut next = starts.last().map(|(_, at)| *at);
    while let Some(at) = next {
        if let Some(part) = part.get_mut(at) {
            *part = true;
        }
        next = behind.get(at).copied().flatten();
    }
    part
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &[u8] = b"shop.ml";

    const fn at(line: u32) -> Known<'static> {
        Known::Lines(FILE, line, line)
    }

    fn lines(unit: &[Known<'static>]) -> Vec<Option<(u32, Option<u32>)>> {
        between(unit).iter().map(|one| one.map(|one| (one.first, one.last))).collect()
    }

    #[test]
    fn a_variable_is_between_those_around_it() {
        let lasting = Known::Lines(FILE, 20, 34);
        let unit = [Known::Unplaced, at(10), Known::Unplaced, lasting, Known::Unplaced, at(40)];
        let range = |first, last| Some((first, Some(last)));
        let expected = [range(1, 10), None, range(10, 20), None, range(34, 40), None];
        assert_eq!(lines(&unit), expected);
        assert_eq!(lines(&[at(10), Known::Unplaced]), [None, Some((10, None))]);
        assert_eq!(
            lines(&[at(10), Known::Nothing, at(20)]),
            [None; 3],
            "it may be another variable's"
        );
    }

    #[test]
    fn a_module_bounds_nothing_that_is_in_it() {
        // `module M = struct` in line 9.
        let unit = [at(10), Known::Unplaced, at(9), Known::Unplaced, at(20)];
        let range = |first, last| Some((first, Some(last)));
        assert_eq!(lines(&unit), [None, range(10, 20), None, range(10, 20), None]);
    }

    #[test]
    fn several_files_bound_nothing() {
        let other = Known::Lines(b"shop.mly", 3, 3);
        assert_eq!(lines(&[at(10), Known::Unplaced, other]), [None, None, None]);
    }

    proptest! {
        /// The oracle is a look at all lines on both sides, where all are in order.
        #[test]
        fn in_order_the_nearest_bound(unit in prop::collection::vec(prop::option::of(1..4_u32), 0..12)) {
            let mut line = 0;
            let unit: Vec<Option<u32>> = unit.iter().map(|step| step.map(|step| { line += step; line })).collect();
            let known: Vec<_> = unit.iter().map(|line| line.map_or(Known::Unplaced, at)).collect();
            for (place, found) in lines(&known).iter().enumerate() {
                let before = unit[..place].iter().flatten().max();
                let behind = unit[place..].iter().flatten().min();
                let is_known = unit[place].is_some() || line == 0;
                let expected = (!is_known).then(|| (before.copied().unwrap_or(1), behind.copied()));
                prop_assert_eq!(*found, expected);
            }
        }
    }
}
