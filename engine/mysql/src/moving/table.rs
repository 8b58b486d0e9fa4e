//! Tables that move with a shard: their columns and keys as the servers tell them, and the statements over them. What is put
//! together is names of tables and columns, each checked letter by letter, and placeholders; never input.

use std::collections::{BTreeMap, BTreeSet};

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Value};

use super::MoveError;
use crate::Database;
use crate::errors::SqlError;
use crate::statement::Values;

const COLUMNS: &str = include_str!("../../sql/inspect/columns.sql");
const KEYS: &str = include_str!("../../sql/inspect/keys.sql");

/// Tables of the engine that move with their shards.
pub(crate) const ENGINE_MOVES: [&str; 4] = ["outbox", "outbox_parked_key", "processed_event", "dead_letter"];
/// Tables of the engine that are a server's own.
pub(crate) const ENGINE_STAYS: [&str; 7] =
    ["topology", "shard_server", "shard_map", "shard_move", "shard_change", "lane_batch", "schema_backbone"];

/// A column of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyColumn {
    name: String,
    is_number: bool,
}

/// A table that moves with its shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Its columns with their types, in order.
    columns: Vec<(String, String)>,
    /// The primary key without `shard`.
    key: Vec<KeyColumn>,
}

/// The tables of a database that move, by name, as one server has them. A table that nobody declared is refused: its rows would
/// stay behind.
pub(crate) async fn moved_tables(conn: &mut Conn, database: &Database, name: &str) -> Result<Vec<Table>, MoveError> {
    let found: Vec<(String, Option<String>, String, String, u32)> =
        conn.exec(COLUMNS, (name, name)).await.map_err(SqlError::from)?;
    let keys: Vec<(String, String, u32)> = conn.exec(KEYS, (name,)).await.map_err(SqlError::from)?;
    let mut by_table: BTreeMap<String, BTreeMap<u32, (String, String)>> = BTreeMap::new();
    let mut engines: BTreeMap<String, String> = BTreeMap::new();
    for (table, engine, column, kind, place) in found {
        engines.insert(table.clone(), engine.unwrap_or_default());
        by_table.entry(table).or_default().insert(place, (column, kind));
    }
    let moves: BTreeSet<&str> = database.moved_tables().collect();
    let stays: BTreeSet<&str> = database.tables_that_stay().collect();
    let refused = |table: &str, why: &str| MoveError::Table {
        database: name.to_owned(),
        table: table.to_owned(),
        why: why.to_owned(),
    };
    let mut tables = Vec::new();
    for (table, columns) in by_table {
        if stays.contains(table.as_str()) {
            continue;
        }
        if !moves.contains(table.as_str()) {
            return Err(refused(&table, "this version does not know whether its rows belong to a shard"));
        }
        if engines.get(&table).is_none_or(|engine| engine != "InnoDB") {
            return Err(refused(&table, "it is not an InnoDB table"));
        }
        let mut key: Vec<(u32, String)> =
            keys.iter().filter(|(of, ..)| *of == table).map(|(_, column, place)| (*place, column.clone())).collect();
        key.sort_unstable();
        let key: Vec<String> = key.into_iter().map(|(_, column)| column).collect();
        tables.push(Table::new(&table, columns.into_values().collect(), &key).map_err(|why| refused(&table, &why))?);
    }
    match moves.iter().find(|declared| !tables.iter().any(|table| table.name == **declared)) {
        Some(missing) => Err(refused(missing, "it does not exist there")),
        None => Ok(tables),
    }
}

impl Table {
    fn new(name: &str, columns: Vec<(String, String)>, key: &[String]) -> Result<Self, String> {
        let is_plain = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        if !is_plain(name) || !columns.iter().all(|(column, _)| is_plain(column)) {
            return Err("its name or a column's has other letters than a to z, digits and \"_\"".to_owned());
        }
        if key.first().is_none_or(|first| first != "shard") {
            return Err("its primary key does not begin with the shard".to_owned());
        }
        let mut parts = Vec::new();
        for column in &key[1..] {
            let kind = columns.iter().find(|(name, _)| name == column).map_or("", |(_, kind)| kind.as_str());
            let is_number =
                ["tinyint", "smallint", "mediumint", "int", "bigint"].iter().any(|int| kind.starts_with(int));
            if !is_number && !["varbinary", "binary"].iter().any(|bytes| kind.starts_with(bytes)) {
                return Err(format!("its key has a column of the type {kind}"));
            }
            parts.push(KeyColumn { name: column.clone(), is_number });
        }
        Ok(Self { name: name.to_owned(), columns, key: parts })
    }

    /// Rows of a shard after a key, in the order of the key.
    pub(crate) fn slice(&self, is_first: bool) -> String {
        let after = if is_first || self.key.is_empty() { String::new() } else { format!(" AND ({})", self.after()) };
        let order: Vec<String> = self.key.iter().map(|column| format!("`{}`", column.name)).collect();
        let order = if order.is_empty() { "shard".to_owned() } else { order.join(", ") };
        format!(
            "SELECT {} FROM `{}` FORCE INDEX (PRIMARY) WHERE shard = ?{after} ORDER BY {order} LIMIT ?",
            self.column_list(),
            self.name
        )
    }

    /// `a > ? OR (a = ? AND b > ?)`: what a range of the index is found by.
    fn after(&self) -> String {
        let greater = (0..self.key.len()).map(|last| {
            let equal: String = self.key[..last].iter().map(|column| format!("`{}` = ? AND ", column.name)).collect();
            format!("({equal}`{}` > ?)", self.key[last].name)
        });
        greater.collect::<Vec<_>>().join(" OR ")
    }

    /// The values of [`Self::slice`] between the shard and the limit.
    pub(crate) fn after_values(&self, key: &[Value]) -> Values {
        (0..self.key.len()).flat_map(|last| key[..=last].iter().cloned()).collect()
    }

    /// Rows of a shard by so many keys.
    pub(crate) fn find(&self, keys: usize) -> String {
        format!(
            "SELECT {} FROM `{}` FORCE INDEX (PRIMARY) WHERE shard = ?{}",
            self.column_list(),
            self.name,
            self.among(keys)
        )
    }

    /// Removes rows of a shard by so many keys.
    pub(crate) fn delete(&self, keys: usize) -> String {
        format!("DELETE FROM `{}` WHERE shard = ?{}", self.name, self.among(keys))
    }

    fn among(&self, keys: usize) -> String {
        if self.key.is_empty() {
            return String::new();
        }
        let one: Vec<String> = self.key.iter().map(|column| format!("`{}` = ?", column.name)).collect();
        let one = format!("({})", one.join(" AND "));
        format!(" AND ({})", vec![one; keys].join(" OR "))
    }

    /// Writes so many rows; whatever stands in their way is old, and goes.
    pub(crate) fn replace(&self, rows: usize) -> String {
        let row = format!("({})", vec!["?"; self.columns.len()].join(", "));
        format!("REPLACE INTO `{}` ({}) VALUES {}", self.name, self.column_list(), vec![row; rows].join(", "))
    }

    /// Removes a slice of a shard.
    pub(crate) fn clear(&self) -> String {
        format!("DELETE FROM `{}` WHERE shard = ? LIMIT ?", self.name)
    }

    /// How many rows a shard has, and a checksum of them all.
    pub(crate) fn checksum(&self) -> String {
        let cells = self.columns.iter().map(|(name, _)| format!("ISNULL(`{name}`), COALESCE(`{name}`, '')"));
        let row = format!("CRC32(CONCAT_WS(',', {}))", cells.collect::<Vec<_>>().join(", "));
        format!(
            "SELECT COUNT(*), CAST(COALESCE(BIT_XOR({row}), 0) AS CHAR), CAST(COALESCE(SUM({row}), 0) AS CHAR) \
             FROM `{}` FORCE INDEX (PRIMARY) WHERE shard = ?",
            self.name
        )
    }

    /// How many rows a shard has.
    pub(crate) fn count(&self) -> String {
        format!("SELECT COUNT(*) FROM `{}` FORCE INDEX (PRIMARY) WHERE shard = ?", self.name)
    }

    /// The triggers that put changes of some shards on record, by name.
    pub(crate) fn triggers(&self, shards: &BTreeSet<u8>) -> Vec<(String, String)> {
        let list: Vec<String> = shards.iter().map(u8::to_string).collect();
        let list = list.join(", ");
        let note = |row: &str| {
            format!(
                "INSERT INTO shard_change (shard, table_name, row_key) VALUES ({row}.shard, '{}', {})",
                self.name,
                self.key_text(row)
            )
        };
        let of = |ending: &str, when: &str, body: String| {
            let name = format!("{}{}_{ending}", trigger_prefix(shards), self.name);
            let sql = format!("CREATE TRIGGER `{name}` AFTER {when} ON `{}` FOR EACH ROW {body}", self.name);
            (name, sql)
        };
        let (new, old) = (self.key_text("NEW"), self.key_text("OLD"));
        vec![
            of("i", "INSERT", format!("IF NEW.shard IN ({list}) THEN {}; END IF", note("NEW"))),
            of(
                "u",
                "UPDATE",
                format!(
                    "IF NEW.shard IN ({list}) THEN {}; IF {new} <> {old} THEN {}; END IF; END IF",
                    note("NEW"),
                    note("OLD")
                ),
            ),
            of("d", "DELETE", format!("IF OLD.shard IN ({list}) THEN {}; END IF", note("OLD"))),
        ]
    }

    /// A key as text: numbers as they are, bytes in hexadecimal digits.
    fn key_text(&self, row: &str) -> String {
        let parts = self.key.iter().map(|KeyColumn { name, is_number }| match is_number {
            true => format!("{row}.`{name}`"),
            false => format!("HEX({row}.`{name}`)"),
        });
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() { "''".to_owned() } else { format!("CONCAT_WS(',', {})", parts.join(", ")) }
    }

    /// The key of a row, as values and as the triggers write it.
    pub(crate) fn key_of(&self, row: &[Value]) -> Result<(Values, String), SqlError> {
        let (mut values, mut texts) = (Vec::new(), Vec::new());
        for column in &self.key {
            let place = self.columns.iter().position(|(name, _)| *name == column.name);
            let value =
                place.and_then(|place| row.get(place)).cloned().ok_or_else(|| self.odd("a row without its key"))?;
            texts.push(match &value {
                Value::Int(number) => number.to_string(),
                Value::UInt(number) => number.to_string(),
                Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
                _ => return Err(self.odd("a key that is neither a number nor bytes")),
            });
            values.push(value);
        }
        Ok((values, texts.join(",")))
    }

    /// A key as the triggers wrote it.
    pub(crate) fn read_key(&self, text: &str) -> Result<Values, SqlError> {
        if self.key.is_empty() {
            return Ok(Vec::new());
        }
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() != self.key.len() {
            return Err(self.odd(text));
        }
        let read = |(column, part): (&KeyColumn, &str)| match column.is_number {
            true => number(part).ok_or_else(|| self.odd(text)),
            false => unhex(part).map(Value::Bytes).ok_or_else(|| self.odd(text)),
        };
        self.key.iter().zip(parts).map(read).collect()
    }

    fn odd(&self, what: &str) -> SqlError {
        SqlError::defect(format!("a key of {} cannot be understood: {what}", self.name))
    }

    fn column_list(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|(name, _)| format!("`{name}`")).collect();
        names.join(", ")
    }
}

/// How the names of triggers for some shards begin: a bit for each shard.
pub(crate) fn trigger_prefix(shards: &BTreeSet<u8>) -> String {
    let mask = shards.iter().fold(0_u64, |mask, shard| mask | 1 << shard);
    format!("mv_{mask:016x}_")
}

/// The shards whose changes a trigger puts on record, and whatever else its name says.
pub(crate) fn shards_of_trigger(name: &str) -> Option<(BTreeSet<u8>, &str)> {
    let (mask, rest) = name.strip_prefix("mv_")?.split_once('_')?;
    let mask = u64::from_str_radix(mask, 16).ok().filter(|_| mask.len() == 16)?;
    Some(((0..64).filter(|shard| mask & (1 << shard) != 0).collect(), rest))
}

fn number(text: &str) -> Option<Value> {
    text.parse::<i64>().map(Value::Int).or_else(|_| text.parse::<u64>().map(Value::UInt)).ok()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(key: &[&str]) -> Result<Table, String> {
        let columns =
            [("shard", "tinyint(3) unsigned"), ("a", "bigint(20)"), ("b", "varbinary(255)"), ("text", "mediumtext")];
        let columns = columns.map(|(name, kind)| (name.to_owned(), kind.to_owned())).to_vec();
        Table::new("t", columns, &key.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_slice_begins_after_a_key_by_ranges_of_the_index() {
        let table = table(&["shard", "a", "b"]).unwrap();
        let sql = table.slice(false);
        assert!(
            sql.contains("WHERE shard = ? AND ((`a` > ?) OR (`a` = ? AND `b` > ?)) ORDER BY `a`, `b` LIMIT ?"),
            "{sql}"
        );
        assert!(table.slice(true).contains("WHERE shard = ? ORDER BY"));
        let key = [Value::Int(7), Value::Bytes(b"x".to_vec())];
        assert_eq!(table.after_values(&key), [key[0].clone(), key[0].clone(), key[1].clone()]);
    }

    #[test]
    fn a_table_of_one_row_a_shard_has_no_other_key() {
        let table = table(&["shard"]).unwrap();
        assert!(table.slice(false).contains("WHERE shard = ? ORDER BY shard LIMIT ?"));
        assert!(table.find(1).ends_with("WHERE shard = ?") && table.delete(1).ends_with("WHERE shard = ?"));
        assert_eq!((table.key_text("NEW"), table.read_key("").unwrap()), ("''".to_owned(), Vec::new()));
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let table = table(&["shard", "a", "b"]).unwrap();
        for (a, b) in [(Value::Int(-5), &b"a,b"[..]), (Value::UInt(u64::MAX), b""), (Value::Int(i64::MIN), &[0, 255])] {
            let row = [Value::Int(1), a.clone(), Value::Bytes(b.to_vec()), Value::NULL];
            let (values, text) = table.key_of(&row).unwrap();
            assert_eq!(values, [a, Value::Bytes(b.to_vec())]);
            assert_eq!(table.read_key(&text).unwrap(), values, "{text}");
        }
        for wrong in ["", "1", "x,00", "1,0", "1,zz", "1,00,2"] {
            assert!(table.read_key(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_trigger_says_whose_changes_it_records() {
        let shards = BTreeSet::from([0, 7, 63]);
        let triggers = table(&["shard", "a", "b"]).unwrap().triggers(&shards);
        assert_eq!(triggers.len(), 3);
        for (name, sql) in &triggers {
            let (told, rest) = shards_of_trigger(name).unwrap();
            assert!(told == shards && rest.starts_with("t_"), "{name}");
            assert!(sql.contains("IN (0, 7, 63)") && sql.contains("'t'"), "{sql}");
        }
        assert!(
            triggers[1].1.contains("CONCAT_WS(',', NEW.`a`, HEX(NEW.`b`)) <> CONCAT_WS(',', OLD.`a`, HEX(OLD.`b`))")
        );
        for other in ["audit", "mv_12_t_i", "mv_000000000000008g_t_i"] {
            assert_eq!(shards_of_trigger(other), None, "{other}");
        }
    }

    #[test]
    fn what_cannot_be_moved_is_refused() {
        assert!(table(&["a"]).unwrap_err().contains("does not begin with the shard"));
        assert!(table(&["shard", "text"]).unwrap_err().contains("mediumtext"));
        let odd = vec![("sh`ard".to_owned(), "int".to_owned())];
        assert!(Table::new("t", odd, &["shard".to_owned()]).is_err());
    }
}
