"""What somebody does with the client in Python that is generated from the description, from signing up to a settled report."""

import os

import madang_client as madang
from madang_client.exceptions import ApiException, NotFoundException, UnauthorizedException

SITE = os.environ["SITE"]
PASSWORD = "only for this run"


def client(token=None):
    return madang.ApiClient(madang.Configuration(host=SITE, access_token=token))


def signed_in(name, password):
    credentials = madang.Credentials(name=name, password=password, cookie=False)
    answer = madang.SessionsApi(client()).sign_in_with_http_info(credentials)
    assert answer.status_code == 201
    assert not any(name.lower() == "set-cookie" for name in answer.headers), "a cookie that was declined"
    assert answer.data.member.name == name
    return client(answer.data.token)


def problem_of(error):
    return madang.Problem.from_json(error.body)


def main():
    guest = client()
    # A name in another script than Latin: the pattern must be one to Python.
    registered = madang.MembersApi(guest).register_member(madang.Registration(name="파이썬_1", password=PASSWORD))
    member = signed_in("파이썬_1", PASSWORD)
    admin = signed_in(os.environ["ADMIN_NAME"], os.environ["ADMIN_PASSWORD"])
    assert madang.MembersApi(member).read_own_member().member_id == registered.member_id

    try:
        madang.SessionsApi(guest).sign_in(madang.Credentials(name="파이썬_1", password="wrong, and long enough"))
        raise AssertionError("signed in with a wrong password")
    except UnauthorizedException as error:
        assert problem_of(error).type == "urn:madang:problem:wrong-password", error.body

    new_board = madang.NewBoard(slug="python", title="Python", comment_mode=madang.CommentMode.TREE)
    board = madang.BoardsApi(admin).create_board(new_board)
    assert board.board_id in [listed.board_id for listed in madang.BoardsApi(guest).list_boards().items]
    change = madang.BoardChange(title="Python", description="By a client", position=3, archived=False)
    described = madang.BoardsApi(admin).edit_board(board.board_id, change)
    assert described.description == "By a client" and described.position == 3, described
    assert described.last_activity_at is None, described
    link = madang.MembersApi(admin).issue_password_reset(registered.member_id)
    assert "/password-reset/" in link.url and link.expires_at > described.created_at, link

    articles, comments, likes = madang.ArticlesApi(member), madang.CommentsApi(member), madang.LikesApi(member)
    draft = madang.ArticleDraft(title="From a client", content="Written by *generated* code.")
    article = articles.create_article(board.board_id, draft, idempotency_key="python-1")
    again = articles.create_article(board.board_id, draft, idempotency_key="python-1")
    assert again.article_id == article.article_id and "<em>generated</em>" in article.content_html
    comment = comments.create_comment(article.article_id, madang.CommentDraft(content="A comment"))
    reply = comments.create_comment(
        article.article_id, madang.CommentDraft(content="A reply", parent_id=comment.comment_id)
    )
    assert reply.parent_id == comment.comment_id and comment.parent_id is None
    assert likes.like_article(article.article_id).liked
    assert madang.ViewsApi(guest).view_article(article.article_id).counted

    read = madang.ArticlesApi(guest).read_article_with_http_info(article.article_id)
    assert (read.data.like_count, read.data.comment_count) == (1, 2), read.data
    page = madang.ArticlesApi(guest).list_articles(board.board_id, page=1, page_size=10)
    assert [item.title for item in page.items] == ["From a client"] and page.known_count == 1 and page.next is None
    step = madang.CommentsApi(guest).list_comments(article.article_id, limit=1)
    assert [item.content for item in step.items] == ["A comment"] and step.known_count is None
    rest = madang.CommentsApi(guest).list_comments(article.article_id, limit=1, after=step.next)
    assert [item.comment_id for item in rest.items] == [reply.comment_id]

    change = madang.ArticleDraft(title="Changed", content="Once.")
    edited = articles.edit_article(article.article_id, change, if_match=read.headers["etag"])
    assert edited.version == 2
    try:
        articles.delete_article(article.article_id, if_match=read.headers["etag"])
        raise AssertionError("deleted what was changed meanwhile")
    except ApiException as error:
        assert error.status == 412 and problem_of(error).type == "urn:madang:problem:changed", error.body

    reports = madang.ModerationApi(member)
    report = reports.report_article(article.article_id, madang.NewReport(reason="To see what happens"))
    moderation = madang.ModerationApi(admin)
    assert report.report_id in [item.report_id for item in moderation.list_reports().items]
    settled = moderation.resolve_report(report.report_id)
    assert settled.resolution is not None and settled.resolution.note == ""

    corrected = comments.edit_comment(reply.comment_id, madang.CommentEdit(content="A *better* reply"), if_match='"1"')
    assert corrected.version == 2 and corrected.content_html == "<p>A <em>better</em> reply</p>\n", corrected
    assert corrected.created_at == reply.created_at and corrected.modified_at >= reply.modified_at, corrected
    try:
        comments.delete_comment(reply.comment_id, if_match='"1"')
        raise AssertionError("deleted what was changed meanwhile")
    except ApiException as error:
        assert error.status == 412 and problem_of(error).type == "urn:madang:problem:changed", error.body
    comments.delete_comment(reply.comment_id, if_match='"2"')
    madang.ArticlesApi(admin).delete_article(article.article_id)
    try:
        madang.ArticlesApi(guest).read_article(article.article_id)
        raise AssertionError("read a deleted article")
    except NotFoundException as error:
        assert problem_of(error).type == "urn:madang:problem:not-found", error.body
    log = moderation.read_moderation_log()
    kinds = [act.kind for act in log.items]
    assert madang.ModerationActKind.ARTICLE_DELETED in kinds and madang.ModerationActKind.REPORT_RESOLVED in kinds, kinds

    madang.SessionsApi(member).end_other_sessions()
    madang.SessionsApi(member).sign_out()
    try:
        madang.MembersApi(member).read_own_member()
        raise AssertionError("a session that was ended")
    except UnauthorizedException as error:
        assert problem_of(error).type == "urn:madang:problem:not-signed-in", error.body
    print("the client in Python did all of it")


main()
