//! Numbers as people read them: digits in threes, as many places as they deserve, units beside them.

/// A measured value, whole or with up to three digits that matter.
pub(crate) fn value(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size >= 1e15 {
        format!("{value:.2e}")
    } else if size >= 100.0 || value.fract() == 0.0 {
        grouped(&format!("{value:.0}"))
    } else if size >= 10.0 {
        trimmed(&format!("{value:.1}"))
    } else if size >= 0.01 {
        trimmed(&format!("{value:.2}"))
    } else if size >= 0.000_1 {
        trimmed(&format!("{value:.4}"))
    } else {
        format!("{value:.1e}")
    }
}

/// A value beside an axis, where there is little room.
pub(crate) fn tick(value: f64) -> String {
    let size = value.abs();
    let scaled = |by: f64, unit: &str| format!("{}{unit}", trimmed(&format!("{:.2}", value / by)));
    match size {
        _ if size >= 1e15 || (size > 0.0 && size < 1e-3) => format!("{value:.0e}"),
        _ if size >= 1e12 => scaled(1e12, " T"),
        _ if size >= 1e9 => scaled(1e9, " G"),
        _ if size >= 1e6 => scaled(1e6, " M"),
        _ if size >= 1e4 => scaled(1e3, " k"),
        _ if size >= 10.0 => grouped(&trimmed(&format!("{value:.1}"))),
        _ => trimmed(&format!("{value:.3}")),
    }
}

/// A count.
pub(crate) fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// A bound of a share, such as 3/n: rounded up, because what is below it must be below what is shown.
pub(crate) fn bound(share: f64) -> String {
    let percent = (share * 100.0).min(100.0);
    let step = if percent >= 10.0 {
        1.0
    } else if percent >= 1.0 {
        0.1
    } else {
        0.001
    };
    // What is a whole number of steps but for the noise of floating point stays where it is.
    let steps = (percent / step - 1e-9).ceil();
    self::percent(steps * step / 100.0)
}

/// A share.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if percent == 0.0 => "0 %".to_owned(),
        _ if percent >= 10.0 => format!("{percent:.0} %"),
        _ if percent >= 1.0 => format!("{} %", trimmed(&format!("{percent:.1}"))),
        _ if percent >= 0.001 => format!("{} %", trimmed(&format!("{percent:.3}"))),
        _ => format!("{percent:.1e} %"),
    }
}

/// A duration of a run.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 100.0 {
        return format!("{seconds:.1} s");
    }
    let minutes = (seconds / 60.0).floor();
    format!("{minutes:.0} min {:.0} s", (seconds - minutes * 60.0).floor())
}

/// Puts a comma between each three digits before the point.
fn grouped(number: &str) -> String {
    let (whole, rest) = number.split_once('.').map_or((number, None), |(whole, rest)| (whole, Some(rest)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    rest.map_or(text.clone(), |rest| format!("{text}.{rest}"))
}

/// Without zeros at the end that say nothing.
fn trimmed(number: &str) -> String {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').to_owned() } else { number.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_digits_they_deserve() {
        let shown = [0.0, 7.0, 1_234_567.0, 123.456, 12.34, 1.5, 0.256, 0.000_5, 2e-9, 3e20, f64::NAN].map(value);
        let expected = ["0", "7", "1,234,567", "123", "12.3", "1.5", "0.26", "0.0005", "2.0e-9", "3.00e20", "–"];
        assert_eq!(shown, expected);
        assert_eq!(value(-1_234.0), "-1,234");
    }

    #[test]
    fn a_bound_is_never_shown_lower_than_it_is() {
        let of = |trials: f64| bound(3.0 / trials);
        assert_eq!([of(12_400.0), of(98_578.0), of(271_979.0)], ["0.025 %", "0.004 %", "0.002 %"]);
        assert_eq!([of(3_000.0), of(300.0), of(30.0), of(1.0)], ["0.1 %", "1 %", "10 %", "100 %"]);
    }

    #[test]
    fn ticks_are_short() {
        let shown = [0.0, 0.5, 250.0, 2_500.0, 20_000.0, 1.5e6, 2e9, 3e13, 1e18, 1e-6].map(tick);
        assert_eq!(shown, ["0", "0.5", "250", "2,500", "20 k", "1.5 M", "2 G", "30 T", "1e18", "1e-6"]);
    }

    #[test]
    fn shares_and_durations_are_told_in_percent_and_minutes() {
        assert_eq!([0.0, 0.5, 0.015, 0.000_3, 3e-6].map(percent), ["0 %", "50 %", "1.5 %", "0.03 %", "3.0e-4 %"]);
        assert_eq!([0.04, 12.34, 125.9].map(seconds), ["0.0 s", "12.3 s", "2 min 5 s"]);
        assert_eq!(count(1_000_000), "1,000,000");
    }
}
