//! Roles: which services a process runs. All of them in one process unless the operator says otherwise.

use std::str::FromStr;

/// A part of the program that can run in a process of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Members and sessions.
    Member,
    /// Boards and articles.
    Article,
    /// Comments.
    Comment,
    /// Likes.
    Like,
    /// Views.
    View,
    /// The list of hot articles.
    HotArticle,
    /// The query model.
    ArticleRead,
    /// Search.
    Search,
    /// Pages for people.
    Web,
}

impl Role {
    /// Every role there is.
    pub const ALL: [Self; 9] = [
        Self::Member,
        Self::Article,
        Self::Comment,
        Self::Like,
        Self::View,
        Self::HotArticle,
        Self::ArticleRead,
        Self::Search,
        Self::Web,
    ];

    /// The name as operators write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Article => "article",
            Self::Comment => "comment",
            Self::Like => "like",
            Self::View => "view",
            Self::HotArticle => "hot-article",
            Self::ArticleRead => "article-read",
            Self::Search => "search",
            Self::Web => "web",
        }
    }
}

/// The roles of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Roles {
    /// Asked for by name; empty when all were.
    named: Vec<Role>,
}

impl Roles {
    /// Every role.
    pub(crate) const ALL: Self = Self { named: Vec::new() };

    /// Whether this process has the role.
    pub(crate) fn has(&self, role: Role) -> bool {
        self.named.is_empty() || self.named.contains(&role)
    }

    /// Whether this process runs the use cases of a role: its own, and for pages those of all.
    pub(crate) fn runs(&self, role: Role) -> bool {
        self.has(role) || self.has(Role::Web)
    }

    /// Whether this process reads through the query model: to show articles, and for the counts and titles beside others.
    pub(crate) fn reads(&self) -> bool {
        [Role::Article, Role::ArticleRead, Role::Comment, Role::HotArticle].into_iter().any(|role| self.runs(role))
    }

    /// The roles that this process asks something at once and does not have itself.
    pub(crate) fn asked_elsewhere(&self) -> Vec<Role> {
        let needs_articles =
            [Role::Member, Role::Comment, Role::Like, Role::View].into_iter().any(|role| self.runs(role));
        let asked = [
            // Every process must know which sessions have ended.
            (Role::Member, true),
            (Role::Article, needs_articles || self.reads()),
            // Moderation, beside the members, asks what exists and what was done to it.
            (Role::Comment, self.reads() || self.runs(Role::Member)),
            (Role::Like, self.reads()),
            (Role::View, self.reads()),
        ];
        asked.into_iter().filter(|(role, asked)| *asked && !self.runs(*role)).map(|(role, _)| role).collect()
    }
}

/// A name that is no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be all, or a list of {roles}; {0:?} is not a role", roles = Role::ALL.map(Role::name).join(", "))]
pub(crate) struct UnknownRole(String);

impl FromStr for Roles {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        if text.trim() == "all" {
            return Ok(Self { named: Vec::new() });
        }
        let find = |name: &str| {
            let role = Role::ALL.into_iter().find(|role| role.name() == name.trim());
            role.ok_or_else(|| UnknownRole(name.trim().to_owned()))
        };
        Ok(Self { named: text.split(',').map(find).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_has_every_role() {
        let roles: Roles = "all".parse().unwrap();
        assert!(Role::ALL.into_iter().all(|role| roles.has(role)));
    }

    #[test]
    fn a_list_has_what_it_names() {
        let roles: Roles = "article, comment".parse().unwrap();
        assert!(roles.has(Role::Article) && roles.has(Role::Comment) && !roles.has(Role::Member));
    }

    #[test]
    fn a_process_asks_elsewhere_what_it_has_not_itself() {
        let asked = |text: &str| text.parse::<Roles>().unwrap().asked_elsewhere();
        assert_eq!(asked("all"), []);
        assert_eq!(asked("web"), []);
        assert_eq!(asked("member"), [Role::Article, Role::Comment]);
        assert_eq!(asked("view"), [Role::Member, Role::Article]);
        // Whoever locks an article is answered with it.
        assert_eq!(asked("comment"), [Role::Member, Role::Article, Role::Like, Role::View]);
        assert_eq!(asked("article,member"), [Role::Comment, Role::Like, Role::View]);
    }

    #[test]
    fn an_unknown_or_empty_name_is_refused() {
        for text in ["cook", "", "article,,member", "all,article"] {
            assert!(text.parse::<Roles>().is_err(), "{text:?}");
        }
    }
}
