//! Learns where the OCaml library keeps the labels of the program's code.

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::block::Value;
use memtrail_ocaml::frames::Live;

use super::roots;
use crate::context::target::Target;
use crate::sampling::labels::set_frame;

/// Learns where labels stand, from the frame of the caller's caller, which keeps `value` there and
/// nothing else.
pub(super) fn learn(target: &Target, value: Value) -> Option<()> {
    let memory = target.memory;
    let mut met = 0;
    let mut found = None;
    roots::walk(target, |frame| {
        met += 1;
        if met == 2 {
            let mut live = frame.descriptor.live(&memory);
            if let (Some(Live::Stack(offset)), None) = (live.next(), live.next())
                && memory.field(frame.sp, offset) == Some(value)
            {
                found = Some((frame.descriptor.return_address, offset));
            }
        }
    });
    let (return_address, offset) = found?;
    set_frame(return_address, offset);
    Some(())
}
