//! Names that nobody takes who does not run the site: readers would take their words for the site's.

use std::collections::HashSet;

use crate::MemberName;
use crate::look_alike::name_skeleton;

/// What is reserved unless the operator says otherwise.
pub const RESERVED_NAMES: &str = "admin, administrator, root, moderator, mod, staff, owner, madang, system, support, help, \
     official, security, webmaster, postmaster, 운영자, 운영진, 관리자, 관리인, 중재자, 마당, 시스템, 고객센터, 공지, 공지사항";

/// The reserved names of a site, by what they look like however they are written.
#[derive(Debug, Clone)]
pub struct ReservedNames(HashSet<String>);

impl ReservedNames {
    /// The names of a list separated by commas.
    pub fn listed(list: &str) -> Self {
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        Self(
            names
                .flat_map(|name| {
                    [name.to_owned(), name.to_uppercase(), capitalised(name)].map(|name| name_skeleton(&name))
                })
                .collect(),
        )
    }

    /// Whether a name is one of them; a `_` hides nothing, wherever it stands.
    pub(crate) fn has(&self, name: &MemberName) -> bool {
        let bare = |text: &str| text.replace('_', "");
        // By its looks, and by its letters: of a capital I alone nobody can say whether it is an i or an l.
        self.0.contains(&bare(&name.skeleton())) || self.0.contains(&bare(&name_skeleton(&name.key())))
    }
}

impl Default for ReservedNames {
    fn default() -> Self {
        Self::listed(RESERVED_NAMES)
    }
}

fn capitalised(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_name_is_reserved_however_it_is_written() {
        let reserved = ReservedNames::default();
        let is_reserved = |name: &str| reserved.has(&MemberName::of_account(name).unwrap());
        for name in [
            "admin",
            "Admin",
            "ADMIN",
            "AdMiN",
            "ADMlN",
            "adrnin",
            "adm1n",
            "_admin_",
            "ad_min",
            "운영_자",
            "ａdmin",
            "r00t",
            "운영자",
        ] {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["adam", "administratrix", "rooter", "운영", "anna"] {
            assert!(!is_reserved(name), "{name}");
        }
        assert!(!ReservedNames::listed(" , ").has(&MemberName::of_account("admin").unwrap()));
    }
}
