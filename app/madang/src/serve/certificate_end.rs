//! When a certificate ends, which rustls does not tell: the one field of X.509 that operators have to know of. Reads as much
//! of the structure (RFC 5280, 4.1) as lies before that field, and nothing else.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The end of a certificate (DER) in seconds since 1970; `None` for what is no certificate.
pub(super) fn ends_at_s(certificate: &[u8]) -> Option<i64> {
    let (certificate, _) = element(certificate, SEQUENCE)?;
    let (to_be_signed, _) = element(certificate, SEQUENCE)?;
    let rest = element(to_be_signed, VERSION).map_or(to_be_signed, |(_, rest)| rest);
    let (_serial, rest) = element(rest, INTEGER)?;
    let (_algorithm, rest) = element(rest, SEQUENCE)?;
    let (_issuer, rest) = element(rest, SEQUENCE)?;
    let (validity, _) = element(rest, SEQUENCE)?;
    let (_, not_after) = time(validity)?;
    time(not_after)?.0.ok()
}

/// The content of an element of this kind, and what follows it.
fn element(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = bytes.split_first_chunk()?;
    if found != kind {
        return None;
    }
    // The length, or how many bytes it has.
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// A moment, if it can be read as one, and what follows it.
fn time(bytes: &[u8]) -> Option<(Result<i64, jiff::Error>, &[u8])> {
    let (text, rest, century) = match element(bytes, UTC_TIME) {
        // Years of two digits mean 1950 to 2049.
        Some((text, rest)) => (text, rest, if text.first()? < &b'5' { "20" } else { "19" }),
        None => element(bytes, GENERALIZED_TIME).map(|(text, rest)| (text, rest, ""))?,
    };
    let text = format!("{century}{}", std::str::from_utf8(text).ok()?);
    let moment = DateTime::strptime("%Y%m%d%H%M%SZ", &text);
    Some((moment.and_then(|moment| moment.to_zoned(TimeZone::UTC)).map(|moment| moment.timestamp().as_second()), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(year: i32) -> Vec<u8> {
        let mut certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        certificate.not_after = rcgen::date_time_ymd(year, 2, 3);
        let key = rcgen::KeyPair::generate().unwrap();
        certificate.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_end_is_read_in_both_forms() {
        assert_eq!(ends_at_s(&ending(2030)), Some(1_896_307_200));
        assert_eq!(ends_at_s(&ending(2060)), Some(2_842_992_000));
    }

    #[test]
    fn what_is_cut_off_or_something_else_has_no_end() {
        let whole = ending(2030);
        for length in 0..whole.len() {
            assert_eq!(ends_at_s(&whole[..length]), None);
        }
        assert_eq!(ends_at_s(b"-----BEGIN CERTIFICATE-----"), None);
    }
}
