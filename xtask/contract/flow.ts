// What somebody does with the client in TypeScript that is generated from the description, from signing up to a settled report.

import * as madang from "./client/index";

declare const process: { env: Record<string, string>; exitCode: number };

const site = process.env.SITE;
const password = "only for this run";

function assert(holds: boolean, what: unknown): asserts holds {
    if (!holds) {
        throw new Error(`not so: ${typeof what === "string" ? what : JSON.stringify(what)}`);
    }
}

function configuration(token?: string): madang.Configuration {
    return new madang.Configuration({ basePath: site, accessToken: token });
}

async function signedIn(name: string, password: string): Promise<madang.Configuration> {
    const answer = await new madang.SessionsApi(configuration()).signInRaw({ credentials: { name, password, cookie: false } });
    assert(answer.raw.headers.getSetCookie().length === 0, "no cookie that was declined");
    const session = await answer.value();
    assert(session.member.name === name && session.expiresAt > new Date(), session);
    return configuration(session.token);
}

/** The problem that a call must end with. */
async function problem(call: Promise<unknown>): Promise<madang.Problem> {
    try {
        await call;
    } catch (error) {
        assert(error instanceof madang.ResponseError, String(error));
        return madang.ProblemFromJSON(await error.response.json());
    }
    throw new Error("the call was answered");
}

async function main(): Promise<void> {
    const guest = configuration();
    const registered = await new madang.MembersApi(guest).registerMember({ registration: { name: "타입_1", password } });
    const member = await signedIn("타입_1", password);
    const admin = await signedIn(process.env.ADMIN_NAME, process.env.ADMIN_PASSWORD);
    const own = await new madang.MembersApi(member).readOwnMember();
    assert(own.memberId === registered.memberId && own.role === madang.Role.Member, own);

    const wrong = { name: "타입_1", password: "wrong, and long enough" };
    const refused = await problem(new madang.SessionsApi(guest).signIn({ credentials: wrong }));
    assert(refused.type === "urn:madang:problem:wrong-password" && refused.status === 401, refused);

    const newBoard = { slug: "typescript", title: "TypeScript", commentMode: madang.CommentMode.TwoLevel };
    const board = await new madang.BoardsApi(admin).createBoard({ newBoard });
    const boardId = board.boardId;
    const boards = await new madang.BoardsApi(guest).listBoards();
    assert(boards.items.some((listed) => listed.boardId === boardId), boards);
    const boardChange = { title: "TypeScript", description: "By a client", position: 3, archived: false };
    const described = await new madang.BoardsApi(admin).editBoard({ boardId, boardChange });
    assert(described.description === "By a client" && described.position === 3, described);
    assert(described.lastActivityAt === null, described);

    const articles = new madang.ArticlesApi(member);
    const comments = new madang.CommentsApi(member);
    const articleDraft = { title: "From a client", content: "Written by *generated* code." };
    const article = await articles.createArticle({ boardId, articleDraft, idempotencyKey: "typescript-1" });
    const again = await articles.createArticle({ boardId, articleDraft, idempotencyKey: "typescript-1" });
    const articleId = article.articleId;
    assert(again.articleId === articleId && article.contentHtml.includes("<em>generated</em>"), article);
    const comment = await comments.createComment({ articleId, commentDraft: { content: "A comment" } });
    const commentDraft = { content: "A reply", parentId: comment.commentId };
    const reply = await comments.createComment({ articleId, commentDraft });
    assert(reply.parentId === comment.commentId && comment.parentId === null, reply);
    const like = await new madang.LikesApi(member).likeArticle({ articleId });
    assert(like.liked && like.likeCount === 1, like);
    const view = await new madang.ViewsApi(guest).viewArticle({ articleId });
    assert(view.counted, view);

    const answer = await new madang.ArticlesApi(guest).readArticleRaw({ articleId });
    const read = await answer.value();
    const ifMatch = answer.raw.headers.get("etag") ?? undefined;
    assert(read.likeCount === 1 && read.commentCount === 2 && read.createdAt <= new Date(), read);
    const page = await new madang.ArticlesApi(guest).listArticles({ boardId, page: 1, pageSize: 10 });
    assert(page.items[0].title === "From a client" && page.knownCount === 1 && page.next === undefined, page);
    const step = await new madang.CommentsApi(guest).listComments({ articleId, limit: 1 });
    assert(step.items[0].content === "A comment" && step.knownCount === undefined && step.next != null, step);
    const rest = await new madang.CommentsApi(guest).listComments({ articleId, limit: 1, after: step.next });
    assert(rest.items[0].commentId === reply.commentId, rest);

    const changed = { title: "Changed", content: "Once." };
    const edited = await articles.editArticle({ articleId, articleDraft: changed, ifMatch });
    assert(edited.version === 2, edited);
    const late = await problem(articles.deleteArticle({ articleId, ifMatch }));
    assert(late.status === 412 && late.type === "urn:madang:problem:changed", late);

    const newReport = { reason: "To see what happens" };
    const report = await new madang.ModerationApi(member).reportArticle({ articleId, newReport });
    const reportId = report.reportId;
    const moderation = new madang.ModerationApi(admin);
    const reports = await moderation.listReports();
    assert(reports.items.some((listed) => listed.reportId === reportId), reports);
    const settled = await moderation.resolveReport({ reportId });
    assert(settled.resolution?.note === "", settled);

    const commentId = reply.commentId;
    const commentEdit = { content: "A *better* reply" };
    const corrected = await comments.editComment({ commentId, commentEdit, ifMatch: '"1"' });
    assert(corrected.version === 2 && corrected.contentHtml === "<p>A <em>better</em> reply</p>\n", corrected);
    const overtaken = await problem(comments.deleteComment({ commentId, ifMatch: '"1"' }));
    assert(overtaken.status === 412 && overtaken.type === "urn:madang:problem:changed", overtaken);
    await comments.deleteComment({ commentId, ifMatch: '"2"' });
    await new madang.ArticlesApi(admin).deleteArticle({ articleId });
    const gone = await problem(new madang.ArticlesApi(guest).readArticle({ articleId }));
    assert(gone.type === "urn:madang:problem:not-found", gone);
    const log = await moderation.readModerationLog();
    const kinds = log.items.map((act) => act.kind);
    assert(kinds.includes(madang.ModerationActKind.ArticleDeleted), kinds);
    assert(kinds.includes(madang.ModerationActKind.ReportResolved), kinds);

    await new madang.SessionsApi(member).endOtherSessions();
    await new madang.SessionsApi(member).signOut();
    const ended = await problem(new madang.MembersApi(member).readOwnMember());
    assert(ended.type === "urn:madang:problem:not-signed-in", ended);
    console.log("the client in TypeScript did all of it");
}

main().catch((error) => {
    console.error(error);
    process.exitCode = 1;
});
