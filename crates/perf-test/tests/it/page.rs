//! Tests of the page of `perf_test report`: a real browser opens it as a local file.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use test_support::ignore;

use crate::program::Memory;

test_support::tests![
    the_page_draws_and_filters_in_a_browser_without_an_error,
    nothing_overlaps_or_overflows_on_a_desktop_and_on_a_phone,
    a_folder_without_logs_is_refused,
];

/// The possible names of the browser's program.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

fn browser() -> Option<&'static str> {
    BROWSERS
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|found| found.status.success()))
}

/// Opens the page in the browser. `address` is the fragment of the URL. Returns the document after the scripts have
/// run, and the messages of the console.
fn opened(browser: &str, page: &Path, address: &str) -> (String, Vec<String>) {
    let profile = tempfile::tempdir().unwrap();
    // The timeout is needed on a busy machine, where Chromium may not exit after it has printed the document.
    let output = Command::new("timeout")
        .args(["--kill-after=5", "120", browser])
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--enable-logging=stderr"])
        .args(["--virtual-time-budget=10000", "--window-size=1440,1000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}{address}", page.display()))
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let messages = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), messages)
}

/// The visible rows of the main table, as HTML.
fn rows(document: &str) -> Vec<&str> {
    let table = document.split_once("id=\"table\"").unwrap().1.split_once("</tbody>").unwrap().0;
    let rows = table.split("<tr").skip(2);
    rows.filter(|row| !row.split_once('>').unwrap().0.contains("hidden")).collect()
}

/// The element of the document that contains a plot.
fn plot<'a>(document: &'a str, id: &str) -> &'a str {
    let (_, rest) = document.split_once(&format!("<figure id=\"{id}\"")).unwrap_or_else(|| panic!("no figure {id}"));
    rest.split_once("</figure>").unwrap().0
}

/// Creates a folder with logs: two message sizes over both middlewares, a killed run, and a run without figures.
fn folder(memory: &Memory) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str| folder.path().join(name).display().to_string();
    let run = "--max-runtime 1 -r 200 -o none --full-logfile";
    memory
        .run_all([
            &format!("-m Array1k {run} {}", log("gantry-1k.json")),
            &format!("-m Array64k {run} {}", log("gantry-64k.json")),
            &format!("-c Mock -m Array1k {run} {}", log("mock-1k.json")),
            &format!("-c Mock -m Array64k {run} {}", log("mock-64k.json")),
        ])
        .iter()
        .for_each(|run| run.assert_good());
    let whole = std::fs::read_to_string(log("mock-1k.json")).unwrap();
    let (killed, _) = whole.split_once("],\n\"summary\"").unwrap();
    std::fs::write(log("killed.json"), format!("{killed}]}}")).unwrap();
    let failed = r#"{"contestant": "other:best", "title": "1 KB", "log": "other.json", "kind": "refused", "sentence": "no <b>daemon</b>"}"#;
    std::fs::write(log("other.failed.json"), failed).unwrap();
    folder
}

fn the_page_draws_and_filters_in_a_browser_without_an_error() {
    let (memory, page) = (Memory::new(), "page.html");
    let folder = folder(&memory);
    let page = folder.path().join(page);
    memory.run(&format!("report {} --output {}", folder.path().display(), page.display())).assert_good();
    memory.assert_empty();
    let Some(browser) = browser() else {
        ignore(format!("no browser: none of {} is installed", BROWSERS.join(", ")));
    };

    let (document, console) = opened(browser, &page, "");
    assert_eq!(console, Vec::<String>::new());
    assert_eq!(rows(&document).len(), 3, "two groups of the largest message and a run without figures");
    assert!(document.contains(">3 of 5 rows</output>") && document.contains("<ul class=\"headlines\">"));
    let (document, console) = opened(browser, &page, "#message=");
    assert_eq!(console, Vec::<String>::new());
    assert_eq!(rows(&document).len(), 5, "four groups and a run without figures");
    assert!(document.contains(">5 of 5 rows</output>"));
    assert!(document.contains("no &lt;b&gt;daemon&lt;/b&gt;") && document.contains("<small>1 killed</small>"));
    for (id, title, marks) in [
        ("plot-metric", "Latency p50 by message size", 4),
        ("plot-percentile", "Latency by percentile", 12),
        ("plot-distribution", "Distribution of the latencies", 12),
        ("plot-time", "Latency p50 over time", 4),
        ("plot-cpu", "CPU per message by message size", 4),
        ("plot-memory", "Peak memory by message size", 4),
    ] {
        let plot = plot(&document, id);
        assert!(plot.contains(&format!("<h3>{title}</h3>")) && plot.contains("aria-label=\"Plot: "), "{id}");
        let found = plot.matches("role=\"link\"").count();
        assert!(found >= marks, "{id} has {found} marks");
        let tabs = plot.split("role=\"link\"").filter(|mark| mark.contains("tabindex=\"0\"></path>")).count();
        assert_eq!(tabs, 1, "{id}: one mark is in the order of the Tab key");
    }

    let address = "#middleware=mock&message=Array64k%3A65536&metric=max&runs=3";
    let (document, console) = opened(browser, &page, address);
    assert_eq!(console, Vec::<String>::new());
    let shown = rows(&document);
    assert!(shown.len() == 1 && shown[0].contains("Mock") && shown[0].contains("Array64k"), "{shown:?}");
    assert!(document.contains(">1 of 5 rows</output>"));
    assert!(plot(&document, "plot-metric").contains("<h3>Latency max of 64 KiB messages</h3>"));
    assert_eq!(document.matches("class=\"runs\"").count(), 4);
    assert_eq!(opened_runs(&document), ["runs-3"]);

    // A user without a mouse goes from the first mark of a plot to the next one, opens its runs, sorts a table by p50,
    // and reads its CSV.
    let used = folder.path().join("used.html");
    std::fs::write(&used, std::fs::read_to_string(&page).unwrap().replace("</body>", KEYBOARD)).unwrap();
    let (document, console) = opened(browser, &used, "#message=");
    assert_eq!(console, Vec::<String>::new());
    let csv = document.split_once("<pre id=\"csv\">").unwrap().1.split_once("</pre>").unwrap().0;
    let lines: Vec<&str> = csv.trim_end().lines().collect();
    assert!(lines.len() == 6 && lines[0].contains("\"Latency p50 median, ns\","), "{csv}");
    assert!(lines.iter().any(|line| line.contains("\"Array64k, 64 KiB\",65536,200,1,")), "{csv}");
    assert_eq!(opened_runs(&document).len(), 1, "Enter on a mark opened no runs");
    let shown = rows(&document);
    let p50 = |row: &str| row.split("<td").nth(2).map(|cell| cell.split('"').nth(3).unwrap().parse::<f64>().unwrap());
    let order: Vec<f64> = shown[..4].iter().filter_map(|row| p50(row)).collect();
    assert!(order.len() == 4 && order.is_sorted() && shown[4].contains("failed"), "{order:?}");
}

/// A script that presses keys like a user without a mouse.
const KEYBOARD: &str = r##"<script>
const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
setTimeout(() => {
  document.querySelector("#plot-metric .mark[tabindex='0']").focus();
  press("ArrowRight");
  press("Enter");
  document.querySelectorAll("#table thead button")[2].click();
  const csv = document.body.appendChild(document.createElement("pre"));
  [csv.id, csv.textContent] = ["csv", csvOf(document.getElementById("table"))];
  document.querySelector("#results .csv").click();
}, 3000);
</script></body>"##;

/// The ids of the open sections. Each section lists the runs of a mark in a plot.
fn opened_runs(document: &str) -> Vec<&str> {
    let parts = document.split("<details id=\"").skip(1).map(|part| part.split_once('>').unwrap().0);
    parts.filter(|part| part.contains("open=\"\"")).map(|part| part.split_once('"').unwrap().0).collect()
}

/// A script that examines the layout of the page in a frame, and sends the faults to the surrounding window.
const LAYOUT: &str = include_str!("page_layout.js");

fn nothing_overlaps_or_overflows_on_a_desktop_and_on_a_phone() {
    let memory = Memory::new();
    let folder = folder(&memory);
    let page = folder.path().join("page.html");
    memory.run(&format!("report {} --output {}", folder.path().display(), page.display())).assert_good();
    memory.assert_empty();
    let Some(browser) = browser() else {
        ignore(format!("no browser: none of {} is installed", BROWSERS.join(", ")));
    };
    let html = std::fs::read_to_string(&page).unwrap();
    for (width, theme) in [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")] {
        let script = format!("<script>const THEME_OF_TEST = \"{theme}\";\n{LAYOUT}</script></body>");
        std::fs::write(folder.path().join("inner.html"), html.replace("</body>", &script)).unwrap();
        // A browser window cannot be as narrow as a phone, but a frame can.
        let frame = folder.path().join("frame.html");
        std::fs::write(&frame, FRAME.replace("WIDTH", &width.to_string())).unwrap();
        let (document, console) = opened(browser, &frame, "");
        assert_eq!(console, Vec::<String>::new(), "{width} {theme}");
        let faults = document.split_once("<pre id=\"faults\">").map(|(_, rest)| rest.split_once("</pre>").unwrap().0);
        assert_eq!(faults, Some("none"), "at {width} pixels, {theme}");
    }
}

/// A page that shows the results page in a frame.
const FRAME: &str = r#"<!DOCTYPE html><body style="margin: 0">
<iframe src="inner.html" style="border: 0; width: WIDTHpx; height: 900px"></iframe>
<script>
addEventListener("message", (event) => {
  const faults = document.body.appendChild(document.createElement("pre"));
  [faults.id, faults.textContent] = ["faults", event.data.join("\n") || "none"];
});
</script></body>"#;

fn a_folder_without_logs_is_refused() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let refused = memory.run(&format!("report {}", folder.path().display()));
    assert_eq!(refused.status.code(), Some(2), "{}", refused.everything());
    assert!(refused.stderr.contains("has no log of perf_test (0 other JSON files)"), "{}", refused.stderr);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}
