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
    # largest error 2**-9.6
    "f": (
        _("1.809294p+0"), _("-1.866572p-1"), _("1.56ad84p-2"), _("-1.6811fap-4"), _("1.b13122p-7"),
        _("-1.12ca1cp-10"), _("1.1c767ap-15"),
    ),
}
