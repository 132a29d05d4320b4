//! Runs that differ only in gas and flow parameters use the same kernels: a parameter study compiles them once.

use kolmo::backend::device::{Device, DeviceInfo, KernelRequest};

use super::nvrtc::run;
use super::runtime::gpu;

fn kernels(set: &'static [&'static str]) -> Vec<KernelRequest> {
    let info = DeviceInfo { memory: 80 << 30, largest_buffer: 80 << 30, ..gpu() };
    let (device, recording) = Device::recording(info, |_| 0);
    run("taylor-green", [64, 60, 63], set)(&device);
    recording.kernels()
}

#[test]
fn kernels_do_not_depend_on_reynolds_mach_prandtl_or_gamma() {
    let studies: [&[&'static [&'static str]]; 4] = [
        &[
            &["case.reynolds=1600", "case.mach=0.1"],
            &["case.reynolds=100", "case.mach=0.37", "gas.prandtl=0.7"],
            &["case.reynolds=1024", "case.mach=0.5", "gas.gamma=1.6666"],
        ],
        &[
            &["compute.precision=f32", "case.reynolds=1600", "case.mach=0.1"],
            &["compute.precision=f32", "case.reynolds=333", "case.mach=0.2"],
        ],
        &[
            &["compute.right_hand_side=composed", "gas.viscosity=power", "case.reynolds=1600"],
            &["compute.right_hand_side=composed", "gas.viscosity=power", "case.reynolds=80"],
        ],
        &[
            &["scheme.energy=split-enthalpy", "gas.viscosity=sutherland", "case.mach=0.3"],
            &["scheme.energy=split-enthalpy", "gas.viscosity=sutherland", "case.mach=1.1"],
        ],
    ];
    for study in studies {
        let first = kernels(study[0]);
        assert!(first.len() > 4, "{:?} requests {} kernels", study[0], first.len());
        for other in &study[1..] {
            for (one, two) in first.iter().zip(kernels(other)) {
                let mut lines = one.source.text.lines().zip(two.source.text.lines());
                let difference = lines.find(|(one, two)| one != two);
                assert_eq!(difference, None, "{}: {:?}, {other:?}", one.source.name, study[0]);
                assert_eq!(*one, two);
            }
        }
    }
}
