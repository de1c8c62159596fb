//! `#[derive(Outputs)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::docs;
use crate::node::socket_type;

pub fn expand(item: DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(name, "outputs are a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(name, "outputs are named fields"));
    };
    let mut specs = Vec::new();
    let (mut values, mut decoders) = (Vec::new(), Vec::new());
    for field in &fields.named {
        let ident = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "outputs are named fields"))?;
        let id = ident.to_string();
        let label = docs::label(&id);
        let help = docs::help(&field.attrs);
        if help.is_empty() {
            return Err(Error::new_spanned(field, "an output needs a doc comment: it is its help"));
        }
        let (socket, any) = socket_type(&field.ty);
        specs.push(quote!(::sinew_graph::registry::OutputSpec {
            id: #id.into(), label: #label.into(), help: #help.into(), socket_type: #socket,
        }));
        if !any {
            let ty = &field.ty;
            decoders.push(quote!(::sinew_graph::registry::decoder::<#ty>()));
        }
        values.push(if any { quote!(self.#ident) } else { quote!(::sinew_graph::Value::new(self.#ident)) });
    }
    Ok(quote! {
        impl ::sinew_graph::registry::Outputs for #name {
            fn specs() -> ::std::vec::Vec<::sinew_graph::registry::OutputSpec> {
                ::std::vec![#(#specs),*]
            }

            fn decoders() -> ::std::vec::Vec<(::sinew_graph::value::DataTypeId, ::sinew_graph::registry::DecodeFn)> {
                ::std::vec![#(#decoders),*]
            }

            fn into_values(self) -> ::std::vec::Vec<::sinew_graph::Value> {
                ::std::vec![#(#values),*]
            }
        }
    })
}
