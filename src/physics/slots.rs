//! Slots of the fields in the sweeps of the Navier-Stokes equations.

/// Fields read by sweeps.
pub(super) mod read {
    /// ρ.
    pub(in crate::physics) const RHO: usize = 0;
    /// ρE.
    pub(in crate::physics) const RHO_E: usize = 1;
    /// u; v and w follow.
    pub(in crate::physics) const U: usize = 2;
    /// p.
    pub(in crate::physics) const P: usize = 5;
    /// T.
    pub(in crate::physics) const T: usize = 6;
    /// μ(T).
    pub(in crate::physics) const MU: usize = 7;
    /// dμ/dT.
    pub(in crate::physics) const DMU_DT: usize = 8;
    /// ∂u/∂x; ∂uᵢ/∂xⱼ is at an offset of 3 i + j.
    pub(in crate::physics) const GRADIENT: usize = 9;
    /// Number of these fields.
    pub(in crate::physics) const COUNT: usize = GRADIENT + 9;
    /// dξ/dx of a stretched axis x, after all fields that sweeps read; then those of y and z, then −(dξ/dx)² d²x/dξ² of each.
    pub(in crate::physics) const METRIC: usize = COUNT;
    /// On curvilinear grids, in place of the metric of x and y: J ∂ξ/∂x and J ∂ξ/∂y, J ∂η/∂x and J ∂η/∂y.
    pub(in crate::physics) const AREAS: [[usize; 2]; 2] =
        [[METRIC, METRIC + 1], [METRIC + 3, METRIC + 4]];
    /// On curvilinear grids: 1/J.
    pub(in crate::physics) const PER_VOLUME: usize = METRIC + 5;
}

/// Fields written by fused sweeps: rates and gradients, then the state where they advance it.
pub(super) mod fused {
    /// The rates of the conserved variables.
    pub(in crate::physics) const RATE: usize = 0;
    /// ∂u/∂x if all gradients are stored, with ∂uᵢ/∂xⱼ at an offset of 3 i + j and ∂T/∂xⱼ after them. Otherwise the five fields below.
    pub(in crate::physics) const GRADIENT: usize = 5;
    /// With the axes a, b, c in the order of the sweeps: ∂u_a/∂x_b; after the first sweep ∂u_b/∂x_a.
    pub(in crate::physics) const FIRST_AND_MIDDLE: usize = 5;
    /// ∂u_a/∂x_c; after the first sweep ∂u_c/∂x_a.
    pub(in crate::physics) const FIRST_AND_LAST: usize = 6;
    /// ∂u_b/∂x_c; after the second sweep ∂u_c/∂x_b.
    pub(in crate::physics) const MIDDLE_AND_LAST: usize = 7;
    /// The divergence of the velocity without the part along a; after the first sweep without the part along b.
    pub(in crate::physics) const DIVERGENCE_MIDDLE: usize = 8;
    /// ∂u_c/∂x_c; after the first sweep the divergence without it.
    pub(in crate::physics) const DIVERGENCE_LAST: usize = 9;

    /// ∂T/∂x if all gradients are stored and those of T are needed; ∂T/∂y follows.
    pub(in crate::physics) const TEMPERATURE_GRADIENT: usize = GRADIENT + 9;

    /// The gradients held in fields.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(in crate::physics) enum Gradients {
        /// Velocity gradients that one sweep stores for the next, in shared fields.
        Shared,
        /// All velocity gradients, stored before the sweeps.
        Velocity,
        /// All gradients of the velocity, and of T in the plane, along the lines of a curvilinear grid, stored before the sweeps.
        Curvilinear,
    }

    impl Gradients {
        /// Number of fields.
        pub(in crate::physics) const fn count(self) -> usize {
            match self {
                Self::Shared => 5,
                Self::Velocity => 9,
                Self::Curvilinear => 11,
            }
        }

        /// Whether all of them are stored before the sweeps.
        pub(in crate::physics) fn are_precomputed(self) -> bool {
            self != Self::Shared
        }

        /// Slot of the first conserved variable, after the gradients.
        pub(in crate::physics) const fn state(self) -> usize {
            GRADIENT + self.count()
        }
    }
}

/// The conserved variables, in the order of the state.
pub(super) mod conserved {
    /// ρ.
    pub(in crate::physics) const MASS: usize = 0;
    /// ρu; ρv and ρw follow.
    pub(in crate::physics) const MOMENTUM: usize = 1;
    /// ρE.
    pub(in crate::physics) const ENERGY: usize = 4;
    /// Names in files.
    pub(in crate::physics) const NAMES: [&str; COUNT] =
        ["density", "momentum_x", "momentum_y", "momentum_z", "total_energy"];
    /// Number of conserved variables.
    pub(in crate::physics) const COUNT: usize = 5;
}

/// The fields of the flow, which are the first of the state.
pub(super) fn flow<F>(state: &[F]) -> [&F; conserved::COUNT] {
    exactly(state.iter().take(conserved::COUNT))
}

/// The items of an iterator with known length.
pub(super) fn exactly<I, const N: usize>(mut items: impl Iterator<Item = I>) -> [I; N] {
    let array = std::array::from_fn(|at| {
        items.next().unwrap_or_else(|| unreachable!("{N} items expected, found {at}"))
    });
    assert!(items.next().is_none(), "{N} items expected, found more");
    array
}
