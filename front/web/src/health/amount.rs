//! Amounts as people read them: three digits and a unit, which no line break parts.

/// A duration, given in seconds.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s > 0.0 && s < 0.001 => format!("{}\u{a0}µs", (s * 1e6).round()),
        s if s > 0.0 && s < 1.0 => format!("{}\u{a0}ms", digits(s * 1e3)),
        s if s < 120.0 => format!("{}\u{a0}s", digits(s)),
        s => format!("{}\u{a0}min", digits(s / 60.0)),
    }
}

/// Bytes, in units of a thousand.
pub(super) fn bytes(bytes: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut amount, mut unit) = (bytes, 0);
    while amount >= 999.5 && unit + 1 < units.len() {
        amount /= 1_000.0;
        unit += 1;
    }
    format!("{}\u{a0}{}", digits(amount), units[unit])
}

/// A number of which the first three digits matter.
pub(super) fn digits(number: f64) -> String {
    let places = match number {
        n if n >= 99.95 => 0,
        n if n >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{number:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_three_digits_and_the_unit_that_fits() {
        assert_eq!([0.0, 0.5, 9.994, 12.34, 99.94, 1234.0].map(digits), ["0", "0.5", "9.99", "12.3", "99.9", "1234"]);
        let spaced = |amount: String| amount.replace('\u{a0}', " ");
        let seconds = [0.0, 0.000_042, 0.000_9, 0.012_34, 1.5, 119.0, 600.0];
        let told = ["0 s", "42 µs", "900 µs", "12.3 ms", "1.5 s", "119 s", "10 min"];
        assert_eq!(seconds.map(|seconds| spaced(duration(seconds))), told);
        let amounts = [0.0, 999.0, 1_500.0, 52_428_800.0, 3e12, 5e15];
        let told = ["0 B", "999 B", "1.5 kB", "52.4 MB", "3 TB", "5000 TB"];
        assert_eq!(amounts.map(|amount| spaced(bytes(amount))), told);
    }
}
