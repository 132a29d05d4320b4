//! Fields that come to on-chip memory while operators work: texts of sweeps are followed line by line, for an emulator copies at once
//! and never sees that something is read too early.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::nvrtc::{ARCHITECTURES, Compilers, specialisations};

/// What a place on chip is waiting for.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    /// The end of its group of copies.
    End,
    /// This group.
    Group(usize),
    /// A barrier: other threads made the copies.
    Barrier,
}

/// The number behind `name(`, as often as that stands in a line.
fn numbers<'a>(line: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    line.match_indices(name).filter_map(move |(at, _)| {
        let rest = line[at + name.len()..].strip_prefix('(')?;
        rest[..rest.find(|c: char| !c.is_ascii_digit())?].parse().ok()
    })
}

/// What is wrong with the copies of these statements, where threads copy what others read or each its own points.
fn faults(statements: &[String], for_others: bool) -> Vec<String> {
    let mut waiting: BTreeMap<usize, Waits> = BTreeMap::new();
    let mut read_since_barrier = BTreeSet::new();
    let (mut groups, mut faults) = (0, Vec::new());
    for line in statements {
        let is_barrier = ["apply_", "__syncthreads", "load(", "load_plane(", "store("];
        if is_barrier.iter().any(|start| line.trim_start().starts_with(start)) {
            read_since_barrier.clear();
            waiting.retain(|_, waits| *waits != Waits::Barrier);
        } else if let Some(place) =
            ["bring", "BRING_LATER"].iter().find_map(|name| numbers(line, name).next())
        {
            if waiting.insert(place, Waits::End).is_some() {
                faults.push(format!("place {place} takes a copy before the last is there: {line}"));
            }
            if for_others && read_since_barrier.contains(&place) {
                faults.push(format!("a thread may still read place {place}: {line}"));
            }
        } else if line.starts_with("COPIES_END") {
            let ended = waiting.values_mut().filter(|waits| **waits == Waits::End);
            ended.for_each(|waits| *waits = Waits::Group(groups));
            groups += 1;
        } else if let Some(left) = numbers(line, "COPIES_WAIT").next() {
            let there = |waits: &Waits| matches!(waits, Waits::Group(of) if of + left < groups);
            waiting.retain(|_, waits| for_others || !there(waits));
            let landed = waiting.values_mut().filter(|waits| there(waits));
            landed.for_each(|waits| *waits = Waits::Barrier);
        }
        for place in numbers(line, "PARKED") {
            if waiting.contains_key(&place) {
                faults.push(format!("place {place} is taken before its copy is there: {line}"));
            }
            read_since_barrier.insert(place);
        }
    }
    faults
}

/// The statements that the host writes for a macro of a kernel.
fn statements(text: &str, name: &str) -> Vec<String> {
    let Some((_, lines)) = text.split_once(&format!("#define {name} \\\n")) else {
        return Vec::new();
    };
    let last = lines.split_inclusive('\n').position(|line| !line.ends_with("\\\n")).unwrap_or(0);
    lines.lines().take(last + 1).map(|line| line.trim_end_matches(" \\").to_string()).collect()
}

/// The statements of two tiles of every sweep that has copies, with those before, and whether its lines lie along x.
fn sweeps() -> Vec<(Vec<String>, bool)> {
    let compilers = Compilers::new();
    let on = ARCHITECTURES.into_iter().find(|on| on.number == 90).unwrap();
    let mut texts = HashSet::new();
    for (_, ask) in specialisations() {
        let (device, recording) = compilers.recording(on, |_| false);
        ask(&device);
        texts.extend(recording.kernels().into_iter().map(|kernel| kernel.source.text));
    }
    let swept = texts.iter().map(|text| {
        let (first, tile) = (statements(text, "FIRST_TILE"), statements(text, "SWEEP"));
        let lines = [first, vec!["COPIES_END();".into()], tile.clone(), tile].concat();
        (lines, text.contains("#define INNER 1\n"))
    });
    swept.filter(|(lines, _)| lines.iter().any(|line| line.contains("bring("))).collect()
}

#[test]
fn what_comes_is_waited_for_before_it_is_read_and_mistakes_are_seen() {
    let sweeps = sweeps();
    for along_x in [true, false] {
        assert!(sweeps.iter().filter(|(_, is)| *is == along_x).count() > 5, "along x: {along_x}");
    }
    for (statements, for_others) in &sweeps {
        let found = faults(statements, *for_others);
        assert!(found.is_empty(), "{}\n{}", found.join("\n"), statements.join("\n"));
        for (at, line) in statements.iter().enumerate() {
            let Some(left) = numbers(line, "COPIES_WAIT").next() else {
                continue;
            };
            let text = statements.join("\n");
            let mistaken = |mistake: &str, change: &dyn Fn(&mut Vec<String>)| {
                let mut mistaken = statements.clone();
                change(&mut mistaken);
                let seen = !faults(&mistaken, *for_others).is_empty();
                assert!(seen, "{mistake} is not seen: statement {at} of\n{text}");
            };
            mistaken("a group too few", &|lines| lines[at] = format!("COPIES_WAIT({});", left + 1));
            mistaken("no wait", &|lines| drop(lines.remove(at)));
            let reads = |line: &String| line.contains("HAS(j) ? PARKED(");
            let read = at + statements[at..].iter().position(reads).unwrap();
            mistaken("a late wait", &|lines| {
                let wait = lines.remove(at);
                lines.insert(read, wait);
            });
            if *for_others {
                mistaken("no barrier behind a wait", &|lines| {
                    let wait = lines.remove(at);
                    lines.insert(read - 1, wait);
                });
            }
        }
    }
}
