//! The instructions of vectors and masks, a row each.
//!
//! A form of an instruction is named as the encoder names it, which knows its opcode, prefix, map and width bit by this name. A
//! row has the forms by encoding and length of vectors, that is of the longest operand; a test asks the encoder whether each stands where it belongs.

use super::lir::Width;
use iced_x86::Code;

/// An instruction: VEX with 128 and 256 bits, EVEX with 128, 256 and 512; `INVALID` where there is none, or none is used.
pub(super) struct Row([Code; 5]);

impl Row {
    /// The form for vectors of this length.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn form(&self, evex: bool, width: Width) -> Code {
        let form = self.0[column(evex, width)];
        assert!(form != Code::INVALID, "no such form of the instruction");
        form
    }

    /// Whether there is a form for vectors of this length.
    pub(super) fn has(&self, evex: bool, width: Width) -> bool {
        self.0[column(evex, width)] != Code::INVALID
    }
}

fn column(evex: bool, width: Width) -> usize {
    match (evex, width) {
        (false, Width::V128) => 0,
        (false, Width::V256) => 1,
        (true, Width::V128) => 2,
        (true, Width::V256) => 3,
        (true, Width::V512) => 4,
        (false, Width::V512) => unreachable!("VEX has no vectors of 512 bits"),
    }
}

/// What is done to lanes of 32 bits by one instruction and to lanes of 64 bits by another.
pub(super) struct Lanes(&'static Row, &'static Row);

impl Lanes {
    /// The instruction on lanes of so many bits.
    pub(super) fn of(&self, bits: u32) -> &'static Row {
        if bits == 64 { self.1 } else { self.0 }
    }
}

/// An instruction on masks of 8 lanes, and of 16.
pub(super) struct OnMasks(Code, Code);

impl OnMasks {
    /// The form for masks of so many lanes.
    pub(super) fn of(&self, lanes: i64) -> Code {
        if lanes == 8 { self.0 } else { self.1 }
    }
}

macro_rules! code {
    (_) => {
        Code::INVALID
    };
    ($name:ident) => {
        Code::$name
    };
}

macro_rules! rows {
    ($($name:ident $v128:tt $v256:tt $e128:tt $e256:tt $e512:tt;)*) => {
        $(pub(super) static $name: Row = Row([code!($v128), code!($v256), code!($e128), code!($e256), code!($e512)]);)*

        #[cfg(test)]
        const ROWS: &[(&str, &Row)] = &[$((stringify!($name), &$name)),*];
    };
}

macro_rules! lanes {
    ($($name:ident $d:ident $q:ident;)*) => {
        $(pub(super) static $name: Lanes = Lanes(&$d, &$q);)*

        #[cfg(test)]
        const LANES: &[(&str, &Lanes)] = &[$((stringify!($name), &$name)),*];
    };
}

macro_rules! masks {
    ($($name:ident $of8:ident $of16:ident;)*) => {
        $(pub(super) static $name: OnMasks = OnMasks(Code::$of8, Code::$of16);)*

        #[cfg(test)]
        const MASKS: &[(&str, &OnMasks)] = &[$((stringify!($name), &$name)),*];
    };
}

lanes! {
    //        lanes of 32  of 64 bits
    ADD       VADDPS       VADDPD;
    SUB       VSUBPS       VSUBPD;
    MUL       VMULPS       VMULPD;
    DIV       VDIVPS       VDIVPD;
    MIN       VMINPS       VMINPD;
    MAX       VMAXPS       VMAXPD;
    SQRT      VSQRTPS      VSQRTPD;
    RANGE     VRANGEPS     VRANGEPD;
    SCALEF    VSCALEFPS    VSCALEFPD;
    CMP       VCMPPS       VCMPPD;
    PADD      VPADDD       VPADDQ;
    PSUB      VPSUBD       VPSUBQ;
    PMULL     VPMULLD      VPMULLQ;
    PMINS     VPMINSD      VPMINSQ;
    PMAXS     VPMAXSD      VPMAXSQ;
    PMINU     VPMINUD      VPMINUQ;
    PMAXU     VPMAXUD      VPMAXUQ;
    PABS      VPABSD       VPABSQ;
    PLZCNT    VPLZCNTD     VPLZCNTQ;
    POPCNT    VPOPCNTD     VPOPCNTQ;
    PAND      VPANDD       VPANDQ;
    PANDN     VPANDND      VPANDNQ;
    POR       VPORD        VPORQ;
    PXOR      VPXORD       VPXORQ;
    PSLL_IMM  VPSLLD       VPSLLQ;
    PSRL_IMM  VPSRLD       VPSRLQ;
    PSRA_IMM  VPSRAD       VPSRAQ;
    PSLLV     VPSLLVD      VPSLLVQ;
    PSRLV     VPSRLVD      VPSRLVQ;
    PSRAV     VPSRAVD      VPSRAVQ;
    PCMP      VPCMPD       VPCMPQ;
    PCMPU     VPCMPUD      VPCMPUQ;
    PCMPEQ    VPCMPEQD     VPCMPEQQ;
    PCMPGT    VPCMPGTD     VPCMPGTQ;
    PBLENDM   VPBLENDMD    VPBLENDMQ;
    ALIGN     VALIGND      VALIGNQ;
    ROUND     VRNDSCALEPS  VRNDSCALEPD;
    PMULUDQ   VPMULUDQ     VPMULUDQ;
    FMADD132  VFMADD132PS  VFMADD132PD;
    FMADD213  VFMADD213PS  VFMADD213PD;
    FMADD231  VFMADD231PS  VFMADD231PD;
    FNMADD132 VFNMADD132PS VFNMADD132PD;
    FNMADD213 VFNMADD213PS VFNMADD213PD;
    FNMADD231 VFNMADD231PS VFNMADD231PD;
    FMSUB132  VFMSUB132PS  VFMSUB132PD;
    FMSUB213  VFMSUB213PS  VFMSUB213PD;
    FMSUB231  VFMSUB231PS  VFMSUB231PD;
    FNMSUB132 VFNMSUB132PS VFNMSUB132PD;
    FNMSUB213 VFNMSUB213PS VFNMSUB213PD;
    FNMSUB231 VFNMSUB231PS VFNMSUB231PD;
    MOVE      VMOVUPS      VMOVUPD;
    STORE     VMOVUPS_STORE VMOVUPD_STORE;
}

rows! {
    // VEX 128 bits, VEX 256 bits, EVEX 128 bits, EVEX 256 bits, EVEX 512 bits
    // Arithmetic of floats.
    VADDPS           VEX_Vaddps_xmm_xmm_xmmm128      VEX_Vaddps_ymm_ymm_ymmm256      _ EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32        EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er;
    VADDPD           VEX_Vaddpd_xmm_xmm_xmmm128      VEX_Vaddpd_ymm_ymm_ymmm256      _ EVEX_Vaddpd_ymm_k1z_ymm_ymmm256b64        EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er;
    VCMPPS           VEX_Vcmpps_xmm_xmm_xmmm128_imm8 VEX_Vcmpps_ymm_ymm_ymmm256_imm8 _ EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8     EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae;
    VCMPPD           VEX_Vcmppd_xmm_xmm_xmmm128_imm8 VEX_Vcmppd_ymm_ymm_ymmm256_imm8 _ EVEX_Vcmppd_kr_k1_ymm_ymmm256b64_imm8     EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
    VDIVPS           VEX_Vdivps_xmm_xmm_xmmm128      VEX_Vdivps_ymm_ymm_ymmm256      _ EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32        EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er;
    VDIVPD           VEX_Vdivpd_xmm_xmm_xmmm128      VEX_Vdivpd_ymm_ymm_ymmm256      _ EVEX_Vdivpd_ymm_k1z_ymm_ymmm256b64        EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
    VMAXPS           VEX_Vmaxps_xmm_xmm_xmmm128      VEX_Vmaxps_ymm_ymm_ymmm256      _ EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32        EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae;
    VMAXPD           VEX_Vmaxpd_xmm_xmm_xmmm128      VEX_Vmaxpd_ymm_ymm_ymmm256      _ EVEX_Vmaxpd_ymm_k1z_ymm_ymmm256b64        EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae;
    VMINPS           VEX_Vminps_xmm_xmm_xmmm128      VEX_Vminps_ymm_ymm_ymmm256      _ EVEX_Vminps_ymm_k1z_ymm_ymmm256b32        EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae;
    VMINPD           VEX_Vminpd_xmm_xmm_xmmm128      VEX_Vminpd_ymm_ymm_ymmm256      _ EVEX_Vminpd_ymm_k1z_ymm_ymmm256b64        EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae;
    VMULPS           VEX_Vmulps_xmm_xmm_xmmm128      VEX_Vmulps_ymm_ymm_ymmm256      _ EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32        EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er;
    VMULPD           VEX_Vmulpd_xmm_xmm_xmmm128      VEX_Vmulpd_ymm_ymm_ymmm256      _ EVEX_Vmulpd_ymm_k1z_ymm_ymmm256b64        EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er;
    VRANGEPS         _                               _                               _ EVEX_Vrangeps_ymm_k1z_ymm_ymmm256b32_imm8 EVEX_Vrangeps_zmm_k1z_zmm_zmmm512b32_imm8_sae;
    VRANGEPD         _                               _                               _ EVEX_Vrangepd_ymm_k1z_ymm_ymmm256b64_imm8 EVEX_Vrangepd_zmm_k1z_zmm_zmmm512b64_imm8_sae;
    VRNDSCALEPS      VEX_Vroundps_xmm_xmmm128_imm8   VEX_Vroundps_ymm_ymmm256_imm8   _ EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8  EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae;
    VRNDSCALEPD      VEX_Vroundpd_xmm_xmmm128_imm8   VEX_Vroundpd_ymm_ymmm256_imm8   _ EVEX_Vrndscalepd_ymm_k1z_ymmm256b64_imm8  EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
    VSCALEFPS        _                               _                               _ EVEX_Vscalefps_ymm_k1z_ymm_ymmm256b32     EVEX_Vscalefps_zmm_k1z_zmm_zmmm512b32_er;
    VSCALEFPD        _                               _                               _ EVEX_Vscalefpd_ymm_k1z_ymm_ymmm256b64     EVEX_Vscalefpd_zmm_k1z_zmm_zmmm512b64_er;
    VADDPH           _ _ EVEX_Vaddph_xmm_k1z_xmm_xmmm128b16 EVEX_Vaddph_ymm_k1z_ymm_ymmm256b16 _;
    VSUBPH           _ _ EVEX_Vsubph_xmm_k1z_xmm_xmmm128b16 EVEX_Vsubph_ymm_k1z_ymm_ymmm256b16 _;
    VMULPH           _ _ EVEX_Vmulph_xmm_k1z_xmm_xmmm128b16 EVEX_Vmulph_ymm_k1z_ymm_ymmm256b16 _;
    VDIVPH           _ _ EVEX_Vdivph_xmm_k1z_xmm_xmmm128b16 EVEX_Vdivph_ymm_k1z_ymm_ymmm256b16 _;
    VSQRTPH          _ _ EVEX_Vsqrtph_xmm_k1z_xmmm128b16 EVEX_Vsqrtph_ymm_k1z_ymmm256b16 _;
    VSQRTPS          VEX_Vsqrtps_xmm_xmmm128         VEX_Vsqrtps_ymm_ymmm256         _ EVEX_Vsqrtps_ymm_k1z_ymmm256b32           EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er;
    VSQRTPD          VEX_Vsqrtpd_xmm_xmmm128         VEX_Vsqrtpd_ymm_ymmm256         _ EVEX_Vsqrtpd_ymm_k1z_ymmm256b64           EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er;
    VSUBPS           VEX_Vsubps_xmm_xmm_xmmm128      VEX_Vsubps_ymm_ymm_ymmm256      _ EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32        EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er;
    VSUBPD           VEX_Vsubpd_xmm_xmm_xmmm128      VEX_Vsubpd_ymm_ymm_ymmm256      _ EVEX_Vsubpd_ymm_k1z_ymm_ymmm256b64        EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er;
    // Fused multiply-adds, by the order of operands.
    VFMADD132PS      VEX_Vfmadd132ps_xmm_xmm_xmmm128  VEX_Vfmadd132ps_ymm_ymm_ymmm256  _ EVEX_Vfmadd132ps_ymm_k1z_ymm_ymmm256b32  EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMADD132PD      VEX_Vfmadd132pd_xmm_xmm_xmmm128  VEX_Vfmadd132pd_ymm_ymm_ymmm256  _ EVEX_Vfmadd132pd_ymm_k1z_ymm_ymmm256b64  EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMADD213PS      VEX_Vfmadd213ps_xmm_xmm_xmmm128  VEX_Vfmadd213ps_ymm_ymm_ymmm256  _ EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32  EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMADD213PD      VEX_Vfmadd213pd_xmm_xmm_xmmm128  VEX_Vfmadd213pd_ymm_ymm_ymmm256  _ EVEX_Vfmadd213pd_ymm_k1z_ymm_ymmm256b64  EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMADD231PS      VEX_Vfmadd231ps_xmm_xmm_xmmm128  VEX_Vfmadd231ps_ymm_ymm_ymmm256  _ EVEX_Vfmadd231ps_ymm_k1z_ymm_ymmm256b32  EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMADD231PD      VEX_Vfmadd231pd_xmm_xmm_xmmm128  VEX_Vfmadd231pd_ymm_ymm_ymmm256  _ EVEX_Vfmadd231pd_ymm_k1z_ymm_ymmm256b64  EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMSUB132PS      VEX_Vfmsub132ps_xmm_xmm_xmmm128  VEX_Vfmsub132ps_ymm_ymm_ymmm256  _ EVEX_Vfmsub132ps_ymm_k1z_ymm_ymmm256b32  EVEX_Vfmsub132ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMSUB132PD      VEX_Vfmsub132pd_xmm_xmm_xmmm128  VEX_Vfmsub132pd_ymm_ymm_ymmm256  _ EVEX_Vfmsub132pd_ymm_k1z_ymm_ymmm256b64  EVEX_Vfmsub132pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMSUB213PS      VEX_Vfmsub213ps_xmm_xmm_xmmm128  VEX_Vfmsub213ps_ymm_ymm_ymmm256  _ EVEX_Vfmsub213ps_ymm_k1z_ymm_ymmm256b32  EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMSUB213PD      VEX_Vfmsub213pd_xmm_xmm_xmmm128  VEX_Vfmsub213pd_ymm_ymm_ymmm256  _ EVEX_Vfmsub213pd_ymm_k1z_ymm_ymmm256b64  EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er;
    VFMSUB231PS      VEX_Vfmsub231ps_xmm_xmm_xmmm128  VEX_Vfmsub231ps_ymm_ymm_ymmm256  _ EVEX_Vfmsub231ps_ymm_k1z_ymm_ymmm256b32  EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er;
    VFMSUB231PD      VEX_Vfmsub231pd_xmm_xmm_xmmm128  VEX_Vfmsub231pd_ymm_ymm_ymmm256  _ EVEX_Vfmsub231pd_ymm_k1z_ymm_ymmm256b64  EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMADD132PS     VEX_Vfnmadd132ps_xmm_xmm_xmmm128 VEX_Vfnmadd132ps_ymm_ymm_ymmm256 _ EVEX_Vfnmadd132ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMADD132PD     VEX_Vfnmadd132pd_xmm_xmm_xmmm128 VEX_Vfnmadd132pd_ymm_ymm_ymmm256 _ EVEX_Vfnmadd132pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMADD213PS     VEX_Vfnmadd213ps_xmm_xmm_xmmm128 VEX_Vfnmadd213ps_ymm_ymm_ymmm256 _ EVEX_Vfnmadd213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMADD213PD     VEX_Vfnmadd213pd_xmm_xmm_xmmm128 VEX_Vfnmadd213pd_ymm_ymm_ymmm256 _ EVEX_Vfnmadd213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMADD231PS     VEX_Vfnmadd231ps_xmm_xmm_xmmm128 VEX_Vfnmadd231ps_ymm_ymm_ymmm256 _ EVEX_Vfnmadd231ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMADD231PD     VEX_Vfnmadd231pd_xmm_xmm_xmmm128 VEX_Vfnmadd231pd_ymm_ymm_ymmm256 _ EVEX_Vfnmadd231pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMSUB132PS     VEX_Vfnmsub132ps_xmm_xmm_xmmm128 VEX_Vfnmsub132ps_ymm_ymm_ymmm256 _ EVEX_Vfnmsub132ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmsub132ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMSUB132PD     VEX_Vfnmsub132pd_xmm_xmm_xmmm128 VEX_Vfnmsub132pd_ymm_ymm_ymmm256 _ EVEX_Vfnmsub132pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmsub132pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMSUB213PS     VEX_Vfnmsub213ps_xmm_xmm_xmmm128 VEX_Vfnmsub213ps_ymm_ymm_ymmm256 _ EVEX_Vfnmsub213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMSUB213PD     VEX_Vfnmsub213pd_xmm_xmm_xmmm128 VEX_Vfnmsub213pd_ymm_ymm_ymmm256 _ EVEX_Vfnmsub213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er;
    VFNMSUB231PS     VEX_Vfnmsub231ps_xmm_xmm_xmmm128 VEX_Vfnmsub231ps_ymm_ymm_ymmm256 _ EVEX_Vfnmsub231ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er;
    VFNMSUB231PD     VEX_Vfnmsub231pd_xmm_xmm_xmmm128 VEX_Vfnmsub231pd_ymm_ymm_ymmm256 _ EVEX_Vfnmsub231pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er;
    // Arithmetic of integers.
    VPABSD           VEX_Vpabsd_xmm_xmmm128       VEX_Vpabsd_ymm_ymmm256       _ EVEX_Vpabsd_ymm_k1z_ymmm256b32       EVEX_Vpabsd_zmm_k1z_zmmm512b32;
    VPABSQ           _                            _                            _ EVEX_Vpabsq_ymm_k1z_ymmm256b64       EVEX_Vpabsq_zmm_k1z_zmmm512b64;
    VPADDD           VEX_Vpaddd_xmm_xmm_xmmm128   VEX_Vpaddd_ymm_ymm_ymmm256   _ EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32   EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
    VPADDQ           VEX_Vpaddq_xmm_xmm_xmmm128   VEX_Vpaddq_ymm_ymm_ymmm256   _ EVEX_Vpaddq_ymm_k1z_ymm_ymmm256b64   EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
    VPLZCNTD         _                            _                            _ EVEX_Vplzcntd_ymm_k1z_ymmm256b32     EVEX_Vplzcntd_zmm_k1z_zmmm512b32;
    VPLZCNTQ         _                            _                            _ EVEX_Vplzcntq_ymm_k1z_ymmm256b64     EVEX_Vplzcntq_zmm_k1z_zmmm512b64;
    VPMAXSD          VEX_Vpmaxsd_xmm_xmm_xmmm128  VEX_Vpmaxsd_ymm_ymm_ymmm256  _ EVEX_Vpmaxsd_ymm_k1z_ymm_ymmm256b32  EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32;
    VPMAXSQ          _                            _                            _ EVEX_Vpmaxsq_ymm_k1z_ymm_ymmm256b64  EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64;
    VPMAXUD          VEX_Vpmaxud_xmm_xmm_xmmm128  VEX_Vpmaxud_ymm_ymm_ymmm256  _ EVEX_Vpmaxud_ymm_k1z_ymm_ymmm256b32  EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32;
    VPMAXUQ          _                            _                            _ EVEX_Vpmaxuq_ymm_k1z_ymm_ymmm256b64  EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64;
    VPMINSD          VEX_Vpminsd_xmm_xmm_xmmm128  VEX_Vpminsd_ymm_ymm_ymmm256  _ EVEX_Vpminsd_ymm_k1z_ymm_ymmm256b32  EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32;
    VPMINSQ          _                            _                            _ EVEX_Vpminsq_ymm_k1z_ymm_ymmm256b64  EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64;
    VPMINUD          VEX_Vpminud_xmm_xmm_xmmm128  VEX_Vpminud_ymm_ymm_ymmm256  _ EVEX_Vpminud_ymm_k1z_ymm_ymmm256b32  EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32;
    VPMINUQ          _                            _                            _ EVEX_Vpminuq_ymm_k1z_ymm_ymmm256b64  EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64;
    VPMULDQ          VEX_Vpmuldq_xmm_xmm_xmmm128  VEX_Vpmuldq_ymm_ymm_ymmm256  _ EVEX_Vpmuldq_ymm_k1z_ymm_ymmm256b64  EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64;
    VPMULLD          VEX_Vpmulld_xmm_xmm_xmmm128  VEX_Vpmulld_ymm_ymm_ymmm256  _ EVEX_Vpmulld_ymm_k1z_ymm_ymmm256b32  EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32;
    VPMULLQ          _                            _                            _ EVEX_Vpmullq_ymm_k1z_ymm_ymmm256b64  EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64;
    VPMULUDQ         VEX_Vpmuludq_xmm_xmm_xmmm128 VEX_Vpmuludq_ymm_ymm_ymmm256 _ EVEX_Vpmuludq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64;
    VPOPCNTD         _                            _                            _ EVEX_Vpopcntd_ymm_k1z_ymmm256b32     EVEX_Vpopcntd_zmm_k1z_zmmm512b32;
    VPOPCNTQ         _                            _                            _ EVEX_Vpopcntq_ymm_k1z_ymmm256b64     EVEX_Vpopcntq_zmm_k1z_zmmm512b64;
    VPSUBD           VEX_Vpsubd_xmm_xmm_xmmm128   VEX_Vpsubd_ymm_ymm_ymmm256   _ EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32   EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32;
    VPSUBQ           VEX_Vpsubq_xmm_xmm_xmmm128   VEX_Vpsubq_ymm_ymm_ymmm256   _ EVEX_Vpsubq_ymm_k1z_ymm_ymmm256b64   EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64;
    // Bits and shifts.
    VPANDD           VEX_Vpand_xmm_xmm_xmmm128   VEX_Vpand_ymm_ymm_ymmm256   EVEX_Vpandd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32  EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32;
    VPANDND          VEX_Vpandn_xmm_xmm_xmmm128  VEX_Vpandn_ymm_ymm_ymmm256  EVEX_Vpandnd_xmm_k1z_xmm_xmmm128b32 EVEX_Vpandnd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32;
    VPANDNQ          VEX_Vpandn_xmm_xmm_xmmm128  VEX_Vpandn_ymm_ymm_ymmm256  _ EVEX_Vpandnq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpandnq_zmm_k1z_zmm_zmmm512b64;
    VPANDQ           VEX_Vpand_xmm_xmm_xmmm128   VEX_Vpand_ymm_ymm_ymmm256   _ EVEX_Vpandq_ymm_k1z_ymm_ymmm256b64  EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64;
    VPORD            VEX_Vpor_xmm_xmm_xmmm128    VEX_Vpor_ymm_ymm_ymmm256    _ EVEX_Vpord_ymm_k1z_ymm_ymmm256b32   EVEX_Vpord_zmm_k1z_zmm_zmmm512b32;
    VPORQ            VEX_Vpor_xmm_xmm_xmmm128    VEX_Vpor_ymm_ymm_ymmm256    _ EVEX_Vporq_ymm_k1z_ymm_ymmm256b64   EVEX_Vporq_zmm_k1z_zmm_zmmm512b64;
    VPSLLD           VEX_Vpslld_xmm_xmm_imm8     VEX_Vpslld_ymm_ymm_imm8     _ EVEX_Vpslld_ymm_k1z_ymmm256b32_imm8 EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8;
    VPSLLQ           VEX_Vpsllq_xmm_xmm_imm8     VEX_Vpsllq_ymm_ymm_imm8     _ EVEX_Vpsllq_ymm_k1z_ymmm256b64_imm8 EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8;
    VPSLLVD          VEX_Vpsllvd_xmm_xmm_xmmm128 VEX_Vpsllvd_ymm_ymm_ymmm256 _ EVEX_Vpsllvd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32;
    VPSLLVQ          VEX_Vpsllvq_xmm_xmm_xmmm128 VEX_Vpsllvq_ymm_ymm_ymmm256 _ EVEX_Vpsllvq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64;
    VPSRAD           VEX_Vpsrad_xmm_xmm_imm8     VEX_Vpsrad_ymm_ymm_imm8     _ EVEX_Vpsrad_ymm_k1z_ymmm256b32_imm8 EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8;
    VPSRAQ           _                           _                           _ EVEX_Vpsraq_ymm_k1z_ymmm256b64_imm8 EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8;
    VPSRAVD          VEX_Vpsravd_xmm_xmm_xmmm128 VEX_Vpsravd_ymm_ymm_ymmm256 _ EVEX_Vpsravd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32;
    VPSRAVQ          _                           _                           _ EVEX_Vpsravq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64;
    VPSRLD           VEX_Vpsrld_xmm_xmm_imm8     VEX_Vpsrld_ymm_ymm_imm8     _ EVEX_Vpsrld_ymm_k1z_ymmm256b32_imm8 EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8;
    VPSRLQ           VEX_Vpsrlq_xmm_xmm_imm8     VEX_Vpsrlq_ymm_ymm_imm8     _ EVEX_Vpsrlq_ymm_k1z_ymmm256b64_imm8 EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8;
    VPSRLVD          VEX_Vpsrlvd_xmm_xmm_xmmm128 VEX_Vpsrlvd_ymm_ymm_ymmm256 _ EVEX_Vpsrlvd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32;
    VPSRLVQ          VEX_Vpsrlvq_xmm_xmm_xmmm128 VEX_Vpsrlvq_ymm_ymm_ymmm256 _ EVEX_Vpsrlvq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64;
    VPXORD           VEX_Vpxor_xmm_xmm_xmmm128   VEX_Vpxor_ymm_ymm_ymmm256   EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32 EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32  EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32;
    VPXORQ           VEX_Vpxor_xmm_xmm_xmmm128   VEX_Vpxor_ymm_ymm_ymmm256   _ EVEX_Vpxorq_ymm_k1z_ymm_ymmm256b64  EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64;
    // Comparisons of integers, and choice by what they give.
    VBLENDVPS        VEX_Vblendvps_xmm_xmm_xmmm128_xmm VEX_Vblendvps_ymm_ymm_ymmm256_ymm _                               _                                      _;
    VBLENDVPD        _                                 VEX_Vblendvpd_ymm_ymm_ymmm256_ymm _                               _                                      _;
    VPBLENDD         VEX_Vpblendd_xmm_xmm_xmmm128_imm8 VEX_Vpblendd_ymm_ymm_ymmm256_imm8 _                               _                                      _;
    VPBLENDMD        _                                 _                                 _                               EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32  EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32;
    VPBLENDMQ        _                                 _                                 _                               EVEX_Vpblendmq_ymm_k1z_ymm_ymmm256b64  EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64;
    VPCMPD           _                                 _                                 _                               EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8  EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8;
    VPCMPQ           _                                 _                                 _                               EVEX_Vpcmpq_kr_k1_ymm_ymmm256b64_imm8  EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8;
    VPCMPEQD         VEX_Vpcmpeqd_xmm_xmm_xmmm128      VEX_Vpcmpeqd_ymm_ymm_ymmm256      _                               EVEX_Vpcmpeqd_kr_k1_ymm_ymmm256b32     EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32;
    VPCMPEQQ         VEX_Vpcmpeqq_xmm_xmm_xmmm128      VEX_Vpcmpeqq_ymm_ymm_ymmm256      _                               EVEX_Vpcmpeqq_kr_k1_ymm_ymmm256b64     EVEX_Vpcmpeqq_kr_k1_zmm_zmmm512b64;
    VPCMPGTD         VEX_Vpcmpgtd_xmm_xmm_xmmm128      VEX_Vpcmpgtd_ymm_ymm_ymmm256      _                               EVEX_Vpcmpgtd_kr_k1_ymm_ymmm256b32     EVEX_Vpcmpgtd_kr_k1_zmm_zmmm512b32;
    VPCMPGTQ         VEX_Vpcmpgtq_xmm_xmm_xmmm128      VEX_Vpcmpgtq_ymm_ymm_ymmm256      _                               EVEX_Vpcmpgtq_kr_k1_ymm_ymmm256b64     EVEX_Vpcmpgtq_kr_k1_zmm_zmmm512b64;
    VPCMPUD          _                                 _                                 _                               EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
    VPCMPUQ          _                                 _                                 _                               EVEX_Vpcmpuq_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8;
    VPTEST           _                                 VEX_Vptest_ymm_ymmm256            _                               _                                      _;
    VPTESTMB         _                                 _                                 EVEX_Vptestmb_kr_k1_xmm_xmmm128 _                                      EVEX_Vptestmb_kr_k1_zmm_zmmm512;
    // Lanes of 8 bits, and what shifts them.
    VPADDB           _ VEX_Vpaddb_ymm_ymm_ymmm256 _ _ EVEX_Vpaddb_zmm_k1z_zmm_zmmm512;
    VPSUBB           _ VEX_Vpsubb_ymm_ymm_ymmm256 _ _ EVEX_Vpsubb_zmm_k1z_zmm_zmmm512;
    VPMINSB          _ VEX_Vpminsb_ymm_ymm_ymmm256 _ _ EVEX_Vpminsb_zmm_k1z_zmm_zmmm512;
    VPMAXSB          _ VEX_Vpmaxsb_ymm_ymm_ymmm256 _ _ EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512;
    VPMINUB          _ VEX_Vpminub_ymm_ymm_ymmm256 _ _ EVEX_Vpminub_zmm_k1z_zmm_zmmm512;
    VPMAXUB          _ VEX_Vpmaxub_ymm_ymm_ymmm256 _ _ EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512;
    VPABSB           _ VEX_Vpabsb_ymm_ymmm256 _ _ EVEX_Vpabsb_zmm_k1z_zmmm512;
    VPSLLW           _ VEX_Vpsllw_ymm_ymm_imm8 _ _ EVEX_Vpsllw_zmm_k1z_zmmm512_imm8;
    VPSRLW           _ VEX_Vpsrlw_ymm_ymm_imm8 _ _ EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8;
    VPCMPEQB         _ VEX_Vpcmpeqb_ymm_ymm_ymmm256 _ _ _;
    VPCMPGTB         _ VEX_Vpcmpgtb_ymm_ymm_ymmm256 _ _ _;
    VPCMPB           _ _ _ _ EVEX_Vpcmpb_kr_k1_zmm_zmmm512_imm8;
    VPCMPUB          _ _ _ _ EVEX_Vpcmpub_kr_k1_zmm_zmmm512_imm8;
    VPBLENDVB        _ VEX_Vpblendvb_ymm_ymm_ymmm256_ymm _ _ _;
    VPBLENDMB        _ _ _ _ EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512;
    VPMOVM2B         _ _ _ _ EVEX_Vpmovm2b_zmm_kr;
    VPMOVB2M         _ _ _ _ EVEX_Vpmovb2m_kr_zmm;
    VPBROADCASTB     _ VEX_Vpbroadcastb_ymm_xmmm8 _ _ EVEX_Vpbroadcastb_zmm_k1z_xmmm8;
    VPSRLDQ          VEX_Vpsrldq_xmm_xmm_imm8 _ EVEX_Vpsrldq_xmm_xmmm128_imm8 _ _;
    VPEXTRB_STORE    VEX_Vpextrb_r32m8_xmm_imm8 _ EVEX_Vpextrb_r32m8_xmm_imm8 _ _;
    VPEXTRW_STORE    VEX_Vpextrw_r32m16_xmm_imm8 _ EVEX_Vpextrw_r32m16_xmm_imm8 _ _;
    VPEXTRD_STORE    VEX_Vpextrd_rm32_xmm_imm8 _ EVEX_Vpextrd_rm32_xmm_imm8 _ _;
    VPINSRD          VEX_Vpinsrd_xmm_xmm_rm32_imm8 _ EVEX_Vpinsrd_xmm_xmm_rm32_imm8 _ _;
    VPBROADCASTB_GPR _ _ _ _ EVEX_Vpbroadcastb_zmm_k1z_r32;
    // Conversions.
    VCVTDQ2PD        _                             VEX_Vcvtdq2pd_ymm_xmmm128      _ _                                   EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er;
    VCVTDQ2PS        VEX_Vcvtdq2ps_xmm_xmmm128     VEX_Vcvtdq2ps_ymm_ymmm256      _ EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32   EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er;
    VCVTPD2PS        _                             VEX_Vcvtpd2ps_xmm_ymmm256      _ _                                   EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er;
    VCVTPH2PS        VEX_Vcvtph2ps_xmm_xmmm64      VEX_Vcvtph2ps_ymm_xmmm128      _ EVEX_Vcvtph2ps_ymm_k1z_xmmm128      EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae;
    VCVTPS2PD        _                             VEX_Vcvtps2pd_ymm_xmmm128      _ _                                   EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae;
    VCVTPS2PH        VEX_Vcvtps2ph_xmmm64_xmm_imm8 VEX_Vcvtps2ph_xmmm128_ymm_imm8 _ EVEX_Vcvtps2ph_xmmm128_k1z_ymm_imm8 EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae;
    VCVTQQ2PD        _                             _                              _ _                                   EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er;
    VCVTQQ2PS        _                             _                              _ _                                   EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er;
    VCVTTPD2DQ       _                             VEX_Vcvttpd2dq_xmm_ymmm256     _ _                                   EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae;
    VCVTTPD2QQ       _                             _                              _ _                                   EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae;
    VCVTTPD2UDQ      _                             _                              _ _                                   EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae;
    VCVTTPD2UQQ      _                             _                              _ _                                   EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae;
    VCVTTPS2DQ       VEX_Vcvttps2dq_xmm_xmmm128    VEX_Vcvttps2dq_ymm_ymmm256     _ EVEX_Vcvttps2dq_ymm_k1z_ymmm256b32  EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae;
    VCVTTPS2QQ       _                             _                              _ _                                   EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae;
    VCVTTPS2UDQ      _                             _                              _ EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32 EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae;
    VCVTTPS2UQQ      _                             _                              _ _                                   EVEX_Vcvttps2uqq_zmm_k1z_ymmm256b32_sae;
    VCVTUDQ2PD       _                             _                              _ _                                   EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er;
    VCVTUDQ2PS       _                             _                              _ EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32  EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er;
    VCVTUQQ2PD       _                             _                              _ _                                   EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er;
    VCVTUQQ2PS       _                             _                              _ _                                   EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er;
    VPACKUSDW        VEX_Vpackusdw_xmm_xmm_xmmm128 _                              _ _                                   _;
    VPACKUSWB        VEX_Vpackuswb_xmm_xmm_xmmm128 _                              _ _                                   _;
    VPMADDUBSW       VEX_Vpmaddubsw_xmm_xmm_xmmm128 VEX_Vpmaddubsw_ymm_ymm_ymmm256 _ _                                  _;
    VPMADDWD         VEX_Vpmaddwd_xmm_xmm_xmmm128  VEX_Vpmaddwd_ymm_ymm_ymmm256   _ _                                   _;
    VPSADBW          VEX_Vpsadbw_xmm_xmm_xmmm128   VEX_Vpsadbw_ymm_ymm_ymmm256    _ _                                   _;
    VPSHUFB          VEX_Vpshufb_xmm_xmm_xmmm128   VEX_Vpshufb_ymm_ymm_ymmm256    _ _                                   _;
    VPMOVDB          _                             _                              _ EVEX_Vpmovdb_xmmm64_k1z_ymm         EVEX_Vpmovdb_xmmm128_k1z_zmm;
    VPMOVDW          _                             _                              _ EVEX_Vpmovdw_xmmm128_k1z_ymm        EVEX_Vpmovdw_ymmm256_k1z_zmm;
    VPMOVQD          _                             _                              _ _                                   EVEX_Vpmovqd_ymmm256_k1z_zmm;
    VPMOVSXBD        VEX_Vpmovsxbd_xmm_xmmm32      VEX_Vpmovsxbd_ymm_xmmm64       _ EVEX_Vpmovsxbd_ymm_k1z_xmmm64       EVEX_Vpmovsxbd_zmm_k1z_xmmm128;
    VPMOVSXDQ        _                             VEX_Vpmovsxdq_ymm_xmmm128      _ _                                   EVEX_Vpmovsxdq_zmm_k1z_ymmm256;
    VPMOVSXWD        VEX_Vpmovsxwd_xmm_xmmm64      VEX_Vpmovsxwd_ymm_xmmm128      _ EVEX_Vpmovsxwd_ymm_k1z_xmmm128      EVEX_Vpmovsxwd_zmm_k1z_ymmm256;
    VPMOVZXBD        VEX_Vpmovzxbd_xmm_xmmm32      VEX_Vpmovzxbd_ymm_xmmm64       _ EVEX_Vpmovzxbd_ymm_k1z_xmmm64       EVEX_Vpmovzxbd_zmm_k1z_xmmm128;
    VPMOVZXDQ        _                             VEX_Vpmovzxdq_ymm_xmmm128      _ _                                   EVEX_Vpmovzxdq_zmm_k1z_ymmm256;
    VPMOVZXWD        VEX_Vpmovzxwd_xmm_xmmm64      VEX_Vpmovzxwd_ymm_xmmm128      _ EVEX_Vpmovzxwd_ymm_k1z_xmmm128      EVEX_Vpmovzxwd_zmm_k1z_ymmm256;
    // Lanes in another order.
    VALIGND          _                                _                                    _ EVEX_Valignd_ymm_k1z_ymm_ymmm256b32_imm8 EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8;
    VALIGNQ          _                                _                                    _ EVEX_Valignq_ymm_k1z_ymm_ymmm256b64_imm8 EVEX_Valignq_zmm_k1z_zmm_zmmm512b64_imm8;
    VEXTRACTI128     _                                VEX_Vextracti128_xmmm128_ymm_imm8    _ _                                        _;
    VEXTRACTI32X4    _                                _                                    _ EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8 EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8;
    VEXTRACTI64X4    _                                _                                    _ _                                        EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
    VINSERTI128      _                                VEX_Vinserti128_ymm_ymm_xmmm128_imm8 _ _                                        _;
    VINSERTI32X4     _                                _                                    _ EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8 EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8;
    VINSERTI64X4     _                                _                                    _ _                                        EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
    VPERMD           _                                VEX_Vpermd_ymm_ymm_ymmm256           _ EVEX_Vpermd_ymm_k1z_ymm_ymmm256b32       EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32;
    VPERMQ           _                                _                                    _ _                                        EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64;
    VPERMT2D         _                                _                                    _ EVEX_Vpermt2d_ymm_k1z_ymm_ymmm256b32     EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32;
    VPERMT2Q         _                                _                                    _ EVEX_Vpermt2q_ymm_k1z_ymm_ymmm256b64     EVEX_Vpermt2q_zmm_k1z_zmm_zmmm512b64;
    VPERM2F128       _                                VEX_Vperm2f128_ymm_ymm_ymmm256_imm8  _ _                                        _;
    VPERMQ_IMM       _                                VEX_Vpermq_ymm_ymmm256_imm8          _ _                                        _;
    VPSHUFD          VEX_Vpshufd_xmm_xmmm128_imm8     VEX_Vpshufd_ymm_ymmm256_imm8         _ _                                        _;
    VSHUFPS          VEX_Vshufps_xmm_xmm_xmmm128_imm8 _                                    _ _                                        _;
    VUNPCKLPS        VEX_Vunpcklps_xmm_xmm_xmmm128 VEX_Vunpcklps_ymm_ymm_ymmm256 _ EVEX_Vunpcklps_ymm_k1z_ymm_ymmm256b32 EVEX_Vunpcklps_zmm_k1z_zmm_zmmm512b32;
    VUNPCKLPD        VEX_Vunpcklpd_xmm_xmm_xmmm128 VEX_Vunpcklpd_ymm_ymm_ymmm256 _ EVEX_Vunpcklpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vunpcklpd_zmm_k1z_zmm_zmmm512b64;
    VUNPCKHPS        VEX_Vunpckhps_xmm_xmm_xmmm128 VEX_Vunpckhps_ymm_ymm_ymmm256 _ EVEX_Vunpckhps_ymm_k1z_ymm_ymmm256b32 EVEX_Vunpckhps_zmm_k1z_zmm_zmmm512b32;
    VUNPCKHPD        VEX_Vunpckhpd_xmm_xmm_xmmm128 VEX_Vunpckhpd_ymm_ymm_ymmm256 _ EVEX_Vunpckhpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vunpckhpd_zmm_k1z_zmm_zmmm512b64;
    // One element in all lanes.
    VBROADCASTSD     _                           VEX_Vbroadcastsd_ymm_m64    _                                EVEX_Vbroadcastsd_ymm_k1z_xmmm64 EVEX_Vbroadcastsd_zmm_k1z_xmmm64;
    VBROADCASTSS     VEX_Vbroadcastss_xmm_m32    VEX_Vbroadcastss_ymm_m32    EVEX_Vbroadcastss_xmm_k1z_xmmm32 EVEX_Vbroadcastss_ymm_k1z_xmmm32 EVEX_Vbroadcastss_zmm_k1z_xmmm32;
    VMOVDDUP         VEX_Vmovddup_xmm_xmmm64     _                           _                                _                                _;
    VPBROADCASTD     VEX_Vpbroadcastd_xmm_xmmm32 VEX_Vpbroadcastd_ymm_xmmm32 _                                _                                _;
    VPBROADCASTQ     _                           VEX_Vpbroadcastq_ymm_xmmm64 _                                _                                _;
    VPBROADCASTD_GPR _                           _                           _                                EVEX_Vpbroadcastd_ymm_k1z_r32    EVEX_Vpbroadcastd_zmm_k1z_r32;
    VPBROADCASTQ_GPR _                           _                           _                                _                                EVEX_Vpbroadcastq_zmm_k1z_r64;
    // Between registers and memory; the bits of general registers.
    VMASKMOVPS       VEX_Vmaskmovps_xmm_xmm_m128 VEX_Vmaskmovps_ymm_ymm_m256 _                              _                              _;
    VMASKMOVPD       _                           VEX_Vmaskmovpd_ymm_ymm_m256 _                              _                              _;
    VMASKMOVPD_STORE _                           VEX_Vmaskmovpd_m256_ymm_ymm _                              _                              _;
    VMASKMOVPS_STORE VEX_Vmaskmovps_m128_xmm_xmm VEX_Vmaskmovps_m256_ymm_ymm _                              _                              _;
    VMOVDQU16        _                           _                           EVEX_Vmovdqu16_xmm_k1z_xmmm128 EVEX_Vmovdqu16_ymm_k1z_ymmm256 _;
    VPBROADCASTW     _                           _                           EVEX_Vpbroadcastw_xmm_k1z_xmmm16 EVEX_Vpbroadcastw_ymm_k1z_xmmm16 _;
    VPBLENDMW        _                           _                           EVEX_Vpblendmw_xmm_k1z_xmm_xmmm128 EVEX_Vpblendmw_ymm_k1z_ymm_ymmm256 _;
    VMOVDQU16_STORE  _                           _                           EVEX_Vmovdqu16_xmmm128_k1z_xmm EVEX_Vmovdqu16_ymmm256_k1z_ymm _;
    VMOVDQU8         _                           _                           EVEX_Vmovdqu8_xmm_k1z_xmmm128  _                              EVEX_Vmovdqu8_zmm_k1z_zmmm512;
    VMOVDQU8_STORE   _                           _                           EVEX_Vmovdqu8_xmmm128_k1z_xmm  _                              EVEX_Vmovdqu8_zmmm512_k1z_zmm;
    VMOVD_GPR        VEX_Vmovd_xmm_rm32 _ EVEX_Vmovd_xmm_rm32 _ _;
    VMOVD_STORE      VEX_Vmovd_rm32_xmm _ EVEX_Vmovd_rm32_xmm _ _;
    VMOVMSKPS        _                           VEX_Vmovmskps_r32_ymm       _                              _                              _;
    VMOVMSKPD        _                           VEX_Vmovmskpd_r32_ymm       _                              _                              _;
    VMOVQ            VEX_Vmovq_xmm_xmmm64 _ EVEX_Vmovq_xmm_xmmm64 _ _;
    VMOVQ_GPR        VEX_Vmovq_xmm_rm64          _                           _                              _                              _;
    VMOVQ_STORE      VEX_Vmovq_xmmm64_xmm        _                           EVEX_Vmovq_xmmm64_xmm          _                              _;
    VMOVUPS          VEX_Vmovups_xmm_xmmm128     VEX_Vmovups_ymm_ymmm256     EVEX_Vmovups_xmm_k1z_xmmm128   EVEX_Vmovups_ymm_k1z_ymmm256   EVEX_Vmovups_zmm_k1z_zmmm512;
    VMOVUPD          _                           _                           _                              _                              EVEX_Vmovupd_zmm_k1z_zmmm512;
    VMOVUPD_STORE    _                           _                           _                              _                              EVEX_Vmovupd_zmmm512_k1z_zmm;
    VMOVUPS_STORE    VEX_Vmovups_xmmm128_xmm     VEX_Vmovups_ymmm256_ymm     EVEX_Vmovups_xmmm128_k1z_xmm   EVEX_Vmovups_ymmm256_k1z_ymm   EVEX_Vmovups_zmmm512_k1z_zmm;
    // Elements at an index for each lane.
    VPGATHERDD       VEX_Vpgatherdd_xmm_vm32x_xmm VEX_Vpgatherdd_ymm_vm32y_ymm _ EVEX_Vpgatherdd_ymm_k1_vm32y  EVEX_Vpgatherdd_zmm_k1_vm32z;
    VPGATHERDQ       _                            VEX_Vpgatherdq_ymm_vm32x_ymm _ _                             EVEX_Vpgatherdq_zmm_k1_vm32y;
    VPGATHERQD       _                            VEX_Vpgatherqd_xmm_vm64y_xmm _ _                             EVEX_Vpgatherqd_ymm_k1_vm64z;
    VPGATHERQQ       _                            VEX_Vpgatherqq_ymm_vm64y_ymm _ _                             EVEX_Vpgatherqq_zmm_k1_vm64z;
    VPSCATTERDD      _                            _                            _ EVEX_Vpscatterdd_vm32y_k1_ymm EVEX_Vpscatterdd_vm32z_k1_zmm;
    VPSCATTERDQ      _                            _                            _ _                             EVEX_Vpscatterdq_vm32y_k1_zmm;
    VPSCATTERQD      _                            _                            _ _                             EVEX_Vpscatterqd_vm64z_k1_ymm;
    VPSCATTERQQ      _                            _                            _ _                             EVEX_Vpscatterqq_vm64z_k1_zmm;
}

masks! {
    //         8 lanes             16 lanes
    KAND       VEX_Kandb_kr_kr_kr  VEX_Kandw_kr_kr_kr;
    KANDN      VEX_Kandnb_kr_kr_kr VEX_Kandnw_kr_kr_kr;
    KOR        VEX_Korb_kr_kr_kr   VEX_Korw_kr_kr_kr;
    KXOR       VEX_Kxorb_kr_kr_kr  VEX_Kxorw_kr_kr_kr;
    KXNOR      VEX_Kxnorb_kr_kr_kr VEX_Kxnorw_kr_kr_kr;
    KNOT       VEX_Knotb_kr_kr     VEX_Knotw_kr_kr;
    KORTEST    VEX_Kortestb_kr_kr  VEX_Kortestw_kr_kr;
    KMOV       VEX_Kmovb_kr_km8    VEX_Kmovw_kr_km16;
    KMOV_STORE VEX_Kmovb_m8_kr     VEX_Kmovw_m16_kr;
    KMOV_GPR   VEX_Kmovb_kr_r32    VEX_Kmovw_kr_r32;
    KMOV_TO_GPR VEX_Kmovb_r32_kr   VEX_Kmovw_r32_kr;
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{EncodingKind, MandatoryPrefix, Mnemonic, OpCodeTableKind};

    /// Where a form stands, by what the encoder knows of it.
    fn place(form: Code) -> usize {
        let form = form.op_code();
        let evex = form.encoding() == EncodingKind::EVEX;
        let width = [Width::V128, Width::V256, Width::V512][form.l() as usize];
        column(evex, width)
    }

    fn encoding(form: Code) -> (u32, MandatoryPrefix, OpCodeTableKind) {
        let form = form.op_code();
        (form.op_code(), form.mandatory_prefix(), form.table())
    }

    fn name_of(mnemonic: Mnemonic) -> String {
        format!("{mnemonic:?}").to_uppercase()
    }

    #[test]
    fn a_row_is_one_instruction_and_each_form_stands_in_its_column() {
        for (name, Row(row)) in ROWS {
            let forms = || row.iter().filter(|form| **form != Code::INVALID);
            let last = *forms().next_back().expect("a row has a form");
            let (mnemonic, _) = name.split_once('_').unwrap_or((name, ""));
            assert_eq!(mnemonic, name_of(last.mnemonic()));
            for (column, &form) in row.iter().enumerate() {
                if form != Code::INVALID {
                    assert_eq!(place(form), column, "{name}: {form:?}");
                    assert_eq!(encoding(form), encoding(last), "{name}: {form:?}");
                }
            }
        }
    }

    #[test]
    fn lanes_of_64_bits_have_the_width_bit() {
        for (name, Lanes(Row(narrow), Row(wide))) in LANES {
            let evex = narrow.iter().zip(wide).skip(2);
            for (&narrow, &wide) in evex.filter(|forms| *forms.1 != Code::INVALID) {
                assert_eq!(wide.op_code().w(), 1, "{name}: {wide:?}");
                // Products of 32-bit numbers are lanes of 64 bits.
                assert!(narrow.op_code().w() == 0 || narrow == wide, "{name}");
            }
        }
    }

    #[test]
    fn masks_have_an_instruction_for_bytes_and_one_for_words() {
        for (name, OnMasks(bytes, words)) in MASKS {
            let (mnemonic, _) = name.split_once('_').unwrap_or((name, ""));
            assert_eq!(format!("{mnemonic}B"), name_of(bytes.mnemonic()));
            assert_eq!(format!("{mnemonic}W"), name_of(words.mnemonic()));
            assert_eq!(encoding(*bytes).0, encoding(*words).0, "{name}");
        }
    }
}
