//! About how long a migration takes: by what its statements do, and to how many rows.

use std::fmt;

/// A step of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) version: i64,
    pub(super) name: String,
    pub(super) sql: String,
}

/// Who carries it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Sqlite,
    Mysql,
}

/// Rows that a statement gets through in a second when it touches every row of a table. SQLite, 500,000 rows of 340 bytes, on
/// two cores that other work kept busy: 131,000 for an index, 82,000 for an update of each row.
const ROWS_PER_SECOND: f64 = 100_000.0;

/// What a step costs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cost {
    /// Each table that is gone through, and its rows.
    whole_tables: Vec<(String, u64)>,
    seconds: f64,
}

impl Cost {
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// A length of time that nobody takes for exact.
    pub(super) fn in_words(seconds: f64) -> String {
        match seconds {
            short if short < 1.0 => "a second".to_owned(),
            short if short < 90.0 => format!("{short:.0} seconds"),
            long if long < 5_400.0 => format!("{:.0} minutes", long / 60.0),
            long => format!("{:.1} hours", long / 3_600.0),
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.whole_tables.is_empty() {
            return f.write_str("changes definitions only, at once");
        }
        let tables: Vec<_> = self.whole_tables.iter().map(|(table, rows)| format!("{table} ({rows} rows)")).collect();
        write!(f, "goes through {}, about {}", tables.join(", "), Self::in_words(self.seconds))
    }
}

/// What a step costs on tables of these sizes.
pub(super) fn costs(step: &Step, engine: Engine, rows: &[(String, u64)]) -> Cost {
    let mut whole_tables: Vec<(String, u64)> = Vec::new();
    let mut seconds = 0.0;
    for statement in statements(&step.sql) {
        for table in gone_through(&statement, engine) {
            // A table that the step itself creates is empty.
            let Some((_, count)) = rows.iter().find(|(name, _)| *name == table) else { continue };
            seconds += *count as f64 / ROWS_PER_SECOND;
            if !whole_tables.iter().any(|(known, _)| *known == table) {
                whole_tables.push((table, *count));
            }
        }
    }
    Cost { whole_tables, seconds }
}

/// The statements of a file as words, without comments.
fn statements(sql: &str) -> Vec<Vec<String>> {
    let without_comments: String =
        sql.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code)).collect::<Vec<_>>().join("\n");
    let word = |word: &str| word.trim_matches(|c: char| matches!(c, '`' | '"' | '(' | ')' | ',')).to_owned();
    let words = |statement: &str| {
        statement.replace('(', " ( ").split_whitespace().map(word).filter(|word| !word.is_empty()).collect()
    };
    without_comments.split(';').map(words).filter(|words: &Vec<String>| !words.is_empty()).collect()
}

/// The tables of which a statement touches every row.
fn gone_through(words: &[String], engine: Engine) -> Vec<String> {
    let is = |at: usize, word: &str| words.get(at).is_some_and(|found| found.eq_ignore_ascii_case(word));
    let after = |word: &str| {
        let at = words.iter().position(|found| found.eq_ignore_ascii_case(word));
        at.and_then(|at| words.get(at + 1)).cloned()
    };
    let has = |word: &str| words.iter().any(|found| found.eq_ignore_ascii_case(word));
    let table = match () {
        () if is(0, "UPDATE") => words.get(1).cloned(),
        () if is(0, "DELETE") => after("FROM"),
        () if is(0, "INSERT") && has("SELECT") => after("FROM"),
        () if is(0, "CREATE") && (is(1, "INDEX") || is(2, "INDEX")) => after("ON"),
        // MySQL adds and drops columns at once, and goes through the table for everything else.
        () if is(0, "ALTER") && engine == Engine::Mysql => {
            let heavy = ["INDEX", "KEY", "MODIFY", "CONVERT", "CHANGE"].into_iter().any(has);
            words.get(2).filter(|_| heavy).cloned()
        }
        () if is(0, "ALTER") && is(3, "DROP") => words.get(2).cloned(),
        () => None,
    };
    table.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(sql: &str, engine: Engine) -> Cost {
        let step = Step { version: 1, name: "s".to_owned(), sql: sql.to_owned() };
        costs(&step, engine, &[("comment".to_owned(), 4_000_000), ("member".to_owned(), 10)])
    }

    #[test]
    fn what_goes_through_a_table_costs_its_rows_and_a_definition_costs_nothing() {
        for sql in [
            "CREATE TABLE a (b INTEGER); CREATE INDEX a_b ON a (b);",
            "ALTER TABLE comment ADD COLUMN html TEXT;",
            "-- UPDATE comment SET a = 1;\nDROP TABLE comment;",
            "",
        ] {
            assert_eq!(cost(sql, Engine::Sqlite).to_string(), "changes definitions only, at once", "{sql}");
        }
        for sql in [
            "UPDATE comment SET a = 1",
            "CREATE UNIQUE INDEX x ON comment (a);",
            "CREATE INDEX x ON `comment`(a)",
            "INSERT INTO b SELECT a FROM comment;",
            "DELETE FROM comment WHERE a IS NULL",
        ] {
            let cost = cost(sql, Engine::Sqlite);
            assert!(
                cost.to_string().starts_with("goes through comment (4000000 rows), about 40 seconds"),
                "{sql}: {cost}"
            );
        }
        assert!(cost("ALTER TABLE comment ADD INDEX a (b)", Engine::Mysql).seconds() > 1.0);
        assert_eq!(cost("ALTER TABLE comment ADD COLUMN a INT", Engine::Mysql).seconds(), 0.0);
    }
}
