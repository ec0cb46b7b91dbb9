//! Between which lines functions begin that have no line of their own.
//!
//! A function that neither calls nor allocates has no frame descriptor. But the compiler emits the functions of a
//! unit in the order of their files and places in the source (`Debuginfo.compare` in `asmcomp/cmmgen.ml`), those first
//! that it made itself and that have no place. So such a function begins no earlier than any that is before it,
//! and no later than any that is behind it.
//!
//! Of those the first line that a descriptor has is known, which is no earlier than where they begin: such a line of one
//! behind is the last possible one. A function that ends before another one begins has only lines before
//! that: names tell which functions are inside others, `Shop.add.(fun)` is inside `Shop.add`.

use std::ops::Range;

/// A function of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour<'a> {
    /// Its lines, if debug information has any.
    pub lines: Option<Lines<'a>>,
    /// It may be one that the compiler made itself: it has neither a name nor a place in its symbol, or sets up a class.
    pub may_be_generated: bool,
}

/// The lines of a function, as far as they are known.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a> {
    /// The source file.
    pub file: &'a [u8],
    /// The function's name with those of the functions and modules around it; empty if unknown.
    pub name: &'a [u8],
    /// The first line that is known.
    pub first: u32,
    /// The last line that is known.
    pub last: u32,
    /// Whether the function begins at the first one.
    pub is_start: bool,
}

/// Lines between which a function begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between<'a> {
    /// The source file.
    pub file: &'a [u8],
    /// The first line where it may begin.
    pub first: u32,
    /// The last one; `None` if that is unknown.
    pub last: Option<u32>,
}

/// A function with lines: its place among those of the unit, and the lines.
type Known<'a> = (usize, Lines<'a>);

/// The functions of a file, and from where to where they are in the unit.
struct OfFile<'a> {
    file: &'a [u8],
    known: Vec<Known<'a>>,
    extent: Range<usize>,
}

/// For each function of a unit, in the order of their code, between which lines it begins. `None` for those that have
/// lines, and for those of which nothing can be said.
pub fn between<'a>(unit: &[Neighbour<'a>]) -> Vec<Option<Between<'a>>> {
    let mut found = vec![None; unit.len()];
    let mut files: Vec<(&[u8], Vec<Known<'_>>)> = Vec::new();
    for (at, one) in unit.iter().enumerate() {
        let Some(lines) = one.lines else { continue };
        match files.iter_mut().find(|(file, _)| *file == lines.file) {
            Some((_, known)) => known.push((at, lines)),
            None => files.push((lines.file, vec![(at, lines)])),
        }
    }
    // What is between two files may be in either, what is before or behind them in a further one.
    let is_only = files.len() == 1;
    let mut apart: Vec<OfFile<'_>> = Vec::new();
    for (file, known) in files {
        let mut known = in_order(&known);
        // Those before the first that surely has a place have none, and what is inlined into them is in no order.
        let is_generated =
            |(at, _): &Known<'_>| unit.get(*at).is_none_or(|one| one.may_be_generated);
        let generated = known.iter().take_while(|one| is_generated(one)).count();
        known.drain(..generated);
        let (Some((first, _)), Some((last, _))) = (known.first(), known.last()) else { continue };
        let extent = *first..last + 1;
        let is_apart =
            |other: &Range<usize>| other.end <= extent.start || extent.end <= other.start;
        if !apart.iter().all(|other| is_apart(&other.extent)) {
            // Lines of a generated file that are within its functions are those of another one (`# 1 "shop.mly"`).
            return found;
        }
        apart.push(OfFile { file, known, extent });
    }
    for of_file in apart {
        let within = if is_only { 0..unit.len() } else { of_file.extent.clone() };
        in_file(&of_file, unit, within, &mut found);
    }
    found
}

/// The longest part of a file's functions whose first lines are in order, of several such parts that with the later
/// lines. Those that are left out are copies that flambda made: they are where they are used, with the lines of where
/// they were written, which are before that. So are functions around others that have earlier lines.
fn in_order<'a>(known: &[Known<'a>]) -> Vec<Known<'a>> {
    // From behind: for each length, the function with the last line that such a part begins with; for each function,
    // the one behind.
    let mut starts: Vec<(u32, usize)> = Vec::new();
    let mut behind: Vec<Option<usize>> = vec![None; known.len()];
    for (number, (_, lines)) in known.iter().enumerate().rev() {
        let length = starts.partition_point(|(line, _)| lines.first <= *line);
        if let Some(behind) = behind.get_mut(number) {
            *behind = length.checked_sub(1).and_then(|shorter| Some(starts.get(shorter)?.1));
        }
        match starts.get_mut(length) {
            Some(start) => *start = (lines.first, number),
            None => starts.push((lines.first, number)),
        }
    }
    let mut part = Vec::with_capacity(starts.len());
    let mut next = starts.last().map(|(_, number)| *number);
    while let Some(number) = next {
        part.extend(known.get(number));
        next = behind.get(number).copied().flatten();
    }
    part
}

/// The same for the functions within an extent that are all in one file, by those that are known and in order. Generated
/// functions have a place only if they are between these.
fn in_file<'a>(
    OfFile { file, known, extent }: &OfFile<'a>,
    unit: &[Neighbour<'a>],
    within: Range<usize>,
    found: &mut [Option<Between<'a>>],
) {
    let mut earliest = 1;
    let mut around: Vec<Lines<'_>> = Vec::new();
    let mut known = known.iter().peekable();
    let functions = unit.iter().zip(found).enumerate();
    for (at, (one, found)) in functions.take(within.end).skip(within.start) {
        if let Some((_, own)) = known.next_if(|(known, _)| *known == at) {
            // Those that it is not inside of have ended.
            around.retain(|outer| {
                let is_around = may_contain(outer, own);
                if !is_around {
                    earliest = earliest.max(end_of(outer, own.first));
                }
                is_around
            });
            if own.is_start {
                earliest = earliest.max(own.first);
            }
            match around.iter_mut().find(|outer| outer.name == own.name) {
                Some(same) => {
                    same.first = same.first.max(own.first);
                    same.last = same.last.max(own.last);
                }
                None => around.push(*own),
            }
        } else if one.lines.is_none() && (!one.may_be_generated || extent.contains(&at)) {
            // First lines are in order: that of the next is the least of all behind.
            let latest = known.peek().map(|(_, lines)| lines.first);
            *found = Some(Between { file, first: earliest, last: latest });
        }
    }
}

/// A line that a function has before another one begins, which begins no later than at `latest`. Code that was
/// generated has lines of what it was generated from, which are in no order: lines that contradict are left out.
fn end_of(function: &Lines<'_>, latest: u32) -> u32 {
    let fits = |line: &u32| *line <= latest;
    Some(function.last).filter(fits).or(Some(function.first).filter(fits)).unwrap_or(0)
}

/// Whether a function may be around another one that is behind it.
fn may_contain(outer: &Lines<'_>, inner: &Lines<'_>) -> bool {
    if outer.name.is_empty() || inner.name.is_empty() {
        return true;
    }
    match inner.name.strip_prefix(outer.name) {
        // Functions without a name inside each other are called the same.
        Some(b"") => outer.name.ends_with(b"(fun)"),
        Some(rest) => matches!(rest.first(), Some(b'.' | b'#')),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &[u8] = b"shop.ml";

    fn known(name: &'static str, first: u32, last: u32) -> Neighbour<'static> {
        let lines = Lines { file: FILE, name: name.as_bytes(), first, last, is_start: false };
        Neighbour { lines: Some(lines), may_be_generated: false }
    }

    fn unknown() -> Neighbour<'static> {
        Neighbour { lines: None, may_be_generated: false }
    }

    fn generated() -> Neighbour<'static> {
        Neighbour { lines: None, may_be_generated: true }
    }

    fn lines(unit: &[Neighbour<'static>]) -> Vec<Option<(u32, Option<u32>)>> {
        between(unit).iter().map(|one| one.map(|one| (one.first, one.last))).collect()
    }

    #[test]
    fn a_function_is_between_those_around_it() {
        let unit = [
            generated(),
            unknown(),
            known("Shop.add", 10, 15),
            unknown(),
            known("Shop.total", 20, 24),
            unknown(),
            known("Shop.total.(fun)", 22, 23),
            known("Shop.remove", 30, 31),
            unknown(),
            generated(),
        ];
        let found = lines(&unit);
        assert_eq!((found[0], found[9]), (None, None), "they may have no place");
        assert_eq!(found[1], Some((1, Some(10))));
        assert_eq!(found[3], Some((1, Some(20))), "it may be inside the first");
        assert_eq!(found[5], Some((15, Some(22))), "it is behind the first, or in the second");
        assert_eq!(found[8], Some((24, None)));
        assert_eq!(found[2], None, "its lines are known");
    }

    /// The first of them, which sets up a class, calls what is in the middle of the file.
    #[test]
    fn functions_without_a_place_are_before_all_others() {
        let mut first = known("Shop.cart#total", 90, 90);
        let mut second = known("Shop.(fun)", 40, 41);
        (first.may_be_generated, second.may_be_generated) = (true, true);
        let unit =
            [generated(), first, generated(), second, generated(), known("Shop.add", 50, 55)];
        assert!(between(&unit).iter().all(Option::is_none));
    }

    /// Code of a generated file has lines of another one inside its functions.
    #[test]
    fn functions_of_two_files_in_turn_tell_nothing() {
        let mut other = known("Shop.action", 3, 4);
        if let Some(lines) = &mut other.lines {
            lines.file = b"shop.mly";
        }
        let unit =
            [known("Shop.add", 10, 15), other, unknown(), known("Shop.total", 20, 25), other];
        assert!(between(&unit).iter().all(Option::is_none));
    }

    #[test]
    fn where_a_function_begins_bounds_those_behind() {
        let mut placed = known("", 40, 40);
        if let Some(lines) = &mut placed.lines {
            lines.is_start = true;
        }
        let unit = [known("Shop.add", 10, 15), placed, unknown(), known("Shop.total", 45, 46)];
        assert_eq!(lines(&unit)[2], Some((40, Some(45))));
    }

    #[test]
    fn what_is_between_two_files_is_in_none() {
        let mut other = known("Shop.parse", 3, 4);
        if let Some(lines) = &mut other.lines {
            lines.file = b"shop.mly";
        }
        let unit =
            [unknown(), known("Shop.add", 10, 15), unknown(), other, unknown(), other, unknown()];
        let found = between(&unit);
        assert_eq!((found[0], found[2], found[6]), (None, None, None));
        assert_eq!(found[4].map(|one| (one.file, one.last)), Some((&b"shop.mly"[..], Some(3))));
    }

    /// A deriver gives its functions the places of the type that they are made for.
    #[test]
    fn lines_of_generated_code_that_contradict_are_left_out() {
        let unit =
            [known("Shop.pp", 5, 9), known("Shop.show", 5, 6), unknown(), known("Shop.g", 7, 8)];
        assert_eq!(lines(&unit)[2], Some((5, Some(7))));
    }

    /// A function of a program: where it begins and ends, its name, and whether it has descriptors.
    #[derive(Clone, Debug)]
    struct Made {
        start: u32,
        end: u32,
        name: String,
        descriptors: Option<(u32, u32)>,
    }

    impl Made {
        fn neighbour(&self) -> Neighbour<'_> {
            let lines = self.descriptors.map(|(first, last)| Lines {
                file: FILE,
                name: self.name.as_bytes(),
                first,
                last,
                is_start: false,
            });
            Neighbour { lines, may_be_generated: false }
        }
    }

    /// Functions as a compiler emits them: in the order of their starts, each inside the one before or behind it.
    fn program() -> impl Strategy<Value = Vec<Made>> {
        let step = (0..4usize, 0..3u32, any::<bool>(), any::<bool>(), 0..10u32, 0..10u32);
        prop::collection::vec(step, 1..24).prop_map(|steps| {
            let mut made: Vec<Made> = Vec::new();
            let mut open: Vec<usize> = Vec::new();
            let mut line = 1;
            for (number, (close, gap, is_named, is_known, first, last)) in
                steps.into_iter().enumerate()
            {
                for _ in 0..close {
                    let Some(ended) = open.pop() else { break };
                    made[ended].end = line;
                }
                line += gap;
                let outer =
                    open.last().map_or("Shop".to_owned(), |&outer| made[outer].name.clone());
                let name = match (is_named, outer.ends_with("(fun)")) {
                    (true, _) => format!("{outer}.f{number}"),
                    (false, true) => outer,
                    (false, false) => format!("{outer}.(fun)"),
                };
                open.push(made.len());
                let descriptors = is_known.then_some((first, last));
                made.push(Made { start: line, end: u32::MAX, name, descriptors });
            }
            for one in &mut made {
                one.end = one.end.min(line + 1);
                // Descriptors are on lines of the function.
                let within = one.end - one.start + 1;
                one.descriptors = one.descriptors.map(|(first, last)| {
                    let first = one.start + first % within;
                    (first, first + last % (one.end - first + 1))
                });
            }
            made
        })
    }

    fn unit_of(made: &[Made]) -> Vec<Neighbour<'_>> {
        made.iter().map(Made::neighbour).collect()
    }

    /// The same from the definition, each function by itself.
    fn slow(unit: &[Neighbour<'_>], known: &[Known<'_>], at: usize) -> (u32, Option<u32>) {
        let latest =
            known.iter().filter(|(known, _)| *known > at).map(|(_, lines)| lines.first).min();
        let before: Vec<_> = known.iter().filter(|(known, _)| *known < at).collect();
        let mut earliest = 1;
        for (place, inner) in &before {
            for (_, outer) in before.iter().filter(|(outer, _)| outer < place) {
                if !may_contain(outer, inner) {
                    // Nested functions without a name are called as those around them.
                    let same =
                        before.iter().filter(|(same, one)| same < place && one.name == outer.name);
                    let lines = same.flat_map(|(_, one)| [one.first, one.last]);
                    earliest = lines.filter(|line| *line <= inner.first).fold(earliest, u32::max);
                }
            }
        }
        assert!(unit[at].lines.is_none());
        (earliest, latest)
    }

    /// How long the longest part in order is, by trying each function as its last one.
    fn slow_length(lines: &[u32]) -> usize {
        let mut lengths: Vec<usize> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let before = lines[..at].iter().zip(&lengths).filter(|(before, _)| *before <= line);
            lengths.push(before.map(|(_, length)| *length).max().unwrap_or(0) + 1);
        }
        lengths.into_iter().max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn a_function_begins_between_its_lines(made in program()) {
            let unit = unit_of(&made);
            for (one, found) in made.iter().zip(between(&unit)) {
                if let Some(found) = found {
                    prop_assert!(found.first <= one.start, "{found:?} of {one:?}");
                    prop_assert!(found.last.is_none_or(|last| one.start <= last), "{found:?} of {one:?}");
                }
            }
        }

        #[test]
        fn the_lines_are_those_of_the_definition(made in program()) {
            let unit = unit_of(&made);
            let known: Vec<_> =
                unit.iter().enumerate().filter_map(|(at, one)| Some((at, one.lines?))).collect();
            let known = in_order(&known);
            for (at, found) in between(&unit).into_iter().enumerate() {
                let is_unknown = !known.is_empty() && made[at].descriptors.is_none();
                let expected = is_unknown.then(|| slow(&unit, &known, at));
                prop_assert_eq!(found.map(|found| (found.first, found.last)), expected, "at {} of {:?}", at, &made);
            }
        }

        #[test]
        fn the_longest_part_in_order(lines in prop::collection::vec(0..30u32, 0..40)) {
            let of = |first| Lines { file: FILE, name: b"", first, last: first, is_start: false };
            let known: Vec<_> = lines.iter().map(|line| of(*line)).enumerate().collect();
            let part: Vec<(usize, u32)> = in_order(&known).iter().map(|(at, one)| (*at, one.first)).collect();
            prop_assert_eq!(part.len(), slow_length(&lines));
            prop_assert!(part.is_sorted_by(|one, next| one.0 < next.0 && one.1 <= next.1));
            prop_assert!(part.iter().all(|(at, line)| lines[*at] == *line));
        }
    }

    /// Flambda's copies of functions are where they are used, with the lines of where they were written.
    #[test]
    fn copies_of_functions_bound_nothing() {
        let unit = [
            known("Shop.add", 10, 15),
            known("Shop.total", 100, 110),
            unknown(),
            known("Shop.add", 10, 15),
            known("Shop.remove", 120, 121),
            known("Shop.close", 130, 131),
        ];
        assert_eq!(lines(&unit)[2], Some((15, Some(120))));
    }
}
