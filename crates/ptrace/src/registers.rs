//! Registers of a stopped thread, and the system call that it is in.

/// The registers of a thread, as the kernel's `user_regs_struct` has them.
#[derive(Clone, Copy, Debug)]
pub struct Registers(pub(crate) libc::user_regs_struct);

/// Codes by which the kernel says that an interrupted call is to be made again (`include/linux/errno.h`).
const RESTART: [i64; 3] = [-512, -513, -514];
/// The same for a call that goes on where it was: by `restart_syscall`.
const RESTART_BLOCK: i64 = -516;
/// One of [`RESTART`]: made again unless a handler of a signal ran.
const RESTART_UNLESS_HANDLED: i64 = -514;
/// Bytes of the instruction `syscall`.
const SYSCALL_BYTES: u64 = 2;

/// Calls that end with `EINTR` when their thread was stopped, which the program must not see (`signal(7)`).
const ENDED_BY_STOPS: [libc::c_long; 12] = [
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_io_getevents,
    // Sockets with a time limit.
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
];

impl Registers {
    /// All of them in the order of `user_regs_struct`.
    pub const fn words(&self) -> [u64; 27] {
        let r = &self.0;
        [
            r.r15, r.r14, r.r13, r.r12, r.rbp, r.rbx, r.r11, r.r10, r.r9, r.r8, r.rax, r.rcx,
            r.rdx, r.rsi, r.rdi, r.orig_rax, r.rip, r.cs, r.eflags, r.rsp, r.ss, r.fs_base,
            r.gs_base, r.ds, r.es, r.fs, r.gs,
        ]
    }

    /// True if the thread is in a system call, or was interrupted in one that it will make again.
    pub const fn is_in_system_call(&self) -> bool {
        self.0.orig_rax.cast_signed() >= 0
    }

    const fn result(&self) -> i64 {
        self.0.rax.cast_signed()
    }

    /// Has the kernel make a call again that our stop alone has ended. If a handler of the program runs, the call ends with
    /// `EINTR` all the same. True if anything was changed.
    pub(crate) fn undo_interruption(&mut self) -> bool {
        let is_ended = self.result() == -i64::from(libc::EINTR)
            && ENDED_BY_STOPS.contains(&self.0.orig_rax.cast_signed());
        if is_ended {
            self.0.rax = RESTART_UNLESS_HANDLED.cast_unsigned();
        }
        is_ended
    }

    /// Instruction and `rax` with which the thread goes on if nobody leaves it to the kernel to make its call again.
    pub(crate) fn resumption(&self) -> (u64, u64) {
        let again = |number| (self.0.rip.wrapping_sub(SYSCALL_BYTES), number);
        match self.result() {
            result if self.is_in_system_call() && RESTART.contains(&result) => {
                again(self.0.orig_rax)
            }
            RESTART_BLOCK if self.is_in_system_call() => {
                again(libc::SYS_restart_syscall.cast_unsigned())
            }
            _ => (self.0.rip, self.0.rax),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(number: i64, result: i64) -> Registers {
        let mut words = crate::request::no_registers();
        words.orig_rax = number.cast_unsigned();
        words.rax = result.cast_unsigned();
        words.rip = 0x1000;
        Registers(words)
    }

    #[test]
    fn interrupted_calls_are_made_again() {
        let read = libc::SYS_read;
        for code in RESTART {
            assert_eq!(registers(read, code).resumption(), (0xffe, read.cast_unsigned()));
        }
        let sleep = registers(libc::SYS_nanosleep, RESTART_BLOCK);
        assert_eq!(sleep.resumption(), (0xffe, libc::SYS_restart_syscall.cast_unsigned()));
        assert_eq!(registers(read, 17).resumption(), (0x1000, 17));
        // No call: the program's own number.
        assert_eq!(registers(-1, -512).resumption(), (0x1000, (-512i64).cast_unsigned()));
    }

    #[test]
    fn calls_that_only_a_stop_ended_are_made_again() {
        let mut wait = registers(libc::SYS_epoll_wait, -4);
        assert!(wait.undo_interruption());
        assert_eq!(wait.resumption().0, 0xffe);
        let mut read = registers(libc::SYS_read, -4);
        assert!(!read.undo_interruption());
        assert_eq!(read.resumption(), (0x1000, (-4i64).cast_unsigned()));
    }
}
