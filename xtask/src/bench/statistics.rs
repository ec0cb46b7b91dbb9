//! Median and spread.

/// Quartiles of some measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quartiles {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

/// Quartiles by linear interpolation; `None` for no measurement.
pub(super) fn quartiles(mut values: Vec<f64>) -> Option<Quartiles> {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| -> Option<f64> {
        let position = share * (values.len().checked_sub(1)? as f64);
        let below = values.get(position.floor() as usize)?;
        let above = values.get(position.ceil() as usize)?;
        Some(below + (above - below) * position.fract())
    };
    Some(Quartiles { low: at(0.25)?, median: at(0.5)?, high: at(0.75)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate() {
        let q = quartiles(vec![4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!(q, Some(Quartiles { low: 2.0, median: 3.0, high: 4.0 }));
        assert_eq!(
            quartiles(vec![1.0, 2.0]),
            Some(Quartiles { low: 1.25, median: 1.5, high: 1.75 })
        );
        assert_eq!(quartiles(vec![]), None);
    }
}
