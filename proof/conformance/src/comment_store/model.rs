//! Random trees compared with a plain model: nodes that know their children in the order they were written.

use madang_board::{CommentId, CommentMode};
use madang_comment::DeleteOutcome;

use super::CommentStoreHarness;
use super::site::{Site, ids};

const TURNS: usize = 600;

/// The comments as a list of nodes; list order is depth first.
#[derive(Default)]
struct Model {
    nodes: Vec<Node>,
}

struct Node {
    id: CommentId,
    parent: Option<CommentId>,
    depth: u32,
    deleted: bool,
}

impl Model {
    fn listed(&self) -> Vec<(CommentId, bool)> {
        let mut listed = Vec::new();
        self.list_below(None, &mut listed);
        listed
    }

    fn list_below(&self, parent: Option<CommentId>, into: &mut Vec<(CommentId, bool)>) {
        for node in self.nodes.iter().filter(|node| node.parent == parent) {
            into.push((node.id, node.deleted));
            self.list_below(Some(node.id), into);
        }
    }

    fn delete(&mut self, id: CommentId) {
        if let Some(node) = self.nodes.iter_mut().find(|node| node.id == id) {
            node.deleted = true;
        }
        // Whatever is marked and has no child goes, until nothing does.
        let parents = |nodes: &[Node]| nodes.iter().filter_map(|node| node.parent).collect::<Vec<_>>();
        loop {
            let (before, parents) = (self.nodes.len(), parents(&self.nodes));
            self.nodes.retain(|node| !node.deleted || parents.contains(&node.id));
            if self.nodes.len() == before {
                return;
            }
        }
    }
}

pub(super) async fn random_changes_of_two_levels_agree_with_a_model<H: CommentStoreHarness>(harness: H) {
    random_changes(Site::open(harness, CommentMode::TwoLevel), 2).await;
}

pub(super) async fn random_changes_of_a_tree_agree_with_a_model<H: CommentStoreHarness>(harness: H) {
    random_changes(Site::open(harness, CommentMode::Tree), 5).await;
}

async fn random_changes<H: CommentStoreHarness>(site: Site<H>, depth_max: u32) {
    let (mut model, mut chance) = (Model::default(), Chance(0x0063_6f6d_6d65_6e74));
    for turn in 0..TURNS {
        // Growing first, then shrinking to nothing, so that whole branches of marks go.
        let writes = if turn < TURNS / 2 { 7 } else { 3 };
        let visible: Vec<usize> = (0..model.nodes.len()).filter(|index| !model.nodes[*index].deleted).collect();
        let chosen = visible.get(chance.below(visible.len())).map(|index| &model.nodes[*index]);
        if chance.below(10) < writes {
            let parent = chosen.filter(|node| node.depth < depth_max && chance.below(8) > 0);
            let (parent, depth) = (parent.map(|node| node.id), parent.map_or(1, |node| node.depth + 1));
            let comment = site.reply(parent).await;
            assert_eq!((comment.parent_id, comment.depth), (parent, depth));
            model.nodes.push(Node { id: comment.comment_id, parent, depth, deleted: false });
        } else if let Some(id) = chosen.map(|node| node.id) {
            model.delete(id);
            assert!(matches!(site.delete(id).await, DeleteOutcome::Deleted(_)));
        }
        compare(&site, &model, &mut chance, turn % 20 == 0).await;
    }
    site.assert_sound().await;
}

/// The counts and one random page; now and then the whole list by cursor too.
async fn compare<H: CommentStoreHarness>(site: &Site<H>, model: &Model, chance: &mut Chance, whole: bool) {
    let listed = model.listed();
    let count = site.count().await;
    let visible = listed.iter().filter(|(_, deleted)| !deleted).count();
    assert_eq!((count.comment_count, count.row_count), (visible as u64, listed.len() as u64));
    let newest = listed.iter().filter(|(_, deleted)| !deleted).map(|(id, _)| *id).max();
    assert_eq!(site.counted().await.last.map(|last| last.comment_id), newest, "what is deleted is not the newest");
    let size = 1 + chance.below(30);
    let number = 1 + chance.below(listed.len() / size + 2);
    let expected: Vec<_> = listed.iter().skip((number - 1) * size).take(size).map(|(id, _)| *id).collect();
    assert_eq!(ids(&site.page(number, size).await), expected, "page {number} of {size}");
    if whole {
        let walked = site.walk(size).await;
        let shown: Vec<_> = walked.iter().map(|comment| (comment.comment_id, comment.deleted)).collect();
        assert_eq!(shown, listed, "in steps of {size}");
        assert!(walked.iter().all(|c| c.deleted == c.content.is_none() && c.deleted == c.writer.is_none()));
    }
}

/// Repeatable chance (xorshift): a failure is the same failure next time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}
