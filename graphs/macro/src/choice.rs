//! `#[derive(Choice)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::docs;

pub fn expand(item: DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let Data::Enum(data) = &item.data else {
        return Err(Error::new_spanned(name, "a choice is an enum"));
    };
    let mut idents = Vec::new();
    let mut ids = Vec::new();
    let mut items = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(variant, "a choice has no fields"));
        }
        let id = docs::snake(&variant.ident.to_string());
        let label = docs::label(&id);
        let help = docs::help(&variant.attrs);
        items
            .push(quote!(::sinew_graph::knob::ChoiceItem { id: #id.into(), label: #label.into(), help: #help.into() }));
        idents.push(&variant.ident);
        ids.push(id);
    }
    Ok(quote! {
        impl ::sinew_graph::knob::Knob for #name {
            fn kind(_: &::sinew_graph::knob::KnobAttributes) -> ::sinew_graph::knob::KnobKind {
                ::sinew_graph::knob::KnobKind::Choice { items: ::std::vec![#(#items),*] }
            }

            fn write(self) -> ::sinew_graph::knob::KnobValue {
                ::sinew_graph::knob::KnobValue::Choice(match self { #(Self::#idents => #ids.into()),* })
            }

            fn read(value: &::sinew_graph::knob::KnobValue) -> ::std::option::Option<Self> {
                match value {
                    ::sinew_graph::knob::KnobValue::Choice(id) => match &**id {
                        #(#ids => ::std::option::Option::Some(Self::#idents),)*
                        _ => ::std::option::Option::None,
                    },
                    _ => ::std::option::Option::None,
                }
            }
        }
    })
}
