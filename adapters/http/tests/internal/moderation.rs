//! What moderation asks peers comes back as it was told, step by step.

use std::sync::atomic::Ordering;

use crate::support::{Peer, Site, act, article, asking, board, options, secret};
use madang_board::{Act, BoardId, BoardLookup, CommentId, CommentLookup};
use madang_kernel::{Id, PageSize, StoreError};
use madang_member::ActSource;

#[tokio::test]
async fn acts_of_peers_are_told_in_steps_and_by_board() {
    let peer = Peer::serve(Site::of(5).router(secret())).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    let size = PageSize::new("limit", 2).unwrap();
    let expected: Vec<Act> = (1..=5).rev().map(act).collect();
    for source in [peers.article_acts(), peers.comment_acts()] {
        for on in [None, Some(board())] {
            let (mut told, mut before) = (Vec::new(), None);
            loop {
                let step = source.acts(on, before, size).await.unwrap();
                told.extend(step.items);
                before = step.next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(told, expected);
        }
        assert_eq!(source.acts(Some(BoardId::from_raw(78)), None, size).await.unwrap().items, []);
    }
}

#[tokio::test]
async fn peers_tell_which_boards_and_comments_there_are_and_when_they_cannot() {
    let site = Site::of(5);
    let peer = Peer::serve(site.router(secret())).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    assert!(peers.has_board(board()).await.unwrap());
    assert!(!peers.has_board(BoardId::from_raw(78)).await.unwrap());
    assert_eq!(peers.article_of(CommentId::from_raw(5)).await.unwrap(), Some(article(5)));
    assert_eq!(peers.article_of(CommentId::from_raw(6)).await.unwrap(), None);
    site.away.store(true, Ordering::SeqCst);
    let failed = peers.has_board(board()).await.unwrap_err();
    assert!(matches!(failed, StoreError::Unavailable { .. }), "unknown is not absent: {failed}");
}
