//! The functions of the C ABI: their types in Rust's sources, translated to C, and their names in the header and in the
//! shared library.

use object::{Object, ObjectSymbol};
use std::{collections::BTreeMap, fs, path::Path};
use syn::{FnArg, GenericArgument, Item, ItemFn, PathArguments, ReturnType, Type, Visibility};

/// The list types, whose functions a macro generates: the prefix of the functions' names in C, and the type of the
/// elements.
const LISTS: &[(&str, &str)] = &[
    ("gantry_strings", "char"),
    ("gantry_types", "gantry_type"),
    ("gantry_service_types", "gantry_service_type"),
    ("gantry_endpoints", "gantry_endpoint_info"),
];

/// Returns the names of the functions that Rust exports, with the types of pointers to them in C.
pub fn exported(source: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (list, element) in LISTS {
        found.insert(format!("{list}_count"), format!("size_t (*)({list} const*)"));
        found.insert(format!("{list}_get"), format!("{element} const* (*)({list} const*, size_t)"));
        found.insert(format!("{list}_destroy"), format!("void (*)({list}*)"));
    }
    for text in sources(source) {
        for item in syn::parse_file(&text).unwrap().items {
            if let Item::Fn(function) = item
                && function.sig.abi.is_some()
                && matches!(function.vis, Visibility::Public(_))
            {
                found.insert(function.sig.ident.to_string(), pointer_type(&function));
            }
        }
    }
    found
}

/// The texts of the files in a folder and in its folders.
fn sources(folder: &Path) -> Vec<String> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![fs::read_to_string(path).unwrap()] })
        .collect()
}

fn pointer_type(function: &ItemFn) -> String {
    let arguments = function.sig.inputs.iter().map(|argument| match argument {
        FnArg::Typed(argument) => c_type(&argument.ty),
        FnArg::Receiver(_) => panic!("a method is exported"),
    });
    let arguments: Vec<String> = arguments.collect();
    let returned = match &function.sig.output {
        ReturnType::Default => "void".to_owned(),
        ReturnType::Type(_, returned) => c_type(returned),
    };
    let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
    format!("{returned} (*)({arguments})")
}

/// Translates a Rust type to a C type.
fn c_type(rust: &Type) -> String {
    match rust {
        Type::Ptr(pointer) => {
            format!("{}{}*", c_type(&pointer.elem), if pointer.const_token.is_some() { " const" } else { "" })
        }
        Type::BareFn(function) => {
            let arguments: Vec<String> = function.inputs.iter().map(|argument| c_type(&argument.ty)).collect();
            let returned = match &function.output {
                ReturnType::Default => "void".to_owned(),
                ReturnType::Type(_, returned) => c_type(returned),
            };
            format!("{returned} (*)({})", arguments.join(", "))
        }
        Type::Path(path) => {
            let last = path.path.segments.last().unwrap();
            match (&last.ident.to_string()[..], &last.arguments) {
                ("Option", PathArguments::AngleBracketed(of)) => match of.args.first() {
                    Some(GenericArgument::Type(inner)) => c_type(inner),
                    _ => panic!("an Option of no type"),
                },
                (name, _) => c_name(name),
            }
        }
        _ => panic!("a type without a counterpart in C"),
    }
}

fn c_name(rust: &str) -> String {
    match rust {
        "usize" => "size_t".to_owned(),
        "bool" => "bool".to_owned(),
        "u8" | "u32" | "u64" => format!("uint{}_t", &rust[1..]),
        "i32" | "i64" => format!("int{}_t", &rust[1..]),
        "c_char" | "c_int" | "c_void" => rust[2..].to_owned(),
        _ => {
            let words = rust.chars().map(|letter| match letter.is_uppercase() {
                true => format!("_{}", letter.to_lowercase()),
                false => letter.to_string(),
            });
            format!("gantry{}", words.collect::<String>())
        }
    }
}

/// Returns the names of the functions that the header declares.
pub fn declared(header: &str) -> Vec<String> {
    let mut code = String::new();
    for part in header.split("/*") {
        code += part.split_once("*/").map_or(part, |(_, behind)| behind);
    }
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let calls = code.match_indices('(').map(|(at, _)| code[..at].rsplit(|letter| !is_name(letter)).next().unwrap());
    let mut names: Vec<String> = calls.filter(|name| name.starts_with("gantry_")).map(str::to_owned).collect();
    names.sort_unstable();
    names
}

/// Returns the names of the symbols that the shared library exports.
pub fn symbols(library: &Path) -> Vec<String> {
    let bytes = fs::read(library).unwrap();
    let file = object::File::parse(&bytes[..]).unwrap();
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let mut names: Vec<String> = symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    names.sort_unstable();
    names
}
