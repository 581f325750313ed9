"""Constants: roots; made by tools/elementary_coefficients.py.

Keys are dtype characters.  Each polynomial is given with the largest error of its machine
coefficients, weighted as the table says.
"""

# fmt: off
_ = float.fromhex

# m**(-1/3) on [1, 8], relative error.
CBRT = {
    # largest error 2**-9.6
    "d": (
        _("1.80929341445e8p+0"), _("-1.86656fdbdec47p-1"), _("1.56ad81a1450d3p-2"),
        _("-1.6811f70bc3dap-4"), _("1.b1311d7d535dcp-7"), _("-1.12ca187ea972ap-10"),
        _("1.1c76765ef0406p-15"),
    ),
    # largest error 2**-7.2
    "f": (
        _("1.566298p+0"), _("-1.c30f04p-2"), _("1.bbd44cp-4"), _("-1.a8bffp-7"), _("1.3226eep-11"),
    ),
}
