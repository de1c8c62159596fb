//! `#[node]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, ExprRange, FnArg, GenericArgument, Ident, ItemFn, LitInt, LitStr, Pat, Path, PathArguments,
    Result, ReturnType, Token, Type, parse_quote,
};

use crate::docs;

/// What `#[node(…)]` said.
pub struct Attributes {
    id: LitStr,
    revision: LitInt,
    label: Option<LitStr>,
    upgrade: Option<Path>,
    cut_off: bool,
}

impl Parse for Attributes {
    fn parse(input: ParseStream) -> Result<Self> {
        let (mut id, mut revision, mut label, mut upgrade, mut cut_off) = (None, None, None, None, false);
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "cut_off" {
                cut_off = true;
            } else {
                input.parse::<Token![=]>()?;
                match key.to_string().as_str() {
                    "id" => id = Some(input.parse()?),
                    "revision" => revision = Some(input.parse()?),
                    "label" => label = Some(input.parse()?),
                    "upgrade" => upgrade = Some(input.parse()?),
                    _ => return Err(Error::new(key.span(), "known are id, revision, label, upgrade and cut_off")),
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let id: LitStr = id.ok_or_else(|| input.error("a node needs an id: id = \"category.name\""))?;
        if !id.value().contains('.') {
            return Err(Error::new(id.span(), "an id is category.name, such as mesh.weld"));
        }
        let revision = revision.ok_or_else(|| input.error("a node needs a revision: revision = 1"))?;
        Ok(Self { id, revision, label, upgrade, cut_off })
    }
}

/// What `#[param(…)]` said.
#[derive(Default)]
struct Param {
    default: Option<Expr>,
    range: Option<ExprRange>,
    unit: Option<LitStr>,
    extensions: Vec<LitStr>,
}

impl Param {
    fn read(attribute: &Attribute) -> Result<Self> {
        let mut param = Self::default();
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("default") {
                param.default = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("range") {
                param.range = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("unit") {
                param.unit = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("extensions") {
                let list;
                syn::parenthesized!(list in meta.input);
                param.extensions = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?.into_iter().collect();
            } else {
                return Err(meta.error("known are default, range, unit and extensions"));
            }
            Ok(())
        })?;
        Ok(param)
    }
}

pub fn expand(attributes: Attributes, mut item: ItemFn) -> Result<TokenStream> {
    let help = docs::help(&item.attrs);
    if help.is_empty() {
        return Err(Error::new(item.sig.ident.span(), "a node needs a doc comment: it is its help"));
    }
    let function = item.sig.ident.clone();
    let (mut inputs, mut knobs, mut lets, mut arguments, mut listing) = (vec![], vec![], vec![], vec![], vec![]);
    for argument in &mut item.sig.inputs {
        let FnArg::Typed(argument) = argument else {
            return Err(Error::new_spanned(argument, "a node is a free function"));
        };
        let Pat::Ident(pattern) = &*argument.pat else {
            return Err(Error::new_spanned(&argument.pat, "a parameter is a plain name"));
        };
        let name = pattern.ident.to_string();
        let id = name.trim_start_matches('_');
        let help = docs::help(&argument.attrs);
        let param = argument.attrs.iter().find(|a| a.path().is_ident("param")).map(Param::read).transpose()?;
        argument.attrs.retain(|a| !a.path().is_ident("param") && !a.path().is_ident("doc"));
        let ty = &*argument.ty;
        if param.is_none() && is_context(ty) {
            arguments.push(quote!(cx));
            continue;
        }
        if help.is_empty() {
            return Err(Error::new_spanned(&*argument, "a parameter needs a doc comment: it is its help"));
        }
        let label = docs::label(id);
        listing.push(format!("- `{id}`: {help}"));
        let variable = format_ident!("__{}", id);
        if let Some(param) = param {
            let k = knobs.len();
            let default = param
                .default
                .ok_or_else(|| Error::new_spanned(&*argument, "a parameter needs a default: #[param(default = …)]"))?;
            let range = match &param.range {
                Some(ExprRange { start: Some(lo), end: Some(hi), .. }) => {
                    quote!(::std::option::Option::Some(((#lo) as f64, (#hi) as f64)))
                }
                Some(other) => return Err(Error::new_spanned(other, "a range has both ends: 0.0..=1.0")),
                None => quote!(::std::option::Option::None),
            };
            let unit = match &param.unit {
                Some(unit) => quote!(::std::option::Option::Some(#unit)),
                None => quote!(::std::option::Option::None),
            };
            let extensions = &param.extensions;
            knobs.push(quote!({
                let default: #ty = #default;
                ::sinew_graph::knob::KnobSpec {
                    id: #id.into(),
                    label: #label.into(),
                    help: #help.into(),
                    kind: <#ty as ::sinew_graph::knob::Knob>::kind(&::sinew_graph::knob::KnobAttributes {
                        range: #range, unit: #unit, extensions: &[#(#extensions),*],
                    }),
                    default: ::sinew_graph::knob::Knob::write(default),
                }
            }));
            lets.push(quote!(let #variable = call.knob::<#ty>(#k, #id)?;));
            arguments.push(quote!(#variable));
            continue;
        }
        let k = inputs.len();
        let (inner, arity) = input_type(ty)?;
        let (socket, any) = socket_type(inner);
        let (arity_tokens, read, pass) = match (arity, any) {
            (Arity::One, false) => (quote!(One), quote!(call.one::<#inner>(#k, #id)?), quote!(#variable)),
            (Arity::One, true) => (quote!(One), quote!(call.one_any(#k, #id)?), quote!(#variable)),
            (Arity::Optional, false) => {
                (quote!(Optional), quote!(call.optional::<#inner>(#k, #id)?), quote!(#variable))
            }
            (Arity::Optional, true) => (quote!(Optional), quote!(call.optional_any(#k)), quote!(#variable)),
            (Arity::Many, false) => (quote!(Many), quote!(call.many::<#inner>(#k, #id)?), quote!(&#variable)),
            (Arity::Many, true) => (quote!(Many), quote!(call.many_any(#k)), quote!(&#variable)),
        };
        inputs.push(quote!(::sinew_graph::registry::InputSpec {
            id: #id.into(), label: #label.into(), help: #help.into(), socket_type: #socket,
            arity: ::sinew_graph::registry::Arity::#arity_tokens,
        }));
        lets.push(quote!(let #variable = #read;));
        arguments.push(pass);
    }
    let ReturnType::Type(_, output) = &item.sig.output else {
        return Err(Error::new_spanned(&item.sig, "a node returns its outputs"));
    };
    let (output, fallible) = result_type(output);
    let output = output.clone();
    let result = if fallible { quote!(#function(#(#arguments),*)?) } else { quote!(#function(#(#arguments),*)) };
    let Attributes { id, revision, label, upgrade, cut_off } = attributes;
    let short = id.value().split_once('.').map(|(_, short)| short.replace('.', " ")).unwrap_or_default();
    let label = label.map_or_else(|| docs::label(&short), |label| label.value());
    let upgrade = match upgrade {
        Some(path) => quote!(::std::option::Option::Some(#path)),
        None => quote!(::std::option::Option::None),
    };
    let section = format!("\n\n# Parameters\n\n{}", listing.join("\n"));
    let node_doc = format!("The node type `{}` over [`{function}`].", id.value());
    item.attrs.push(parse_quote!(#[doc = #section]));
    let visibility = &item.vis;
    Ok(quote! {
        #item

        #[doc = #node_doc]
        #visibility fn node() -> ::sinew_graph::NodeType {
            ::sinew_graph::NodeType {
                id: #id.into(),
                revision: #revision,
                label: #label.into(),
                help: #help.into(),
                inputs: ::std::vec![#(#inputs),*],
                knobs: ::std::vec![#(#knobs),*],
                outputs: <#output as ::sinew_graph::registry::Outputs>::specs(),
                cut_off: #cut_off,
                decoders: <#output as ::sinew_graph::registry::Outputs>::decoders(),
                upgrade: #upgrade,
                run: ::std::sync::Arc::new(|call, cx| {
                    let _ = cx;
                    #(#lets)*
                    ::std::result::Result::Ok(::sinew_graph::registry::Outputs::into_values(#result))
                }),
            }
        }
    })
}

#[derive(Clone, Copy)]
enum Arity {
    One,
    Optional,
    Many,
}

fn last_ident(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}

fn generic<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if last_ident(&reference.elem).is_some_and(|ident| ident == "Cx"))
}

fn input_type(ty: &Type) -> Result<(&Type, Arity)> {
    let wrong = || Error::new_spanned(ty, "an input is &T, Option<&T> or &[&T]; a knob needs #[param(default = …)]");
    if let Some(Type::Reference(reference)) = generic(ty, "Option") {
        return Ok((&reference.elem, Arity::Optional));
    }
    let Type::Reference(reference) = ty else { return Err(wrong()) };
    match &*reference.elem {
        Type::Slice(slice) => match &*slice.elem {
            Type::Reference(inner) => Ok((&inner.elem, Arity::Many)),
            _ => Err(wrong()),
        },
        inner => Ok((inner, Arity::One)),
    }
}

fn result_type(ty: &Type) -> (&Type, bool) {
    generic(ty, "Result").map_or((ty, false), |inner| (inner, true))
}

/// The socket type of a Rust type, and whether it is any.
pub fn socket_type(ty: &Type) -> (TokenStream, bool) {
    if last_ident(ty).is_some_and(|ident| ident == "Value") {
        (quote!(::sinew_graph::registry::SocketType::Any), true)
    } else {
        (quote!(::sinew_graph::registry::SocketType::Of(&<#ty as ::sinew_graph::Data>::TYPE)), false)
    }
}
