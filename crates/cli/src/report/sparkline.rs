//! Small pictures of numbers, drawn with block characters.

const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A chart of `rows` lines, the top one first; a column for each value, from 0 to the highest.
/// Whatever is not nothing can be seen.
pub(super) fn area(values: &[f64], rows: usize) -> Vec<String> {
    let highest = values.iter().copied().fold(0.0, f64::max);
    let height = |value: f64| -> usize {
        if highest > 0.0 && value > 0.0 {
            ((value / highest * (rows * 8) as f64).round() as usize).clamp(1, rows * 8)
        } else {
            0
        }
    };
    let heights: Vec<usize> = values.iter().map(|&value| height(value)).collect();
    (0..rows)
        .rev()
        .map(|row| heights.iter().map(|&h| EIGHTHS[h.saturating_sub(row * 8).min(8)]).collect())
        .collect()
}

/// A chart of one line, where nothing is a low dot.
pub(super) fn line(values: &[f64]) -> String {
    area(values, 1).concat().replace(' ', "·")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_in_proportion() {
        assert_eq!(line(&[0.0, 1.0, 4.0, 8.0]), "·▁▄█");
        assert_eq!(line(&[0.0, 0.001, 1.0]), "·▁█");
        assert_eq!(area(&[1.0, 8.0, 12.0, 16.0], 2), ["  ▄█", "▁███"]);
        assert_eq!(line(&[0.0, 0.0]), "··");
        assert_eq!(area(&[], 2), ["", ""]);
    }
}
