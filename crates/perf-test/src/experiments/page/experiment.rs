//! The experiment and the contestant to which a log belongs. Both follow from the path of the log in the folder of
//! results.

use std::collections::BTreeSet;
use std::path::Path;

use super::run::Run;
use crate::experiments::batch::BEST;

/// The experiments of a folder. Each is a subfolder that directly contains a results file or a description of a
/// machine.
#[derive(Debug, Default)]
pub struct Experiments(BTreeSet<String>);

impl Experiments {
    /// Adds the folder that contains `file` as an experiment.
    pub fn add(&mut self, file: &str) {
        self.0.extend(Path::new(file).parent().map(|folder| folder.display().to_string()));
    }

    /// The experiment to which a file belongs: the nearest folder above it that is an experiment. Empty if there is
    /// none.
    pub fn folder(&self, file: &str) -> String {
        let folders = Path::new(file).ancestors().skip(1).map(|folder| folder.display().to_string());
        folders.into_iter().find(|folder| self.0.contains(folder)).unwrap_or_default()
    }

    /// Sets the experiment and the contestant's settings (`form`) of a run, from the path of its log.
    pub fn name(&self, run: &mut Run) {
        run.experiment = self.folder(&run.file);
        run.form = form(&run.file, &run.entry.spec.communicator);
    }
}

/// The settings of the contestant, such as `best`, from the path of the log. Commands with several runs write them
/// behind the name of the middleware: `zenoh_best/…`, `zenoh_best-round1.json` or `rclcpp_executor=events`.
fn form(file: &str, middleware: &str) -> Option<String> {
    let middleware = format!("{}_", middleware.to_lowercase());
    let of_part = |part: &str| {
        let name = part.strip_suffix(".json").unwrap_or(part);
        let name = name.rsplit_once("-round").map_or(name, |(name, _)| name);
        let form = name.to_lowercase().strip_prefix(&middleware)?.to_owned();
        (form == BEST || form.contains('=')).then_some(form)
    };
    Path::new(file).iter().find_map(|part| of_part(part.to_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_with_results_is_the_experiment_of_a_log() {
        let mut experiments = Experiments::default();
        for file in ["environment.json", "versus/versus.json", "versus/again/environment.json"] {
            experiments.add(file);
        }
        for (file, experiment) in [
            ("a.json", ""),
            ("other/a.json", ""),
            ("versus/4MB/a.json", "versus"),
            ("versus/again/a.json", "versus/again"),
        ] {
            assert_eq!(experiments.folder(file), experiment, "{file}");
        }
    }

    #[test]
    fn the_form_of_a_contestant_is_in_the_path_of_its_log() {
        for (file, expected) in [
            ("4MB/zenoh_best-round1.json", Some("best")),
            ("sizes/zenoh_best/msg=Array1k-round2.json", Some("best")),
            ("4MB/zenoh_transport=tcp-round1.json", Some("transport=tcp")),
            ("4MB/zenoh-round1.json", None),
            ("4MB/zenohbest-round1.json", None),
            ("zenoh_old.json", None),
        ] {
            assert_eq!(form(file, "Zenoh").as_deref(), expected, "{file}");
        }
    }
}
