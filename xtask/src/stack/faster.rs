//! A configuration of Prometheus in which every time is shorter by one factor, for a test that brings alerts about: how often
//! it scrapes and evaluates, how long an alert waits (`for:`), and over how long rates are taken (`[5m]`). Thresholds stay.

/// The same with every time divided by `speed`, and never below a second.
pub(super) fn by(text: &str, speed: u32) -> String {
    if speed <= 1 {
        return text.to_owned();
    }
    text.lines().map(|line| line_by(line, speed) + "\n").collect()
}

fn line_by(line: &str, speed: u32) -> String {
    let Some((key, value)) = line.split_once(": ") else { return ranges_by(line, speed) };
    let name = key.trim();
    match shorter(value, speed) {
        Some(shorter) if name == "for" || name.ends_with("_interval") => format!("{key}: {shorter}"),
        _ => ranges_by(line, speed),
    }
}

/// Whatever stands in brackets and is a time.
fn ranges_by(line: &str, speed: u32) -> String {
    let mut parts = line.split('[');
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let range = part.split_once(']').and_then(|(range, rest)| Some((shorter(range, speed)?, rest)));
        changed += &range.map_or_else(|| format!("[{part}"), |(range, rest)| format!("[{range}]{rest}"));
    }
    changed
}

/// A time such as `5m`, divided.
fn shorter(time: &str, speed: u32) -> Option<String> {
    let time = time.trim();
    let unit = time.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        _ => return None,
    };
    let count: u32 = time.strip_suffix(unit)?.parse().ok()?;
    Some(format!("{}s", (count * seconds).div_ceil(speed).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shorter_and_nothing_else_changes() {
        let text = "  scrape_interval: 15s\n    for: 5m\n  expr: rate(a[5m]) + b[1h] > 60\n  files: [targets/a.json]\n  # 5m\n";
        let fast = "  scrape_interval: 1s\n    for: 20s\n  expr: rate(a[20s]) + b[240s] > 60\n  files: [targets/a.json]\n  # 5m\n";
        assert_eq!(by(text, 15), fast);
        assert_eq!(by(text, 1), text);
        assert_eq!(by("for: 1s\n", 15), "for: 1s\n");
    }
}
