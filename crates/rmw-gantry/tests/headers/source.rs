//! Reads Rust sources: the structs, aliases and constants of `rmw-abi`, the functions of this crate that C calls, and
//! the C functions that the bridge calls.

use std::{fs, path::Path};
use syn::{
    Attribute, Expr, Fields, ForeignItemFn, Ident, Item, ItemConst, ItemFn, ItemStruct, ItemType, Lit, Signature,
    Token, Type, TypeBareFn,
    parse::{ParseStream, Parser},
    visit::{self, Visit},
};

/// A struct with C layout: its name and its fields, in order.
#[derive(Clone)]
pub struct Struct {
    pub name: String,
    pub fields: Vec<(String, Type)>,
}

/// The declarations of the C interface in the Rust sources.
#[derive(Clone, Default)]
pub struct Source {
    pub structs: Vec<Struct>,
    pub aliases: Vec<(String, Type)>,
    /// Names and values.
    pub constants: Vec<(String, i64)>,
    pub functions: Vec<Signature>,
    /// The C functions that the bridge looks up by name, with their types.
    pub called: Vec<(String, TypeBareFn)>,
}

/// Reads all source files.
pub fn read() -> Source {
    let mut source = Source::default();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bindings = own.join("../rmw-abi/src/bindings");
    let mut directories = vec![own.join("src"), bindings.clone()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let file = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
                if path.starts_with(&bindings) {
                    file.items.iter().for_each(|item| source.declare(item));
                }
                source.visit_file(&file);
            }
        }
    }
    source.read_called(&own.join("../../bridges/rmw/src/rmw/functions.rs"));
    source.structs.sort_by(|one, other| one.name.cmp(&other.name));
    source
}

impl Source {
    /// Reads the table of functions, `functions! { NAME: fn(…) -> …; … }`, and the struct in the same file.
    fn read_called(&mut self, file: &Path) {
        let file = syn::parse_file(&fs::read_to_string(file).unwrap()).unwrap();
        for item in &file.items {
            match item {
                Item::Macro(item) if item.mac.path.is_ident("functions") => {
                    self.called = table.parse2(item.mac.tokens.clone()).unwrap();
                }
                Item::Struct(item) if has(&item.attrs, "repr") => self.structs.push(struct_of(item)),
                _ => {}
            }
        }
    }

    fn declare(&mut self, item: &Item) {
        match item {
            Item::Struct(item) if has(&item.attrs, "repr") && !is_opaque(item) => self.structs.push(struct_of(item)),
            Item::Type(ItemType { ident, ty, .. }) => self.aliases.push((ident.to_string(), (**ty).clone())),
            Item::Const(ItemConst { ident, expr, .. }) => {
                self.constants.extend(Some(ident.to_string()).zip(value(expr)))
            }
            _ => {}
        }
    }
}

fn table(input: ParseStream<'_>) -> syn::Result<Vec<(String, TypeBareFn)>> {
    let mut functions = Vec::new();
    while !input.is_empty() {
        let name: Ident = input.parse()?;
        input.parse::<Token![:]>()?;
        functions.push((name.to_string(), input.parse()?));
        input.parse::<Token![;]>()?;
    }
    Ok(functions)
}

/// True if the layout of the struct depends on the distribution. A second struct, which has a type parameter, declares
/// its layout.
fn is_opaque(item: &ItemStruct) -> bool {
    item.fields.iter().any(|field| field.ident.as_ref().is_some_and(|name| name == "opaque"))
}

fn struct_of(item: &ItemStruct) -> Struct {
    let Fields::Named(fields) = &item.fields else { panic!("{} has fields without names", item.ident) };
    let fields = fields.named.iter().map(|field| (field.ident.as_ref().unwrap().to_string(), c_type(&field.ty)));
    let name = item.ident.to_string();
    let name = if item.generics.params.is_empty() { name } else { name.replace("_of", "_t") };
    Struct { name, fields: fields.collect() }
}

/// Returns the type of a field in Jazzy's layout.
fn c_type(of: &Type) -> Type {
    let Type::Path(path) = of else { return of.clone() };
    match path.path.segments.last() {
        Some(last) if last.ident == "LocalhostOnly" => syn::parse_quote!(rmw_localhost_only_t),
        Some(last) if last.ident == "rmw_init_options_of" => syn::parse_quote!(rmw_init_options_t),
        _ => of.clone(),
    }
}

impl Source {
    /// Converts the declarations of Jazzy to the declarations of Kilted.
    pub fn into_kilted(mut self) -> Source {
        let is_gone = |name: &str| name.to_lowercase().contains("localhost_only");
        self.structs.iter_mut().for_each(|item| item.fields.retain(|(field, _)| !is_gone(field)));
        self.aliases.retain(|(name, _)| !is_gone(name));
        self.constants.retain(|(name, _)| !is_gone(name));
        for (name, value) in &mut self.constants {
            if name == "RMW_EVENT_INVALID" {
                *value = 0;
            } else if name.starts_with("RMW_EVENT_") {
                *value += 1;
            }
        }
        self.functions.retain(|function| function.ident != "rmw_node_assert_liveliness");
        self
    }
}

/// A literal integer.
fn value(expression: &Expr) -> Option<i64> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

impl Visit<'_> for Source {
    fn visit_item_fn(&mut self, item: &ItemFn) {
        // `#[unsafe(no_mangle)]`
        if has(&item.attrs, "unsafe") || has(&item.attrs, "no_mangle") {
            self.functions.push(item.sig.clone());
        }
        visit::visit_item_fn(self, item);
    }

    // Foreign functions are skipped, because they are not a part of the C interface.
    fn visit_foreign_item_fn(&mut self, _: &ForeignItemFn) {}
}
