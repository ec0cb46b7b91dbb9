//! `memtrail heap retained` of a family: what a group of kinds and roots retains in all processes.

use std::process::ExitCode;

use memtrail_heap::query::Retained;
use memtrail_text::rounded::grouped;

use super::parts::{Parts, Summed};
use crate::canvas::STRONG;
use crate::error::Failure;
use crate::heap::retained::{self, Args};
use crate::recording_source::Fitting;

/// What the group retains.
pub(in crate::heap) fn retained(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    let size = |of: &Retained| of.retained + of.retained_external;
    let (parts, read) = Parts::find(members, size, |member, read| {
        Ok(read.take(retained::find(args, &args.which.open_of(&member.path)?)?))
    })?;
    let mut sum = Retained::default();
    for part in &parts.all {
        let of = part.answer;
        sum.blocks += of.blocks;
        sum.bytes += of.bytes;
        sum.static_bytes += of.static_bytes;
        sum.external += of.external;
        sum.retained += of.retained;
        sum.retained_external += of.retained_external;
    }
    let answer = Summed { sum, parts };
    read.put(&args.which.form, &answer, |canvas| {
        let number = grouped(answer.parts.all.len() as u64);
        canvas.line(&[(STRONG, &format!("in {number} processes"))]);
        retained::draw(canvas, &answer.sum);
        canvas.gap();
        answer.parts.draw(canvas, retained::draw);
    })
}
