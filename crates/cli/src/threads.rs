//! Which thread allocated what, from a recording's file to the engine's list.

use std::collections::HashMap;

use memtrail_engine::describe::ThreadList;
use memtrail_recording::Recording;
use memtrail_recording::threads::{Thread, Threads};

/// The highest number that a thread may have here; blocks of later ones are nobody's.
const LAST: u32 = 65_534;

/// What the recording's file says; nothing for bare traces and programs with one thread.
pub(crate) fn list(recording: &Recording) -> Option<ThreadList> {
    let bytes = std::fs::read(&recording.threads).ok()?;
    // What stands before an unreadable line is right all the same.
    let (threads, _) = Threads::parse(&bytes);
    (threads.threads.len() > 1).then(|| named(&threads))
}

/// Names by number, each different, empty where there is no thread.
fn named(threads: &Threads) -> ThreadList {
    let last = threads.threads.keys().copied().filter(|&number| number <= LAST).max();
    let mut taken: HashMap<String, u32> = HashMap::new();
    let names = (0..=last.unwrap_or(0)).map(|number| {
        let Some(thread) = threads.threads.get(&number) else { return String::new() };
        let name = display(number, thread);
        let times = taken.entry(name.clone()).or_default();
        *times += 1;
        if *times == 1 { name } else { format!("{name} [{times}]") }
    });
    let names = names.collect();
    let switches = threads.switches.iter().map(|(domain, switches)| {
        let known = switches.iter().filter(|&&(_, number)| number <= LAST);
        (domain, known.map(|&(block, number)| (block, number as u16)).collect())
    });
    ThreadList { names, switches: switches.collect() }
}

fn display(number: u32, thread: &Thread) -> String {
    if thread.name.is_empty() {
        format!("thread {number}")
    } else {
        format!("{} ({})", thread.name, thread.tid)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn thread(tid: u32, name: &str) -> Thread {
        Thread { tid, name: name.into() }
    }

    #[test]
    fn threads_have_different_names() {
        let threads = Threads {
            threads: [
                (0, thread(10, "server")),
                (2, thread(11, "worker")),
                (3, thread(11, "worker")),
                (4, thread(0, "")),
                (70_000, thread(12, "late")),
            ]
            .into(),
            switches: BTreeMap::from([(0, vec![(0, 0), (5, 3), (9, 70_000)])]).into(),
        };
        let list = named(&threads);
        let names = ["server (10)", "", "worker (11)", "worker (11) [2]", "thread 4"];
        assert_eq!(list.names, names);
        assert_eq!(list.switches[&0], [(0, 0), (5, 3)]);
    }
}
