// What a script adds to pages that work without one. Each part looks for its place in the page and is content without it.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const FRAGMENT = { "X-Madang-Fragment": "1" };

function say(text) {
  const place = $("#announce");
  if (!place) return;
  place.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { place.textContent = ""; }, 6000);
}

function element(html) {
  const template = document.createElement("template");
  template.innerHTML = html.trim();
  return template.content.firstElementChild;
}

const formBody = (form) => new URLSearchParams(new FormData(form));

// Drafts: what was typed survives a closed tab, and a session that ended. Kept per member and form, for a week.
const DRAFT_KEPT_MS = 7 * 24 * 3600 * 1000;
const drafts = {
  // The page says whose the form is. One of nobody has no draft: the next who sits here would find it.
  key: (form) => "draft:" + form.dataset.draft,
  read(form) {
    if (!form.dataset.draft) return null;
    try {
      const draft = JSON.parse(localStorage.getItem(this.key(form)));
      return draft && Date.now() - draft.at < DRAFT_KEPT_MS ? draft.fields : null;
    } catch { return null; }
  },
  write(form) {
    if (!form.dataset.draft) return;
    const fields = {};
    for (const field of this.fields(form)) fields[field.name] = field.value;
    const isEmpty = Object.values(fields).every((value) => !value.trim());
    try {
      if (isEmpty) localStorage.removeItem(this.key(form));
      else localStorage.setItem(this.key(form), JSON.stringify({ at: Date.now(), fields }));
    } catch { /* A full or forbidden store costs the draft, nothing else. */ }
  },
  forget(form) {
    try { localStorage.removeItem(this.key(form)); } catch { /* As above. */ }
  },
  // Who signs in, or has just signed out, leaves no text of others in this browser. A page of nobody alone says nothing: the
  // session may have ended by itself, and its member comes back for what they wrote.
  clear() {
    const { member, signedOut } = document.documentElement.dataset;
    if (!member && signedOut === undefined) return;
    const isOthers = (key) => key.startsWith("draft:") && !(member && key.startsWith(`draft:${member}:`));
    try {
      for (const key of Object.keys(localStorage).filter(isOthers)) localStorage.removeItem(key);
    } catch { /* As above. */ }
  },
  fields: (form) => $$("textarea, input:not([type=hidden])", form),
  follow(form) {
    let timer;
    form.addEventListener("input", () => {
      clearTimeout(timer);
      // A reply that was sent or left meanwhile is no draft any more.
      timer = setTimeout(() => { if (form.isConnected) this.write(form); }, 300);
    });
    addEventListener("pagehide", () => { if (form.isConnected) this.write(form); });
  },
  restore(form) {
    const saved = this.read(form);
    const fields = this.fields(form);
    // What the server sent back is newer than any draft.
    if (!saved || $("[role=alert]", form)) return false;
    const differs = fields.some((field) => saved[field.name] !== undefined && saved[field.name] !== field.value);
    if (differs) for (const field of fields) if (saved[field.name] !== undefined) field.value = saved[field.name];
    return differs;
  },
};

// Writing an article, or correcting a comment: the draft comes back, the preview follows the text.
function textForm() {
  const form = $("form[data-preview]");
  if (!form) return;
  const [notice, preview, text] = [$("#draft-notice", form), $("#preview", form), $("textarea", form)];
  const original = drafts.fields(form).map((field) => [field, field.value]);
  if (drafts.restore(form)) {
    notice.hidden = false;
    $("button", notice).addEventListener("click", () => {
      for (const [field, value] of original) field.value = value;
      drafts.forget(form);
      notice.hidden = true;
      show();
      text.focus();
    });
  }
  drafts.follow(form);
  // Forgotten once the text is there: an answer that never comes must not cost the text.
  form.addEventListener("submit", () => { drafts.write(form); sessionStorage.setItem("sent", drafts.key(form)); });
  preview.hidden = false;
  let timer, newest = 0;
  async function show() {
    const mine = ++newest;
    const place = $(".text", preview);
    if (!text.value.trim()) { place.replaceChildren(); return; }
    try {
      const answer = await fetch(form.dataset.preview, { method: "POST", body: formBody(form), headers: FRAGMENT });
      const html = await answer.text();
      if (answer.ok && mine === newest) place.innerHTML = html;
    } catch { /* The preview waits for the next key. */ }
  }
  text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 350); });
  if (text.value) show();
}

// The like button reacts before the server answers, and takes it back if that fails.
function like() {
  const form = $("#like");
  if (!form) return;
  const [button, problem] = [$("button", form), $("#like-problem")];
  // What happened, and until when, as far as the server says.
  const why = (answer) => {
    const { failed, ended, suspended, wait } = problem.dataset;
    if (answer?.status === 401) return ended;
    if (answer?.status === 403) return suspended;
    if (answer?.status !== 429) return failed;
    const seconds = Number(answer.headers.get("Retry-After")) || 1;
    const unit = seconds > 90 ? "minute" : "second";
    const long = new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit, unitDisplay: "long" });
    return wait.replace("#", long.format(unit === "minute" ? Math.ceil(seconds / 60) : seconds));
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-busy") === "true") return;
    const liked = button.getAttribute("aria-pressed") !== "true";
    const before = Number($(".like-count", form).textContent);
    const show = (pressed, count) => {
      button.setAttribute("aria-pressed", pressed);
      form.elements.like.value = pressed ? "no" : "yes";
      setCount(".like-count", count);
    };
    problem.hidden = true;
    let answer;
    button.setAttribute("aria-busy", "true");
    show(liked, Math.max(0, before + (liked ? 1 : -1)));
    try {
      const path = `/api/v1/articles/${$("#article").dataset.id}/like`;
      answer = await fetch(path, { method: liked ? "PUT" : "DELETE" });
      if (!answer.ok) throw new Error(answer.status);
      const state = await answer.json();
      show(state.liked, state.like_count);
    } catch {
      show(!liked, before);
      problem.textContent = why(answer);
      problem.hidden = false;
    } finally {
      button.removeAttribute("aria-busy");
    }
  });
}

// A count alone, or in words that know one from many.
function setCount(selector, count) {
  for (const place of $$(selector)) {
    const { one, many } = place.dataset;
    const text = many ? (count === 1 ? one : many).replace("#", count) : String(count);
    if (many) place.dataset.count = count;
    if (place.textContent !== text) place.textContent = text;
  }
}

// Puts a comment where it belongs. False when that place is not loaded yet.
function place(item) {
  const list = $("#comment-list");
  if (document.getElementById(item.id)) return true;
  const next = $$(":scope > .comment", list).find((other) => other.dataset.key > item.dataset.key);
  if (!next && $("#more-comments")) return false;
  list.insertBefore(item, next || null);
  const none = $("#no-comments");
  if (none) none.remove();
  return true;
}

// Comments and replies are sent without leaving the page; the reply form opens in place and keeps what was typed.
function comments() {
  const section = $("#comments");
  if (!section) return;
  const main = $("#comment-form");
  if (main) {
    drafts.restore(main);
    drafts.follow(main);
  }
  section.addEventListener("submit", (event) => {
    if (!event.target.matches(".comment-form")) return;
    event.preventDefault();
    send(section, event.target);
  });
  section.addEventListener("click", async (event) => {
    const link = event.target.closest("a.reply");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const item = link.closest(".comment");
    const open = $(":scope > .reply-place", item);
    if (open) { open.hidden = !open.hidden; if (!open.hidden) $("textarea", open).focus(); return; }
    const answer = await fetch(link.href, { headers: FRAGMENT }).catch(() => null);
    if (!answer || !answer.ok) { location.href = link.href; return; }
    const form = element(await answer.text());
    const wrapper = document.createElement("div");
    wrapper.className = "reply-place";
    // Ids are for one form on a page; several reply forms may be open.
    const field = $("textarea", form);
    form.removeAttribute("id");
    field.id = "reply-" + item.id;
    $("label", form).htmlFor = field.id;
    wrapper.append(form);
    item.append(wrapper);
    drafts.restore(form);
    drafts.follow(form);
    field.focus();
  });
  section.addEventListener("click", (event) => {
    const link = event.target.closest(".reply-place .cancel");
    if (!link) return;
    event.preventDefault();
    leave(section, link.closest(".reply-place"));
  });
  // Ctrl+Enter sends, Escape leaves a reply. Not while a syllable is being composed.
  section.addEventListener("keydown", (event) => {
    if (event.isComposing || !event.target.matches(".comment-form textarea")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); event.target.form.requestSubmit(); }
    const reply = event.target.closest(".reply-place");
    if (event.key === "Escape" && reply) { event.preventDefault(); leave(section, reply); }
  });
  $("#more-comments")?.addEventListener("click", (event) => { event.preventDefault(); more(event.currentTarget); });
}

// Closes a reply; asks before text is thrown away.
function leave(section, reply) {
  const form = $("form", reply);
  if ($("textarea", form).value.trim() && !confirm(section.dataset.discard)) return;
  drafts.forget(form);
  const opener = $(":scope > .actions .reply", reply.parentElement);
  reply.remove();
  opener?.focus();
}

async function send(section, form) {
  if (form.getAttribute("aria-busy") === "true") return;
  form.setAttribute("aria-busy", "true");
  $(".problem", form)?.remove();
  const fail = (text) => {
    const problem = document.createElement("p");
    problem.className = "problem";
    problem.setAttribute("role", "alert");
    problem.textContent = text;
    form.prepend(problem);
  };
  try {
    const answer = await fetch(form.action, { method: "POST", body: formBody(form), headers: FRAGMENT });
    const text = await answer.text();
    // The server says in words what happened and until when; a page of some other machine is not for here.
    if (answer.status !== 201) { fail(isText(answer) ? text : section.dataset.failed); return; }
    const item = element(text);
    item.classList.add("fresh");
    drafts.forget(form);
    const inPlace = place(item);
    const reply = form.closest(".reply-place");
    if (reply) reply.remove();
    else {
      form.reset();
      $("textarea", form).value = "";
      form.elements.once.value = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    }
    document.dispatchEvent(new Event("comment-placed"));
    if (inPlace) {
      // The stream may have been quicker, and put in its own copy.
      const shown = document.getElementById(item.id);
      shown.tabIndex = -1;
      shown.focus({ preventScroll: true });
      shown.scrollIntoView({ block: "nearest" });
    } else location.href = `/comments/${item.id.slice(1)}`;
  } catch {
    fail(section.dataset.failed);
  } finally {
    form.removeAttribute("aria-busy");
  }
}

const isText = (answer) => (answer.headers.get("Content-Type") || "").startsWith("text/plain");

async function pageAt(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(answer.status);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

async function more(link) {
  if (link.getAttribute("aria-busy") === "true") return;
  link.setAttribute("aria-busy", "true");
  try {
    const page = await pageAt(link.href);
    const items = $$("#comment-list > .comment", page).filter((item) => !document.getElementById(item.id));
    $("#comment-list").append(...items.map((item) => document.adoptNode(item)));
    const next = $("#more-comments", page);
    if (next) { link.href = next.getAttribute("href"); link.removeAttribute("aria-busy"); }
    else link.parentElement.remove();
    items[0]?.setAttribute("tabindex", "-1");
    items[0]?.focus({ preventScroll: true });
  } catch { location.href = link.href; }
}

// Endless scroll: the next step is loaded before the end is reached, and the address says where one is.
function endless() {
  const link = $("#older");
  const rows = $("#articles");
  if (!link || !rows) return;
  let busy = false;
  const load = async () => {
    if (busy) return;
    busy = true;
    link.setAttribute("aria-busy", "true");
    try {
      const address = link.getAttribute("href");
      const page = await pageAt(address);
      const found = $$("#articles > tr", page).map((row) => document.adoptNode(row));
      if (found[0]) found[0].dataset.address = address;
      rows.append(...found);
      const next = $("#older", page);
      if (next) link.setAttribute("href", next.getAttribute("href"));
      else { near.disconnect(); link.parentElement.remove(); }
      link.removeAttribute("aria-busy");
      busy = false;
      // An observer tells of changes only, and the link may be in sight still or again: one who is new is told at once.
      if (next) { near.unobserve(link); near.observe(link); }
    } catch { link.removeAttribute("aria-busy"); busy = false; }
  };
  link.addEventListener("click", (event) => { event.preventDefault(); load(); });
  const near = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) load(); }, { rootMargin: "400px" });
  near.observe(link);
  // The last step whose first row is above the middle is where one is.
  const first = location.pathname + location.search;
  let waiting = false;
  const note = () => {
    waiting = false;
    const marks = $$("#articles > tr[data-address]").filter((row) => row.getBoundingClientRect().top < innerHeight / 2);
    const address = marks.length ? marks[marks.length - 1].dataset.address : first;
    if (location.pathname + location.search !== address) history.replaceState(history.state, "", address);
  };
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    setTimeout(note, 150);
  }, { passive: true });
}

// Live changes of an open article: counts change in place, new comments are announced quietly and shown on request.
// Nothing moves by itself under what somebody reads.
function live() {
  const [article, section] = [$("#article"), $("#comments")];
  if (!article || !section || !window.EventSource) return;
  const notice = $("#live-notice");
  const button = $("button", notice);
  const whole = location.pathname + "#comments";
  const waiting = new Set();
  let source, last = "", reload = false, known = Number(article.dataset.comments);

  const announce = () => {
    for (const id of [...waiting]) if (document.getElementById("c" + id)) waiting.delete(id);
    const count = waiting.size;
    notice.hidden = !reload && count === 0;
    if (notice.hidden) return;
    const { newOne, newMany } = section.dataset;
    button.textContent = count === 0 ? section.dataset.show : count === 1 ? newOne : newMany.replace("#", count);
    say(button.textContent);
  };
  document.addEventListener("comment-placed", announce);
  const fetched = async (id) => {
    const answer = await fetch(`/comments/${id}`, { headers: FRAGMENT });
    return answer.ok ? element(await answer.text()) : null;
  };
  // Readers ask one after another and not all at once.
  const pause = () => new Promise((done) => setTimeout(done, Math.random() * 250));
  // At the end of the list, or below what is in sight, a comment moves nothing that somebody looks at.
  const isQuietPlace = (item) => {
    const next = $$("#comment-list > .comment").find((other) => other.dataset.key > item.dataset.key);
    const typing = document.activeElement?.closest(".comment-form");
    if (!next) return !typing;
    return next.getBoundingClientRect().top > innerHeight;
  };
  const arrived = async (ids) => {
    for (const id of ids) {
      if (document.getElementById("c" + id)) continue;
      waiting.add(id);
      await pause();
      const item = await fetched(id).catch(() => null);
      if (!item) { waiting.delete(id); continue; }
      if (document.getElementById("c" + id)) { waiting.delete(id); continue; }
      if (isQuietPlace(item) && place(item)) {
        item.classList.add("fresh");
        waiting.delete(id);
        say(section.dataset.newOne);
      }
    }
    announce();
  };
  button.addEventListener("click", async () => {
    if (reload) { location.href = whole; location.reload(); return; }
    let first;
    for (const id of [...waiting]) {
      const item = await fetched(id).catch(() => null);
      waiting.delete(id);
      if (!item) continue;
      if (!place(item)) { location.href = `/comments/${id}`; return; }
      item.classList.add("fresh");
      first ??= document.getElementById(item.id);
    }
    announce();
    if (first) { first.tabIndex = -1; first.focus({ preventScroll: true }); first.scrollIntoView({ block: "nearest" }); }
  });
  const hear = (event) => {
    last = event.lastEventId;
    const news = JSON.parse(event.data);
    if (news.gone) { tell(section.dataset.gone); return; }
    if (news.version > Number(article.dataset.version)) { article.dataset.version = news.version; tell(section.dataset.edited, true); }
    if (news.likes !== null && $("#like button")?.getAttribute("aria-busy") !== "true") setCount(".like-count", news.likes);
    if (news.views !== null) setCount(".view-count", Math.max(news.views, Number($(".view-count").dataset.count)));
    if (news.comments !== null) {
      setCount("#comment-count, .comment-count", news.comments);
      if (news.missed || (!news.created.length && news.comments > known && !heard)) { reload = true; announce(); }
      known = news.comments;
    }
    heard = true;
    for (const id of news.deleted ?? []) emptied(id);
    // What is being fetched may be of before an edit, so edits wait for it.
    if (news.created.length) placed = Promise.all([placed, arrived(news.created)]);
    for (const id of news.edited ?? []) placed.then(() => renewed(id));
  };
  let heard = false, placed = Promise.resolve();
  // The text changes in its place; a reply that is being written stays open, and what is in sight stays where it is.
  const renewed = async (id) => {
    const item = document.getElementById("c" + id);
    if (!item || $(":scope > .gone", item)) return;
    await pause();
    const fresh = await fetched(id).catch(() => null);
    if (!fresh || !$(":scope > .text", item)) return;
    if ($(":scope > .gone", fresh)) { emptied(id); return; }
    const anchor = document.activeElement?.closest(".comment-form")
      ?? $$("#comment-list > .comment").find((other) => other.getBoundingClientRect().bottom > 0);
    const top = anchor?.getBoundingClientRect().top;
    $(":scope > .text", item).replaceWith($(":scope > .text", fresh));
    $(".edited", item)?.remove();
    $(":scope > .facts", item).append($(".edited", fresh) ?? "");
    if (anchor) scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
  };
  // A comment that was deleted elsewhere keeps its place, so that nothing moves, and loses its text. So does a reply that
  // somebody writes to it: what was typed stays.
  const emptied = (id) => {
    waiting.delete(id);
    const item = document.getElementById("c" + id);
    if (!item || $(":scope > .gone", item)) return;
    for (const part of $$(":scope > .facts, :scope > .text, :scope > .actions", item)) part.remove();
    const gone = Object.assign(document.createElement("p"), { className: "gone", textContent: section.dataset.deleted });
    item.prepend(gone);
    announce();
  };
  const tell = (text, again) => {
    const word = document.createElement("p");
    word.className = "notice";
    word.setAttribute("role", "status");
    word.textContent = text + " ";
    if (again) word.append(Object.assign(document.createElement("a"), { href: location.pathname, textContent: section.dataset.show }));
    article.prepend(word);
  };
  const open = () => {
    source = new EventSource(`/articles/${article.dataset.id}/live` + (last ? `?last=${last}` : ""));
    source.onmessage = hear;
  };
  // A page in the background holds no connection: browsers have six for a site.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { source?.close(); source = null; }
    else if (!source) open();
  });
  addEventListener("pagehide", () => { source?.close(); source = null; });
  addEventListener("pageshow", () => { if (!source && !document.hidden) open(); });
  if (!document.hidden) open();
}

// Sending a form twice is pointless; saying that it is under way is not.
for (const form of $$("form.write:not(.comment-form)")) form.addEventListener("submit", () => form.setAttribute("aria-busy", "true"));
addEventListener("pageshow", () => { for (const form of $$("form[aria-busy]")) form.removeAttribute("aria-busy"); });

if ($("#article") && sessionStorage.getItem("sent")) {
  localStorage.removeItem(sessionStorage.getItem("sent"));
  sessionStorage.removeItem("sent");
}

drafts.clear();
textForm();
like();
comments();
endless();
live();
