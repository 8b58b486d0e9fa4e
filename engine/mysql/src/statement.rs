//! Statements over many rows: a fixed head, a row that repeats and a fixed tail, all from one `.sql` file. What is put
//! together is placeholders only, never input.
//!
//! Few row counts are used, so that a connection prepares some texts of each and not one for every size: lists of keys are
//! filled up with their last key to a power of two, rows to insert are cut into pieces of 2^n and 3 * 2^n.

use std::fmt::Write as _;

use mysql_async::Value;

/// Rows that one statement carries at most.
pub const STATEMENT_ROWS_MAX: usize = 256;
/// Bytes of values after which the next row begins another statement; far below any `max_allowed_packet`.
const STATEMENT_BYTES_MAX: usize = 2 * 1024 * 1024;

const ROWS_MARK: &str = "-- rows, joined by ";
const TAIL_MARK: &str = "-- after the rows\n";

/// Values of one row.
pub type Values = Vec<Value>;

/// A statement whose number of rows is not fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Many {
    head: &'static str,
    row: &'static str,
    join: &'static str,
    tail: &'static str,
}

impl Many {
    /// Takes a file apart at its marks. One without marks has no rows; a test walks all files.
    pub fn parse(text: &'static str) -> Self {
        let (head, rest) = text.split_once(ROWS_MARK).unwrap_or((text, "\n"));
        let (join, rest) = rest.split_once('\n').unwrap_or((rest, ""));
        let (row, tail) = rest.split_once(TAIL_MARK).unwrap_or((rest, ""));
        Self { head, row: row.trim_end(), join, tail }
    }

    /// Values that come before those of the rows.
    pub(crate) fn head_values(&self) -> usize {
        self.head.matches('?').count()
    }

    /// Whether it has rows at all.
    pub(crate) fn has_rows(&self) -> bool {
        !self.row.is_empty()
    }

    /// The statement for so many rows.
    pub fn sql(&self, rows: usize) -> String {
        let mut sql = String::with_capacity(self.head.len() + rows * (self.row.len() + 8) + self.tail.len());
        sql.push_str(self.head);
        for number in 0..rows {
            if number > 0 {
                // Writing to a string cannot fail.
                let _ = writeln!(sql, " {}", self.join);
            }
            sql.push_str(self.row);
        }
        sql.push('\n');
        sql.push_str(self.tail);
        sql
    }
}

/// A list of keys, filled up with its last one to a power of two: asking twice for one row changes nothing.
pub(crate) fn filled(mut keys: Vec<Values>) -> Vec<Values> {
    if let Some(last) = keys.last().cloned() {
        keys.resize(keys.len().next_power_of_two(), last);
    }
    keys
}

/// Rows to write, cut into few pieces of few sizes that are neither too many nor too large for one statement.
pub(crate) fn pieces(mut rows: Vec<Values>) -> Vec<Vec<Values>> {
    let mut pieces = Vec::new();
    while !rows.is_empty() {
        let fitting = fitting(&rows).clamp(1, STATEMENT_ROWS_MAX);
        let rest = rows.split_off(size_below(fitting));
        pieces.push(std::mem::replace(&mut rows, rest));
    }
    pieces
}

/// The greatest of 1, 2, 3, 4, 6, 8, 12, 16 and so on that is not above `rows`.
fn size_below(rows: usize) -> usize {
    let power = 1 << rows.max(1).ilog2();
    let between = power + power / 2;
    if between <= rows { between } else { power }
}

/// How many rows from the front stay below the limit of bytes.
fn fitting(rows: &[Values]) -> usize {
    let mut bytes = 0;
    let fits = |row: &&Values| {
        bytes += row.iter().map(size).sum::<usize>();
        bytes <= STATEMENT_BYTES_MAX
    };
    rows.iter().take_while(fits).count()
}

fn size(value: &Value) -> usize {
    match value {
        Value::Bytes(bytes) => bytes.len() + 9,
        _ => 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "-- Uses: primary key.\nINSERT INTO t (a, b) VALUES\n-- rows, joined by ,\n(?, ?)\n-- after the rows\nON DUPLICATE KEY UPDATE b = VALUES(b)\n";

    fn rows(count: i64) -> Vec<Values> {
        (0..count).map(|number| vec![Value::Int(number)]).collect()
    }

    #[test]
    fn rows_repeat_between_head_and_tail() {
        let sql = Many::parse(TEXT).sql(2);
        assert!(sql.ends_with("VALUES\n(?, ?) ,\n(?, ?)\nON DUPLICATE KEY UPDATE b = VALUES(b)\n"), "{sql}");
    }

    #[test]
    fn lists_of_keys_are_filled_up_with_the_last() {
        let keys = filled(rows(5));
        assert_eq!(keys.len(), 8);
        assert!(keys[4..].iter().all(|key| *key == vec![Value::Int(4)]));
        assert!(filled(Vec::new()).is_empty());
    }

    #[test]
    fn pieces_have_few_sizes_and_keep_the_order() {
        let mut sizes = std::collections::BTreeSet::new();
        for count in 0..=700 {
            let pieces = pieces(rows(count));
            assert!(pieces.len() <= 7, "{count} rows in {} pieces", pieces.len());
            sizes.extend(pieces.iter().map(Vec::len));
            assert_eq!(pieces.concat(), rows(count));
        }
        assert_eq!(sizes.last(), Some(&STATEMENT_ROWS_MAX));
        assert!(sizes.len() <= 17, "{sizes:?}");
    }

    #[test]
    fn large_rows_share_no_statement() {
        let large = vec![Value::Bytes(vec![0; STATEMENT_BYTES_MAX])];
        let sizes: Vec<_> = pieces(vec![large.clone(), large.clone(), large]).iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, 1, 1]);
    }
}
