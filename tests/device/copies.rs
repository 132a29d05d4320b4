//! Asynchronous copies of fields to on-chip memory. The tests follow the texts of sweeps line by line, because an emulator copies at
//! once and never detects that data is read too early.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::nvrtc::{ARCHITECTURES, Compilers, specialisations};

/// The event that must occur before a slot of on-chip memory may be read.
#[derive(Clone, Copy, PartialEq)]
enum Event {
    /// The end of its group of copies.
    End,
    /// This group.
    Group(usize),
    /// A barrier, because other threads issued the copies.
    Barrier,
}

/// The numbers that follow `name(` in a line.
fn numbers<'a>(line: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    line.match_indices(name).filter_map(move |(at, _)| {
        let rest = line[at + name.len()..].strip_prefix('(')?;
        rest[..rest.find(|c: char| !c.is_ascii_digit())?].parse().ok()
    })
}

/// The errors in the copies of these statements. `for_others`: threads read what other threads copy; otherwise each copies its own points.
fn faults(statements: &[String], for_others: bool) -> Vec<String> {
    let mut pending: BTreeMap<usize, Event> = BTreeMap::new();
    let mut read_since_barrier = BTreeSet::new();
    let (mut groups, mut faults) = (0, Vec::new());
    for line in statements {
        let is_barrier = ["apply_", "__syncthreads", "load(", "load_plane(", "store("];
        if is_barrier.iter().any(|start| line.trim_start().starts_with(start)) {
            read_since_barrier.clear();
            pending.retain(|_, event| *event != Event::Barrier);
        } else if let Some(slot) =
            ["prefetch", "PREFETCH_NEXT_TILE"].iter().find_map(|name| numbers(line, name).next())
        {
            if pending.insert(slot, Event::End).is_some() {
                faults.push(format!(
                    "slot {slot} receives a copy before the previous one has arrived: {line}"
                ));
            }
            if for_others && read_since_barrier.contains(&slot) {
                faults.push(format!("a thread may still read slot {slot}: {line}"));
            }
        } else if line.starts_with("COPY_COMMIT") {
            let ended = pending.values_mut().filter(|event| **event == Event::End);
            ended.for_each(|event| *event = Event::Group(groups));
            groups += 1;
        } else if let Some(remaining) = numbers(line, "COPY_WAIT").next() {
            let is_complete =
                |event: &Event| matches!(event, Event::Group(of) if of + remaining < groups);
            pending.retain(|_, event| for_others || !is_complete(event));
            let completed = pending.values_mut().filter(|event| is_complete(event));
            completed.for_each(|event| *event = Event::Barrier);
        }
        for slot in numbers(line, "PARKED") {
            if pending.contains_key(&slot) {
                faults.push(format!("slot {slot} is read before its copy has arrived: {line}"));
            }
            read_since_barrier.insert(slot);
        }
    }
    faults
}

/// The statements that the host generates for a macro of a kernel.
fn statements(text: &str, name: &str) -> Vec<String> {
    let Some((_, lines)) = text.split_once(&format!("#define {name} \\\n")) else {
        return Vec::new();
    };
    let last = lines.split_inclusive('\n').position(|line| !line.ends_with("\\\n")).unwrap_or(0);
    lines.lines().take(last + 1).map(|line| line.trim_end_matches(" \\").to_string()).collect()
}

/// For every sweep with copies: the statements before the first tile and of two tiles, and whether its lines are along x.
fn sweeps() -> Vec<(Vec<String>, bool)> {
    let compilers = Compilers::new();
    let on = ARCHITECTURES.into_iter().find(|on| on.number == 90).unwrap();
    let mut texts = HashSet::new();
    for (_, ask) in specialisations() {
        let (device, recording) = compilers.recording(on, |_| false);
        ask(&device);
        texts.extend(recording.kernels().into_iter().map(|kernel| kernel.source.text));
    }
    let followed = texts.iter().map(|text| {
        let (first, tile) = (statements(text, "FIRST_TILE_LOADS"), statements(text, "SWEEP"));
        let lines = [first, vec!["COPY_COMMIT();".into()], tile.clone(), tile].concat();
        (lines, text.contains("#define INNER 1\n"))
    });
    followed.filter(|(lines, _)| lines.iter().any(|line| line.contains("prefetch("))).collect()
}

#[test]
fn sweeps_wait_for_async_copies_and_planted_errors_are_detected() {
    let sweeps = sweeps();
    for along_x in [true, false] {
        assert!(sweeps.iter().filter(|(_, is)| *is == along_x).count() > 5, "along x: {along_x}");
    }
    for (statements, for_others) in &sweeps {
        let found = faults(statements, *for_others);
        assert!(found.is_empty(), "{}\n{}", found.join("\n"), statements.join("\n"));
        for (at, line) in statements.iter().enumerate() {
            let Some(remaining) = numbers(line, "COPY_WAIT").next() else {
                continue;
            };
            let text = statements.join("\n");
            let mistaken = |mistake: &str, change: &dyn Fn(&mut Vec<String>)| {
                let mut mistaken = statements.clone();
                change(&mut mistaken);
                let detected = !faults(&mistaken, *for_others).is_empty();
                assert!(detected, "not detected: {mistake}, statement {at} of\n{text}");
            };
            mistaken("one group too few", &|lines| {
                lines[at] = format!("COPY_WAIT({});", remaining + 1)
            });
            mistaken("no wait", &|lines| drop(lines.remove(at)));
            let reads = |line: &String| line.contains("HAS_POINT(j) ? PARKED(");
            let read = at + statements[at..].iter().position(reads).unwrap();
            mistaken("a late wait", &|lines| {
                let wait = lines.remove(at);
                lines.insert(read, wait);
            });
            if *for_others {
                mistaken("no barrier after a wait", &|lines| {
                    let wait = lines.remove(at);
                    lines.insert(read - 1, wait);
                });
            }
        }
    }
}
