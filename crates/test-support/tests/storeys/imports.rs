//! Checks the imports of a crate. The modules of `lib.rs` are ordered in *storeys* (layers): a file imports only from
//! lower storeys, and no files import each other in a circle.

use proc_macro2::{TokenStream, TokenTree};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};
use syn::{
    Attribute, ItemExternCrate, ItemMod, ItemUse, Macro, UseTree, Visibility,
    visit::{self, Visit},
};

/// The path of a module from the crate's root; empty for `lib.rs`.
type Module = Vec<String>;

/// Returns the imports from higher storeys and the circles of the files in a folder.
///
/// `storeys` begins with the lowest storey, and contains every module of `lib.rs`. Test code is not checked. A file and
/// its own children may import each other. The files of a group may do so, too, because together they implement one
/// type or concept. The name of a file is its path from the crate's root, such as `yaml::encode`.
pub fn faults(source: &Path, storeys: &[String], groups: &[&[&str]]) -> Vec<String> {
    let mut files = read(source);
    groups.iter().for_each(|group| ignore_imports_within(&mut files, group));
    let mut faults = upward(&files, storeys);
    faults.extend(circles(&files));
    faults
}

/// Removes the imports between the files of a group.
fn ignore_imports_within(files: &mut BTreeMap<Module, File>, group: &[&str]) {
    let is_part = |module: &Module| group.contains(&module.join("::").as_str());
    let missing: Vec<&&str> =
        group.iter().filter(|part| !files.keys().any(|module| module.join("::") == **part)).collect();
    assert!(missing.is_empty(), "{missing:?} are no files of this crate");
    let parts: Vec<Module> = files.keys().filter(|module| is_part(module)).cloned().collect();
    for part in parts {
        let imports = files[&part].imports.iter().filter(|import| !is_part(&target(files, import))).cloned().collect();
        files.get_mut(&part).unwrap().imports = imports;
    }
}

/// The imports and re-exports of one source file.
struct File {
    /// The imported paths, from the crate's root.
    imports: BTreeSet<Vec<String>>,
    /// The names that the file re-exports with `pub use`, and the paths to the original items.
    exports: BTreeMap<String, Vec<String>>,
}

/// Reads all source files of a crate. The keys are their modules.
fn read(source: &Path) -> BTreeMap<Module, File> {
    let (mut files, mut foreign) = (BTreeMap::new(), BTreeSet::new());
    let mut directories = vec![source.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = module_of(path.strip_prefix(source).unwrap());
                let text = fs::read_to_string(&path).unwrap();
                let mut file = Reader { module: module.clone(), ..Reader::default() };
                file.visit_file(&syn::parse_file(&text).unwrap());
                foreign.extend(file.foreign.into_iter().filter(|_| module.is_empty()));
                files.insert(module, File { imports: file.imports, exports: file.exports });
            }
        }
    }
    files.values_mut().for_each(|file: &mut File| file.imports.retain(|import| !foreign.contains(&import[0])));
    let tests: Vec<Module> = files.keys().filter(|module| is_test(module)).cloned().collect();
    tests.iter().for_each(|module| drop(files.remove(module)));
    files
}

/// True if the module's name shows that it is compiled only for tests.
fn is_test(module: &[String]) -> bool {
    module.iter().any(|part| part == "tests" || part == "models")
}

fn module_of(path: &Path) -> Module {
    let path: PathBuf = path.with_extension("");
    let mut module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    module.pop_if(|last| last == "mod" || last == "lib");
    module
}

/// Collects the imports of one file.
#[derive(Default)]
struct Reader {
    module: Module,
    imports: BTreeSet<Vec<String>>,
    exports: BTreeMap<String, Vec<String>>,
    /// The crates that the file declares with `extern crate`.
    foreign: BTreeSet<String>,
}

impl Reader {
    /// Converts a path that begins with `crate`, `self` or `super` to a path from the crate's root.
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

    /// Adds the paths `crate::…` in the tokens of a macro call.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(ident) if ident == "crate" || ident == "self" || ident == "super" => {
                    let mut path = vec![ident.to_string()];
                    let mut rest = &tokens[index + 1..];
                    while let [TokenTree::Punct(one), TokenTree::Punct(two), TokenTree::Ident(part), ..] = rest
                        && (one.as_char(), two.as_char()) == (':', ':')
                    {
                        path.push(part.to_string());
                        rest = &rest[3..];
                    }
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

    fn visit_item_extern_crate(&mut self, item: &ItemExternCrate) {
        self.foreign.insert(item.ident.to_string());
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

/// True if an item exists only in tests: it has `cfg(test)` or `cfg(all(test, …))`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
        attribute.path().is_ident("cfg") && (text == "test" || text.replace(' ', "").starts_with("all(test,"))
    })
}

/// Returns the file that has the item at `path`. Re-exports are followed.
fn target(files: &BTreeMap<Module, File>, path: &[String]) -> Module {
    let length = (0..=path.len()).rev().find(|&length| files.contains_key(&path[..length])).unwrap_or_default();
    let export = path.get(length).and_then(|name| files[&path[..length]].exports.get(name));
    // A file may re-export its own macro; this export would lead back to itself, so it is not followed.
    let export = export.filter(|export| **export != path[..=length]);
    export.map_or_else(|| path[..length].to_vec(), |export| target(files, export))
}

fn upward(files: &BTreeMap<Module, File>, storeys: &[String]) -> Vec<String> {
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

/// Finds files that import each other in a circle. A file and its own children may do so.
fn circles(files: &BTreeMap<Module, File>) -> Vec<String> {
    let arrows = |with_family: bool| -> BTreeMap<&Module, BTreeSet<Module>> {
        let is_family = |one: &Module, other: &Module| one.starts_with(other) || other.starts_with(one);
        let of = |module: &Module| {
            let targets = files[module].imports.iter().map(|import| target(files, import));
            targets.filter(|other| other != module && (with_family || !is_family(module, other))).collect()
        };
        files.keys().map(|module| (module, of(module))).collect()
    };
    let (all, strangers) = (arrows(true), arrows(false));
    let mut faults = Vec::new();
    for start in files.keys() {
        // Imports between a file and its own children (its family) are left out, because a file may re-export the items
        // of its children.
        if reached(&strangers, start).contains(start) {
            faults.push(format!("a circle: {} imports itself through others", start.join("::")));
            continue;
        }
        let members: Vec<&Module> = files.keys().filter(|module| is_circle(&all, start, module)).collect();
        let has_head = |head: &&Module| members.iter().all(|module| module.starts_with(head));
        if !members.is_empty() && !members.iter().any(has_head) {
            let members: Vec<String> = members.iter().map(|module| module.join("::")).collect();
            faults.push(format!("a circle: {}", members.join(", ")));
        }
    }
    faults
}

fn is_circle(arrows: &BTreeMap<&Module, BTreeSet<Module>>, one: &Module, other: &Module) -> bool {
    reached(arrows, one).contains(other) && reached(arrows, other).contains(one)
}

/// Returns all modules that `start` imports directly or indirectly.
fn reached(arrows: &BTreeMap<&Module, BTreeSet<Module>>, start: &Module) -> BTreeSet<Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![start.clone()]);
    while let Some(module) = open.pop() {
        let new = arrows[&module].iter().filter(|next| !seen.contains(*next)).cloned();
        let new: Vec<Module> = new.collect();
        seen.extend(new.iter().cloned());
        open.extend(new);
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the faults of a crate with these files in `src` and the storeys `low` and `high`.
    fn faults(sources: &[(&str, &str)]) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in sources {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        super::faults(directory.path(), &["low", "high"].map(str::to_owned), &[])
    }

    #[test]
    fn an_import_that_goes_down_or_is_of_tests_is_no_fault() {
        let low = "#[cfg(test)] mod tests { use crate::high::H; }";
        assert_eq!(faults(&[("low.rs", low), ("high.rs", "use crate::low::L;")]), [""; 0]);
    }

    #[test]
    fn an_import_that_goes_up_is_a_fault_however_it_is_written() {
        for low in [
            "use crate::high::H;",
            "#[cfg(not(test))] use crate::high::H;",
            "fn f() { crate::high::g(); }",
            "fn f() { println!(\"{}\", super::high::g()); }",
        ] {
            assert_eq!(faults(&[("low.rs", low), ("high.rs", "")]).len(), 1, "{low}");
        }
    }

    #[test]
    fn a_crate_that_lib_rs_declares_and_a_macro_that_its_own_file_hands_on_are_no_imports() {
        let lib = "pub extern crate alloc;";
        let low = "macro_rules! m { () => { $crate::alloc::vec::Vec::new() }; } pub(crate) use m; crate::low::m!();";
        assert_eq!(faults(&[("lib.rs", lib), ("low.rs", low), ("high.rs", "crate::low::m!();")]), [""; 0]);
    }

    #[test]
    fn the_parts_of_one_noun_may_import_each_other_and_nothing_else_in_a_circle() {
        let circle = |names: [&str; 2]| -> BTreeMap<Module, File> {
            let [one, other] = names.map(|name| vec![name.to_owned()]);
            let file = |import: &Module| File { imports: [import.clone()].into(), exports: BTreeMap::new() };
            [(one.clone(), file(&other)), (other, file(&one))].into()
        };
        let mut files = circle(["message", "list"]);
        assert_eq!(circles(&files).len(), 2);
        ignore_imports_within(&mut files, &["message", "list"]);
        assert_eq!(circles(&files), [""; 0]);
        let mut files = circle(["message", "list"]);
        ignore_imports_within(&mut files, &["message"]);
        assert_eq!(circles(&files).len(), 2);
    }

    #[test]
    fn a_circle_is_a_fault_but_for_a_file_and_its_children() {
        let family = [("low/mod.rs", "use self::child::C;"), ("low/child.rs", "use super::L;")];
        assert_eq!(faults(&family), [""; 0]);
        let siblings = [("low/one.rs", "use super::two::T;"), ("low/two.rs", "use super::one::O;")];
        assert_eq!(faults(&siblings).len(), 2);
        let mixed = [
            ("low/x/mod.rs", "use self::k::K;"),
            ("low/x/k.rs", "use crate::low::y::Y;"),
            ("low/y.rs", "use crate::low::x::X;"),
        ];
        assert!(!faults(&mixed).is_empty());
    }
}
