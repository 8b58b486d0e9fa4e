//! What nobody can guess: passwords and names, from the system's own source of chance.

use std::fmt::Write;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    let source = "/dev/urandom";
    File::open(source).and_then(|mut file| file.read_exact(&mut bytes)).context(source)?;
    Ok(bytes)
}

/// A password of 32 hexadecimal digits: needs no escaping in SQL, in a URL or in a shell.
pub(crate) fn password() -> Result<String> {
    let mut text = String::new();
    for byte in random::<16>()? {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}

/// The name of a Kafka cluster: 16 bytes in base64 for URLs, without padding.
pub(crate) fn cluster_id() -> Result<String> {
    loop {
        let id = base64_of(random()?);
        // Kafka's own tools would take a leading dash for an option.
        if !id.starts_with('-') {
            return Ok(id);
        }
    }
}

fn base64_of(bytes: [u8; 16]) -> String {
    let bits = u128::from_be_bytes(bytes);
    // 21 digits of six bits, then the last two bits followed by four zeros.
    let digits = (0..21).map(|digit| bits >> (122 - 6 * digit)).chain([bits << 4]);
    digits.map(|digit| char::from(ALPHABET[(digit & 63) as usize])).collect()
}

/// Writes a file that nobody but its owner can read, also not for a moment.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    // An existing file would keep the permissions it has.
    let _ = std::fs::remove_file(path);
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
        .with_context(|| format!("could not write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn passwords_need_no_escaping_and_differ() {
        let passwords: BTreeSet<_> = (0..100).map(|_| password().unwrap()).collect();
        assert_eq!(passwords.len(), 100);
        assert!(passwords.iter().all(|text| text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit())));
    }

    #[test]
    fn cluster_ids_are_sixteen_bytes_of_base64() {
        assert_eq!(base64_of([0; 16]), "A".repeat(22));
        assert_eq!(base64_of([0xff; 16]), format!("{}w", "_".repeat(21)));
        assert_eq!(base64_of(*b"Madang on Kafka!"), "TWFkYW5nIG9uIEthZmthIQ");
        assert!(!cluster_id().unwrap().starts_with('-'));
    }

    #[test]
    fn a_private_file_is_private_even_where_a_public_one_was() {
        let path = std::env::temp_dir().join(format!("madang-secret-{}", password().unwrap()));
        std::fs::write(&path, "public").unwrap();
        write_private(&path, "secret").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "secret");
        std::fs::remove_file(path).unwrap();
    }
}
