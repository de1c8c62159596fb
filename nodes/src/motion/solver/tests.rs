//! Closed forms, the checks that the source of the rules names (`tail-3d.md` F), and the three bugs that it confesses.

use std::f64::consts::{PI, TAU};

use super::*;

const STEP: f64 = 1.0 / 240.0;

/// The springs of the source for a character of 1.8 m.
fn springs() -> Springs {
    Springs {
        frequency: 0.9,
        tip: 0.5,
        damping: 0.65,
        gravity: DVec3::NEG_Y,
        coupling: 12.0,
        limit: PI / 6.0,
        teleport: 0.5,
    }
}

/// One spring alone: nothing but its pull.
fn bare() -> Springs {
    Springs { gravity: DVec3::ZERO, coupling: 0.0, limit: PI, ..springs() }
}

/// A straight chain of `count` links that points back and down, carried by 50 degrees in an arc.
fn tail(count: usize, length: f64) -> Shape {
    let down = DVec3::new(0.0, -0.9, -0.4).normalize();
    let rest = (0..count).map(|i| DQuat::from_rotation_x(50f64.to_radians() * (i + 1) as f64 / count as f64) * down);
    Shape { lengths: vec![length / count as f64; count], bind: vec![down; count], rest: rest.collect() }
}

/// A tail as an animal's is modelled: to one side, turned from joint to joint, its links of many lengths.
fn curled(count: usize) -> Shape {
    let direction = |i: usize| DVec3::new(0.3 + 0.1 * i as f64, -0.8 + 0.2 * i as f64, -0.5).normalize();
    Shape {
        lengths: (0..count).map(|i| 0.08 + 0.03 * (i % 3) as f64).collect(),
        bind: (0..count).map(direction).collect(),
        rest: (0..count).map(|i| (direction(i) + 0.4 * DVec3::NEG_Z).normalize()).collect(),
    }
}

fn at(x: f64, y: f64, z: f64) -> Frame {
    Frame { origin: DVec3::new(x, y, z), turn: DQuat::IDENTITY, scale: 1.0 }
}

fn solver(shape: &Shape, springs: Springs, frame: Frame) -> Solver {
    Solver::new(shape, springs, 8.0, STEP, frame)
}

fn run(solver: &mut Solver, steps: usize, world: &World<'_>, mut path: impl FnMut(f64) -> Frame) {
    for i in 1..=steps {
        solver.step(path(i as f64 * STEP), world).unwrap();
    }
}

/// Angle of a bend, radians.
fn angle(bend: DQuat) -> f64 {
    2.0 * bend.xyz().length().atan2(bend.w.abs())
}

fn bends(solver: &Solver) -> Vec<f64> {
    solver.bends().map(angle).collect()
}

/// How far the lengths of all links are from what they should be.
fn stretch(solver: &Solver, shape: &Shape) -> f64 {
    let heads = std::iter::once(solver.frame.origin).chain(solver.points());
    let ends = heads.zip(solver.points()).zip(&shape.lengths);
    ends.map(|((a, b), length)| (a.distance(b) - length * solver.frame.scale).abs()).fold(0.0, f64::max)
}

/// Half a metre to the side in two thirds of a second, and back: faster than any clip moves a hip.
fn fast_swing(side: f64) -> impl Fn(f64) -> Frame {
    move |t| at(side * 0.25 * (1.0 - (TAU * t / (4.0 / 3.0)).cos()), 1.0, 0.0)
}

#[test]
fn a_damped_spring_answers_a_step_as_the_closed_form_says() {
    let springs = bare();
    let shape = Shape { lengths: vec![1.0], bind: vec![DVec3::NEG_Y], rest: vec![DVec3::NEG_Y] };
    let seconds = 1e-5;
    let mut solver = Solver::new(&shape, springs, 8.0, seconds, at(0.0, 0.0, 0.0));
    let offset = 1e-4;
    let w = TAU * springs.frequency;
    let damped = w * (1.0 - springs.damping * springs.damping).sqrt();
    for i in 1..=100_000 {
        solver.step(at(offset, 0.0, 0.0), &World::default()).unwrap();
        let t = f64::from(i) * seconds;
        let left =
            (-springs.damping * w * t).exp() * ((damped * t).cos() + springs.damping * w / damped * (damped * t).sin());
        let found = solver.points().next().unwrap().x;
        assert!((found - offset * (1.0 - left)).abs() < 1e-4 * offset, "{t}: {found}");
    }
}

#[test]
fn a_chain_hangs_where_spring_and_gravity_are_even() {
    for count in 3..=8 {
        let shape = curled(count);
        let springs = Springs { gravity: DVec3::new(0.0, -4.0, 0.0), ..bare() };
        let mut solver = solver(&shape, springs, at(0.3, 1.0, -2.0));
        run(&mut solver, 40 * 240, &World::default(), |_| at(0.3, 1.0, -2.0));
        // w² (T - p) + g has no part across the link, so the link points along w² l r + g.
        let mut head = DVec3::new(0.3, 1.0, -2.0);
        let mut turn = DQuat::IDENTITY;
        let mut corrected = DQuat::IDENTITY;
        for (i, found) in solver.points().enumerate() {
            let share = i as f64 / (count - 1) as f64;
            let w = TAU * springs.frequency * (1.0 - 0.5 * share);
            let bind = corrected * shape.bind[i];
            let correction = swing(bind, shape.rest[i]);
            corrected = correction * corrected;
            let even = w * w * shape.lengths[i] * (turn * shape.rest[i]) + springs.gravity;
            let direction = even.normalize();
            head += direction * shape.lengths[i];
            assert!(found.distance(head) < 1e-9, "link {i} of {count}: {found} {head}");
            turn = turn * swing(bind, turn.conjugate() * direction) * correction.conjugate();
        }
        assert!(solver.angular_speed() < 1e-9);
    }
}

#[test]
fn contact_is_on_the_circle_of_the_floor_and_the_sphere() {
    let shape = tail(4, 0.8);
    let floor = Floor { up: DVec3::Y, level: 0.025 };
    let world = World { floor: Some(floor), ..World::default() };
    let mut solver = solver(&shape, Springs { gravity: 30.0 * DVec3::NEG_Y, ..springs() }, at(0.0, 0.3, 0.0));
    let mut touched = 0;
    for i in 0..2_000 {
        solver.step(at(0.0, 0.3 + 0.1 * (f64::from(i) * 0.02).sin(), 0.0), &world).unwrap();
        assert!(stretch(&solver, &shape) < 1e-12);
        for point in solver.points() {
            assert!(point.y >= floor.level - 1e-12, "{point}");
            touched += usize::from((point.y - floor.level).abs() < 1e-12);
        }
    }
    assert!(touched > 2_000, "{touched} contacts");
}

#[test]
fn left_and_right_answer_alike() {
    for count in 3..=8 {
        let shape = curled(count);
        let mirror = |v: &DVec3| DVec3::new(-v.x, v.y, v.z);
        let other = Shape {
            lengths: shape.lengths.clone(),
            bind: shape.bind.iter().map(mirror).collect(),
            rest: shape.rest.iter().map(mirror).collect(),
        };
        let world = World { floor: Some(Floor { up: DVec3::Y, level: 0.7 }), keep_behind: true, capsules: &[] };
        let mut left = solver(&shape, springs(), fast_swing(1.0)(0.0));
        let mut right = solver(&other, springs(), fast_swing(-1.0)(0.0));
        let turned = |side: f64, t: f64| Frame { turn: DQuat::from_rotation_y(side * t.sin()), ..fast_swing(side)(t) };
        for i in 1..=1_000 {
            let t = f64::from(i) * STEP;
            left.step(turned(1.0, t), &world).unwrap();
            right.step(turned(-1.0, t), &world).unwrap();
            for (a, b) in left.points().zip(right.points()) {
                assert!(mirror(&a).distance(b) < 1e-12, "{a} {b}");
            }
        }
    }
}

/// The largest bend of a fast hip swing, the largest angle between the bends of neighbours, and how far the tip travels.
fn swung(count: usize, springs: Springs, world: &World<'_>) -> (f64, f64, f64) {
    let shape = tail(count, 0.8);
    let mut solver = solver(&shape, springs, fast_swing(1.0)(0.0));
    let (mut most, mut apart, mut travel) = (0.0f64, 0.0f64, 0.0f64);
    let start = solver.points().last().unwrap() - solver.frame.origin;
    for i in 1..=1_440 {
        let frame = fast_swing(1.0)(f64::from(i) * STEP);
        solver.step(frame, world).unwrap();
        assert!(stretch(&solver, &shape) < 1e-12);
        let bends: Vec<DQuat> = solver.bends().collect();
        most = bends.iter().map(|bend| angle(*bend)).fold(most, f64::max);
        apart = bends.windows(2).map(|two| angle(two[0].conjugate() * two[1])).fold(apart, f64::max);
        travel = travel.max((solver.points().last().unwrap() - frame.origin).distance(start));
    }
    (most, apart, travel)
}

#[test]
fn a_fast_hip_swing_bends_neighbours_smoothly() {
    for count in 3..=8 {
        for world in [World::default(), World { keep_behind: true, ..World::default() }] {
            let (most, apart, travel) = swung(count, springs(), &world);
            assert!(most <= PI / 6.0 + 1e-9, "{count}: {} degrees", most.to_degrees());
            assert!(travel > 0.1, "{count}: the tip moved by {travel}");
            let (loose, alone, _) = swung(count, Springs { coupling: 0.0, limit: PI, ..springs() }, &world);
            assert!(
                loose > PI / 6.0 && apart < 0.7 * alone,
                "{count}: {} of {} degrees",
                apart.to_degrees(),
                alone.to_degrees()
            );
        }
    }
}

#[test]
fn a_chain_comes_back_to_rest_and_rest_is_rest() {
    for count in 3..=8 {
        for place in [DVec3::ZERO, DVec3::new(1_000.0, 5.0, -3_000.0)] {
            let shape = curled(count);
            let here = |frame: Frame| Frame { origin: frame.origin + place, ..frame };
            let mut solver = solver(&shape, Springs { gravity: DVec3::ZERO, ..springs() }, here(fast_swing(1.0)(0.0)));
            let rest: Vec<DVec3> = solver.points().map(|point| point - place).collect();
            run(&mut solver, 320, &World::default(), |t| here(fast_swing(1.0)(t)));
            run(&mut solver, 30 * 240, &World::default(), |_| here(fast_swing(1.0)(0.0)));
            assert!(solver.angular_speed() < 1e-4, "{count}: {}", solver.angular_speed());
            for (found, rest) in solver.points().zip(&rest) {
                assert!((found - place).distance(*rest) < 1e-6, "{count}: {found} {rest}");
            }
        }
        // With gravity it hangs lower, at last in its limits, and is as still.
        for gravity in [1.0, 4.0, 20.0, 100.0] {
            let springs = Springs { gravity: gravity * DVec3::NEG_Y, ..springs() };
            let mut heavy = solver(&curled(count), springs, at(0.0, 1.0, 0.0));
            run(&mut heavy, 20 * 240, &World::default(), |_| at(0.0, 1.0, 0.0));
            assert!(heavy.angular_speed() < 1e-4, "{count} under {gravity}: {}", heavy.angular_speed());
        }
    }
}

#[test]
fn a_crouch_lays_the_tail_on_the_ground_and_rising_lets_it_go() {
    for count in 3..=8 {
        let shape = tail(count, 0.8);
        for ground in [0.0, 0.35] {
            let world =
                World { floor: Some(Floor { up: DVec3::Y, level: ground + 0.025 }), keep_behind: true, capsules: &[] };
            let heavy = Springs { gravity: 6.0 * DVec3::NEG_Y, ..springs() };
            let path = |t: f64| at(0.0, ground + 0.9 - 0.7 * (t.clamp(0.0, 1.0) - (t - 6.0).clamp(0.0, 1.0)), 0.0);
            let mut solver = solver(&shape, heavy, path(0.0));
            let lowest = |solver: &Solver| solver.points().map(|point| point.y).fold(f64::INFINITY, f64::min);
            for i in 1..=14 * 240 {
                let frame = path(f64::from(i) * STEP);
                solver.step(frame, &world).unwrap();
                assert!(lowest(&solver) >= ground + 0.025 - 1e-9);
                assert_eq!(solver.frame, frame, "contact never moves the body");
                if i == 6 * 240 {
                    assert!(lowest(&solver) < ground + 0.025 + 1e-9, "{count} on {ground}: it does not lie");
                    assert!(solver.angular_speed() < 1e-4, "{count} on {ground}: it does not settle");
                }
            }
            assert!(lowest(&solver) > ground + 0.05, "{count} on {ground}: it stays down");
            assert!(bends(&solver).iter().all(|bend| *bend <= PI / 6.0 + 1e-9));
        }
    }
}

#[test]
fn a_head_below_the_ground_points_straight_up_and_stretches_nothing() {
    let shape = tail(4, 0.8);
    let world = World { floor: Some(Floor { up: DVec3::Y, level: 0.025 }), ..World::default() };
    let mut solver = solver(&shape, springs(), at(0.0, -0.4, 0.0));
    run(&mut solver, 480, &world, |_| at(0.0, -0.4, 0.0));
    let points: Vec<DVec3> = solver.points().collect();
    assert!(points[0].distance(DVec3::new(0.0, -0.2, 0.0)) < 1e-12, "{}", points[0]);
    assert!(stretch(&solver, &shape) < 1e-12);
}

#[test]
fn nothing_passes_the_plane_that_faces_forward() {
    for count in 3..=8 {
        let shape = tail(count, 0.8);
        let world = World { floor: Some(Floor { up: DVec3::Y, level: 0.1 }), keep_behind: true, capsules: &[] };
        let path = |t: f64| Frame {
            origin: DVec3::new(0.0, 0.7 + 0.3 * (3.0 * t).sin(), -0.4 * (5.0 * t).sin()),
            turn: DQuat::from_rotation_y(0.8 * (2.0 * t).sin()),
            scale: 1.0,
        };
        let mut solver = solver(&shape, springs(), path(0.0));
        for i in 1..=2_400 {
            let frame = path(f64::from(i) * STEP);
            solver.step(frame, &world).unwrap();
            for point in solver.points() {
                let ahead = (point - frame.origin).dot(frame.turn * DVec3::Z);
                assert!(ahead <= 1e-9, "{count}: {ahead} ahead");
                assert!(point.y >= 0.1 - 1e-9);
            }
        }
    }
}

#[test]
fn a_limb_that_swings_through_the_tail_pushes_it_aside() {
    let shape = tail(6, 0.8);
    let mut solver = solver(&shape, springs(), at(0.0, 1.0, 0.0));
    let leg = |t: f64| {
        let foot = DVec3::new(0.05, 0.1, -0.7 * (2.0 * t).sin());
        Capsule { ends: [DVec3::new(0.05, 0.9, 0.1), foot], radius: 0.08 }
    };
    solver.fit(&[leg(0.0)]);
    let mut pushed = false;
    for i in 1..=1_920 {
        let capsule = leg(f64::from(i) * STEP);
        let before: Vec<DVec3> = solver.points().collect();
        solver.step(at(0.0, 1.0, 0.0), &World { capsules: &[capsule], ..World::default() }).unwrap();
        assert!(stretch(&solver, &shape) < 1e-12);
        for (link, point) in solver.points().enumerate().skip(1) {
            let distance = capsule.nearest(point).distance(point);
            assert!(distance > 0.08 - 2e-3, "step {i}: link {link} is {distance} from the axis");
            pushed |= distance < 0.0801 && before[link].distance(point) > 1e-5;
        }
    }
    assert!(pushed, "the leg never touched");
}

#[test]
fn a_teleport_carries_the_chain_along() {
    let shape = curled(5);
    let mut solver = solver(&shape, springs(), at(0.0, 1.0, 0.0));
    run(&mut solver, 100, &World::default(), fast_swing(1.0));
    let before = solver.clone();
    let jump = DVec3::new(30.0, -4.0, 12.0);
    let frame = Frame { origin: before.frame.origin + jump, ..before.frame };
    let mut stayed = before.clone();
    stayed.step(before.frame, &World::default()).unwrap();
    solver.step(frame, &World::default()).unwrap();
    for (a, b) in solver.points().zip(stayed.points()) {
        assert!((a - jump).distance(b) < 1e-12);
    }
}

#[test]
fn a_scaled_character_moves_at_the_same_angles() {
    let shape = curled(5);
    let mut plain = solver(&shape, springs(), at(0.0, 1.0, 0.0));
    // Ten times as large in the world, in which gravity and reach are ten times as large too.
    let large = Springs { gravity: 10.0 * springs().gravity, teleport: 5.0, ..springs() };
    let scaled = |frame: Frame| Frame { origin: 10.0 * frame.origin, scale: 10.0, ..frame };
    let mut other = solver(&shape, large, scaled(at(0.0, 1.0, 0.0)));
    for i in 1..=1_000 {
        let frame = fast_swing(1.0)(f64::from(i) * STEP);
        plain.step(frame, &World::default()).unwrap();
        other.step(scaled(frame), &World::default()).unwrap();
    }
    for (a, b) in plain.points().zip(other.points()) {
        assert!((10.0 * a).distance(b) < 1e-10);
    }
}

#[test]
fn a_chain_in_the_plane_stays_in_it() {
    let direction = |i: usize| DVec3::new((1.0 + 0.2 * i as f64).sin(), -(1.0 + 0.2 * i as f64).cos(), 0.0);
    let directions: Vec<DVec3> = (0..6).map(direction).collect();
    let shape = Shape { lengths: vec![10.0; 6], bind: directions.clone(), rest: directions };
    let flat = Springs { gravity: 100.0 * DVec3::NEG_Y, teleport: 1e3, ..springs() };
    let path = |t: f64| Frame {
        origin: DVec3::new(40.0 * (7.0 * t).sin(), 0.0, 0.0),
        turn: DQuat::from_rotation_z((3.0 * t).sin()),
        scale: 1.0,
    };
    let mut solver = solver(&shape, flat, path(0.0));
    let world = World { floor: Some(Floor { up: DVec3::Y, level: -35.0 }), ..World::default() };
    run(&mut solver, 2_000, &world, path);
    assert!(solver.points().all(|point| point.z == 0.0));
}

#[test]
fn numbers_that_are_none_are_refused_and_change_nothing() {
    let mut solver = solver(&curled(4), springs(), at(0.0, 1.0, 0.0));
    run(&mut solver, 50, &World::default(), fast_swing(1.0));
    let before = solver.state();
    let bad = [
        at(f64::NAN, 0.0, 0.0),
        at(0.0, f64::INFINITY, 0.0),
        Frame { scale: 0.0, ..at(0.0, 0.0, 0.0) },
        Frame { scale: -1.0, ..at(0.0, 0.0, 0.0) },
        Frame { turn: DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0), ..at(0.0, 0.0, 0.0) },
    ];
    for frame in bad {
        assert_eq!(solver.step(frame, &World::default()), Err(StepError::Frame));
        assert_eq!(solver.state(), before);
    }
}

#[test]
fn a_step_of_no_time_moves_nothing() {
    let shape = curled(4);
    let mut still = Solver::new(&shape, springs(), 8.0, 0.0, at(0.0, 1.0, 0.0));
    let before: Vec<DVec3> = still.points().collect();
    for _ in 0..10 {
        still.step(at(0.0, 1.0, 0.0), &World::default()).unwrap();
    }
    for (a, b) in still.points().zip(before) {
        assert!(a.distance(b) < 1e-12);
    }
    assert_eq!(still.angular_speed(), 0.0);
}

#[test]
fn links_without_length_and_chains_of_one_or_no_link_are_answered() {
    let shape = Shape { lengths: vec![0.2, 0.0, 0.2], bind: vec![DVec3::NEG_Z; 3], rest: vec![DVec3::NEG_Z; 3] };
    let mut solver_ = solver(&shape, springs(), at(0.0, 1.0, 0.0));
    run(&mut solver_, 500, &World::default(), fast_swing(1.0));
    let points: Vec<DVec3> = solver_.points().collect();
    assert_eq!(points[0], points[1]);
    assert!(stretch(&solver_, &shape) < 1e-12);

    let mut one = solver(&tail(1, 0.4), springs(), at(0.0, 1.0, 0.0));
    run(&mut one, 500, &World::default(), fast_swing(1.0));
    assert!(one.points().all(DVec3::is_finite));

    let mut none = solver(&tail(0, 0.0), springs(), at(0.0, 1.0, 0.0));
    run(&mut none, 5, &World::default(), fast_swing(1.0));
    assert!(none.is_empty());
}

/// The first confessed bug: a share per frame is a spring of 3.4 Hz at 60 frames per second.
#[test]
fn stiffness_is_in_hertz_whatever_the_step() {
    // The time to the first peak of a spring almost undamped is half a period.
    let shape = Shape { lengths: vec![1.0], bind: vec![DVec3::NEG_Y], rest: vec![DVec3::NEG_Y] };
    let loose = Springs { damping: 0.01, ..bare() };
    for rate in [120.0, 240.0, 1_000.0] {
        let mut solver = Solver::new(&shape, loose, 8.0, 1.0 / rate, at(0.0, 0.0, 0.0));
        let (mut best, mut when) = (0.0, 0.0);
        for i in 1..=rate as usize {
            solver.step(at(0.01, 0.0, 0.0), &World::default()).unwrap();
            let x = solver.points().next().unwrap().x;
            if x > best {
                (best, when) = (x, i as f64 / rate);
            }
        }
        let hertz = 0.5 / when;
        assert!((hertz - 0.9).abs() < 0.02, "{rate} steps per second: {hertz} Hz");
    }
}

/// The second: the rope's correction, fed back over dt, turns one bone by 95 degrees and its neighbour by 3.
#[test]
fn the_rope_adds_no_speed() {
    // Without springs and gravity a link keeps the part of its speed that is across it: a pull along it adds nothing.
    let free = Springs { frequency: 0.0, ..bare() };
    let shape = Shape { lengths: vec![1.0], bind: vec![DVec3::NEG_Y], rest: vec![DVec3::NEG_Y] };
    let mut solver = solver(&shape, free, at(0.0, 0.0, 0.0));
    for i in 1..=100 {
        // Upwards, along the link, ever faster.
        solver.step(at(0.0, 1e-5 * f64::from(i * i), 0.0), &World::default()).unwrap();
        assert!(solver.velocities().all(|v| v.length() < 1e-12));
    }
    for count in 3..=8 {
        let mut swung =
            self::solver(&tail(count, 0.8), Springs { limit: PI, coupling: 0.0, ..springs() }, fast_swing(1.0)(0.0));
        for i in 1..=960 {
            let t = f64::from(i) * STEP;
            swung.step(fast_swing(1.0)(t), &World::default()).unwrap();
            // Hips go at 1.18 m/s at most; a tip is no whip.
            let fastest = swung.velocities().map(DVec3::length).fold(0.0, f64::max);
            assert!(fastest < 2.5, "{count} at {t}: {fastest} m/s");
        }
    }
}

/// The third: a carry applied in each joint's own frame lifts a tail of four links four times.
#[test]
fn the_carry_is_that_of_the_whole_tail() {
    for count in 3..=8 {
        let shape = tail(count, 0.8);
        let mut solver = solver(&shape, Springs { gravity: DVec3::ZERO, ..springs() }, at(0.0, 1.0, 0.0));
        run(&mut solver, 240, &World::default(), |_| at(0.0, 1.0, 0.0));
        let points: Vec<DVec3> = solver.points().collect();
        let last = (points[count - 1] - points[count - 2]).normalize();
        let lift = last.angle_between(shape.bind[count - 1]).to_degrees();
        assert!((lift - 50.0).abs() < 1e-6, "{count} links: {lift} degrees");
    }
}

#[test]
fn a_state_restored_goes_on_to_the_same_bits() {
    let world = World { floor: Some(Floor { up: DVec3::Y, level: 0.7 }), keep_behind: true, capsules: &[] };
    let mut solver = solver(&curled(6), springs(), fast_swing(1.0)(0.0));
    run(&mut solver, 100, &world, fast_swing(1.0));
    let state = solver.state();
    run(&mut solver, 100, &world, fast_swing(1.0));
    let first = solver.state();
    solver.restore(&state);
    run(&mut solver, 100, &world, fast_swing(1.0));
    assert_eq!(solver.state(), first);
}
