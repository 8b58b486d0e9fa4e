//! Which experiments to run, by their names; a name that is none gets the one that was probably meant.

use anyhow::bail;

use crate::Experiment;

/// The experiments named, in the order of the report; all if none is named.
pub fn choose(all: Vec<Box<dyn Experiment>>, ids: &[String]) -> anyhow::Result<Vec<Box<dyn Experiment>>> {
    let known: Vec<&str> = all.iter().map(|experiment| experiment.id()).collect();
    if let Some(unknown) = ids.iter().find(|id| !known.contains(&id.as_str())) {
        let meant = nearest(&known, unknown).map(|id| format!(", did you mean `{id}`?")).unwrap_or_default();
        bail!("there is no experiment `{unknown}`{meant}\nThere are: {}", known.join(", "));
    }
    Ok(all.into_iter().filter(|one| ids.is_empty() || ids.iter().any(|id| id == one.id())).collect())
}

fn nearest<'a>(known: &[&'a str], id: &str) -> Option<&'a str> {
    let nearest = known.iter().min_by_key(|known| strsim::damerau_levenshtein(known, id))?;
    (strsim::damerau_levenshtein(nearest, id) <= 2 + id.len() / 4).then_some(nearest)
}

/// The experiments with their questions, a line each.
#[must_use]
pub fn listed(all: &[Box<dyn Experiment>]) -> String {
    let widest = all.iter().map(|one| one.id().len()).max().unwrap_or(0);
    all.iter().map(|one| format!("{:<widest$}  {}\n", one.id(), one.question())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::Invented;

    fn all() -> Vec<Box<dyn Experiment>> {
        let one = |id| -> Box<dyn Experiment> { Box::new(Invented { id, question: "Why?" }) };
        vec![one("direct-produce"), one("no-dedup"), one("locks")]
    }

    fn chosen(ids: &[&str]) -> Vec<&'static str> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        choose(all(), &ids).unwrap().iter().map(|one| one.id()).collect()
    }

    #[test]
    fn all_run_unless_some_are_named_and_the_order_is_the_reports() {
        assert_eq!(chosen(&[]), ["direct-produce", "no-dedup", "locks"]);
        assert_eq!(chosen(&["locks", "direct-produce", "locks"]), ["direct-produce", "locks"]);
    }

    #[test]
    fn an_unknown_name_gets_the_one_that_was_meant_and_the_list() {
        let refused = |id: &str| choose(all(), &[id.to_owned()]).map(drop).unwrap_err().to_string();
        let told = refused("direct-prodcue");
        assert!(told.contains("did you mean `direct-produce`?") && told.contains("no-dedup, locks"), "{told}");
        assert!(!refused("something else entirely").contains("did you mean"));
    }

    #[test]
    fn the_list_has_a_line_for_each() {
        assert_eq!(listed(&all()).lines().count(), 3);
        assert!(listed(&all()).starts_with("direct-produce  Why?\nno-dedup        Why?\n"));
    }
}
