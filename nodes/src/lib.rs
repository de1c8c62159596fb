//! What flows through Sinew's graphs, and one file per node.

pub mod conversions;
pub mod data;
pub mod export;
pub mod io;
pub mod live2d;
pub mod measure;
pub mod mesh;
pub mod motion;
pub mod pose;
pub mod rig;
pub mod value;

use sinew_graph::Registry;
use sinew_graph::registry::RegistryError;

/// Every node that ships with Sinew. A new node is one file, and one line here.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    for node in [
        export::gltf::node(),
        export::motion3::node(),
        export::picture::node(),
        export::report::node(),
        io::import_gltf::node(),
        io::sample_character::node(),
        live2d::chain_to_parameters::node(),
        live2d::deformer_bake::node(),
        live2d::reduce_curves::node(),
        measure::bone_distance::node(),
        measure::compare::node(),
        measure::edge_stretch::node(),
        measure::loop_gap::node(),
        measure::tip_travel::node(),
        mesh::info::node(),
        mesh::weld::node(),
        motion::bake::node(),
        motion::colliders::node(),
        motion::reduce_keys::node(),
        motion::rest_arc::node(),
        motion::select_clips::node(),
        motion::spring::node(),
        rig::apply::node(),
        rig::chain_weights::node(),
        rig::collar::node(),
        rig::dijkstra_chain::node(),
        rig::flood_regions::node(),
        rig::limit_influences::node(),
        rig::merge_regions::node(),
        rig::pca_classify::node(),
        rig::pick_regions::node(),
        rig::rigid_attach::node(),
        rig::skeleton_distance::node(),
        value::compare::node(),
        value::curve::node(),
        value::expression::node(),
        value::file::node(),
        value::integer::node(),
        value::list::node(),
        value::math::node(),
        value::number::node(),
        value::switch::node(),
        value::text::node(),
        value::toggle::node(),
        value::vector::node(),
    ] {
        registry.add(node)?;
    }
    for conversion in conversions::conversions() {
        registry.add_conversion(conversion);
    }
    Ok(())
}
