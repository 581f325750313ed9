"""Constants: owen; made by tools/integral_coefficients.py.

Keys are dtype characters.  Each polynomial is given with the largest error of its machine
coefficients, weighted as the table says.
"""

# fmt: off
_ = float.fromhex

# Nodes and weights of Gauss's quadrature on (0, 1) (DLMF 3.5.20).
GAUSS = {
    "d": (
        (
            _("1.fec496f348cc1p-1"), _("1.f987cf865fc3bp-1"), _("1.f032c2d385526p-1"),
            _("1.e2ec20c32687ap-1"), _("1.d1eba67069b8p-1"), _("1.bd78c76dceeebp-1"),
            _("1.a5e9772fd0843p-1"), _("1.8ba0bdd626b95p-1"), _("1.6f0d17607892dp-1"),
            _("1.50a6a31623a44p-1"), _("1.30ed2a85729f2p-1"), _("1.10660853eda2ep-1"),
            _("1.df33ef5824ba3p-2"), _("1.9e25aaf51ac1dp-2"), _("1.5eb2b9d3b8b78p-2"),
            _("1.21e5d13f0eda5p-2"), _("1.d17d08a7651aap-3"), _("1.685a2340bdef4p-3"),
            _("1.0a1ce248c4454p-3"), _("1.70a2cc7cb2401p-4"), _("1.d13df3cd9785bp-5"),
            _("1.f9a7a58f55b36p-6"), _("1.9e0c1e680f139p-7"), _("1.3b690cb733ec7p-9"),
        ),
        (
            _("1.9465bd3112202p-8"), _("1.d375514486f1dp-7"), _("1.6ab884f57c979p-6"),
            _("1.e5c6255d25edap-6"), _("1.2c6d5c2eff064p-5"), _("1.6108ef504463ap-5"),
            _("1.8fd8936444b16p-5"), _("1.b8177ba4a68dcp-5"), _("1.d91c78acb1b2dp-5"),
            _("1.f25cbce1d1ff6p-5"), _("1.01b7117cf8bd8p-4"), _("1.060475e763736p-4"),
            _("1.060475e763736p-4"), _("1.01b7117cf8bd8p-4"), _("1.f25cbce1d1ff6p-5"),
            _("1.d91c78acb1b2dp-5"), _("1.b8177ba4a68dcp-5"), _("1.8fd8936444b16p-5"),
            _("1.6108ef504463ap-5"), _("1.2c6d5c2eff064p-5"), _("1.e5c6255d25edap-6"),
            _("1.6ab884f57c979p-6"), _("1.d375514486f1dp-7"), _("1.9465bd3112202p-8"),
        ),
    ),
}
