"""Constants: quadrature; made by tools/quadrature_coefficients.py.

Keys are dtype characters.  Each polynomial is given with the largest error of its machine
coefficients, weighted as the table says.
"""

# fmt: off
_ = float.fromhex

# cosh(t) - 1 at the points t = k*h of the rule for K, from k = 1 on, a column for each of the
# intervals of x that begin at 1, 2, 8 and 20; the error is the rule's up to x = 41.
HYPERBOLAS = {
    # largest error 2**-59.1
    "d": (
        (
            _("1.6dda80f8fc1c7p-6"), _("1.20d840d737e62p-6"), _("1.90d080c14a319p-7"),
            _("1.c283e5740c557p-8"),
        ),
        (
            _("1.71f0329587ec5p-4"), _("1.23640f685b58ep-4"), _("1.93440cfd77b44p-5"),
            _("1.c4104f6f5ca46p-6"),
        ),
        (
            _("1.a7ee3f98d021ap-3"), _("1.4ca2326183e2fp-3"), _("1.ca4ce2a2732fcp-4"),
            _("1.ff7c59b3081a1p-5"),
        ),
        (
            _("1.82a4e52f178ep-2"), _("1.2dc1747975a9ep-2"), _("1.9d310a496b6d1p-3"),
            _("1.ca4ce2a2732fcp-4"),
        ),
        (
            _("1.382939d05a7e8p-1"), _("1.e3f09c329819cp-2"), _("1.48b8b3fc5a68fp-2"),
            _("1.69bc91d371fdep-3"),
        ),
        (
            _("1.d3ce92d7251d9p-1"), _("1.67a583f88f999p-1"), _("1.e3f09c329819cp-2"),
            _("1.07ba102e838b7p-2"),
        ),
        (
            _("1.4d9afd3a9004ap+0"), _("1.fc0e8dfefc5b1p-1"), _("1.52062a705c89dp-1"),
            _("1.6c4a3081008bcp-2"),
        ),
        (
            _("1.cba39ada261f7p+0"), _("1.5a37843c44045p+0"), _("1.c6df7e92c8bf4p-1"),
            _("1.e3f09c329819cp-2"),
        ),
        (
            _("1.34d1089371086p+1"), _("1.cba39ada261f7p+0"), _("1.29b00abde6683p+0"),
            _("1.382939d05a7e8p-1"),
        ),
        (
            _("1.97525ab436167p+1"), _("1.2b25ab120e8eap+1"), _("1.7d7bee4b96883p+0"),
            _("1.89aee7b63f8fcp-1"),
        ),
        (
            _("1.08ddfbbf159dep+2"), _("1.7f89225a736fdp+1"), _("1.e0e0353fe2b4p+0"),
            _("1.e7a845c34a855p-1"),
        ),
        (
            _("1.54c2b3b9458b3p+2"), _("1.e5f5ecc230e61p+1"), _("1.2b25ab120e8eap+1"),
            _("1.29b00abde6683p+0"),
        ),
        (
            _("1.b2bb04532f40bp+2"), _("1.310448ca66a4dp+2"), _("1.704e56871dfbdp+1"),
            _("1.6728bc0aa11a3p+0"),
        ),
        (
            _("1.137ca3c547e9ep+3"), _("1.7c107f8b78338p+2"), _("1.c19b3c7e0ab43p+1"),
            _("1.ad16926ede36p+0"),
        ),
        (
            _("1.5b573ea5612b3p+3"), _("1.d6c503bb997f2p+2"), _("1.1084c338cb5bep+2"),
            _("1.fc6fae1f1a75p+0"),
        ),
        (
            _("1.b422d2e3481adp+3"), _("1.222a497d6185ep+3"), _("1.48776e4b30aa3p+2"),
            _("1.2b25ab120e8eap+1"),
        ),
        (
            _("1.10eb487150f37p+4"), _("1.644e0edc9a1a2p+3"), _("1.8a040268a288cp+2"),
            _("1.5df2e7a83d19cp+1"),
        ),
        (
            _("1.54ac57f29d064p+4"), _("1.b422d2e3481adp+3"), _("1.d6c503bb997f2p+2"),
            _("1.97525ab436167p+1"),
        ),
        (
            _("1.a85b38b2b01e7p+4"), _("1.0a3c95f9caa21p+4"), _("1.184d914d051ap+3"),
            _("1.d80df2e4f8225p+1"),
        ),
        (
            _("1.07da5466dd69fp+5"), _("1.445b571c910c9p+4"), _("1.4cdc7ef8c1654p+3"),
            _("1.1084c338cb5bep+2"),
        ),
        (
            _("1.47ab1f0e239a6p+5"), _("1.8a7a4a698c57cp+4"), _("1.8a587368b3ff8p+3"),
            _("1.39a2fa808cbbcp+2"),
        ),
    ),
}

# The distances of these points, and the starts of the intervals.
STEPS = {
    # largest error 0
    "d": (
        (_("1.bp-3"), _("1.8p-3"), _("1.4p-3"), _("1.ep-4"),),
        (_("1p+0"), _("1p+1"), _("1p+3"), _("1.4p+4"),),
    ),
}
