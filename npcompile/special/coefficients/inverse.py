"""Constants: inverse; made by tools/elementary_coefficients.py.

Keys are dtype characters.  Each polynomial is given with the largest error of its machine
coefficients, weighted as the table says.
"""

# fmt: off
_ = float.fromhex

# (atan(t) - t) / t**3 in z = t**2 on |t| <= tan(atan(1/2)/2), error relative to t.
ARCTAN = {
    # largest error 2**-66.8
    "d": (
        _("-1.5555555555555p-2"), _("1.99999999997b5p-3"), _("-1.2492492474a1ap-3"),
        _("1.c71c71aa91679p-4"), _("-1.745d0f7854a6dp-4"), _("1.3b12653d05302p-4"),
        _("-1.10eead356c2f8p-4"), _("1.dd7dac734bf55p-5"), _("-1.8553a2ed2189ap-5"),
        _("1.77c0d256f4998p-6"),
    ),
    # largest error 2**-33.2
    "f": (_("-1.555552p-2"), _("1.9994d2p-3"), _("-1.2385f4p-3"), _("1.98908cp-4"),),
}

# atan(c) for c of 0, 1/2 and 1, then pi/2 less those, in two parts.
ARCTAN_BASES = {
    "d": (
        (
            _("0p+0"), _("1.dac670561bb4fp-2"), _("1.921fb54442d18p-1"), _("0p+0"),
            _("1.921fb54442d18p+0"), _("1.1b6e192ebbe44p+0"), _("1.921fb54442d18p-1"), _("0p+0"),
        ),
        (
            _("0p+0"), _("1.a2b7f222f65e2p-56"), _("1.1a62633145c07p-55"), _("0p+0"),
            _("1.1a62633145c07p-54"), _("1.b1b466a88828ep-54"), _("1.1a62633145c07p-55"),
            _("0p+0"),
        ),
    ),
    "f": (
        (
            _("0p+0"), _("1.dac67p-2"), _("1.921fb6p-1"), _("0p+0"), _("1.921fb6p+0"),
            _("1.1b6e1ap+0"), _("1.921fb6p-1"), _("0p+0"),
        ),
        (
            _("0p+0"), _("1.586ed4p-28"), _("-1.777a5cp-26"), _("0p+0"), _("-1.777a5cp-25"),
            _("-1.a28838p-25"), _("-1.777a5cp-26"), _("0p+0"),
        ),
    ),
}

# pi/2 and pi, each in two parts.
TURNS = {
    "d": (
        (_("1.921fb54442d18p+0"), _("1.1a62633145c07p-54"),),
        (_("1.921fb54442d18p+1"), _("1.1a62633145c07p-53"),),
    ),
    "f": (
        (_("1.921fb6p+0"), _("-1.777a5cp-25"),),
        (_("1.921fb6p+1"), _("-1.777a5cp-24"),),
    ),
}

# (asin(s) - s) / s**3 in z = s**2 on |s| <= 1/2, error relative to s.
ARCSIN = {
    # largest error 2**-59.8
    "d": (
        _("1.5555555555578p-3"), _("1.333333332df3ep-4"), _("1.6db6db7228069p-5"),
        _("1.f1c71a8d4cae1p-6"), _("1.6e8bdfada3a32p-6"), _("1.1c49e28a7c5e7p-6"),
        _("1.ca20ccb32893cp-7"), _("1.757bac5fb0a4bp-7"), _("1.61722548a54f1p-7"),
        _("1.e2e2b717e31c6p-9"), _("1.648569ba2be1dp-6"), _("-1.593efe32b6e37p-6"),
        _("1.0ba8ecbfda2d8p-5"),
    ),
    # largest error 2**-27.6
    "f": (
        _("1.5555cap-3"), _("1.33016ep-4"), _("1.74899cp-5"), _("1.8bbb98p-6"), _("1.59c6cap-5"),
    ),
}
