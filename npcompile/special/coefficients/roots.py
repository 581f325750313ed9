"""Constants: roots; made by tools/elementary_coefficients.py.

Keys are dtype characters.  Each polynomial is given with the largest error of its machine
coefficients, weighted as the table says.
"""

# fmt: off
_ = float.fromhex

# The number from which a third of the upper bits of x is taken, as a float of 1.5 * 2**p and
# more, for the upper bits of an inverse cube root.
CBRT_START = {
    "d": (_("1.d54199999999ap+52"),),
    "f": (_("1.d4b778p+23"),),
}

# c**(-1/3) where c is what CBRT_START leaves of the cube's relative error, relative error.
CBRT = {
    # largest error 2**-34.0
    "d": (
        _("1.e0ba11828b9c9p+0"), _("-1.fd608611119dap+0"), _("1.00db3643dc89dp+1"),
        _("-1.524573ae54c28p+0"), _("1.133392f232246p-1"), _("-1.f82fde4705d8dp-4"),
        _("1.8ea7114fa9b68p-7"),
    ),
    # largest error 2**-19.9
    "f": (_("1.8a2136p+0"), _("-1.a17b68p-1"), _("1.50821cp-2"), _("-1.ba798ap-5"),),
}
