//! What the viewer's server takes: CPU time to the first picture, time and bytes of a change of the
//! filter, memory for each sampled block.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::folders::scratch;
use super::generate;
use super::options::Options;
use super::statistics::quartiles;
use super::table::Table;
use crate::command::Outcome;

/// Filters that a user may go through, none twice: what was computed for one must not help another.
fn filters() -> Vec<Value> {
    let mut all = vec![json!(["live:end"]), json!(["live:peak"]), json!(["heap:major"])];
    for step in 0..20 {
        let (from, to) = (step * 4, step * 4 + 15);
        all.push(json!([format!("allocated:{from}%..{to}%")]));
        all.push(json!([format!("live:{from}%"), format!("size:{}..", 16 + step * 2)]));
        all.push(json!([format!("in:Module{step}.function{step}")]));
        all.push(json!([format!("module:~{step}"), "live:end"]));
        all.push(json!([format!("lifetime:{step}ms..")]));
    }
    all
}

/// What the page asks when the filter has changed.
fn change(filter: &Value) -> [Value; 4] {
    [
        json!({ "query": "overview", "rec": 0, "filter": filter, "points": 1000 }),
        json!({ "query": "flame", "rec": 0, "filter": filter }),
        json!({ "query": "table", "rec": 0, "filter": filter, "by": "function", "limit": 100 }),
        json!({ "query": "hotfragments", "rec": 0, "filter": filter }),
    ]
}

/// Measure, and print a table.
pub(super) fn measure(memtrail: &Path, options: &Options) -> Outcome {
    let trace = scratch()?.join(format!("generated-{}M.ctf", options.events));
    generate::trace(&trace, options.events * 1_000_000)?;
    println!("### The viewer on a trace of {} million events\n", options.events);
    let mut first = Vec::new();
    for _ in 0..options.rounds.clamp(1, 5) {
        let view = View::start(memtrail, &trace)?;
        for query in &change(&json!([]))[..2] {
            view.query(query)?;
        }
        first.push(view.cpu()?.as_secs_f64());
    }
    let view = View::start(memtrail, &trace)?;
    let loaded = view.memory("VmHWM")?;
    let (about, _) = view.query(&json!({ "query": "about" }))?;
    let blocks = about["recordings"][0]["blocks_recorded"].as_f64().unwrap_or(f64::NAN);
    let (mut wall, mut cpu, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for filter in filters() {
        let (started, before) = (Instant::now(), view.cpu()?);
        let mut answered = 0;
        for query in change(&filter) {
            answered += view.query(&query)?.1;
        }
        wall.push(started.elapsed().as_secs_f64() * 1e3);
        cpu.push(view.cpu()?.saturating_sub(before).as_secs_f64() * 1e3);
        bytes.push(answered as f64 / 1e3);
    }
    let used = view.memory("RssAnon")?;

    let mut table = Table::new(&["what", "measured", "figure"]);
    let mut row = |what: &str, measured: String, figure: &str| {
        table.row(vec![what.into(), measured, figure.into()]);
    };
    let median = quartiles(first).ok_or("nothing was measured")?.median;
    row("CPU from the command to the first picture", format!("{median:.2} s"), "0.5 s");
    row("filter change, wall, p95", format!("{:.0} ms", percentile(&mut wall, 0.95)), "100 ms");
    row("filter change, wall, median", format!("{:.0} ms", percentile(&mut wall, 0.5)), "");
    row("filter change, CPU, median", format!("{:.0} ms", percentile(&mut cpu, 0.5)), "");
    row("bytes a filter change, most", format!("{:.0} KB", percentile(&mut bytes, 1.0)), "300 KB");
    row("memory a block, after all of it", format!("{:.0} B", used / blocks), "64 B");
    row("memory a block, most while reading", format!("{:.0} B", loaded / blocks), "");
    table.print();
    Ok(())
}

fn percentile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part).round() as usize]
}

/// A running server.
struct View {
    child: Child,
    host: String,
    path: String,
}

impl View {
    fn start(memtrail: &Path, trace: &Path) -> Outcome<Self> {
        let mut command = Command::new(memtrail);
        command.args(["view", "--no-open"]).arg(trace);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| format!("cannot start {command:?}: {e}"))?;
        let mut url = String::new();
        let out = child.stdout.as_mut().ok_or("no output")?;
        BufReader::new(out).read_line(&mut url).map_err(|e| format!("no address: {e}"))?;
        let rest = url.trim_end().strip_prefix("http://").ok_or("no address was printed")?;
        let (host, path) = rest.split_once('/').ok_or("an address without a path")?;
        Ok(Self { host: host.to_owned(), path: format!("/{path}api/query"), child })
    }

    /// The header of the answer, and the bytes that it took.
    fn query(&self, query: &Value) -> Outcome<(Value, usize)> {
        let io = |error: std::io::Error| format!("asking: {error}");
        let body = query.to_string();
        let mut stream = TcpStream::connect(&self.host).map_err(io)?;
        let (host, path, length) = (&self.host, &self.path, body.len());
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).map_err(io)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(io)?;
        let start = answer.windows(4).position(|w| w == b"\r\n\r\n").ok_or("no head")? + 4;
        let slab = &answer[start..];
        let size = slab.get(4..8).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes);
        let header = slab.get(8..8 + size as usize).unwrap_or_default();
        let header: Value =
            serde_json::from_slice(header).map_err(|e| format!("answer to {query}: {e}"))?;
        match header.get("error") {
            Some(error) => Err(format!("{query}: {error}")),
            None => Ok((header, slab.len())),
        }
    }

    /// CPU time so far, of all threads, in steps of 10 ms.
    fn cpu(&self) -> Outcome<Duration> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
        // The program's name, in parentheses, may hold spaces; user and system time are the 12th
        // and 13th words after it, in hundredths of a second on all of Linux.
        let words = text.rsplit(") ").next().unwrap_or_default().split(' ');
        let ticks: Vec<u64> = words.skip(11).take(2).filter_map(|w| w.parse().ok()).collect();
        match ticks[..] {
            [user, system] => Ok(Duration::from_millis((user + system) * 10)),
            _ => Err(format!("{path} cannot be read")),
        }
    }

    /// Bytes, as the kernel counts them under this name.
    fn memory(&self, name: &str) -> Outcome<f64> {
        let path = format!("/proc/{}/status", self.child.id());
        let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
        kib.map(|kib| kib * 1024.0).ok_or_else(|| format!("{path} has no {name}"))
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
