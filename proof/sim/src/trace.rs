//! What happened, as a fingerprint always and as lines when asked for: the same seed gives the same trace.

#[derive(Default)]
pub(crate) struct Trace {
    hash: u64,
    pub(crate) steps: u64,
    lines: Option<Vec<String>>,
}

impl Trace {
    pub(crate) fn recording() -> Self {
        Self { lines: Some(Vec::new()), ..Self::default() }
    }

    pub(crate) fn note(&mut self, now_ms: u64, process: usize, what: &'static str, detail: i64) {
        self.steps += 1;
        for part in [now_ms, process as u64, what.len() as u64 ^ u64::from(what.as_bytes()[0]) << 8, detail as u64] {
            self.hash = (self.hash ^ part).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        }
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{now_ms:>7} ms  process {process}  {what} {detail}"));
        }
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.hash
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}
