//! What a program's filter of system calls (seccomp) would do at a call of ours.
//!
//! A filter is a program of the classic BPF of `linux/filter.h`, which the kernel runs at each system call over `struct
//! seccomp_data`. Its jumps only lead forward.

use crate::os::objects::THIS_MACHINE;

/// One instruction, `struct sock_filter`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    pub(crate) code: u16,
    /// Instructions that are left out if the condition holds, and if it does not.
    pub(crate) if_true: u8,
    pub(crate) if_false: u8,
    pub(crate) k: u32,
}

/// A system call, as a filter sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) number: u32,
    pub(crate) arguments: [u64; 6],
}

/// Words of memory that a filter has (`BPF_MEMWORDS`).
const MEMORY: usize = 16;
/// What the kernel does at a call (`linux/seccomp.h`): it is made, or fails with an error.
const ALLOW: u32 = 0x7fff_0000;
const LOG: u32 = 0x7ffc_0000;
const ERRNO: u32 = 0x0005_0000;
/// The part of the answer that tells what is done.
const ACTION: u32 = 0xffff_0000;
/// How the kernel calls this machine's system calls (`linux/audit.h`).
const ARCHITECTURE: u32 = 0xC000_0000 | THIS_MACHINE as u32;

/// Whether a call ends the program, or raises a signal, or asks another process. An error is not one: we go on without
/// what we asked for.
pub(crate) fn is_fatal(filter: &[Instruction], call: &Call) -> bool {
    // The kernel does not accept a filter that cannot be run.
    run(filter, call).is_some_and(|answer| !matches!(answer & ACTION, ALLOW | LOG | ERRNO))
}

/// What a filter answers; `None` if it is no filter.
fn run(filter: &[Instruction], call: &Call) -> Option<u32> {
    let (mut a, mut x, mut memory) = (0_u32, 0_u32, [0_u32; MEMORY]);
    let mut at = 0_usize;
    loop {
        let Instruction { code, if_true, if_false, k } = *filter.get(at)?;
        at += 1;
        // Class, and within it size and mode, or operation and source.
        let source = if code & 0x08 == 0 { k } else { x };
        match code & 0x07 {
            0x00 => a = load(code, k, call, &memory)?,
            0x01 => x = load(code, k, call, &memory)?,
            0x02 => *memory.get_mut(k as usize)? = a,
            0x03 => *memory.get_mut(k as usize)? = x,
            // A division by X ends the filter where that is 0, with an answer of 0.
            0x04 if code & 0xf0 == 0x30 && source == 0 => return Some(0),
            0x04 => a = calculate(code & 0xf0, a, source)?,
            0x05 => {
                let holds = match code & 0xf0 {
                    0x00 => {
                        at = at.checked_add(k as usize)?;
                        continue;
                    }
                    0x10 => a == source,
                    0x20 => a > source,
                    0x30 => a >= source,
                    0x40 => a & source != 0,
                    _ => return None,
                };
                at += usize::from(if holds { if_true } else { if_false });
            }
            0x06 => return Some(if code & 0x18 == 0x10 { a } else { k }),
            _ if code & 0xf8 == 0 => x = a,
            _ => a = x,
        }
    }
}

fn load(code: u16, k: u32, call: &Call, memory: &[u32; MEMORY]) -> Option<u32> {
    match code & 0xe0 {
        0x00 => Some(k),
        0x20 => word(call, k),
        0x60 => memory.get(k as usize).copied(),
        // The length of `struct seccomp_data`.
        0x80 => Some(64),
        _ => None,
    }
}

/// The word at an offset of `struct seccomp_data`: number, architecture, instruction, arguments.
fn word(call: &Call, offset: u32) -> Option<u32> {
    if !offset.is_multiple_of(4) {
        return None;
    }
    Some(match offset / 4 {
        0 => call.number,
        1 => ARCHITECTURE,
        // Wherever we call from.
        2 | 3 => 0,
        index => {
            let argument = call.arguments.get((index as usize - 4) / 2)?;
            // Of little-endian machines.
            if index % 2 == 0 { *argument as u32 } else { (argument >> 32) as u32 }
        }
    })
}

fn calculate(operation: u16, a: u32, by: u32) -> Option<u32> {
    Some(match operation {
        0x00 => a.wrapping_add(by),
        0x10 => a.wrapping_sub(by),
        0x20 => a.wrapping_mul(by),
        0x30 => a.checked_div(by)?,
        0x40 => a | by,
        0x50 => a & by,
        0x60 => a.wrapping_shl(by),
        0x70 => a.wrapping_shr(by),
        0x80 => a.wrapping_neg(),
        0xa0 => a ^ by,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(code: u16, k: u32, if_true: u8, if_false: u8) -> Instruction {
        Instruction { code, if_true, if_false, k }
    }

    const NUMBER: Instruction = of(0x20, 0, 0, 0);
    const KILL: Instruction = of(0x06, 0x8000_0000, 0, 0);
    const ALLOWED: Instruction = of(0x06, ALLOW, 0, 0);

    /// The kernel's own answers, for filters of each kind of instruction: a forked process installs the filter, and makes
    /// the call.
    #[test]
    fn answers_are_the_kernels() {
        // What these do to the process has no effect on the test.
        let calls = [
            (libc::SYS_umask, 0_u64),
            (libc::SYS_umask, 7),
            (libc::SYS_close, 0xffff_ffff),
            (libc::SYS_getppid, 0x1_0000_0007),
        ];
        let number = |number: i64| number as u32;
        let fails = of(0x06, ERRNO | libc::EACCES as u32, 0, 0);
        let mut filters: Vec<Vec<Instruction>> = vec![
            vec![ALLOWED],
            // One call of these is killed; another is refused.
            vec![NUMBER, of(0x15, number(libc::SYS_umask), 0, 1), fails, ALLOWED],
            vec![NUMBER, of(0x15, number(libc::SYS_close), 1, 0), ALLOWED, KILL],
            // The upper half of the first argument, by a jump.
            vec![of(0x05, 1, 0, 0), KILL, of(0x20, 20, 0, 0), of(0x15, 1, 0, 1), KILL, ALLOWED],
            // Its lower half into memory, and out of it as X.
            vec![
                of(0x20, 16, 0, 0),
                of(0x02, 3, 0, 0),
                of(0x00, 7, 0, 0),
                of(0x61, 3, 0, 0),
                of(0x1d, 0, 1, 0),
                ALLOWED,
                KILL,
            ],
            // By the length, in A.
            vec![of(0x80, 0, 0, 0), of(0x15, 64, 0, 1), ALLOWED, KILL],
            // X and A change places; the answer is calculated.
            vec![
                of(0x20, 16, 0, 0),
                of(0x07, 0, 0, 0),
                of(0x00, ALLOW, 0, 0),
                of(0x0c, 0, 0, 0),
                of(0x16, 0, 0, 0),
            ],
            vec![of(0x20, 16, 0, 0), of(0x07, 0, 0, 0), of(0x3c, 0, 0, 0), KILL],
            vec![of(0x01, ALLOW, 0, 0), of(0x87, 0, 0, 0), of(0x16, 0, 0, 0)],
        ];
        // Each operation, on 7 and the argument, compared in each way.
        for operation in [0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0xa0] {
            for jump in [0x15, 0x25, 0x35, 0x45] {
                filters.push(vec![
                    of(0x20, 16, 0, 0),
                    of(0x04 | operation, 3, 0, 0),
                    of(jump, 10, 0, 1),
                    KILL,
                    ALLOWED,
                ]);
            }
        }
        for filter in &filters {
            for (number, argument) in calls {
                let arguments = [argument, 0, 0, 0, 0, 0];
                let call = Call { number: number as u32, arguments };
                let expected = kernel_ends(filter, number, argument);
                assert_eq!(is_fatal(filter, &call), expected, "{filter:x?} {call:?}");
            }
        }
    }

    /// Whether the kernel ends a process with this filter at a call.
    fn kernel_ends(filter: &[Instruction], number: i64, argument: u64) -> bool {
        // The process has to end by itself.
        let mut whole = vec![NUMBER, of(0x15, libc::SYS_exit_group as u32, 0, 1), ALLOWED];
        whole.extend(filter);
        let program =
            libc::sock_fprog { len: whole.len() as u16, filter: whole.as_mut_ptr().cast() };
        // SAFETY: the child makes system calls alone; the filter is valid.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0);
            if child == 0 {
                let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                let mode = libc::SECCOMP_MODE_FILTER;
                if libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) != 0 {
                    libc::syscall(libc::SYS_exit_group, 9);
                }
                libc::syscall(number, argument, 0, 0);
                libc::syscall(libc::SYS_exit_group, 7);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            if libc::WIFEXITED(status) {
                assert_eq!(
                    libc::WEXITSTATUS(status),
                    7,
                    "the kernel takes the filter: {filter:x?}"
                );
            }
            libc::WIFSIGNALED(status)
        }
    }

    #[test]
    fn what_is_no_filter_ends_nothing() {
        let call = Call { number: 1, arguments: [0; 6] };
        let none: [&[Instruction]; 6] = [
            &[],
            &[of(0x05, u32::MAX, 0, 0)],
            &[of(0x20, 3, 0, 0), KILL],
            &[of(0x20, 64, 0, 0), KILL],
            &[of(0x02, 16, 0, 0), KILL],
            &[of(0x94, 3, 0, 0), KILL],
        ];
        for filter in none {
            assert!(!is_fatal(filter, &call), "{filter:?}");
        }
    }
}
