//! The coefficients of the Runge-Kutta methods.

use super::{Form, Tableau};

/// All tableaux.
pub static TABLEAUX: [&Tableau; 13] = [
    &RK4,
    &SSPRK3,
    &SSPRK43,
    &SSPRK54,
    &WILLIAMSON3,
    &WRAY3,
    &CK54,
    &KCL54,
    &KCL54_2R,
    &KCL43_2R,
    &BERLAND64,
    &HALE64,
    &BOGEY_BAILLY62,
];

/// Returns the tableau with the given name. Names end with the number of stages and the order, or with the order alone
/// where both are equal.
pub fn tableau(name: &str) -> Option<&'static Tableau> {
    TABLEAUX.iter().copied().find(|tableau| tableau.name == name)
}

/// The classic method (Kutta 1901).
#[rustfmt::skip]
pub static RK4: Tableau = Tableau {
    name: "rk4", order: 4,
    form: Form::Butcher {
        a: &[&[], &[1.0 / 2.0], &[0.0, 1.0 / 2.0], &[0.0, 0.0, 1.0]],
        b: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    },
    source: "Kutta 1901",
};

/// Strong stability preserving, SSP coefficient 1 (Shu and Osher 1988, J. Comput. Phys. 77, 439, eq. 2.18).
#[rustfmt::skip]
pub static SSPRK3: Tableau = Tableau {
    name: "ssprk3", order: 3,
    form: Form::Butcher {
        a: &[&[], &[1.0], &[1.0 / 4.0, 1.0 / 4.0]],
        b: &[1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0],
    },
    source: "Shu and Osher 1988",
};

/// Strong stability preserving, four stages of third order, SSP coefficient 2 (Spiteri and Ruuth 2002, SIAM J. Numer.
/// Anal. 40, 469).
#[rustfmt::skip]
pub static SSPRK43: Tableau = Tableau {
    name: "ssprk43", order: 3,
    form: Form::Butcher {
        a: &[&[], &[1.0 / 2.0], &[1.0 / 2.0, 1.0 / 2.0], &[1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]],
        b: &[1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 2.0],
    },
    source: "Spiteri and Ruuth 2002",
};

/// Strong stability preserving, five stages of fourth order, SSP coefficient 1.508 (Spiteri and Ruuth 2002, SIAM J.
/// Numer. Anal. 40, 469). Its 14 decimals satisfy the order conditions to 1e-10.
#[rustfmt::skip]
pub static SSPRK54: Tableau = Tableau {
    name: "ssprk54", order: 4,
    form: Form::Butcher { a: &SSPRK54_A, b: &SSPRK54_B },
    source: "Spiteri and Ruuth 2002",
};

// Published as convex sums of Euler steps, with kₛ = dt times the right-hand side of uₛ; each P and Q is a published number:
//   u2 = u1 + Q21 k1
//   u3 = P31 u1 + P32 u2 + Q32 k2
//   u4 = P41 u1 + P43 u3 + Q43 k3
//   u5 = P51 u1 + P54 u4 + Q54 k4
//   new = P63 u3 + P64 u4 + Q64 k4 + P65 u5 + Q65 k5
const P32: f64 = 0.55562950593266;
const P43: f64 = 0.3798981486146;
const P54: f64 = 0.82192004589227;
const P63: f64 = 0.51723167208947;
const P64: f64 = 0.096059710526147;
const P65: f64 = 0.386708617503259;
const Q21: f64 = 0.39175222700392;
const Q32: f64 = 0.36841059262959;
const Q43: f64 = 0.25189177424738;
const Q54: f64 = 0.54497475021237;
const Q64: f64 = 0.06369246866629;
const Q65: f64 = 0.226007483236906;

#[rustfmt::skip]
static SSPRK54_A: [&[f64]; 5] = [
    &[],
    &[Q21],
    &[P32 * Q21, Q32],
    &[P43 * P32 * Q21, P43 * Q32, Q43],
    &[P54 * P43 * P32 * Q21, P54 * P43 * Q32, P54 * Q43, Q54],
];
#[rustfmt::skip]
static SSPRK54_B: [f64; 5] = [
    P63 * P32 * Q21 + P64 * P43 * P32 * Q21 + P65 * P54 * P43 * P32 * Q21,
    P63 * Q32 + P64 * P43 * Q32 + P65 * P54 * P43 * Q32,
    P64 * Q43 + P65 * P54 * Q43,
    Q64 + P65 * Q54,
    Q65,
];

/// Third order in 2N storage (Williamson 1980, J. Comput. Phys. 35, 48, case 7).
#[rustfmt::skip]
pub static WILLIAMSON3: Tableau = Tableau {
    name: "williamson3", order: 3,
    form: Form::LowStorage {
        a: &[0.0, -5.0 / 9.0, -153.0 / 128.0],
        b: &[1.0 / 3.0, 15.0 / 16.0, 8.0 / 15.0],
    },
    source: "Williamson 1980",
};

/// Wray's third-order method, the explicit part of Spalart, Moser and Rogers 1991 (J. Comput. Phys. 96, 297):
/// increments 8/15, (5/12, −17/60), (3/4, −5/12).
#[rustfmt::skip]
pub static WRAY3: Tableau = Tableau {
    name: "wray3", order: 3,
    form: Form::Butcher {
        a: &[&[], &[8.0 / 15.0], &[8.0 / 15.0 - 17.0 / 60.0, 5.0 / 12.0]],
        b: &[8.0 / 15.0 - 17.0 / 60.0, 0.0, 3.0 / 4.0],
    },
    source: "Wray 1986; Spalart, Moser and Rogers 1991",
};

/// Five stages, fourth order, 2N storage (Carpenter and Kennedy 1994, NASA TM 109112, solution 3).
#[rustfmt::skip]
pub static CK54: Tableau = Tableau {
    name: "ck54", order: 4,
    form: Form::LowStorage {
        a: &[
            0.0,
            -567_301_805_773.0 / 1_357_537_059_087.0,
            -2_404_267_990_393.0 / 2_016_746_695_238.0,
            -3_550_918_686_646.0 / 2_091_501_179_385.0,
            -1_275_806_237_668.0 / 842_570_457_699.0,
        ],
        b: &[
            1_432_997_174_477.0 / 9_575_080_441_755.0,
            5_161_836_677_717.0 / 13_612_068_292_357.0,
            1_720_146_321_549.0 / 2_090_206_949_498.0,
            3_134_564_353_537.0 / 4_481_467_310_338.0,
            2_277_821_191_437.0 / 14_882_151_754_819.0,
        ],
    },
    source: "Carpenter and Kennedy 1994",
};

/// RK4(3)5\[2N\], five stages, fourth order, 2N storage (Kennedy, Carpenter and Lewis 2000, Appl. Numer. Math. 35, 177), as
/// used in Miranda and pyranda.
#[rustfmt::skip]
pub static KCL54: Tableau = Tableau {
    name: "kcl54", order: 4,
    form: Form::LowStorage {
        a: &[
            0.0,
            -6_234_157_559_845.0 / 12_983_515_589_748.0,
            -6_194_124_222_391.0 / 4_410_992_767_914.0,
            -31_623_096_876_824.0 / 15_682_348_800_105.0,
            -12_251_185_447_671.0 / 11_596_622_555_746.0,
        ],
        b: &[
            494_393_426_753.0 / 4_806_282_396_855.0,
            4_047_970_641_027.0 / 5_463_924_506_627.0,
            9_795_748_752_853.0 / 13_190_207_949_281.0,
            4_009_051_133_189.0 / 8_539_092_990_294.0,
            1_348_533_437_543.0 / 7_166_442_652_324.0,
        ],
    },
    source: "Kennedy, Carpenter and Lewis 2000",
};

/// RK4(3)5\[2R+\]C, five stages, fourth order (Kennedy, Carpenter and Lewis 2000, Appl. Numer. Math. 35, 177): row s of
/// A equals b except for its last entry, so that two registers suffice.
#[rustfmt::skip]
pub static KCL54_2R: Tableau = Tableau {
    name: "kcl54-2r", order: 4,
    form: Form::Butcher {
        a: &[
            &[],
            &[970_286_171_893.0 / 4_311_952_581_923.0],
            &[KCL54_2R_B[0], 6_584_761_158_862.0 / 12_103_376_702_013.0],
            &[KCL54_2R_B[0], KCL54_2R_B[1], 2_251_764_453_980.0 / 15_575_788_980_749.0],
            &[KCL54_2R_B[0], KCL54_2R_B[1], KCL54_2R_B[2], 26_877_169_314_380.0 / 34_165_994_151_039.0],
        ],
        b: &KCL54_2R_B,
    },
    source: "Kennedy, Carpenter and Lewis 2000",
};

#[rustfmt::skip]
const KCL54_2R_B: [f64; 5] = [
    1_153_189_308_089.0 / 22_510_343_858_157.0,
    1_772_645_290_293.0 / 4_653_164_025_191.0,
    -1_672_844_663_538.0 / 4_480_602_732_383.0,
    2_114_624_349_019.0 / 3_568_978_502_595.0,
    5_198_255_086_312.0 / 14_908_931_495_163.0,
];

/// RK3(2)4\[2R+\]C, four stages, third order, fourth on linear problems (Kennedy, Carpenter and Lewis 2000, Appl. Numer.
/// Math. 35, 177).
#[rustfmt::skip]
pub static KCL43_2R: Tableau = Tableau {
    name: "kcl43-2r", order: 3,
    form: Form::Butcher {
        a: &[
            &[],
            &[11_847_461_282_814.0 / 36_547_543_011_857.0],
            &[KCL43_2R_B[0], 3_943_225_443_063.0 / 7_078_155_732_230.0],
            &[KCL43_2R_B[0], KCL43_2R_B[1], -346_793_006_927.0 / 4_029_903_576_067.0],
        ],
        b: &KCL43_2R_B,
    },
    source: "Kennedy, Carpenter and Lewis 2000",
};

#[rustfmt::skip]
const KCL43_2R_B: [f64; 4] = [
    1_017_324_711_453.0 / 9_774_461_848_756.0,
    8_237_718_856_693.0 / 13_685_301_971_492.0,
    57_731_312_506_979.0 / 19_404_895_981_398.0,
    -101_169_746_363_290.0 / 37_734_290_219_643.0,
];

/// RK46-NL: six stages, fourth order, 2N storage, low dissipation and dispersion (Berland, Bogey and Bailly 2006, Comput.
/// Fluids 35, 1459).
#[rustfmt::skip]
pub static BERLAND64: Tableau = Tableau {
    name: "berland64", order: 4,
    form: Form::LowStorage {
        a: &[0.0, -0.737101392796, -1.634740794341, -0.744739003780, -1.469897351522, -2.813971388035],
        b: &[0.032918605146, 0.823256998200, 0.381530948900, 0.200092213184, 1.718581042715, 0.27],
    },
    source: "Berland, Bogey and Bailly 2006",
};

/// HALE-RK6: six stages, fourth order, 2N storage, high accuracy and large imaginary limit (Allampalli, Hixon,
/// Nallasamy and Sawyer 2009, J. Comput. Phys. 228, 3837). It allows the largest stable convective step per stage of
/// all methods here.
#[rustfmt::skip]
pub static HALE64: Tableau = Tableau {
    name: "hale64", order: 4,
    form: Form::LowStorage {
        a: &[0.0, -0.691750960670, -1.727127405211, -0.694890150986, -1.039942756197, -1.531977447611],
        b: &[0.122, 0.477263056358, 0.381941220320, 0.447757195744, 0.498614246822, 0.186648570846],
    },
    source: "Allampalli, Hixon, Nallasamy and Sawyer 2009",
};

/// Six stages, optimised dispersion and dissipation, second order (Bogey and Bailly 2004, J. Comput. Phys. 194, 194):
/// every stage starts from the beginning of the step, with weights that are ratios of the γₖ of the stability
/// polynomial.
#[rustfmt::skip]
pub static BOGEY_BAILLY62: Tableau = Tableau {
    name: "bogey-bailly62", order: 2,
    form: Form::Butcher {
        a: &[
            &[],
            &[0.000891421261 / 0.007555704391],
            &[0.0, 0.007555704391 / 0.040919732041],
            &[0.0, 0.0, 0.040919732041 / 0.165919771368],
            &[0.0, 0.0, 0.0, 0.165919771368 / 0.5],
            &[0.0, 0.0, 0.0, 0.0, 0.5],
        ],
        b: &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    },
    source: "Bogey and Bailly 2004",
};
