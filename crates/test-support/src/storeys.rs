//! The structure of a crate as its imports show it: storeys (the modules of `lib.rs`) and circles of files.

use proc_macro2::{TokenStream, TokenTree};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::{Path, PathBuf},
};
use syn::{
    Attribute, ItemMod, ItemUse, Macro, UseTree, Visibility,
    visit::{self, Visit},
};

/// The path of a module below the crate's root; empty for `lib.rs`.
type Module = Vec<String>;

/// Panics with a list of the imports that go up a storey and of the circles among the files of `<crate_directory>/src`.
///
/// `storeys` begins at the ground and has every module of `lib.rs`. Test code is left out. A file and its own children may
/// import each other.
#[track_caller]
pub fn check(crate_directory: &str, storeys: &[&str]) {
    let files = read(&Path::new(crate_directory).join("src"));
    let mut faults = upward(&files, storeys);
    faults.extend(circles(&files));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The storeys of a crate as ARCHITECTURE.md draws them, from the ground: the first words below the heading
/// `<name>/src, from the top`.
pub fn drawn(architecture: &str, name: &str) -> Vec<String> {
    let heading = format!("{name}/src, from the top");
    let mut lines = architecture.lines().skip_while(|line| !line.contains(&heading));
    let column = lines.next().and_then(|line| line.find(&heading)).unwrap();
    let rows = lines.take_while(|line| !line.starts_with("```")).filter_map(|line| line.get(column..));
    let words = rows.map(|row| row.trim_start().split("  ").next().unwrap_or_default().trim().to_owned());
    let mut storeys: Vec<String> = words.filter(|words| !words.is_empty()).collect();
    storeys.reverse();
    storeys.iter().flat_map(|words| words.split(", ").map(str::to_owned)).collect()
}

/// One source file: where its names come from, and which of them it hands on.
struct File {
    /// Imported paths below the crate's root.
    imports: BTreeSet<Vec<String>>,
    /// Names that other modules find here by `pub use`, with the paths that they stand for.
    exports: BTreeMap<String, Vec<String>>,
}

/// All files of a crate by their modules.
fn read(source: &Path) -> BTreeMap<Module, File> {
    let mut files = BTreeMap::new();
    let mut directories = vec![source.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = module_of(path.strip_prefix(source).unwrap());
                let text = fs::read_to_string(&path).unwrap();
                let mut file = Reader { module: module.clone(), imports: BTreeSet::new(), exports: BTreeMap::new() };
                file.visit_file(&syn::parse_file(&text).unwrap());
                files.insert(module, File { imports: file.imports, exports: file.exports });
            }
        }
    }
    let tests: Vec<Module> = files.keys().filter(|module| is_test(module)).cloned().collect();
    tests.iter().for_each(|module| drop(files.remove(module)));
    files
}

/// Whether a file is compiled for tests only, by its name.
fn is_test(module: &[String]) -> bool {
    module.iter().any(|part| part == "tests" || part == "models")
}

fn module_of(path: &Path) -> Module {
    let path: PathBuf = path.with_extension("");
    let mut module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    module.pop_if(|last| last == "mod" || last == "lib");
    module
}

/// Collects the imports of a file.
struct Reader {
    module: Module,
    imports: BTreeSet<Vec<String>>,
    exports: BTreeMap<String, Vec<String>>,
}

impl Reader {
    /// The path below the crate's root, if `path` begins with `crate`, `self` or `super`.
    fn resolve(&self, path: &[String]) -> Option<Vec<String>> {
        let supers = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (&self.module[..], &path[1..]),
            "super" => (&self.module[..self.module.len().checked_sub(supers)?], &path[supers..]),
            _ => return None,
        };
        Some([base, rest].concat())
    }

    fn add(&mut self, path: &[String]) {
        self.imports.extend(self.resolve(path).filter(|path| !path.is_empty()));
    }

    fn use_tree(&mut self, tree: &UseTree, path: &mut Vec<String>, is_public: bool) {
        match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.use_tree(&part.tree, path, is_public);
                path.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|item| self.use_tree(item, path, is_public)),
            UseTree::Name(name) => self.use_name(&name.ident.to_string(), &name.ident.to_string(), path, is_public),
            UseTree::Rename(name) => self.use_name(&name.ident.to_string(), &name.rename.to_string(), path, is_public),
            UseTree::Glob(_) => self.add(path),
        }
    }

    fn use_name(&mut self, name: &str, alias: &str, path: &mut Vec<String>, is_public: bool) {
        path.extend((name != "self").then(|| name.to_owned()));
        let is_local = !matches!(path[0].as_str(), "crate" | "self" | "super");
        if is_public && is_local {
            self.exports.insert(alias.to_owned(), [&self.module[..], path].concat());
        } else {
            self.add(path);
        }
        path.truncate(path.len() - usize::from(name != "self"));
    }

    /// `crate::…` in the tokens of a macro's call.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(ident) if ident == "crate" => {
                    let path = tokens[index..].chunks(3).map_while(|chunk| match chunk {
                        [TokenTree::Ident(part), ..] => Some(part.to_string()),
                        _ => None,
                    });
                    let path: Vec<String> = path.collect();
                    self.add(&path);
                }
                _ => {}
            }
        }
    }
}

impl Visit<'_> for Reader {
    fn visit_item_mod(&mut self, item: &ItemMod) {
        if !is_for_tests(&item.attrs) {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.use_tree(&item.tree, &mut Vec::new(), !matches!(item.vis, Visibility::Inherited));
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(&parts);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &Macro) {
        self.tokens(call.tokens.clone());
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
        attribute.path().is_ident("cfg") && text.split([' ', '(', ')', ',']).any(|word| word == "test")
    })
}

/// The file in which the item at `path` stands, through the names that modules hand on.
fn target(files: &BTreeMap<Module, File>, path: &[String]) -> Module {
    let length = (0..=path.len()).rev().find(|&length| files.contains_key(&path[..length])).unwrap_or_default();
    let export = path.get(length).and_then(|name| files[&path[..length]].exports.get(name));
    export.map_or_else(|| path[..length].to_vec(), |export| target(files, export))
}

fn upward(files: &BTreeMap<Module, File>, storeys: &[&str]) -> Vec<String> {
    let storey =
        |module: &[String]| storeys.iter().position(|storey| module.first().is_some_and(|name| name == storey));
    let mut faults = Vec::new();
    for (module, file) in files.iter().filter(|(module, _)| !module.is_empty()) {
        let Some(own) = storey(module) else {
            faults.push(format!("{} is in no storey of the list", module.join("::")));
            continue;
        };
        for import in &file.imports {
            match storey(&target(files, import)) {
                Some(other) if other <= own => {}
                Some(_) => faults.push(format!("{} imports {}, a storey above", module.join("::"), import.join("::"))),
                None => faults.push(format!("{} imports {} from lib.rs", module.join("::"), import.join("::"))),
            }
        }
    }
    faults
}

fn circles(files: &BTreeMap<Module, File>) -> Vec<String> {
    let is_family = |one: &Module, other: &Module| one.starts_with(other) || other.starts_with(one);
    let neighbours = |module: &Module| -> BTreeSet<Module> {
        let targets = files[module].imports.iter().map(|import| target(files, import));
        targets.filter(|other| !is_family(module, other)).collect()
    };
    let arrows: BTreeMap<&Module, BTreeSet<Module>> = files.keys().map(|module| (module, neighbours(module))).collect();
    let mut faults = Vec::new();
    for start in files.keys() {
        let (mut seen, mut queue) = (BTreeSet::new(), VecDeque::from([vec![start]]));
        while let Some(path) = queue.pop_front() {
            for next in &arrows[path[path.len() - 1]] {
                if next == start {
                    let path: Vec<String> = path.iter().map(|module| module.join("::")).collect();
                    faults.push(format!("a circle: {} and back", path.join(" → ")));
                    queue.clear();
                    break;
                }
                if seen.insert(next) {
                    queue.push_back([&path[..], &[next]].concat());
                }
            }
        }
    }
    faults
}
