//! Numbers in as few bytes as they need: seven bits a byte, the eighth says that more follow.

const MORE: u8 = 0x80;

/// Bytes that grow.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= u64::from(MORE) {
            self.0.push(lowest_byte(number) | MORE);
            number >>= 7;
        }
        self.0.push(lowest_byte(number));
    }

    /// A number that may be negative: the sign comes last, so that small ones stay short.
    pub(crate) fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

/// Reads them again; `None` past the end.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How far it has read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & !MORE) << shift;
            if byte & MORE == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// What has not been read yet.
    /// The next bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let bytes = self.rest().get(..length)?;
        self.at += length;
        Some(bytes)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }
}

fn lowest_byte(number: u64) -> u8 {
    let [lowest, ..] = number.to_le_bytes();
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back_in_as_few_bytes_as_it_needs() {
        for (number, bytes) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, 10)] {
            let mut writer = Writer::default();
            writer.number(number);
            assert_eq!(writer.as_slice().len(), bytes, "{number}");
            assert_eq!(Reader::new(writer.as_slice()).number(), Some(number));
        }
        for number in [0, -1, 1, -64, 64, i64::MIN, i64::MAX] {
            let mut writer = Writer::default();
            writer.signed(number);
            assert_eq!(Reader::new(writer.as_slice()).signed(), Some(number));
        }
    }

    #[test]
    fn what_is_cut_off_is_no_number() {
        assert_eq!(Reader::new(&[0x80]).number(), None);
        assert_eq!(Reader::new(&[0xff; 11]).number(), None);
        assert_eq!(Reader::new(&[]).byte(), None);
    }
}
