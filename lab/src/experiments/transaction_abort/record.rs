//! What a record says of itself, so that a reader can be judged: which it is, and whether it was ever to be seen.

/// What becomes of the transaction of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is committed, or the record belongs to no transaction.
    Committed,
    /// It is aborted: nobody is to see its records.
    Aborted,
}

/// A record by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) number: u64,
    pub(super) fate: Fate,
}

impl Record {
    pub(super) fn payload(self) -> String {
        let fate = match self.fate {
            Fate::Committed => "committed",
            Fate::Aborted => "aborted",
        };
        format!("{} {fate}", self.number)
    }

    pub(super) fn read(payload: &[u8]) -> Option<Self> {
        let (number, fate) = std::str::from_utf8(payload).ok()?.split_once(' ')?;
        let fate = match fate {
            "committed" => Fate::Committed,
            "aborted" => Fate::Aborted,
            _ => return None,
        };
        Some(Self { number: number.parse().ok()?, fate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for fate in [Fate::Committed, Fate::Aborted] {
            let record = Record { number: 42, fate };
            assert_eq!(Record::read(record.payload().as_bytes()), Some(record));
        }
        assert_eq!(Record::read(b"42"), None);
        assert_eq!(Record::read(b"x committed"), None);
        assert_eq!(Record::read(b"1 unknown"), None);
    }
}
