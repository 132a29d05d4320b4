//! What a run writes while it goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use super::agenda::Kind;
use super::course::Run;
use crate::backend::Backend;
use crate::comm::{Communicator, agree};
use crate::config::{Config, OnFailure, Precision, Variable};
use crate::error::Result;
use crate::grid::Grid;
use crate::io::checkpoint::Course;
use crate::io::fields::Layout;
use crate::io::pieces::{Selection, plane};
use crate::io::progress::tell;
use crate::io::{FieldData, FieldValues, FieldWriter, ImageGrid, Plane, Slice};

impl<B: Backend> Run<'_, B>
where
    FieldValues: From<Vec<B::Real>>,
{
    pub(super) fn write_row(&mut self) -> Result<()> {
        let start = Instant::now();
        let row = self.simulation.row()?;
        let energy = self.simulation.columns().iter().position(|&name| name == "kinetic_energy");
        self.kinetic_energy = energy.map_or(f64::NAN, |at| row[at]);
        let written = match &mut self.files {
            Some(files) => files.series.append(self.simulation.steps(), &row[1..]),
            None => Ok(()),
        };
        self.spared(written)?;
        self.spent("series", start);
        Ok(())
    }

    /// Fields and pictures, or what of them is asked for.
    pub(super) fn write_fields_and_pictures(&mut self, fields: bool, pictures: bool) -> Result<()> {
        let start = Instant::now();
        if fields {
            self.write_volumes(Kind::Fields)?;
        }
        if pictures || fields {
            self.write_pictures()?;
        }
        self.spent("fields and pictures", start);
        Ok(())
    }

    pub(super) fn write_planes(&mut self) -> Result<()> {
        let start = Instant::now();
        self.write_volumes(Kind::Planes)?;
        self.spent("fields and pictures", start);
        Ok(())
    }

    /// The statistics of the present state, where the run takes any.
    pub(super) fn write_statistics(&mut self) -> Result<()> {
        let Some(statistics) = &mut self.statistics else { return Ok(()) };
        let start = Instant::now();
        let (step, time) = (self.simulation.steps(), self.simulation.time());
        let grid = *self.simulation.grid();
        let backend = self.simulation.shared_backend();
        let sample = self.simulation.sample(statistics.needs_gradients())?;
        let written = backend.within(|| {
            let (comm, cut) = (backend.comm(), &self.decomposition);
            statistics.sample(comm, cut, &grid, step, time, &sample)
        });
        self.spared(written)?;
        self.spent("statistics", start);
        Ok(())
    }

    /// All volumes of one kind. A variable is computed once for all of them, and no more than their points of it are kept.
    fn write_volumes(&mut self, kind: Kind) -> Result<()> {
        let moment = (self.simulation.steps(), self.simulation.time());
        let block = self.simulation.block();
        let Some(what) = self.volumes.of(kind) else { return Ok(()) };
        let mut picked: Vec<Vec<FieldData>> = what.writers.iter().map(|_| Vec::new()).collect();
        for &variable in &what.variables {
            let values = FieldValues::from(self.simulation.output(variable)?);
            let values = match what.precision {
                Some(Precision::F32) => values.single(),
                Some(Precision::F64) => values.double(),
                None => values,
            };
            let name = variable.name().to_string();
            let field = FieldData { name, components: components(variable), values };
            for (writer, picked) in what.writers.iter().zip(&mut picked) {
                picked.push(writer.selection().of(&block, &field));
            }
        }
        let comm = self.simulation.backend().comm();
        let mut written = Ok(0);
        for (writer, fields) in what.writers.iter_mut().zip(picked) {
            let bytes = writer.write(comm, &self.decomposition, moment, fields);
            written = written.and_then(|sum| Ok(sum + bytes?));
        }
        if let Some(bytes) = self.spared(written)? {
            let (step, time) = moment;
            tracing::info!(step, time, bytes, "{} written", kind.name());
        }
        Ok(())
    }

    /// The planes through the middle of the box. Of a field that is spread over ranks nothing but them travels.
    fn write_pictures(&mut self) -> Result<()> {
        self.pictures_taken += 1;
        let (step, time) = (self.simulation.steps(), self.simulation.time());
        let points = self.simulation.grid().points;
        let (quantity, values) = self.simulation.picture()?;
        let comm = self.simulation.backend().comm();
        let mut written = Ok(());
        for (name, across, [right, up]) in
            [(Plane::Xy, 2, [0, 1]), (Plane::Xz, 1, [0, 2]), (Plane::Yz, 0, [1, 2])]
        {
            let size = [points[right], points[up]];
            if size.contains(&1) {
                continue;
            }
            let middle = (across, points[across] / 2);
            let values = plane(comm, &self.decomposition, points, middle, &values);
            let (Some(values), Some(files)) = (values, &mut self.files) else { continue };
            // Each on its own scale: a plane of symmetry may hold far less than the others.
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let range = [least, most];
            let slice = Slice { plane: name, quantity, points: size, values: &values, range };
            written = written.and_then(|()| files.slices.write(step, time, &slice));
        }
        self.spared(written).map(|_| ())
    }

    /// What comes of a file that could not be written on some rank: the end of the run, or a warning. Collective.
    pub(super) fn spared<T>(&self, written: Result<T>) -> Result<Option<T>> {
        let comm = self.simulation.backend().comm();
        match agree(comm, written) {
            Ok(written) => Ok(Some(written)),
            Err(why) if self.config.output.on_failure == OnFailure::Continue => {
                let step = self.simulation.steps();
                if comm.rank() == 0 {
                    let why = why.report();
                    let why = why.strip_prefix("error: ").unwrap_or(&why);
                    tell(&format!("warning: step {step}: {why}; the run goes on without it"));
                }
                tracing::warn!(step, "{why}");
                Ok(None)
            }
            Err(why) => Err(why),
        }
    }

    pub(super) fn spent(&mut self, phase: &'static str, since: Instant) {
        let seconds = since.elapsed().as_secs_f64();
        *self.simulation.phases.0.entry(phase).or_default() += seconds;
    }
}

/// Fields of some points, written together.
pub(super) struct Volume {
    variables: Vec<Variable>,
    precision: Option<Precision>,
    writers: Vec<FieldWriter>,
}

/// What a run writes fields into.
pub(super) struct Volumes {
    fields: Option<Volume>,
    planes: Option<Volume>,
}

impl Volumes {
    /// Those of `config` in `directory`: new, or behind what is there. Collective.
    pub(super) fn open(
        comm: &dyn Communicator,
        config: &Config,
        grid: &Grid,
        directory: &Path,
        course: Option<&Course>,
    ) -> Result<Self> {
        let image = ImageGrid { points: grid.points, origin: grid.origin, spacing: grid.spacing };
        let all = Selection::all(grid.points);
        let layout = |selection, files| Layout { grid: image, selection, files };
        let fields = config.output.fields.as_ref().map(|fields| {
            let (from, to) = fields.region.map_or((grid.origin, [f64::MAX; 3]), |r| (r.from, r.to));
            let selection = Selection::between(&image, from, to, fields.stride);
            let files = fields.pieces.map_or(comm.size(), |pieces| pieces.min(comm.size()));
            let directory = directory.join("fields");
            Volume {
                variables: fields.variables.clone(),
                precision: fields.precision,
                writers: vec![FieldWriter::new(&directory, "fields", layout(selection, files))],
            }
        });
        let planes = config.output.planes.as_ref().map(|planes| {
            // Two coordinates may mean the same plane.
            let asked = (0..3).flat_map(|a| planes.at[a].iter().map(move |&x| (a, x)));
            let selected: BTreeMap<(usize, usize), Selection> = asked
                .map(|(a, x)| (a, all.across(&image, a, x)))
                .map(|(a, selection)| ((a, selection.first[a]), selection))
                .collect();
            let writers = selected.into_iter().map(|((a, _), selection)| {
                let at = selection.image(&image).origin[a];
                let name = format!("{}_{at:.5}", ["x", "y", "z"][a]);
                let directory = directory.join("planes").join(name);
                FieldWriter::new(&directory, "plane", layout(selection, 1))
            });
            Volume {
                variables: planes.variables.clone(),
                precision: planes.precision,
                writers: writers.collect(),
            }
        });
        // What the run does not go on with is not to keep what it has not computed: also planes that are not asked for any more.
        let cut = |course: &Course| {
            let last = |kind: Kind| course.written.get(kind.name()).copied();
            let whole = layout(all, 1);
            if fields.is_none() {
                FieldWriter::cut(&directory.join("fields"), "fields", whole, last(Kind::Fields))?;
            }
            let old = fs::read_dir(directory.join("planes")).into_iter().flatten().flatten();
            let mut old = old.map(|entry| entry.path()).filter(|path| path.is_dir());
            old.try_for_each(|plane| FieldWriter::cut(&plane, "plane", whole, last(Kind::Planes)))
        };
        agree(comm, course.filter(|_| comm.rank() == 0).map_or(Ok(()), cut))?;
        let mut volumes = Self { fields, planes };
        for kind in [Kind::Fields, Kind::Planes] {
            let last = course.and_then(|course| course.written.get(kind.name()).copied());
            for writer in volumes.of(kind).into_iter().flat_map(|volume| &mut volume.writers) {
                let resumed = match (comm.rank(), course) {
                    (0, Some(_)) => writer.resume(last),
                    _ => Ok(()),
                };
                agree(comm, resumed)?;
                writer.meet(comm);
            }
        }
        Ok(volumes)
    }

    fn of(&mut self, kind: Kind) -> Option<&mut Volume> {
        match kind {
            Kind::Fields => self.fields.as_mut(),
            _ => self.planes.as_mut(),
        }
    }
}

fn components(variable: Variable) -> u32 {
    match variable {
        Variable::Velocity | Variable::Vorticity => 3,
        _ => 1,
    }
}
