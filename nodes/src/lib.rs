//! What flows through Sinew's graphs, and one file per node.

pub mod conversions;
pub mod data;
pub mod export;
pub mod io;
pub mod measure;
pub mod mesh;
pub mod pose;
pub mod rig;
pub mod value;

use sinew_graph::Registry;
use sinew_graph::registry::RegistryError;

/// Every node that ships with Sinew. A new node is one file, and one line here.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    for node in [
        export::gltf::node(),
        io::import_gltf::node(),
        measure::bone_distance::node(),
        measure::compare::node(),
        measure::edge_stretch::node(),
        rig::apply::node(),
        rig::chain_weights::node(),
        rig::dijkstra_chain::node(),
        rig::limit_influences::node(),
        rig::rigid_attach::node(),
    ] {
        registry.add(node)?;
    }
    for conversion in conversions::conversions() {
        registry.add_conversion(conversion);
    }
    Ok(())
}
