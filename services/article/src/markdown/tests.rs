//! Markdown as people write it, as attackers write it, and as nobody writes it.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: &str) {
    assert_eq!(render(text), expected, "{text:?}");
}

#[test]
fn common_mark_and_the_chosen_extensions_are_rendered() {
    check("안녕 *하세요*", "<p>안녕 <em>하세요</em></p>\n");
    check("**마당(yard)**은", "<p><strong>마당(yard)</strong>은</p>\n");
    check("~~old~~", "<p><del>old</del></p>\n");
    check("# a\n\n- b\n- c", "<h1>a</h1>\n<ul>\n<li>b</li>\n<li>c</li>\n</ul>\n");
    check("```rust\nlet a = 1 < 2;\n```", "<pre tabindex=\"0\"><code>let a = 1 &lt; 2;\n</code></pre>\n");
    let table = "<table tabindex=\"0\">\n<thead>\n<tr>\n<th>a</th>\n<th class=\"right\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n\
                 <td>1</td>\n<td class=\"right\">2</td>\n</tr>\n</tbody>\n</table>\n";
    check("|a|b|\n|-|-:|\n|1|2|", table);
    check("- - - - - - - - - - - - - - - - - - - - - - - - -", "<hr>\n");
}

#[test]
fn links_are_marked_and_of_safe_schemes() {
    let rel = "rel=\"nofollow ugc noopener\"";
    check("[a](https://a.example)", &format!("<p><a href=\"https://a.example\" {rel}>a</a></p>\n"));
    check("https://a.example", &format!("<p><a href=\"https://a.example\" {rel}>https://a.example</a></p>\n"));
    check("<mailto:a@a.example>", &format!("<p><a href=\"mailto:a@a.example\" {rel}>mailto:a@a.example</a></p>\n"));
    for target in ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "//a.example", "/a"]
    {
        let html = render(&format!("[a]({target})"));
        assert!(!html.contains("href") && html.contains(">a<"), "{html}");
    }
}

#[test]
fn an_image_becomes_a_link_to_it() {
    let rel = "rel=\"nofollow ugc noopener\"";
    check("![cat](https://a.example/c.png)", &format!("<p><a href=\"https://a.example/c.png\" {rel}>cat</a></p>\n"));
    check(
        "[![cat](https://a.example/c.png)](https://b.example)",
        &format!("<p><a href=\"https://b.example\" {rel}>cat</a></p>\n"),
    );
}

#[test]
fn a_link_without_text_shows_its_address() {
    let rel = "rel=\"nofollow ugc noopener\"";
    let shown = format!("<p><a href=\"https://a.example/c.png\" {rel}>https://a.example/c.png</a></p>\n");
    for text in [
        "![](https://a.example/c.png)",
        "[](https://a.example/c.png)",
        "[![](https://b.example/d.png)](https://a.example/c.png)",
    ] {
        check(text, &shown);
    }
    assert!(render("[\u{200b}](https://a.example)").contains(">\u{200b}https://a.example</a>"));
    check("[](javascript:alert(1))", "<p><a rel=\"nofollow ugc noopener\">javascript:alert(1)</a></p>\n");
}

#[test]
fn line_breaks_are_kept() {
    check("one\ntwo\n\nthree", "<p>one<br>\ntwo</p>\n<p>three</p>\n");
    check("*one*\ntwo", "<p><em>one</em><br>\ntwo</p>\n");
    check("> one\n> two", "<blockquote>\n<p>one<br>\ntwo</p>\n</blockquote>\n");
    check("one\r\ntwo", "<p>one<br>\ntwo</p>\n");
}

#[test]
fn characters_that_no_document_may_hold_are_left_out() {
    check("a\u{1}b\u{7f}c\u{85}d\u{fffe}e\u{fdd0}f\u{1ffff}g\u{c}h\0", "<p>abcdefgh</p>\n");
    assert!(render("`a\u{1}b`\tc").contains("<code>ab</code>\tc"));
}

#[test]
fn raw_html_is_shown_as_text() {
    check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;\n");
    check("a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n");
}

/// Texts that make parsers slow, deep or verbose, each as long as an article may be.
fn hostile_texts() -> Vec<String> {
    let fill = |unit: &str| unit.chars().cycle().take(20_000).collect::<String>();
    let halves = |first: &str, second: &str| {
        let half = |unit: &str| unit.chars().cycle().take(10_000).collect::<String>();
        half(first) + &half(second)
    };
    let staircase: String = (0..140).map(|level| format!("{}- a\n", "  ".repeat(level))).collect();
    let tab_staircase: String =
        (0..60).map(|level| format!("{}{}a\n", "\t".repeat(level * 10), "- ".repeat(20))).collect();
    let mut texts = vec![staircase, tab_staircase];
    let units = [
        ">",
        "> ",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "-\t",
        "> - ",
        "*a ",
        "**a ",
        "*_",
        "_*a",
        "~a~ ",
        "~~a ",
        "[",
        "]",
        "[a](",
        "![",
        "[a](b)",
        "![a](b)",
        "<",
        "<a ",
        "<!--",
        "<?",
        "<![CDATA[",
        "`",
        "`a``",
        "\\",
        "&",
        "&amp;",
        "\"",
        "|",
        "|a",
        "www.a.b ",
        "http://a ",
        "a@a.b ",
        "a@",
        ":",
        "#\n",
        "-\n",
        ">\n\n",
        "a\n=\n",
        "\u{a0}",
        "\u{1}",
        "\r",
        "- a\n\n",
        "*a*",
        "*a**b*",
        "[a]: b\n",
        "[a]",
        "```\n",
        "    a\n",
        "\t",
        "😀",
        "가*",
        "-\x0c",
        "<a@a.b>",
    ];
    texts.extend(units.map(fill));
    texts.extend([
        halves("[", "](a)"),
        halves("![", "](a)"),
        halves("*_", "_*"),
        halves("**", "**"),
        halves("- ", "\n"),
        halves(">", "\na"),
        halves("(", ")"),
        halves("<", ">"),
        halves("~~*", "*~~"),
        halves("`", "a`"),
    ]);
    let wide_table = format!("{}\n{}\n{}", "|a".repeat(2_500), "|-".repeat(2_500), "a\n".repeat(4_900));
    let narrow_table = format!("{}\n{}\n{}", "|a".repeat(30), "|-".repeat(30), "a\n".repeat(9_900));
    let references = format!("[a]: http://{}\n\n{}", "a".repeat(9_000), "[a]".repeat(3_000));
    let list_then_blanks = format!("{}a{}", "- ".repeat(5_000), "\n".repeat(9_999));
    let quote_then_list = format!("{}\n{}", ">".repeat(10_000), "- a\n".repeat(2_400));
    let deep_lines = format!("{}a\n", ">".repeat(98)).repeat(200);
    let deep_list_lines = format!("{}a\n", "- ".repeat(99)).repeat(100);
    texts.extend([wide_table, narrow_table, references, list_then_blanks]);
    texts.extend([quote_then_list, deep_lines, deep_list_lines]);
    texts
}

#[test]
fn hostile_text_is_fast_shallow_and_bounded() {
    // On a thread with half the stack of a runtime's worker: depth must not be recursion.
    let render_all = || {
        for text in hostile_texts() {
            let start = Instant::now();
            let html = render(&text);
            let took = start.elapsed();
            let name: String = text.chars().take(12).collect();
            assert!(took < Duration::from_secs(2), "{name:?} took {took:?} (unoptimised; a defect is far slower)");
            assert!(html.len() <= html_max_bytes(&text), "{name:?} became {} bytes", html.len());
            assert!(depth(&html) <= 2 * NESTING_MAX + 8, "{name:?} is {} deep", depth(&html));
        }
    };
    std::thread::Builder::new().stack_size(1_024 * 1_024).spawn(render_all).unwrap().join().unwrap();
}

/// A table of so many columns and rows, whose rows name one cell.
fn sparse_table(columns: usize, rows: usize) -> String {
    format!("{}\n{}\n{}", "|a".repeat(columns), "|-".repeat(columns), "a\n".repeat(rows))
}

#[test]
fn a_small_text_becomes_no_large_page() {
    let table = sparse_table(99, 195);
    assert_eq!(table.chars().count(), 788);
    let html = render(&table);
    assert!(html.len() <= 8 * table.len() + 4 * 1_024, "{} bytes became {}", table.len(), html.len());
    assert!(!html.contains("<table>"), "{html}");
    // Rows that are written out are shown as the table that they are.
    let written_out = format!("{}\n{}\n{}", "|a".repeat(9), "|-".repeat(9), ("|a".repeat(9) + "\n").repeat(100));
    assert_eq!(render(&written_out).matches("<td>").count(), 900);
}

#[test]
fn only_what_can_be_one_table_is_counted_as_one() {
    let prose = "a line\n".repeat(1_000);
    let text = format!("{prose}\n{}\n\n{prose}", sparse_table(20, 5));
    assert!(render(&text).contains("<table"));
    assert_eq!(table_cells(&text), 21 * 7);
    assert!(table_cells("a | b\n \t\nc | d") == 4 && table_cells("a\nb") == 0);
}

#[test]
fn a_table_of_too_many_cells_stays_text() {
    assert!(render(&sparse_table(5, 50)).contains("<table"));
    assert!(!render(&sparse_table(100, 1_000)).contains("<table"));
}

#[test]
fn html_that_would_be_too_large_is_the_text_as_written() {
    let text = "www.a.b ".repeat(10_000);
    assert_eq!(parse_and_clean(&text), None);
    assert_eq!(render(&text), plain::render_verbatim(&text));
}

#[test]
fn ten_thousand_levels_keep_their_text() {
    for text in [format!("{} end", ">".repeat(10_000)), format!("{} end", "- ".repeat(9_000)), nested_emphasis()] {
        let html = render(&text);
        assert!(html.contains("end"), "{}", &html[..html.len().min(200)]);
        assert!(html.contains("<blockquote>") || html.contains("<ul>") || html.contains("<em>"));
    }
}

fn nested_emphasis() -> String {
    format!("{}end{}", "*_".repeat(4_000), "_*".repeat(4_000))
}

/// How many elements are open at once, at most.
fn depth(html: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    for (at, _) in html.match_indices('<') {
        let rest = &html[at..];
        if rest.starts_with("</") {
            open = open.saturating_sub(1);
        } else if !rest.starts_with("<br") && !rest.starts_with("<hr") {
            open += 1;
            deepest = deepest.max(open);
        }
    }
    deepest
}

/// Pieces that mean something to a parser, mixed with words.
fn markdown_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n"),
        Just("\n\n"),
        Just(" "),
        Just("  "),
        Just("\t"),
        Just("    "),
        Just("> "),
        Just("- "),
        Just("1. "),
        Just("1)"),
        Just("*"),
        Just("**"),
        Just("_"),
        Just("`"),
        Just("```"),
        Just("~~"),
        Just("["),
        Just("]("),
        Just(")"),
        Just("!["),
        Just("<"),
        Just(">"),
        Just("&"),
        Just("&lt;"),
        Just("|"),
        Just("|-|"),
        Just("#"),
        Just("www."),
        Just("WWW."),
        Just("://"),
        Just("http://a.b"),
        Just("a@b.c"),
        Just("\\"),
        Just("\r\n"),
        Just("word"),
        Just("w"),
        Just("마당"),
        Just("😀"),
        Just("12"),
        Just("."),
        Just(":"),
        Just("/"),
        Just("-"),
        Just("="),
        Just("\""),
        Just("'"),
        Just("\u{a0}"),
        Just("\u{3000}"),
        Just("é"),
        Just("\u{301}"),
        Just("ftp:"),
        Just("mailto:"),
        Just("<script>"),
        Just("\u{feff}"),
        Just("+"),
        Just("("),
        Just("%"),
        Just("?"),
        Just(";"),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Only pieces that the fast way may take, in places where it may and may not.
fn nearly_plain() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z가-힣é]{1,6}", 2 => Just(" ".to_owned()), 1 => "[0-9]{1,3}", 1 => "[,.;:?\"'()/%=+-]",
        1 => "\n{1,4}", 1 => Just("ww.".to_owned()), 1 => Just("://".to_owned()), 1 => "[😀-😆！、。「—“”]",
    ];
    prop::collection::vec(piece, 1..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_fast_way_gives_what_the_parser_gives(text in prop_oneof![nearly_plain(), markdown_like()]) {
        if let Some(html) = plain::render_paragraphs(&text) {
            prop_assert_eq!(html, parse_and_clean(&text).unwrap());
        }
    }

    #[test]
    fn any_text_gives_clean_html(text in prop_oneof![markdown_like(), "(?s).{0,200}"]) {
        let html = parse_and_clean(&text).unwrap();
        prop_assert!(depth(&html) <= 2 * NESTING_MAX + 8);
        let cleaned_again = cleaner().clean(&html).to_string();
        prop_assert_eq!(cleaned_again, html, "cleaning is complete after one pass");
    }
}

#[test]
fn plain_paragraphs_take_the_fast_way() {
    for text in ["안녕하세요", "One line, then:\nanother (short) one.\n\n\nA \"new\" paragraph\n", "a 1. b - c = d"]
    {
        assert!(plain::render_paragraphs(text).is_some(), "{text:?}");
    }
    for text in ["", "- a", "1. a", "a  \nb", " a", "a *b*", "see www.a.b", "http://a", "a\n    b", "a\n---", "a&b"] {
        assert!(plain::render_paragraphs(text).is_none(), "{text:?}");
    }
}

#[test]
fn verbatim_text_is_escaped() {
    assert_eq!(plain::render_verbatim("<b>&\nx\0"), "<p>&lt;b&gt;&amp;<br>\nx</p>\n");
}

/// Pieces that, put together at random, reach every construct and their mixtures.
fn markdown_pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "*",
        "**",
        "~~",
        "`",
        "```\n",
        "> ",
        "- ",
        "1. ",
        "2. ",
        "# ",
        "### ",
        "\n",
        "\n\n",
        "    ",
        "\t",
        "---\n",
        "a",
        "마당 ",
        "<b>",
        "</p>",
        "<!-- ",
        "&",
        "&quot;",
        "&nbsp;",
        "\"",
        "'",
        "<",
        ">",
        "\\",
        "  \n",
        "[a](b)",
        "http://a.b ",
        "|a|b|\n|-|-|\n",
        "![i](u)",
        "\u{a0}",
        "\u{feff}",
        "\0",
        "\r\n",
        "_",
        "&lt;",
        "word",
        " ",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]
    #[test]
    fn what_passes_without_the_cleaner_is_what_the_cleaner_makes_of_it(text in markdown_pieces()) {
        let options = options(true);
        let arena = Arena::new();
        let root = parse_document(&arena, &text, &options);
        nesting::cap(&arena, root);
        let mut html = String::new();
        format_html(root, &options, &mut html).unwrap();
        let html = modern(html);
        if let Some(passed) = tags::pass(&html) {
            prop_assert_eq!(passed, clean(&html), "{}", html);
        }
    }
}

#[test]
fn hostile_html_never_passes_without_the_cleaner() {
    for html in [
        "<script>",
        "<p onclick=x></p>",
        "<a href=\"https://a.b\" onclick=\"x\">a</a>",
        "<a href=\"https://a.9\">a</a>",
        "<a href=\"//a.b\">a</a>",
        "<a href=\"https://a.b\"><a href=\"https://a.b\"></a></a>",
        "<p",
        "<p>",
        "</p>",
        "<em><p></em></p>",
        "<a href=\"javascript:x\">a</a>",
        "a\u{a0}",
        "<P></P>",
        "&#60;",
    ] {
        assert_eq!(tags::pass(html), None, "{html}");
    }
    assert_eq!(tags::pass("<p>a &quot;b&quot;<br />\n</p>\n").unwrap(), "<p>a \"b\"<br>\n</p>\n");
}
