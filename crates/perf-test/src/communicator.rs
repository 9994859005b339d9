//! What `-c` names: a back end that this program brings along, or another program that brings one.
//!
//! Used by the command line, which finds it and asks whether it can do what is wanted, and by the coordinator, which starts its
//! workers.

use std::path::PathBuf;
use std::process::Command;

use crate::backend::{BUILT_IN, Backend};
use crate::run_spec::RunSpec;

/// Names of worker programs begin so.
const PREFIX: &str = "perf_test_";

/// The program that workers run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// This one.
    This,
    /// One that brings another middleware along.
    Other(PathBuf),
}

/// A middleware that was found.
#[derive(Clone)]
pub struct Communicator {
    name: String,
    backend: Option<&'static dyn Backend>,
    program: Program,
}

impl Communicator {
    /// The middleware `name`, in any mixture of cases.
    ///
    /// # Errors
    /// A sentence with all names that there are.
    pub fn find(name: &str) -> Result<Communicator, String> {
        if let Some(backend) = BUILT_IN.into_iter().find(|backend| backend.name().eq_ignore_ascii_case(name)) {
            let name = backend.name().to_owned();
            return Ok(Communicator { name, backend: Some(backend), program: Program::This });
        }
        let file = format!("{PREFIX}{}", name.to_lowercase().replace('-', "_"));
        let folders = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
        let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.to_owned()));
        let places: Vec<PathBuf> = beside.into_iter().chain::<Vec<PathBuf>>(folders).collect();
        let found = places.into_iter().map(|folder| folder.join(&file)).find(|path| path.is_file());
        let names: Vec<&str> = BUILT_IN.iter().map(|backend| backend.name()).collect();
        let program = found.filter(|_| !name.contains('/')).ok_or_else(|| {
            format!(
                "there is no communicator `{name}`: this program has {}, and no worker program {file} lies beside it or on the PATH",
                names.join(" and ")
            )
        })?;
        Ok(Communicator { name: name.to_owned(), backend: None, program: Program::Other(program) })
    }

    /// Its name, as the worker knows it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the option means with it, if it is always so; of other programs only their workers know.
    #[must_use]
    pub fn always(&self, option: &str) -> Option<&'static str> {
        let always = self.backend.map_or(&[][..], Backend::always);
        always.iter().find_map(|(name, what)| (*name == option).then_some(*what))
    }

    /// Whether it can do what the run asks for; of other programs only their workers know.
    ///
    /// # Errors
    /// The back end's sentence.
    pub fn check(&self, spec: &RunSpec) -> Result<(), String> {
        self.backend.map_or(Ok(()), |backend| backend.check(spec))
    }

    /// The program that workers run.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Takes away what dead workers left.
    ///
    /// # Errors
    /// A sentence: the middleware cannot work here, or something is still there.
    pub fn clean_up(&self, spec: &RunSpec) -> Result<(), String> {
        if let Some(backend) = self.backend {
            return backend.clean_up(spec);
        }
        let Program::Other(path) = &self.program else { return Ok(()) };
        let order = serde_json::to_string(spec).map_err(|error| error.to_string())?;
        let output = Command::new(path).args(["clean-up", &order]).output();
        let output = output.map_err(|error| format!("cannot start {}: {error}", path.display()))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{} clean-up: {}", path.display(), String::from_utf8_lossy(&output.stderr).trim()))
    }
}
