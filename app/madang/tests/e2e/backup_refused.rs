//! What a backup and a restore refuse, and what they leave alone: files that were cut or changed, directories and files of
//! others, a disk that is full.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::backup_place::{Place, mode};
use crate::command::{clean, madang, run};
use crate::server::eventually;

#[test]
fn a_backup_that_was_cut_or_changed_is_refused_and_leaves_nothing() {
    let place = Place::seeded("500");
    place.backup(&["--with-keys"]).expect(0);
    let bytes = std::fs::read(place.the_backup()).unwrap();
    let other = place.root.path().join("other.tar.gz");
    for cut in [0, 1, 10, 100, 1_000, bytes.len() / 2, bytes.len() - 1_000, bytes.len() - 8, bytes.len() - 1] {
        std::fs::write(&other, &bytes[..cut]).unwrap();
        let refused = place.restore(&other).expect(1).stderr;
        assert!(refused.contains("not whole") || refused.contains("not a backup"), "{cut}: {refused}");
        assert!(!place.restored().join("madang.db").exists() && !place.restored().join("keys").exists(), "{cut}");
    }
    for place_of_change in [bytes.len() / 3, bytes.len() / 2, bytes.len() - 300, bytes.len() - 6] {
        let mut changed = bytes.clone();
        changed[place_of_change] ^= 0x10;
        std::fs::write(&other, changed).unwrap();
        let refused = place.restore(&other).expect(1).stderr;
        assert!(
            refused.contains("damaged") || refused.contains("not whole") || refused.contains("not a backup"),
            "{refused}"
        );
        assert!(!place.restored().join("madang.db").exists());
    }
    std::fs::write(&other, "a letter to somebody").unwrap();
    assert!(place.restore(&other).expect(1).stderr.contains("not a backup made by madang"));
    place.restore(&place.the_backup()).expect(0);
}

#[test]
fn a_changed_archive_that_is_packed_again_is_refused_by_its_sums() {
    let place = Place::seeded("50");
    place.backup(&[]).expect(0);
    let unpacked = place.root.path().join("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    let tar = |arguments: &[&str]| {
        let ran = Command::new("tar").arg("-C").arg(&unpacked).args(arguments).status().unwrap();
        assert!(ran.success(), "{arguments:?}");
    };
    tar(&["-xzf", place.the_backup().to_str().unwrap()]);
    let sums = Command::new("sha256sum").args(["-c", "SHA256SUMS"]).current_dir(&unpacked).output().unwrap();
    assert!(sums.status.success(), "whoever unpacks it by hand can compare: {sums:?}");
    let mut database = std::fs::read(unpacked.join("madang.db")).unwrap();
    let middle = database.len() / 2;
    database[middle] ^= 1;
    std::fs::write(unpacked.join("madang.db"), database).unwrap();
    let again = place.root.path().join("again.tar.gz");
    tar(&["-czf", again.to_str().unwrap(), "manifest.json", "madang.db", "SHA256SUMS"]);
    let refused = place.restore(&again).expect(1);
    assert!(refused.stderr.contains("check sum"), "{refused:?}");
    tar(&["-czf", again.to_str().unwrap(), "manifest.json", "madang.db"]);
    assert!(place.restore(&again).expect(1).stderr.contains("not whole"));
}

#[test]
fn a_restore_refuses_a_directory_that_is_in_use_or_holds_anything() {
    let place = Place::seeded("50");
    place.backup(&[]).expect(0);
    let backup = place.the_backup();
    let from = ["restore", "--from", backup.to_str().unwrap()];
    let refused = run(&place.data(), &from, "").expect(1);
    assert!(refused.stderr.contains("is not empty"), "{refused:?}");
    let server = place.serve();
    let refused = run(&place.data(), &from, "").expect(1);
    assert!(refused.stderr.contains("is in use by process"), "{refused:?}");
    server.stop();
    let full = place.root.path().join("papers");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("letter"), "mine").unwrap();
    std::fs::set_permissions(full.join("letter"), Permissions::from_mode(0o644)).unwrap();
    let refused = run(&full, &from, "").expect(1);
    assert!(refused.stderr.contains("is not empty (it holds letter)"), "{refused:?}");
    assert_eq!((mode(&full.join("letter")), full.read_dir().unwrap().count()), (0o644, 1), "nothing was touched");
}

#[test]
fn retention_removes_the_oldest_of_its_own_and_nothing_else() {
    let place = Place::seeded("50");
    place.backup(&[]).expect(0);
    let first = place.the_backup();
    let others = ["madang-notes.txt", "madang-00000000-20200101T000000Z.tar.gz", "a copy of mine.tar.gz"];
    for name in others {
        std::fs::copy(&first, place.backups().join(name)).unwrap();
    }
    let name = first.file_name().unwrap().to_str().unwrap();
    // Of this site by its name, and somebody's own file by its contents.
    let copy = place.backups().join(format!("{}20200101T000000Z.tar.gz", &name[..name.len() - 23]));
    std::fs::copy(&first, &copy).unwrap();
    for _ in 0..3 {
        let began = this_second();
        eventually("the next second", || (this_second() != began).then_some(()));
        place.backup(&["--keep", "2"]).expect(0);
    }
    assert!(!first.exists() && copy.exists());
    assert!(others.iter().all(|name| place.backups().join(name).exists()));
    assert_eq!(place.files().len(), others.len() + 1 + 2, "{:?}", place.files());
}

/// Names carry the second.
fn this_second() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

#[test]
fn a_full_disk_is_told_and_nothing_is_kept() {
    let place = Place::seeded("2000");
    std::fs::create_dir(place.backups()).unwrap();
    let mut command = Command::new("unshare");
    clean(&mut command).args(["--user", "--map-root-user", "--mount", "sh", "-ec"]).arg(format!(
        "mount -t tmpfs -o size=64k none {to}; {madang} backup --to {to}/ --data {data} && exit 9; ls -A {to} | wc -l",
        to = place.backups().display(),
        data = place.data().display(),
        madang = madang(),
    ));
    let ended = command.output().expect("unshare runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("is full: nothing was kept of the backup"), "{said}");
    assert_eq!(String::from_utf8_lossy(&ended.stdout).trim(), "0", "{said}");
}

#[test]
fn a_backup_never_replaces_a_file() {
    let place = Place::seeded("10");
    let file = place.root.path().join("mine.tar.gz");
    std::fs::write(&file, "mine").unwrap();
    let refused = run(&place.data(), &["backup", "--to", file.to_str().unwrap()], "").expect(1);
    assert!(refused.stderr.contains("exists already"), "{refused:?}");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    let new = place.root.path().join("new.tar.gz");
    run(&place.data(), &["backup", "--to", new.to_str().unwrap()], "").expect(0);
    place.restore(&new).expect(0);
}
