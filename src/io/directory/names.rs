//! The names of all files that a run may write.
//!
//! A name is a path relative to the run directory, with `/` between its parts; one that ends with `/` is a folder that belongs
//! to the run as a whole.

use crate::grid::Axis;
use crate::io::figures::is_figure;

/// The files in the directory itself.
pub(super) const FILES: [&str; 11] = [
    "manifest.txt",
    "log.jsonl",
    "config.toml",
    "series.csv",
    "summary.json",
    "report.html",
    "profile.csv",
    "surface.csv",
    "reference.csv",
    "reference_spectrum.csv",
    "user_reference.csv",
];

/// The folders.
pub(super) const FOLDERS: [&str; 6] =
    ["fields", "planes", "checkpoints", "statistics", "slices", "plots"];

/// Tables in `statistics/`.
const TABLES: [&str; 7] = [
    "moments.csv",
    "spectra.csv",
    "structure.csv",
    "gradients.csv",
    "gradient_moments.csv",
    "turbulence.csv",
    "profiles.csv",
];

/// Whether a run may write a file of this name.
pub(crate) fn is_of_a_run(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        [file] => FILES.contains(&file),
        ["fields", file] => is_volume(file, "fields"),
        ["fields", folder, ""] => step(folder).is_some(),
        ["planes", plane, file] => is_plane(plane) && is_volume(file, "plane"),
        ["checkpoints", folder, ""] => {
            folder.strip_suffix(".zarr").is_some_and(|name| step(name).is_some())
        }
        ["statistics", table] => TABLES.contains(&table),
        ["slices", file] => file == "slices.json" || is_slice(file),
        ["plots", plot] => plot.strip_suffix(".svg").is_some_and(is_figure),
        _ => false,
    }
}

/// N of `step_N`, with at least eight digits.
pub(crate) fn step(name: &str) -> Option<u64> {
    let step = name.strip_prefix("step_")?.parse().ok()?;
    // Other spellings are not a run's.
    (name == format!("step_{step:08}")).then_some(step)
}

/// Endings of field files: uniform, stretched and curvilinear grids, whole and in pieces.
pub(crate) const KINDS: [&str; 6] = ["vti", "pvti", "vtr", "pvtr", "vts", "pvts"];

/// Whether it is a field at one time, or the list of fields.
fn is_volume(file: &str, stem: &str) -> bool {
    let of_step = |kind: &&str| {
        let name = file.strip_suffix(kind).and_then(|name| name.strip_suffix('.'));
        name.is_some_and(|name| step(name).is_some())
    };
    let is_list = |kind: &&str| file == format!("{stem}.{kind}.series");
    KINDS.iter().any(|kind| is_list(kind) || of_step(kind))
}

/// Decimals in the name of a plane, unless the point spacing needs more.
const MIN_DECIMALS: usize = 5;
/// Maximum number of decimals in the name of a plane.
const MAX_DECIMALS: usize = 40;

/// `z_3.14159`: the folder of the plane at `at` on `axis`, where the spacing of points is `spacing`. Different planes have
/// different names.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few decimals")]
pub(crate) fn plane(axis: Axis, at: f64, spacing: f64) -> String {
    let decimals = (1.0 - spacing.log10()).ceil().max(0.0) as usize;
    format!("{}_{at:.*}", axis.name(), decimals.clamp(MIN_DECIMALS, MAX_DECIMALS))
}

/// Whether a folder may be that of a plane.
pub(crate) fn is_plane(folder: &str) -> bool {
    let at = ["x_", "y_", "z_"].iter().find_map(|axis| folder.strip_prefix(axis));
    let decimals = folder.rsplit_once('.').map_or(0, |(_, decimals)| decimals.len());
    (MIN_DECIMALS..=MAX_DECIMALS).contains(&decimals)
        && at.is_some_and(|at| {
            at.parse::<f64>().is_ok_and(|value| format!("{value:.decimals$}") == at)
        })
}

/// `step_00000100_xy.png`, `step_00000100_xy_mach.png`
fn is_slice(file: &str) -> bool {
    let Some(name) = file.strip_suffix(".png") else { return false };
    let name = name.strip_suffix("_mach").unwrap_or(name);
    let step_of = |plane: &&str| name.strip_suffix(plane).and_then(step);
    ["_xy", "_xz", "_yz"].iter().any(|plane| step_of(plane).is_some())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn only_paths_that_a_run_writes_are_recognised() {
        for name in [
            "series.csv",
            "fields/step_00000100.vti",
            "fields/step_123456789.pvti",
            "fields/step_00000100.vtr",
            "fields/step_00000100/",
            "fields/fields.vti.series",
            "planes/z_-3.14159/step_00000001.vti",
            "planes/x_0.00000/plane.vti.series",
            "planes/x_0.0000031/plane.vti.series",
            "checkpoints/step_00000004.zarr/",
            "statistics/moments.csv",
            "slices/step_00000004_xz.png",
            "slices/step_00000004_xz_mach.png",
            "plots/dissipation.svg",
        ] {
            assert!(is_of_a_run(name), "{name}");
        }
        for name in [
            "",
            "/etc/passwd",
            "notes.txt",
            "../series.csv",
            "fields/x.vti",
            "fields/step_1.vti",
            "fields/step_+0000001.vti",
            "fields/../../step_00000001.vti",
            "planes/../step_00000001.vti",
            "planes/z_3/step_00000001.vti",
            "planes/z_nan/plane.vti.series",
            "planes/z_3.1415/plane.vti.series",
            "checkpoints/step_00000004.zarr",
            "checkpoints/step_00000004.zarr.my_backup/",
            "statistics/exp.csv",
            "slices/step_00000004.png",
            "slices/step_00000004_mach.png",
            "plots/paper.svg",
            "fields/",
        ] {
            assert!(!is_of_a_run(name), "{name}");
        }
    }

    #[test]
    fn planes_have_different_names_however_close_they_are() {
        assert_eq!(plane(Axis::Z, PI, 0.1), "z_3.14159");
        for spacing in [3.0, 1e-3, 4e-6, 1e-9] {
            let [first, second] = [0.0, 1.0].map(|n| plane(Axis::X, n * spacing, spacing));
            assert!(first != second && is_plane(&first) && is_plane(&second), "{first} {second}");
        }
    }
}
