//! Names of the instructions that exist at several widths, in both encodings.

use super::lir::Width;
use iced_x86::Code;

/// An instruction on 32-bit and on 64-bit lanes, each as EVEX zmm, EVEX ymm, VEX ymm, VEX xmm; `INVALID` where there is none.
#[derive(Clone, Copy)]
pub(super) struct Codes {
    d: [Code; 4],
    q: [Code; 4],
}

impl Codes {
    /// The EVEX form for lanes of so many bits.
    pub(super) fn evex(&self, bits: u32, width: Width) -> Code {
        let row = if bits == 64 { &self.q } else { &self.d };
        checked(row[if width == Width::V512 { 0 } else { 1 }])
    }

    /// The VEX form for lanes of so many bits.
    pub(super) fn vex(&self, bits: u32, width: Width) -> Code {
        let row = if bits == 64 { &self.q } else { &self.d };
        checked(row[if width == Width::V256 { 2 } else { 3 }])
    }
}

fn checked(code: Code) -> Code {
    assert!(code != Code::INVALID, "no such form of the instruction");
    code
}

/// `vaddps`, `vaddpd`.
pub(super) const ADD: Codes = Codes {
    d: [
        Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vaddps_ymm_ymm_ymmm256,
        Code::VEX_Vaddps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vaddpd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vaddpd_ymm_ymm_ymmm256,
        Code::VEX_Vaddpd_xmm_xmm_xmmm128,
    ],
};
/// `vsubps`, `vsubpd`.
pub(super) const SUB: Codes = Codes {
    d: [
        Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vsubps_ymm_ymm_ymmm256,
        Code::VEX_Vsubps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vsubpd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vsubpd_ymm_ymm_ymmm256,
        Code::VEX_Vsubpd_xmm_xmm_xmmm128,
    ],
};
/// `vmulps`, `vmulpd`.
pub(super) const MUL: Codes = Codes {
    d: [
        Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vmulps_ymm_ymm_ymmm256,
        Code::VEX_Vmulps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vmulpd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vmulpd_ymm_ymm_ymmm256,
        Code::VEX_Vmulpd_xmm_xmm_xmmm128,
    ],
};
/// `vdivps`, `vdivpd`.
pub(super) const DIV: Codes = Codes {
    d: [
        Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vdivps_ymm_ymm_ymmm256,
        Code::VEX_Vdivps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vdivpd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vdivpd_ymm_ymm_ymmm256,
        Code::VEX_Vdivpd_xmm_xmm_xmmm128,
    ],
};
/// `vminps`, `vminpd`.
pub(super) const MIN: Codes = Codes {
    d: [
        Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
        Code::EVEX_Vminps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vminps_ymm_ymm_ymmm256,
        Code::VEX_Vminps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
        Code::EVEX_Vminpd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vminpd_ymm_ymm_ymmm256,
        Code::VEX_Vminpd_xmm_xmm_xmmm128,
    ],
};
/// `vmaxps`, `vmaxpd`.
pub(super) const MAX: Codes = Codes {
    d: [
        Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
        Code::EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vmaxps_ymm_ymm_ymmm256,
        Code::VEX_Vmaxps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
        Code::EVEX_Vmaxpd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vmaxpd_ymm_ymm_ymmm256,
        Code::VEX_Vmaxpd_xmm_xmm_xmmm128,
    ],
};
/// `vsqrtps`, `vsqrtpd`.
pub(super) const SQRT: Codes = Codes {
    d: [
        Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
        Code::EVEX_Vsqrtps_ymm_k1z_ymmm256b32,
        Code::VEX_Vsqrtps_ymm_ymmm256,
        Code::VEX_Vsqrtps_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
        Code::EVEX_Vsqrtpd_ymm_k1z_ymmm256b64,
        Code::VEX_Vsqrtpd_ymm_ymmm256,
        Code::VEX_Vsqrtpd_xmm_xmmm128,
    ],
};
/// `vrangeps`, `vrangepd`.
pub(super) const RANGE: Codes = Codes {
    d: [
        Code::EVEX_Vrangeps_zmm_k1z_zmm_zmmm512b32_imm8_sae,
        Code::EVEX_Vrangeps_ymm_k1z_ymm_ymmm256b32_imm8,
        Code::INVALID,
        Code::INVALID,
    ],
    q: [
        Code::EVEX_Vrangepd_zmm_k1z_zmm_zmmm512b64_imm8_sae,
        Code::EVEX_Vrangepd_ymm_k1z_ymm_ymmm256b64_imm8,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vscalefps`, `vscalefpd`.
pub(super) const SCALEF: Codes = Codes {
    d: [
        Code::EVEX_Vscalefps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vscalefps_ymm_k1z_ymm_ymmm256b32,
        Code::INVALID,
        Code::INVALID,
    ],
    q: [
        Code::EVEX_Vscalefpd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vscalefpd_ymm_k1z_ymm_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vcmpps`, `vcmppd`.
pub(super) const CMP: Codes = Codes {
    d: [
        Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
        Code::EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8,
        Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
        Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8,
    ],
    q: [
        Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
        Code::EVEX_Vcmppd_kr_k1_ymm_ymmm256b64_imm8,
        Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
        Code::VEX_Vcmppd_xmm_xmm_xmmm128_imm8,
    ],
};
/// `vpaddd`, `vpaddq`.
pub(super) const PADD: Codes = Codes {
    d: [
        Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpaddd_ymm_ymm_ymmm256,
        Code::VEX_Vpaddd_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpaddq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpaddq_ymm_ymm_ymmm256,
        Code::VEX_Vpaddq_xmm_xmm_xmmm128,
    ],
};
/// `vpsubd`, `vpsubq`.
pub(super) const PSUB: Codes = Codes {
    d: [
        Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpsubd_ymm_ymm_ymmm256,
        Code::VEX_Vpsubd_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpsubq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpsubq_ymm_ymm_ymmm256,
        Code::VEX_Vpsubq_xmm_xmm_xmmm128,
    ],
};
/// `vpmulld`, `vpmullq`.
pub(super) const PMULL: Codes = Codes {
    d: [
        Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpmulld_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpmulld_ymm_ymm_ymmm256,
        Code::VEX_Vpmulld_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpmullq_ymm_k1z_ymm_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpminsd`, `vpminsq`.
pub(super) const PMINS: Codes = Codes {
    d: [
        Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpminsd_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpminsd_ymm_ymm_ymmm256,
        Code::VEX_Vpminsd_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpminsq_ymm_k1z_ymm_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpmaxsd`, `vpmaxsq`.
pub(super) const PMAXS: Codes = Codes {
    d: [
        Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpmaxsd_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpmaxsd_ymm_ymm_ymmm256,
        Code::VEX_Vpmaxsd_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpmaxsq_ymm_k1z_ymm_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpminud`, `vpminuq`.
pub(super) const PMINU: Codes = Codes {
    d: [
        Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpminud_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpminud_ymm_ymm_ymmm256,
        Code::VEX_Vpminud_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpminuq_ymm_k1z_ymm_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpmaxud`, `vpmaxuq`.
pub(super) const PMAXU: Codes = Codes {
    d: [
        Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpmaxud_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpmaxud_ymm_ymm_ymmm256,
        Code::VEX_Vpmaxud_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpmaxuq_ymm_k1z_ymm_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpabsd`, `vpabsq`.
pub(super) const PABS: Codes = Codes {
    d: [
        Code::EVEX_Vpabsd_zmm_k1z_zmmm512b32,
        Code::EVEX_Vpabsd_ymm_k1z_ymmm256b32,
        Code::VEX_Vpabsd_ymm_ymmm256,
        Code::VEX_Vpabsd_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpabsq_zmm_k1z_zmmm512b64,
        Code::EVEX_Vpabsq_ymm_k1z_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vplzcntd`, `vplzcntq`.
pub(super) const PLZCNT: Codes = Codes {
    d: [
        Code::EVEX_Vplzcntd_zmm_k1z_zmmm512b32,
        Code::EVEX_Vplzcntd_ymm_k1z_ymmm256b32,
        Code::INVALID,
        Code::INVALID,
    ],
    q: [
        Code::EVEX_Vplzcntq_zmm_k1z_zmmm512b64,
        Code::EVEX_Vplzcntq_ymm_k1z_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpopcntd`, `vpopcntq`.
pub(super) const POPCNT: Codes = Codes {
    d: [
        Code::EVEX_Vpopcntd_zmm_k1z_zmmm512b32,
        Code::EVEX_Vpopcntd_ymm_k1z_ymmm256b32,
        Code::INVALID,
        Code::INVALID,
    ],
    q: [
        Code::EVEX_Vpopcntq_zmm_k1z_zmmm512b64,
        Code::EVEX_Vpopcntq_ymm_k1z_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpandd`, `vpandq`.
pub(super) const PAND: Codes = Codes {
    d: [
        Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpand_ymm_ymm_ymmm256,
        Code::VEX_Vpand_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpandq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpand_ymm_ymm_ymmm256,
        Code::VEX_Vpand_xmm_xmm_xmmm128,
    ],
};
/// `vpord`, `vporq`.
pub(super) const POR: Codes = Codes {
    d: [
        Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpord_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpor_ymm_ymm_ymmm256,
        Code::VEX_Vpor_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vporq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpor_ymm_ymm_ymmm256,
        Code::VEX_Vpor_xmm_xmm_xmmm128,
    ],
};
/// `vpxord`, `vpxorq`.
pub(super) const PXOR: Codes = Codes {
    d: [
        Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpxor_ymm_ymm_ymmm256,
        Code::VEX_Vpxor_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpxorq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpxor_ymm_ymm_ymmm256,
        Code::VEX_Vpxor_xmm_xmm_xmmm128,
    ],
};
/// `vpslld`, `vpsllq`.
pub(super) const PSLL_IMM: Codes = Codes {
    d: [
        Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8,
        Code::EVEX_Vpslld_ymm_k1z_ymmm256b32_imm8,
        Code::VEX_Vpslld_ymm_ymm_imm8,
        Code::VEX_Vpslld_xmm_xmm_imm8,
    ],
    q: [
        Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8,
        Code::EVEX_Vpsllq_ymm_k1z_ymmm256b64_imm8,
        Code::VEX_Vpsllq_ymm_ymm_imm8,
        Code::VEX_Vpsllq_xmm_xmm_imm8,
    ],
};
/// `vpsrld`, `vpsrlq`.
pub(super) const PSRL_IMM: Codes = Codes {
    d: [
        Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8,
        Code::EVEX_Vpsrld_ymm_k1z_ymmm256b32_imm8,
        Code::VEX_Vpsrld_ymm_ymm_imm8,
        Code::VEX_Vpsrld_xmm_xmm_imm8,
    ],
    q: [
        Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8,
        Code::EVEX_Vpsrlq_ymm_k1z_ymmm256b64_imm8,
        Code::VEX_Vpsrlq_ymm_ymm_imm8,
        Code::VEX_Vpsrlq_xmm_xmm_imm8,
    ],
};
/// `vpsrad`, `vpsraq`.
pub(super) const PSRA_IMM: Codes = Codes {
    d: [
        Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8,
        Code::EVEX_Vpsrad_ymm_k1z_ymmm256b32_imm8,
        Code::VEX_Vpsrad_ymm_ymm_imm8,
        Code::VEX_Vpsrad_xmm_xmm_imm8,
    ],
    q: [
        Code::EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8,
        Code::EVEX_Vpsraq_ymm_k1z_ymmm256b64_imm8,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpsllvd`, `vpsllvq`.
pub(super) const PSLLV: Codes = Codes {
    d: [
        Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpsllvd_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpsllvd_ymm_ymm_ymmm256,
        Code::VEX_Vpsllvd_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpsllvq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpsllvq_ymm_ymm_ymmm256,
        Code::VEX_Vpsllvq_xmm_xmm_xmmm128,
    ],
};
/// `vpsrlvd`, `vpsrlvq`.
pub(super) const PSRLV: Codes = Codes {
    d: [
        Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpsrlvd_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpsrlvd_ymm_ymm_ymmm256,
        Code::VEX_Vpsrlvd_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpsrlvq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpsrlvq_ymm_ymm_ymmm256,
        Code::VEX_Vpsrlvq_xmm_xmm_xmmm128,
    ],
};
/// `vpsravd`, `vpsravq`.
pub(super) const PSRAV: Codes = Codes {
    d: [
        Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpsravd_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vpsravd_ymm_ymm_ymmm256,
        Code::VEX_Vpsravd_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpsravq_ymm_k1z_ymm_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpcmpd`, `vpcmpq`.
pub(super) const PCMP: Codes = Codes {
    d: [
        Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
        Code::EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8,
        Code::INVALID,
        Code::INVALID,
    ],
    q: [
        Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
        Code::EVEX_Vpcmpq_kr_k1_ymm_ymmm256b64_imm8,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpcmpud`, `vpcmpuq`.
pub(super) const PCMPU: Codes = Codes {
    d: [
        Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
        Code::EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8,
        Code::INVALID,
        Code::INVALID,
    ],
    q: [
        Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
        Code::EVEX_Vpcmpuq_kr_k1_ymm_ymmm256b64_imm8,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vpcmpeqd`, `vpcmpeqq`.
pub(super) const PCMPEQ: Codes = Codes {
    d: [
        Code::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32,
        Code::EVEX_Vpcmpeqd_kr_k1_ymm_ymmm256b32,
        Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpcmpeqq_kr_k1_zmm_zmmm512b64,
        Code::EVEX_Vpcmpeqq_kr_k1_ymm_ymmm256b64,
        Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpeqq_xmm_xmm_xmmm128,
    ],
};
/// `vpcmpgtd`, `vpcmpgtq`.
pub(super) const PCMPGT: Codes = Codes {
    d: [
        Code::EVEX_Vpcmpgtd_kr_k1_zmm_zmmm512b32,
        Code::EVEX_Vpcmpgtd_kr_k1_ymm_ymmm256b32,
        Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpcmpgtq_kr_k1_zmm_zmmm512b64,
        Code::EVEX_Vpcmpgtq_kr_k1_ymm_ymmm256b64,
        Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpgtq_xmm_xmm_xmmm128,
    ],
};
/// `vpblendmd`, `vpblendmq`.
pub(super) const PBLENDM: Codes = Codes {
    d: [
        Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32,
        Code::INVALID,
        Code::INVALID,
    ],
    q: [
        Code::EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpblendmq_ymm_k1z_ymm_ymmm256b64,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `valignd`, `valignq`.
pub(super) const ALIGN: Codes = Codes {
    d: [
        Code::EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8,
        Code::EVEX_Valignd_ymm_k1z_ymm_ymmm256b32_imm8,
        Code::INVALID,
        Code::INVALID,
    ],
    q: [
        Code::EVEX_Valignq_zmm_k1z_zmm_zmmm512b64_imm8,
        Code::EVEX_Valignq_ymm_k1z_ymm_ymmm256b64_imm8,
        Code::INVALID,
        Code::INVALID,
    ],
};
/// `vrndscaleps`, `vrndscalepd`.
pub(super) const ROUND: Codes = Codes {
    d: [
        Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
        Code::EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8,
        Code::VEX_Vroundps_ymm_ymmm256_imm8,
        Code::VEX_Vroundps_xmm_xmmm128_imm8,
    ],
    q: [
        Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
        Code::EVEX_Vrndscalepd_ymm_k1z_ymmm256b64_imm8,
        Code::VEX_Vroundpd_ymm_ymmm256_imm8,
        Code::VEX_Vroundpd_xmm_xmmm128_imm8,
    ],
};
/// `vpmuludq`.
pub(super) const PMULUDQ: Codes = Codes {
    d: [
        Code::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpmuludq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpmuludq_ymm_ymm_ymmm256,
        Code::VEX_Vpmuludq_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpmuludq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpmuludq_ymm_ymm_ymmm256,
        Code::VEX_Vpmuludq_xmm_xmm_xmmm128,
    ],
};
/// `vpmuldq`.
pub(super) const PMULDQ: Codes = Codes {
    d: [
        Code::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpmuldq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpmuldq_ymm_ymm_ymmm256,
        Code::VEX_Vpmuldq_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64,
        Code::EVEX_Vpmuldq_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vpmuldq_ymm_ymm_ymmm256,
        Code::VEX_Vpmuldq_xmm_xmm_xmmm128,
    ],
};
/// `vfmadd132ps`, `vfmadd132pd`.
pub(super) const FMADD132: Codes = Codes {
    d: [
        Code::EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd132ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfmadd132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd132ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmadd132pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfmadd132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd132pd_xmm_xmm_xmmm128,
    ],
};
/// `vfmadd213ps`, `vfmadd213pd`.
pub(super) const FMADD213: Codes = Codes {
    d: [
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd213ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmadd213pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd213pd_xmm_xmm_xmmm128,
    ],
};
/// `vfmadd231ps`, `vfmadd231pd`.
pub(super) const FMADD231: Codes = Codes {
    d: [
        Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd231ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd231ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmadd231pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfmadd231pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd231pd_xmm_xmm_xmmm128,
    ],
};
/// `vfnmadd132ps`, `vfnmadd132pd`.
pub(super) const FNMADD132: Codes = Codes {
    d: [
        Code::EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd132ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfnmadd132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd132ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmadd132pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfnmadd132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd132pd_xmm_xmm_xmmm128,
    ],
};
/// `vfnmadd213ps`, `vfnmadd213pd`.
pub(super) const FNMADD213: Codes = Codes {
    d: [
        Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd213ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfnmadd213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd213ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmadd213pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfnmadd213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd213pd_xmm_xmm_xmmm128,
    ],
};
/// `vfnmadd231ps`, `vfnmadd231pd`.
pub(super) const FNMADD231: Codes = Codes {
    d: [
        Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd231ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd231ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmadd231pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfnmadd231pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd231pd_xmm_xmm_xmmm128,
    ],
};
/// `vfmsub132ps`, `vfmsub132pd`.
pub(super) const FMSUB132: Codes = Codes {
    d: [
        Code::EVEX_Vfmsub132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub132ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfmsub132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub132ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfmsub132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmsub132pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfmsub132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub132pd_xmm_xmm_xmmm128,
    ],
};
/// `vfmsub213ps`, `vfmsub213pd`.
pub(super) const FMSUB213: Codes = Codes {
    d: [
        Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub213ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfmsub213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub213ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmsub213pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfmsub213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub213pd_xmm_xmm_xmmm128,
    ],
};
/// `vfmsub231ps`, `vfmsub231pd`.
pub(super) const FMSUB231: Codes = Codes {
    d: [
        Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub231ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfmsub231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub231ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmsub231pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfmsub231pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub231pd_xmm_xmm_xmmm128,
    ],
};
/// `vfnmsub132ps`, `vfnmsub132pd`.
pub(super) const FNMSUB132: Codes = Codes {
    d: [
        Code::EVEX_Vfnmsub132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmsub132ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfnmsub132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub132ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfnmsub132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmsub132pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfnmsub132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub132pd_xmm_xmm_xmmm128,
    ],
};
/// `vfnmsub213ps`, `vfnmsub213pd`.
pub(super) const FNMSUB213: Codes = Codes {
    d: [
        Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmsub213ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfnmsub213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub213ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmsub213pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfnmsub213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub213pd_xmm_xmm_xmmm128,
    ],
};
/// `vfnmsub231ps`, `vfnmsub231pd`.
pub(super) const FNMSUB231: Codes = Codes {
    d: [
        Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmsub231ps_ymm_k1z_ymm_ymmm256b32,
        Code::VEX_Vfnmsub231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub231ps_xmm_xmm_xmmm128,
    ],
    q: [
        Code::EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmsub231pd_ymm_k1z_ymm_ymmm256b64,
        Code::VEX_Vfnmsub231pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub231pd_xmm_xmm_xmmm128,
    ],
};
