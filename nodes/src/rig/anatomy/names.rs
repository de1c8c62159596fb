//! What joint names hint at. Rigs spell them in many ways (Mixamo, VRM, Unreal, Quaternius, KayKit, Mesh2Motion, Blender),
//! so a hint only breaks a tie that topology and position leave.

/// What a name hints at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// A leg, or a hind limb.
    pub hind: bool,
    /// An arm, or a fore limb.
    pub fore: bool,
    /// A wing, fin or other limb that nobody stands on.
    pub wing: bool,
    /// Hips or pelvis.
    pub pelvis: bool,
    /// Neck or head, or something on it.
    pub head: bool,
    /// A tail.
    pub tail: bool,
    /// +1 for left, -1 for right, 0 for neither.
    pub side: i8,
}

/// The words of a name, in lower case: split at punctuation, digits and capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphabetic() {
            words.push(String::new());
        } else {
            if c.is_uppercase() && before.is_lowercase() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Reads a joint's name.
pub fn hint(name: &str) -> Hint {
    let words = words(name);
    let whole = words.concat();
    let any = |list: &[&str]| list.iter().any(|part| whole.contains(part));
    let word = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let (front, back) = (word(&["front", "fore"]), word(&["back", "hind", "rear"]));
    let leg = any(&["leg", "thigh", "shin", "calf", "foot", "toe", "knee"]);
    let arm = any(&["arm", "hand", "shoulder", "clavicle", "collarbone", "finger", "elbow", "wrist"]);
    Hint {
        hind: back && (leg || arm) || leg && !front,
        fore: front && (leg || arm) || arm && !back && !leg,
        wing: (any(&["wing"]) || word(&["fin", "fins"])) && !arm,
        pelvis: any(&["hips", "pelvis"]) || word(&["hip"]) && !leg,
        head: any(&["head", "neck", "jaw", "skull"]),
        tail: any(&["tail"]),
        side: match (word(&["l", "left"]) || whole.contains("left"), word(&["r", "right"]) || whole.contains("right")) {
            (true, false) => 1,
            (false, true) => -1,
            _ => 0,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rigs_people_use_are_understood() {
        for hind in [
            "mixamorig:LeftUpLeg",
            "thigh_l",
            "J_Bip_L_UpperLeg",
            "UpperLeg.L",
            "upperleg.l",
            "Back_Leg_Upper_L",
            "BackShoulder.L",
            "b_LeftLeg01_015",
        ] {
            let hint = hint(hind);
            assert!(hint.hind && !hint.fore && hint.side == 1, "{hind}: {hint:?}");
        }
        for fore in [
            "mixamorig:RightForeArm",
            "upperarm_r",
            "clavicle_r",
            "J_Bip_R_Hand",
            "Front_Leg_Upper_R",
            "FrontShoulder.R",
        ] {
            let hint = hint(fore);
            assert!(hint.fore && !hint.hind && hint.side == -1, "{fore}: {hint:?}");
        }
        for pelvis in ["mixamorig:Hips", "pelvis", "J_Bip_C_Hips", "b_Hip_01", "hips"] {
            assert!(hint(pelvis).pelvis, "{pelvis}");
        }
        assert!(hint("Wing1.L").wing && !hint("Index1.L").wing && !hint("f_index.01.L").wing);
        assert!(hint("HeadTop_End").head && hint("neck_01").head && hint("Tail_Mid.001").tail);
        assert_eq!(hint("spine_01"), Hint::default());
    }
}
