//! A site with its pages over a SQLite file of its own, and people who use it as browsers do.

mod answer;
mod person;
mod site;

pub(crate) use answer::Answer;
pub(crate) use person::Person;
pub(crate) use site::{PASSWORD, TestSite, served};
