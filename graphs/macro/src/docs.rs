//! Doc comments as text, and names as ids and labels.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments among these attributes.
pub fn help(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned())
        .collect();
    // Lines of one paragraph are one line: the source wraps them for its own width, the screen for another.
    let mut text = String::new();
    for line in &lines {
        let starts_anew = line.is_empty() || line.starts_with(['-', '|', '#']);
        if starts_anew && !text.is_empty() {
            text.push('\n');
        } else if !text.is_empty() && !text.ends_with('\n') {
            text.push(' ');
        }
        if line.is_empty() { text.push('\n') } else { text.push_str(line) }
    }
    let mut text = text.trim().to_owned();
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text
}

/// `flood_regions` as `Flood regions`.
pub fn label(name: &str) -> String {
    let text = name.replace('_', " ");
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// `TimesThis` as `times_this`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    for (k, c) in name.chars().enumerate() {
        if c.is_uppercase() && k > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}
