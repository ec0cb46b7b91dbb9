//! How a recording ended, in the words of all commands.

use memtrail_recording::Outcome;

/// `killed by signal 9`; nothing for programs that came to their end by themselves.
pub(crate) fn words(outcome: Option<&Outcome>) -> Option<String> {
    Some(match *outcome? {
        Outcome::Exited { code: None | Some(0) } => return None,
        Outcome::Exited { code: Some(code) } => format!("exit code {code}"),
        Outcome::Killed { signal } => format!("killed by signal {signal}"),
        Outcome::GaveWay => "ended when the program started Gc.Memprof itself".into(),
        Outcome::WriteFailed { errno } => {
            let error = std::io::Error::from_raw_os_error(errno);
            format!("ended when writing failed: {error}")
        }
        Outcome::Execed => "until it became another program".into(),
    })
}
