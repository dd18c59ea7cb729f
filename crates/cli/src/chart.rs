//! Bars and sparklines for the terminal, in block characters.

/// A bar for `value` on a scale from 0 to `most`, at most `columns` wide.
pub fn bar(value: f64, most: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if most <= 0.0 || value <= 0.0 {
        return String::new();
    }
    let eighths = ((value / most).min(1.0) * columns as f64 * 8.0).round().max(1.0) as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// The width of a sparkline in a table.
pub const SPARK_COLUMNS: usize = 24;

/// A sparkline with one column per value; longer series are averaged to `columns`.
pub fn sparkline(values: &[f64], columns: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let columns = columns.min(values.len());
    let mean = |column: usize| {
        let part = &values[column * values.len() / columns..(column + 1) * values.len() / columns];
        part.iter().sum::<f64>() / part.len() as f64
    };
    let means: Vec<f64> = (0..columns).map(mean).collect();
    let most = means.iter().copied().fold(0.0, f64::max);
    let height = |mean: &f64| if most > 0.0 { (mean / most * 7.0).round() as usize } else { 0 };
    means.iter().map(|mean| HEIGHTS[height(mean)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional_and_never_invisible() {
        assert_eq!(bar(10.0, 10.0, 3), "███");
        assert_eq!(bar(5.0, 10.0, 3), "█▌");
        assert_eq!(bar(0.001, 10.0, 3), "▏");
        assert_eq!(bar(0.0, 10.0, 3), "");
    }

    #[test]
    fn a_sparkline_is_scaled_to_its_maximum() {
        assert_eq!(sparkline(&[0.0, 5.0, 10.0], 8), "▁▅█");
        assert_eq!(sparkline(&[1.0; 100], 4), "████");
        assert_eq!(sparkline(&[0.0, 0.0], 4), "▁▁");
        assert_eq!(sparkline(&[], 4), "");
    }
}
