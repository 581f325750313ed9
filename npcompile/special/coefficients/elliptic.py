"""Constants: elliptic; made by tools/elliptic_coefficients.py.

Keys are dtype characters.  Each polynomial is given with the largest error of its machine
coefficients, weighted as the table says.
"""

# fmt: off
_ = float.fromhex

# K(m) for m <= 1/2.
FIRST = {
    # largest error 2**-54.5
    "d": (
        _("1.921fb54442d18p+0"), _("1.921fb54443469p-2"), _("1.c463abebc6136p-3"),
        _("1.3a28c61294c6cp-3"), _("1.e10e36971e21ap-4"), _("1.85b00dce3a7a5p-4"),
        _("1.469dafda9d9bbp-4"), _("1.2889c5659e334p-4"), _("1.f88b28a5bfa85p-7"),
        _("1.fdc4a4e1cead5p-2"), _("-1.a71d2331931afp+1"), _("1.3cf952d226cep+4"),
        _("-1.6e02bb3ac4654p+6"), _("1.4e694fc935acbp+8"), _("-1.e123b7c479553p+9"),
        _("1.0f2606530357dp+11"), _("-1.d8e9dd4d12d15p+11"), _("1.38905e37ce895p+12"),
        _("-1.2e946db5918aep+12"), _("1.94a0bfecf429ap+11"), _("-1.4e03f45dca091p+10"),
        _("1.00c0c16cdbe24p+8"),
    ),
}

# E(m) for m <= 1/2.
SECOND = {
    # largest error 2**-54.5
    "d": (
        _("1.921fb54442d18p+0"), _("-1.921fb544425ddp-2"), _("-1.2d97c7f52f95dp-4"),
        _("-1.f6a79f0d8e132p-6"), _("-1.12e48239838c3p-6"), _("-1.5a1e83458c77cp-7"),
        _("-1.e8375e26b113cp-8"), _("-1.1329e92c60e61p-9"), _("-1.7328e6d1bcb2bp-5"),
        _("1.97fca29eac58ap-2"), _("-1.816246c385819p+1"), _("1.191db43047eaap+4"),
        _("-1.42bb89327761cp+6"), _("1.2431edb724521p+8"), _("-1.a0e696ca54c28p+9"),
        _("1.d1d7f05c83f3ap+10"), _("-1.92b0584397259p+11"), _("1.07b772b5b07cap+12"),
        _("-1.f9a3970d228fdp+11"), _("1.4e8105b0cf8b8p+11"), _("-1.10d555a37d1abp+10"),
        _("1.9d6203a8f06dcp+7"),
    ),
}

# (K(m) - E(m)) / m for m <= 1/2.
DIFFERENCE = {
    # largest error 2**-54.5
    "d": (
        _("1.921fb54442d18p-1"), _("1.2d97c7f33257dp-2"), _("1.78fdb9ef7b367p-3"),
        _("1.12e3ad24edc5ep-3"), _("1.b0f3471d6fa4cp-4"), _("1.653360275d05bp-4"),
        _("1.2f9f064f95f24p-4"), _("1.0ff93c3f2515dp-4"), _("1.15e8891e21c3dp-5"),
        _("1.1fb5bdfbe6e51p-2"), _("-1.b225d7e4ded73p+0"), _("1.4b3b26b4113fap+3"),
        _("-1.7f27fa5eb712cp+5"), _("1.5fb3a5ed0e862p+7"), _("-1.fc27cc193946p+8"),
        _("1.1fb352c15f274p+10"), _("-1.f83bd6b62b55bp+10"), _("1.4f0ab5fda097cp+11"),
        _("-1.463e801d4f75cp+11"), _("1.b72e64f4dac73p+10"), _("-1.6d59fb48a248cp+9"),
        _("1.1b904c83377dbp+7"),
    ),
}

# K(1 - p) + log(p) * K(p) / pi for p <= 1/2 (DLMF 19.12.1).
FIRST_REST = {
    # largest error 2**-54.7
    "d": (
        _("1.62e42fefa39efp+0"), _("1.8b90bfbe8fdd1p-4"), _("1.fa05af66a195p-6"),
        _("1.e979b2004864cp-7"), _("1.1f3fdbaf3f17ap-7"), _("1.7987dd9d26ef3p-8"),
        _("1.00f29fa19f9a3p-8"), _("1.6c568d91b75cdp-8"), _("-1.f3e5b53056f54p-6"),
        _("1.4aae56ae9555dp-2"), _("-1.34f14d1475253p+1"), _("1.c5414cda3f7c7p+3"),
        _("-1.0513dba091274p+6"), _("1.da6baec3ff82cp+7"), _("-1.538f565506dc1p+9"),
        _("1.7c9b45a37ced4p+10"), _("-1.49fab32660dcbp+11"), _("1.b16aaa52e9f1ap+11"),
        _("-1.a0a06e3ad8dcp+11"), _("1.1455a4210a183p+11"), _("-1.c3eb0f877536bp+9"),
        _("1.573a48fb131e2p+7"),
    ),
}

# E(1 - p) + log(p) * (K(p) - E(p)) / pi for p <= 1/2 (DLMF 19.12.2).
SECOND_REST = {
    # largest error 2**-65.0
    "d": (
        _("1p+0"), _("1.c5c85fdf473dfp-2"), _("1.d1591f9dd54e8p-5"), _("1.65af6785b7f9cp-6"),
        _("1.7a4a76bf3cf9cp-7"), _("1.d40ef372f4822p-8"), _("1.3e273f12226e5p-8"),
        _("1.ccf1a561bb067p-9"), _("1.594d950a724d9p-9"), _("1.36eb15aa34cf2p-9"),
        _("-1.2fc2fe11cd82ap-11"), _("1.f52588877b114p-7"), _("-1.0f3d6f2d59eadp-4"),
        _("1.08ba211f7912bp-2"), _("-1.8d4774cc39514p-1"), _("1.d6f0021d3c6bcp+0"),
        _("-1.b04e701b866e2p+1"), _("1.2e2f87fd965aap+2"), _("-1.36d019ccfd575p+2"),
        _("1.bce1b04b4811bp+1"), _("-1.8cc5581a43f7dp+0"), _("1.4f6bca8ac3ce3p-2"),
    ),
}
