//! The benchmark messages in OMG IDL, for back ends in C, C++ and other languages.

use gantry_idl::{Definitions, Errors, dds_idl};

use super::{find, list, message_type};
use perf_worker::run_spec::Layout;

/// The OMG IDL of the messages `names` in a layout. If `names` is empty, the IDL of all messages of the layout. Names
/// may have the same forms as in `--msg`.
///
/// # Errors
/// The reason, as a sentence, if a name is not a message.
pub fn idl(names: &[String], layout: Layout) -> Result<String, String> {
    let mut chosen: Vec<&'static str> = if names.is_empty() {
        list(layout, 0).map(|message| message.name).collect()
    } else {
        names.iter().map(|name| Ok(find(name, layout, 0)?.name)).collect::<Result<_, String>>()?
    };
    chosen.sort_unstable();
    let definitions: Result<Vec<Definitions>, Errors> = chosen
        .into_iter()
        .filter_map(|name| message_type(name, layout))
        .map(|known| Definitions::from_text(&known.type_name.parse()?, &(known.description)(0).definition))
        .collect();
    Ok(dds_idl(&definitions.map_err(|errors| errors.to_string())?))
}
