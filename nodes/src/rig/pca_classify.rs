//! What each region is: a tail, something worn, an ear, a cape, or part of the body (`tail-3d.md` A6, A8).

use sinew_graph::{Cx, Outputs, Result, node};

use crate::data::{Body, Finding, Kind, Region, Regions, Table, Treatment};
use crate::rig::anatomy::{Anatomy, Role};
use crate::rig::collar::named_joint;
use crate::rig::measures::{Measures, NECK};
use crate::rig::skeleton_distance::stub_of;
use crate::rig::surface::Surface;

/// Judged regions, and why.
#[derive(Clone, Debug, Outputs)]
pub struct Classified {
    /// The regions with their kinds.
    pub regions: Regions,
    /// A row per region: what it is, what is done with it, and why.
    pub reasons: Table,
}

/// Tells what each region is by where it hangs and by its shape. Only what is elongated and hangs from the pelvis gets bones;
/// everything else is left alone unless asked for.
#[expect(clippy::too_many_arguments, reason = "a node's sockets and knobs")]
#[node(id = "rig.pca_classify", revision = 2)]
pub fn pca_classify(
    /// The regions, with their collars.
    regions: &Regions,
    /// What is less elongated than this is broad: a cape, a skirt.
    #[param(default = 1.6, range = 1.0..=20.0)]
    elongation: f32,
    /// What is shorter is left alone.
    #[param(default = 0.15, range = 0.0..=5.0, unit = "heights")]
    least_length: f32,
    /// How far from the skeleton the centroid must be, as a share of the region's extent.
    #[param(default = 0.4, range = 0.0..=1.0)]
    offset: f32,
    /// Whether worn things (scabbards, quivers, straps) follow their joint rigidly.
    #[param(default = false)]
    worn_rigid: bool,
    /// Whether broad things (capes, skirts) follow their joint rigidly.
    #[param(default = false)]
    broad_rigid: bool,
    /// The name of the pelvis joint, where it should not be told from the skeleton.
    #[param(default = String::new())]
    pelvis: String,
    cx: &Cx,
) -> Result<Classified> {
    let mut out = regions.clone();
    let body = &regions.body;
    if !out.regions.is_empty() {
        let pelvis = named_joint(body, &pelvis)?;
        let anatomy = Anatomy::standing(regions.stance, &body.skeleton, &body.skin, pelvis);
        let mut surface = Surface::of(&out.regions, body);
        let segments = anatomy.bones.segments(&body.skeleton, stub_of(&body.distance));
        let judge = Judge { body, anatomy: &anatomy, elongation, least_length, offset, worn_rigid, broad_rigid };
        for region in &mut out.regions {
            cx.check()?;
            let measures = Measures::of(region, body, &mut surface, &segments, cx)?;
            region.finding = judge.judge(region, &measures);
        }
        name_tails(&mut out.regions);
    }
    let reasons = report(&out);
    Ok(Classified { regions: out, reasons })
}

/// How near to a limit still counts as on the side of the limit: rounding does not decide.
const ROUNDING: f32 = 1e-3;

/// The least distance of the centroid of what sticks out by its neck, as a share of its skin's.
const ASIDE: f32 = 0.6;

/// How far to the side of the body's middle a tail may start, in heights.
const SIDE: f32 = 0.08;

/// How far in front of the hips a tail may start, in heights.
const FRONT: f32 = 0.03;

/// How far to the side of the head's middle an ear is at least, in heights.
const EAR: f32 = 0.01;

struct Judge<'a> {
    body: &'a Body,
    anatomy: &'a Anatomy,
    elongation: f32,
    least_length: f32,
    offset: f32,
    worn_rigid: bool,
    broad_rigid: bool,
}

impl Judge<'_> {
    fn judge(&self, region: &Region, m: &Measures) -> Finding {
        let height = self.anatomy.stance.height;
        let elongation = m.elongation.max(m.unrolled);
        let finding = |kind: Kind, treatment: Treatment, reason: String| Finding {
            kind,
            treatment,
            name: if treatment == Treatment::Chain { "Tail".into() } else { "".into() },
            extent: m.extent,
            elongation,
            offset: m.offset(),
            reason: reason.into(),
        };
        let leave = |kind: Kind, reason: String| finding(kind, Treatment::Unchanged, reason);
        let Some(collar) = &region.collar else {
            return leave(Kind::Unknown, "it has no collar: connect rig.collar before this node".into());
        };
        let joint = &self.body.skeleton.joints[usize::from(collar.joint)].name;
        let role = self.anatomy.roles[usize::from(collar.joint)];
        let length = m.extent / height;
        let below = |value: f32, limit: f32| value < limit * (1.0 - ROUNDING);
        if below(length, self.least_length) {
            return leave(Kind::Small, format!("small: length {length:.3} H < {:.3} H", self.least_length));
        }
        let offset = m.offset();
        let by_neck = m.neck <= NECK && m.aside() >= ASIDE;
        if below(offset, self.offset) && !by_neck {
            return leave(
                Kind::Body,
                format!(
                    "part of the body: offset {offset:.2} < {:.2} of its extent, and it does not stick out (border {:.2} of \
                     its size, limit {NECK}; centroid at {:.2} of the skin's distance, limit {ASIDE})",
                    self.offset,
                    m.neck,
                    m.aside()
                ),
            );
        }
        let out = if below(offset, self.offset) {
            format!(
                "sticks out (border {:.2} of its size, centroid at {:.2} of the skin's distance)",
                m.neck,
                m.aside()
            )
        } else {
            format!("offset {offset:.2} >= {:.2}", self.offset)
        };
        if role == Role::Head {
            let up = (m.tip - collar.centre).dot(self.anatomy.stance.up);
            let aside = self.place(m.centroid).0 > EAR;
            let (kind, what) = match (up >= 0.0, aside) {
                (true, true) => (Kind::Ear, "upright, to one side"),
                (true, false) => (Kind::Hair, "upright, in the middle"),
                (false, _) => (Kind::Hair, "hanging"),
            };
            return leave(kind, format!("on the head ({joint}), {what}: left as it is"));
        }
        if matches!(role, Role::Leg | Role::Arm) {
            return leave(
                Kind::Body,
                format!("part of a limb, or held by it: it hangs from {joint} ({})", role.label()),
            );
        }
        if role == Role::Appendage {
            return leave(Kind::Body, format!("has bones of its own already: it hangs from {joint}"));
        }
        if below(elongation, self.elongation) {
            let treatment = if self.broad_rigid { Treatment::Rigid } else { Treatment::Unchanged };
            return finding(
                Kind::Broad,
                treatment,
                format!("broad: elongation {elongation:.2} < {:.2}", self.elongation),
            );
        }
        let slender = format!("elongation {elongation:.2} >= {:.2}, length {length:.2} H, {out}", self.elongation);
        let (side, front) = self.place(collar.centre);
        let worn = |why: String| {
            let treatment = if self.worn_rigid { Treatment::Rigid } else { Treatment::Unchanged };
            finding(Kind::Worn, treatment, format!("worn: {why}; {slender}"))
        };
        match role {
            Role::Pelvis | Role::Thigh if side > SIDE => {
                worn(format!("it starts {side:.2} H to the side of the pelvis ({joint}), more than {SIDE} H"))
            }
            Role::Pelvis | Role::Thigh if front > FRONT => {
                worn(format!("it starts {front:.2} H in front of the hips ({joint}), more than {FRONT} H"))
            }
            Role::Pelvis | Role::Thigh => {
                finding(Kind::Tail, Treatment::Chain, format!("tail: hangs from the pelvis ({joint}); {slender}"))
            }
            _ if side > SIDE => leave(Kind::Wing, format!("wing: from the spine ({joint}) to one side; {slender}")),
            _ => worn(format!("it hangs from the spine ({joint})")),
        }
    }

    /// How far a point is to the side of the body's middle and in front of its hips, in heights.
    fn place(&self, p: glam::Vec3) -> (f32, f32) {
        let at = |joint: u16| self.body.skeleton.position(usize::from(joint));
        let (mut hips, mut count) = (glam::Vec3::ZERO, 0.0);
        let mut thighs: Vec<u16> = self.anatomy.joints(Role::Thigh).collect();
        if thighs.is_empty() {
            thighs = self.anatomy.joints(Role::Pelvis).collect();
        }
        for joint in thighs {
            (hips, count) = (hips + at(joint), count + 1.0);
        }
        let hips = if count > 0.0 { hips / count } else { p };
        let height = self.anatomy.stance.height;
        let side = match &self.anatomy.mirror {
            Some(mirror) => mirror.off(p).abs(),
            None => (p - hips).dot(self.anatomy.left()).abs(),
        };
        (side / height, (p - hips).dot(self.anatomy.stance.forward) / height)
    }
}

/// `Tail`, or `Tail2`, `Tail3` … where there are several, in order of number.
fn name_tails(regions: &mut [Region]) {
    let mut count = 0;
    for region in regions.iter_mut().filter(|region| region.finding.treatment == Treatment::Chain) {
        count += 1;
        region.finding.name = if count == 1 { "Tail".into() } else { format!("Tail{count}").into() };
    }
}

/// The report: a row per region (A8).
pub fn report(regions: &Regions) -> Table {
    let body = &regions.body;
    let mut copies = vec![0i32; body.weld.first.len()];
    body.weld.welded.iter().for_each(|&w| copies[w as usize] += 1);
    let rows = || regions.regions.iter();
    let joint = |region: &Region| {
        region.collar.as_ref().map_or_else(String::new, |c| body.skeleton.joints[usize::from(c.joint)].name.to_string())
    };
    let per_height = if regions.stance.height > 0.0 { 1.0 / f64::from(regions.stance.height) } else { 0.0 };
    Table::new("appendages")
        .integers("region", rows().map(|r| r.number as i32))
        .texts("kind", rows().map(|r| kind_label(r.finding.kind)))
        .texts("joint", rows().map(joint))
        .integers("vertices", rows().map(|r| r.vertices.iter().map(|&v| copies[v as usize]).sum()))
        .numbers("extent", "heights", rows().map(|r| f64::from(r.finding.extent) * per_height))
        .numbers("elongation", "", rows().map(|r| f64::from(r.finding.elongation)))
        .numbers("offset", "", rows().map(|r| f64::from(r.finding.offset)))
        .texts("decision", rows().map(|r| treatment_label(r.finding.treatment)))
        .texts("reason", rows().map(|r| r.finding.reason.to_string()))
}

/// A kind's name for people.
pub fn kind_label(kind: Kind) -> &'static str {
    match kind {
        Kind::Unknown => "unknown",
        Kind::Body => "body",
        Kind::Tail => "tail",
        Kind::Worn => "worn",
        Kind::Ear => "ear",
        Kind::Hair => "hair",
        Kind::Wing => "wing",
        Kind::Broad => "broad",
        Kind::Small => "small",
    }
}

/// A treatment's name for people.
pub fn treatment_label(treatment: Treatment) -> &'static str {
    match treatment {
        Treatment::Unchanged => "unchanged",
        Treatment::Chain => "chain",
        Treatment::Rigid => "rigid",
    }
}
