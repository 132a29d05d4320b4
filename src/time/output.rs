//! Output during a run.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use super::output_schedule::Kind;
use super::pictures::{Pixels, pixels, stride};
use super::run_loop::Run;
use crate::comm::{Communicator, all_or_error};
use crate::config::{Config, FieldsConfig, OnFailure, Precision, Variable};
use crate::error::Result;
use crate::grid::{Axis, Grid};
use crate::io::checkpoint::OutputProgress;
use crate::io::directory::plane as plane_folder;
use crate::io::fields::Layout;
use crate::io::pieces::{Selection, plane};
use crate::io::progress::tell;
use crate::io::scale::extremes;
use crate::io::{FieldData, FieldWriter, Plane, RunDirectory, Slice, SliceWriter};
use crate::physics::Drawn;

impl Run<'_> {
    pub(super) fn write_row(&mut self) -> Result<()> {
        let start = Instant::now();
        let row = self.simulation.row()?;
        let energy = self.simulation.columns().iter().position(|name| name == "kinetic_energy");
        self.kinetic_energy = energy.map_or(f64::NAN, |at| row[at]);
        let written = match &mut self.files {
            Some(files) => files.series.append(self.simulation.steps(), &row[1..]),
            None => Ok(()),
        };
        self.tolerate_failure(written)?;
        self.record_time("series", start);
        Ok(())
    }

    /// Write fields and pictures, if they are requested.
    pub(super) fn write_fields_and_pictures(&mut self, fields: bool, pictures: bool) -> Result<()> {
        let start = Instant::now();
        if fields {
            self.write_volumes(Kind::Fields)?;
        }
        if pictures || fields {
            self.write_pictures()?;
        }
        self.record_time("fields and pictures", start);
        Ok(())
    }

    pub(super) fn write_planes(&mut self) -> Result<()> {
        let start = Instant::now();
        self.write_volumes(Kind::Planes)?;
        self.record_time("fields and pictures", start);
        Ok(())
    }

    /// Take the statistics of the present state, where the run has any.
    pub(super) fn write_statistics(&mut self) -> Result<()> {
        let Some(statistics) = &mut self.statistics else { return Ok(()) };
        let start = Instant::now();
        if self.config.time.is_steady() {
            statistics.forget();
        }
        let (step, time) = (self.simulation.steps(), self.simulation.time());
        let grid = self.simulation.grid().clone();
        let backend = self.simulation.backend.clone();
        let sample = self.simulation.sample(statistics.needs_gradients())?;
        let written = backend.within(|| {
            let (comm, decomposition) = (backend.comm(), &self.decomposition);
            statistics.sample(comm, decomposition, &grid, step, time, &sample)
        });
        self.tolerate_failure(written)?;
        self.record_time("statistics", start);
        Ok(())
    }

    /// Write all volumes of one kind. A variable is computed once for all of them, and, with one volume, written before the next
    /// is computed; with several, only the points of each are kept.
    fn write_volumes(&mut self, kind: Kind) -> Result<()> {
        let step_and_time = (self.simulation.steps(), self.simulation.time());
        let block = self.simulation.block();
        let backend = self.simulation.backend.clone();
        let (comm, decomposition) = (backend.comm(), &self.decomposition);
        let volume = self.volumes.0.iter_mut().find(|volume| volume.kind == kind);
        let Some(Volume { variables, precision, writers, .. }) = volume else { return Ok(()) };
        let names = writers.iter().flat_map(|writer| {
            let folder = folder(self.directory, writer);
            writer.names(step_and_time.0).into_iter().map(move |name| format!("{folder}/{name}"))
        });
        let claimed = self.files.as_mut().map_or(Ok(()), |files| files.directory.claim(names));
        let mut written = all_or_error(comm, claimed).map(|()| 0);
        let is_computed = Cell::new(true);
        if written.is_ok() {
            let simulation = &mut self.simulation;
            let fields = variables.iter().map(|variable| {
                let values = all_or_error(comm, simulation.output(variable))
                    .inspect_err(|_| is_computed.set(false))?;
                let precision = precision.unwrap_or(values.precision());
                let values = values.with_precision(precision);
                let name = variable.name().to_string();
                Ok(FieldData { name, components: variable.components(), values })
            });
            if let [writer] = &mut writers[..] {
                let selection = *writer.selection();
                let picked = fields.map(|field| Ok(selection.of(&block, &field?)));
                written = writer.write(comm, decomposition, step_and_time, picked);
            } else {
                let mut picked: Vec<Vec<_>> = writers.iter().map(|_| Vec::new()).collect();
                for field in fields {
                    let field = field?;
                    for (writer, picked) in writers.iter().zip(&mut picked) {
                        picked.push(Ok(writer.selection().of(&block, &field)));
                    }
                }
                for (writer, fields) in writers.iter_mut().zip(picked) {
                    let bytes = writer.write(comm, decomposition, step_and_time, fields);
                    written = written.and_then(|sum| Ok(sum + bytes?));
                }
            }
        }
        if !is_computed.get() {
            // The error has no file.
            return written.map(drop);
        }
        if let Some(bytes) = self.tolerate_failure(written)? {
            let (step, time) = step_and_time;
            tracing::info!(step, time, bytes, "{} written", kind.name());
        }
        Ok(())
    }

    /// Write the planes through the middle of the box. With several ranks only the planes are communicated.
    fn write_pictures(&mut self) -> Result<()> {
        self.pictures_taken += 1;
        self.simulation.drawn().iter().try_for_each(|of| self.write_pictures_of(*of))
    }

    fn write_pictures_of(&mut self, of: Drawn) -> Result<()> {
        let (step, time) = (self.simulation.steps(), self.simulation.time());
        let grid = self.simulation.grid().clone();
        let points = grid.points;
        let stride = stride(&grid);
        let values = self.simulation.picture(of)?;
        let quantity = of.quantity();
        let comm = self.simulation.backend().comm();
        let mut written = Ok(());
        for name in [Plane::Xy, Plane::Xz, Plane::Yz] {
            let [right, up, across] = name.axes();
            let size = [points[right], points[up]];
            if size.contains(&1) {
                continue;
            }
            let middle = points[across] / 2;
            let at = (across, middle, stride);
            let values = plane(comm, &self.decomposition, points, at, &values);
            let (Some(values), Some(files)) = (values, &mut self.files) else { continue };
            let Some(picture) = pixels(&grid, stride, [right, up], values) else { continue };
            let Pixels { points, edges, values } = picture;
            let mut index = [0; 3];
            index[across] = middle;
            let slice = Slice {
                plane: name,
                at: grid.coordinates(index)[across],
                quantity,
                unit: of.unit(),
                edges,
                points,
                values: &values,
                range: finite_range(&values),
            };
            written = written
                .and_then(|()| files.directory.claim(SliceWriter::names(step, name, quantity)))
                .and_then(|()| files.slices.write(step, time, &slice));
        }
        self.tolerate_failure(written).map(|_| ())
    }

    /// Handle a file that could not be written on some rank: end the run, or warn. Collective.
    pub(super) fn tolerate_failure<T>(&self, written: Result<T>) -> Result<Option<T>> {
        let comm = self.simulation.backend().comm();
        match all_or_error(comm, written) {
            Ok(written) => Ok(Some(written)),
            Err(why) if self.config.output.on_failure == OnFailure::Continue => {
                let step = self.simulation.steps();
                if comm.rank() == 0 {
                    let why = why.what();
                    tell(&format!("warning: step {step}: {why}; the run continues without it"));
                }
                tracing::warn!(step, "{why}");
                Ok(None)
            }
            Err(why) => Err(why),
        }
    }

    pub(super) fn record_time(&mut self, phase: &'static str, since: Instant) {
        let seconds = since.elapsed().as_secs_f64();
        *self.simulation.phases.0.entry(phase).or_default() += seconds;
    }
}

/// Fields at a set of points, written together.
pub(super) struct Volume {
    kind: Kind,
    variables: Vec<Variable>,
    precision: Option<Precision>,
    writers: Vec<FieldWriter>,
}

/// The field outputs of a run.
pub(super) struct Volumes(Vec<Volume>);

impl Volumes {
    /// The volumes of `config` in `directory`: new, or continued after the existing files of the run, which are those that `owner`,
    /// present on rank 0 only, owns. Collective.
    pub(super) fn open(
        comm: &dyn Communicator,
        config: &Config,
        grid: &Grid,
        (directory, owner): (&Path, Option<&RunDirectory>),
        course: Option<&OutputProgress>,
    ) -> Result<Self> {
        let all = Selection::all(grid);
        let layout = |selection, files| Layout { grid: grid.clone(), selection, files };
        let fields = config.output.fields.as_ref().map(|fields| {
            let selection = selected(fields, grid);
            let files = fields.pieces.map_or(comm.size(), |pieces| pieces.min(comm.size()));
            let directory = directory.join("fields");
            Volume {
                kind: Kind::Fields,
                variables: fields.variables.clone(),
                precision: fields.precision,
                writers: vec![FieldWriter::new(&directory, "fields", layout(selection, files))],
            }
        });
        let planes = config.output.planes.as_ref().map(|planes| {
            // Two coordinates may refer to the same plane.
            let requested = (0..3).flat_map(|a| planes.at[a].iter().map(move |&x| (a, x)));
            let selected: BTreeMap<(usize, usize), Selection> = requested
                .map(|(a, x)| (a, all.across(grid, a, x)))
                .map(|(a, selection)| ((a, selection.first[a]), selection))
                .collect();
            let writers = selected.into_iter().map(|((a, _), selection)| {
                let at = selection.image(grid).origin[a];
                let name = plane_folder(Axis::ALL[a], at, grid.smallest_spacing(a));
                let directory = directory.join("planes").join(name);
                FieldWriter::new(&directory, "plane", layout(selection, 1))
            });
            Volume {
                kind: Kind::Planes,
                variables: planes.variables.clone(),
                precision: planes.precision,
                writers: writers.collect(),
            }
        });
        let resume = |writer: &mut FieldWriter, kind: Kind| {
            let (Some(course), Some(owner)) = (course, owner) else { return Ok(()) };
            let last = course.written.get(kind.name()).copied();
            let written = course.volumes.get(&folder(directory, writer)).map(Vec::as_slice);
            writer.resume(last, written, &|path| owner.owns(path))
        };
        // Also remove later files of planes that are no longer requested: the continued run has not computed them.
        let truncate = || {
            let old_writer = |path: &Path, stem| FieldWriter::new(path, stem, layout(all, 1));
            if fields.is_none() {
                resume(&mut old_writer(&directory.join("fields"), "fields"), Kind::Fields)?;
            }
            let old = fs::read_dir(directory.join("planes")).into_iter().flatten().flatten();
            let mut old = old.map(|entry| entry.path()).filter(|path| path.is_dir());
            old.try_for_each(|plane| resume(&mut old_writer(&plane, "plane"), Kind::Planes))
        };
        all_or_error(comm, owner.map_or(Ok(()), |_| truncate()))?;
        let mut volumes: Vec<Volume> = fields.into_iter().chain(planes).collect();
        for Volume { kind, writers, .. } in &mut volumes {
            for writer in writers {
                all_or_error(comm, resume(writer, *kind))?;
                writer.meet(comm);
            }
        }
        Ok(Self(volumes))
    }

    /// Flush all files of this rank to disk.
    pub(super) fn sync(&mut self) -> Result<()> {
        let mut writers = self.0.iter_mut().flat_map(|volume| &mut volume.writers);
        writers.try_for_each(FieldWriter::sync)
    }

    /// (step, time) of all outputs so far, by folder in `directory`.
    pub(super) fn written(&self, directory: &Path) -> BTreeMap<String, Vec<(u64, f64)>> {
        let writers = self.0.iter().flat_map(|volume| &volume.writers);
        writers.map(|writer| (folder(directory, writer), writer.written())).collect()
    }
}

/// The points of `grid` at which `fields` are written.
pub(super) fn selected(fields: &FieldsConfig, grid: &Grid) -> Selection {
    let (from, to) = fields.region.map_or((grid.origin, [f64::MAX; 3]), |it| (it.from, it.to));
    Selection::between(grid, from, to, fields.stride)
}

/// The folder of a writer in the run directory, as in its manifest.
fn folder(directory: &Path, writer: &FieldWriter) -> String {
    let folder = writer.directory().strip_prefix(directory).unwrap_or(writer.directory());
    folder.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The smallest and the largest finite value; zeros where there is none.
fn finite_range(values: &[f64]) -> [f64; 2] {
    let [least, most] = extremes(values.iter().copied().filter(|value| value.is_finite()));
    if least <= most { [least, most] } else { [0.0; 2] }
}
