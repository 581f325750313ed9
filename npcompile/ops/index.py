"""Where each operator's record is defined, and the functions that it stands for.

Written by ``tools/operators.py`` from the definitions; do not edit.  A module is followed by the
names without a function of their own, by those that stand for NumPy's function of that name (after
``numpy:``, or ``eager:`` where npcompile's namespace has a ufunc of it), and by the other names,
each with its functions' paths, after ``-`` and with commas between them.
"""

INDEX = """
npcompile.ops.arithmetic add.outer subtract.outer multiply.outer divide.outer
  numpy: add subtract multiply divide negative positive square reciprocal
  eager: sqrt
npcompile.ops.bitwise bitwise_and.outer bitwise_or.outer bitwise_xor.outer left_shift.outer
npcompile.ops.bitwise right_shift.outer
  numpy: bitwise_and bitwise_or bitwise_xor invert left_shift right_shift bitwise_count
npcompile.ops.builtin
  - python.abs builtins:abs, python.divmod builtins:divmod, python.pow builtins:pow
  - python.round builtins:round, python.min builtins:min, python.max builtins:max
  - math.sqrt math:sqrt, math.fabs math:fabs, math.sin math:sin, math.cos math:cos
  - math.tan math:tan, math.asin math:asin, math.acos math:acos, math.atan math:atan
  - math.sinh math:sinh, math.cosh math:cosh, math.tanh math:tanh, math.asinh math:asinh
  - math.acosh math:acosh, math.atanh math:atanh, math.exp math:exp, math.exp2 math:exp2
  - math.expm1 math:expm1, math.log1p math:log1p, math.log2 math:log2, math.log10 math:log10
  - math.cbrt math:cbrt, math.erf math:erf, math.erfc math:erfc, math.gamma math:gamma
  - math.lgamma math:lgamma, math.log math:log, math.isnan math:isnan, math.isinf math:isinf
  - math.isfinite math:isfinite, math.floor math:floor, math.ceil math:ceil
  - math.trunc math:trunc, math.degrees math:degrees, math.radians math:radians
  - math.copysign math:copysign, math.atan2 math:atan2, math.hypot math:hypot
  - math.fmod math:fmod, math.ldexp math:ldexp, math.pow math:pow, math.frexp math:frexp
  - math.modf math:modf
npcompile.ops.casting
  - astype numpy:ndarray.astype numpy:astype, cast.bool numpy:bool, cast.int8 numpy:int8
  - cast.uint8 numpy:uint8, cast.int16 numpy:int16, cast.uint16 numpy:uint16
  - cast.int32 numpy:int32, cast.uint32 numpy:uint32, cast.int64 numpy:int64
  - cast.uint64 numpy:uint64, cast.longlong numpy:longlong, cast.ulonglong numpy:ulonglong
  - cast.float16 numpy:float16, cast.float32 numpy:float32, cast.float64 numpy:float64
  - cast.complex64 numpy:complex64, cast.complex128 numpy:complex128, python.int builtins:int
  - python.float builtins:float, python.complex builtins:complex, python.bool builtins:bool
npcompile.ops.closeness
  numpy: isclose allclose
npcompile.ops.comparison less.outer less_equal.outer greater.outer greater_equal.outer
npcompile.ops.comparison equal.outer not_equal.outer logical_and.outer logical_or.outer
npcompile.ops.comparison logical_xor.outer maximum.ordered minimum.ordered maximum.outer
npcompile.ops.comparison minimum.outer fmax.outer fmin.outer
  numpy: less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor
  numpy: logical_not isnan isinf isfinite isposinf isneginf maximum minimum fmax fmin clip.loop
  numpy: nan_to_num
  - clip.function numpy:clip, clip numpy:ndarray.clip, where.choose numpy:where
npcompile.ops.complex_math
  - cmath.exp cmath:exp, cmath.sqrt cmath:sqrt, cmath.log10 cmath:log10, cmath.sin cmath:sin
  - cmath.cos cmath:cos, cmath.tan cmath:tan, cmath.sinh cmath:sinh, cmath.cosh cmath:cosh
  - cmath.tanh cmath:tanh, cmath.asin cmath:asin, cmath.acos cmath:acos, cmath.atan cmath:atan
  - cmath.asinh cmath:asinh, cmath.acosh cmath:acosh, cmath.atanh cmath:atanh
  - cmath.log cmath:log, cmath.phase cmath:phase, cmath.polar cmath:polar, cmath.rect cmath:rect
  - cmath.isnan cmath:isnan, cmath.isinf cmath:isinf, cmath.isfinite cmath:isfinite
npcompile.ops.complexes scalar_multiply python_divide
  numpy: conjugate isreal iscomplex angle
  - conjugate.method numpy:ndarray.conj numpy:ndarray.conjugate
  - python.conjugate builtins:complex.conjugate builtins:float.conjugate, real_part numpy:real
  - imag_part numpy:imag
npcompile.ops.contraction
  numpy: inner vdot outer tensordot
  - matmul numpy:matmul operator:matmul, dot numpy:dot numpy:ndarray.dot
npcompile.ops.correlation
  numpy: correlate convolve
  - npcompile.ops.correlation:slid npcompile.ops.correlation:slid
npcompile.ops.covariances
  numpy: cov corrcoef
npcompile.ops.creation
  numpy: zeros zeros_like ones ones_like empty empty_like full full_like array asarray asanyarray
  numpy: ascontiguousarray asfortranarray ndarray.fill copyto
npcompile.ops.differences
  numpy: diff trapezoid unwrap gradient
npcompile.ops.divisions floor_divide.outer remainder.outer fmod.outer divmod.outer
  numpy: floor_divide remainder fmod divmod
npcompile.ops.divisors
  numpy: gcd lcm
npcompile.ops.editing
  numpy: select insert delete ediff1d triu_indices tril_indices triu_indices_from
  numpy: tril_indices_from
npcompile.ops.finding
  numpy: argwhere ix_ flatnonzero extract compress ndarray.compress
  - nonzero numpy:nonzero numpy:ndarray.nonzero
npcompile.ops.float_parts ldexp.outer modf.fraction modf.whole frexp.mantissa frexp.exponent
  numpy: ldexp modf frexp
npcompile.ops.gathers add.at subtract.at multiply.at divide.at maximum.at minimum.at
npcompile.ops.gathers bitwise_and.at bitwise_or.at bitwise_xor.at logical_and.at logical_or.at
npcompile.ops.gathers logical_xor.at
  numpy: take ndarray.take take_along_axis put_along_axis choose bincount
  - put numpy:put numpy:ndarray.put
npcompile.ops.histograms
  numpy: histogram
npcompile.ops.joining
  numpy: stack vstack hstack dstack column_stack append tile roll pad
  - concatenate numpy:concatenate numpy:concat, repeat numpy:repeat numpy:ndarray.repeat
npcompile.ops.library
  numpy: sort partition
  - argsort numpy:argsort numpy:ndarray.argsort
  - argpartition numpy:argpartition numpy:ndarray.argpartition
npcompile.ops.numerals
  - python.bit_length builtins:int.bit_length, python.bit_count builtins:int.bit_count
  - python.is_integer builtins:float.is_integer numpy:floating.is_integer numpy:float64.is_integer
npcompile.ops.order_statistics
  numpy: median nanmedian quantile percentile nanquantile nanpercentile
npcompile.ops.polynomials
  numpy: polyval vander polyfit
npcompile.ops.powers power.outer scalar_power
  eager: power
npcompile.ops.queries
  numpy: shape ndim size ndarray.item array_equal
npcompile.ops.ranges
  numpy: arange linspace meshgrid indices eye identity tri tril triu diag fill_diagonal diagflat
npcompile.ops.reductions add.reduce multiply.reduce minimum.reduce maximum.reduce
npcompile.ops.reductions logical_and.reduce logical_or.reduce bitwise_and.reduce
npcompile.ops.reductions bitwise_or.reduce bitwise_xor.reduce
  - sum numpy:sum numpy:ndarray.sum, prod numpy:prod numpy:ndarray.prod
  - min numpy:min numpy:amin numpy:ndarray.min, max numpy:max numpy:amax numpy:ndarray.max
  - all numpy:all numpy:ndarray.all, any numpy:any numpy:ndarray.any
npcompile.ops.rounding
  numpy: floor ceil trunc rint fix
  - round numpy:round numpy:around numpy:ndarray.round
npcompile.ops.scans add.accumulate multiply.accumulate minimum.accumulate maximum.accumulate
npcompile.ops.scans logical_and.accumulate logical_or.accumulate bitwise_and.accumulate
npcompile.ops.scans bitwise_or.accumulate bitwise_xor.accumulate
  numpy: cumulative_sum cumulative_prod nancumsum nancumprod
  - cumsum numpy:cumsum numpy:ndarray.cumsum, cumprod numpy:cumprod numpy:ndarray.cumprod
npcompile.ops.searching
  numpy: searchsorted ndarray.searchsorted digitize interp
  - npcompile.ops.searching:lines npcompile.ops.searching:lines
npcompile.ops.selection
  numpy: flip flipud fliplr rot90 array_split split vsplit hsplit dsplit
  - diagonal numpy:diagonal numpy:ndarray.diagonal, trace numpy:trace numpy:ndarray.trace
npcompile.ops.sets
  numpy: unique unique_counts unique_inverse unique_all union1d intersect1d setxor1d setdiff1d
  numpy: isin
npcompile.ops.signs copysign.outer heaviside.outer
  numpy: fabs copysign signbit heaviside deg2rad radians rad2deg degrees
  eager: absolute sign
npcompile.ops.statistics
  numpy: average count_nonzero ptp nansum nanprod nanmin nanmax nanargmin nanargmax nanmean
  numpy: nanvar nanstd
  - mean numpy:mean numpy:ndarray.mean, var numpy:var numpy:ndarray.var
  - std numpy:std numpy:ndarray.std, argmin numpy:argmin numpy:ndarray.argmin
  - argmax numpy:argmax numpy:ndarray.argmax
npcompile.ops.tapers
  numpy: bartlett hanning hamming blackman kaiser logspace geomspace
  - numpy.i0 numpy:i0
npcompile.ops.views
  numpy: transpose ndarray.transpose moveaxis rollaxis copy ndarray.copy ndarray.flatten reshape
  numpy: ndarray.reshape expand_dims atleast_1d atleast_2d atleast_3d ndarray.view broadcast_to
  numpy: broadcast_arrays
  - matrix_transpose numpy:matrix_transpose numpy:linalg.matrix_transpose
  - swapaxes numpy:swapaxes numpy:ndarray.swapaxes, ravel numpy:ravel numpy:ndarray.ravel
  - squeeze numpy:squeeze numpy:ndarray.squeeze
  - numpy.lib.stride_tricks:sliding_window_view numpy.lib.stride_tricks:sliding_window_view
npcompile.special.axes log1p.quiet log.quiet
  - softmax scipy.special:softmax, log_softmax scipy.special:log_softmax
  - logsumexp scipy.special:logsumexp
npcompile.special.elementary.nextafter nextafter.outer
  numpy: nextafter spacing
npcompile.special.elementary_records arctan2.outer hypot.outer logaddexp.outer logaddexp2.outer
npcompile.special.elementary_records sqrt.complex pow float_power.outer
  numpy: sinc
  eager: exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arctan arcsin arccos
  eager: arcsinh arccosh arctanh cbrt arctan2 hypot logaddexp logaddexp2 float_power
npcompile.special.scipy_compositions polygamma.values
  - zeta scipy.special:zeta, polygamma scipy.special:polygamma, comb scipy.special:comb
  - perm scipy.special:perm, factorial scipy.special:factorial, softplus scipy.special:softplus
  - spherical_jn scipy.special:spherical_jn, spherical_yn scipy.special:spherical_yn
  - spherical_in scipy.special:spherical_in, spherical_kn scipy.special:spherical_kn
  - lambertw scipy.special:lambertw
npcompile.special.scipy_programs
  - expit scipy.special:expit, logit scipy.special:logit, log_expit scipy.special:log_expit
  - xlogy scipy.special:xlogy, xlog1py scipy.special:xlog1py, special.exp2 scipy.special:exp2
  - special.expm1 scipy.special:expm1, special.log1p scipy.special:log1p
  - special.cbrt scipy.special:cbrt, entr scipy.special:entr, exp10 scipy.special:exp10
  - erf scipy.special:erf, erfc scipy.special:erfc, ndtr scipy.special:ndtr
  - gammaln scipy.special:gammaln, gamma scipy.special:gamma, rgamma scipy.special:rgamma
  - psi scipy.special:psi scipy.special:digamma, erfinv scipy.special:erfinv
  - erfcinv scipy.special:erfcinv, ndtri scipy.special:ndtri, erfcx scipy.special:erfcx
  - log_ndtr scipy.special:log_ndtr, i0 scipy.special:i0, i0e scipy.special:i0e
  - i1 scipy.special:i1, i1e scipy.special:i1e, k0 scipy.special:k0, k0e scipy.special:k0e
  - k1 scipy.special:k1, k1e scipy.special:k1e, j0 scipy.special:j0, j1 scipy.special:j1
  - y0 scipy.special:y0, y1 scipy.special:y1, dawsn scipy.special:dawsn, erfi scipy.special:erfi
  - exp1 scipy.special:exp1, wofz scipy.special:wofz
npcompile.special.scipy_subprograms
  - gammainc scipy.special:gammainc, gammaincc scipy.special:gammaincc
  - betainc scipy.special:betainc, beta scipy.special:beta, betaln scipy.special:betaln
  - _zeta scipy.special._ufuncs:_zeta, _riemann_zeta scipy.special._ufuncs:_riemann_zeta
  - chdtr scipy.special:chdtr, chdtrc scipy.special:chdtrc, gdtr scipy.special:gdtr
  - gdtrc scipy.special:gdtrc, pdtr scipy.special:pdtr, pdtrc scipy.special:pdtrc
  - fdtr scipy.special:fdtr, fdtrc scipy.special:fdtrc, stdtr scipy.special:stdtr
  - ellipk scipy.special:ellipk, ellipkm1 scipy.special:ellipkm1, ellipe scipy.special:ellipe
  - gammaincinv scipy.special:gammaincinv, gammainccinv scipy.special:gammainccinv
  - chdtri scipy.special:chdtri, betaincinv scipy.special:betaincinv
  - betainccinv scipy.special:betainccinv, bdtr scipy.special:bdtr, bdtrc scipy.special:bdtrc
  - bdtri scipy.special:bdtri, nbdtr scipy.special:nbdtr, nbdtrc scipy.special:nbdtrc
  - nbdtri scipy.special:nbdtri, pdtri scipy.special:pdtri, gdtrix scipy.special:gdtrix
  - fdtri scipy.special:fdtri, stdtrit scipy.special:stdtrit, binom scipy.special:binom
  - poch scipy.special:poch, gammasgn scipy.special:gammasgn, boxcox scipy.special:boxcox
  - boxcox1p scipy.special:boxcox1p, inv_boxcox scipy.special:inv_boxcox
  - inv_boxcox1p scipy.special:inv_boxcox1p, huber scipy.special:huber
  - pseudo_huber scipy.special:pseudo_huber, rel_entr scipy.special:rel_entr
  - kl_div scipy.special:kl_div, exprel scipy.special:exprel, cosm1 scipy.special:cosm1
  - powm1 scipy.special:powm1, expi scipy.special:expi, expn scipy.special:expn
  - zetac scipy.special:zetac, spence scipy.special:spence, elliprf scipy.special:elliprf
  - elliprc scipy.special:elliprc, elliprd scipy.special:elliprd, elliprg scipy.special:elliprg
  - elliprj scipy.special:elliprj, modstruve scipy.special:modstruve
  - ellipkinc scipy.special:ellipkinc, ellipeinc scipy.special:ellipeinc, agm scipy.special:agm
  - yn scipy.special:yn, kn scipy.special:kn, _spherical_jn scipy.special._ufuncs:_spherical_jn
  - _spherical_yn scipy.special._ufuncs:_spherical_yn
  - _spherical_in scipy.special._ufuncs:_spherical_in
  - _spherical_kn scipy.special._ufuncs:_spherical_kn
  - eval_genlaguerre scipy.special:eval_genlaguerre
  - eval_gegenbauer scipy.special:eval_gegenbauer, owens_t scipy.special:owens_t
  - voigt_profile scipy.special:voigt_profile, wrightomega scipy.special:wrightomega
  - eval_jacobi scipy.special:eval_jacobi, jv scipy.special:jv scipy.special:jn scipy.special:jve
  - yv scipy.special:yv scipy.special:yve, iv scipy.special:iv, kv scipy.special:kv
  - ive scipy.special:ive, kve scipy.special:kve, hankel1 scipy.special:hankel1
  - hankel1e scipy.special:hankel1e, hankel2 scipy.special:hankel2
  - hankel2e scipy.special:hankel2e, _lambertw scipy.special._ufuncs:_lambertw
  - eval_chebyt scipy.special:eval_chebyt, eval_chebyu scipy.special:eval_chebyu
  - eval_sh_chebyt scipy.special:eval_sh_chebyt, eval_sh_chebyu scipy.special:eval_sh_chebyu
  - eval_chebyc scipy.special:eval_chebyc, eval_chebys scipy.special:eval_chebys
  - eval_legendre scipy.special:eval_legendre, eval_sh_legendre scipy.special:eval_sh_legendre
  - eval_laguerre scipy.special:eval_laguerre, eval_hermite scipy.special:eval_hermite
  - eval_hermitenorm scipy.special:eval_hermitenorm
npcompile.special.scipy_tuples sici.0 sici.1 shichi.0 shichi.1 fresnel.0 fresnel.1 airy.0 airy.1
npcompile.special.scipy_tuples airy.2 airy.3 ellipj.0 ellipj.1 ellipj.2 ellipj.3
  - sici scipy.special:sici, shichi scipy.special:shichi, fresnel scipy.special:fresnel
  - airy scipy.special:airy, ellipj scipy.special:ellipj
npcompile.fft.cosines
  - scipy.fft:dct scipy.fft:dct, scipy.fft:dctn scipy.fft:dctn, scipy.fft:idct scipy.fft:idct
  - scipy.fft:idctn scipy.fft:idctn, scipy.fft:dst scipy.fft:dst, scipy.fft:dstn scipy.fft:dstn
  - scipy.fft:idst scipy.fft:idst, scipy.fft:idstn scipy.fft:idstn
npcompile.fft.frequencies
  numpy: fft.fftfreq fft.rfftfreq
  - fft.fftshift numpy:fft.fftshift scipy.fft:fftshift
  - fft.ifftshift numpy:fft.ifftshift scipy.fft:ifftshift, scipy.fft:fftfreq scipy.fft:fftfreq
  - scipy.fft:rfftfreq scipy.fft:rfftfreq, scipy.fft:next_fast_len scipy.fft:next_fast_len
  - scipy.fft:prev_fast_len scipy.fft:prev_fast_len
npcompile.fft.records
  numpy: fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fftn fft.ifftn fft.fft2
  numpy: fft.ifft2 fft.rfftn fft.rfft2 fft.irfftn fft.irfft2
npcompile.fft.scipy_records
  - scipy.fft:fft scipy.fft:fft, scipy.fft:ifft scipy.fft:ifft, scipy.fft:rfft scipy.fft:rfft
  - scipy.fft:irfft scipy.fft:irfft, scipy.fft:hfft scipy.fft:hfft
  - scipy.fft:ihfft scipy.fft:ihfft, scipy.fft:fftn scipy.fft:fftn, scipy.fft:fft2 scipy.fft:fft2
  - scipy.fft:ifftn scipy.fft:ifftn, scipy.fft:ifft2 scipy.fft:ifft2
  - scipy.fft:rfftn scipy.fft:rfftn, scipy.fft:rfft2 scipy.fft:rfft2
  - scipy.fft:ihfftn scipy.fft:ihfftn, scipy.fft:ihfft2 scipy.fft:ihfft2
  - scipy.fft:irfftn scipy.fft:irfftn, scipy.fft:irfft2 scipy.fft:irfft2
  - scipy.fft:hfftn scipy.fft:hfftn, scipy.fft:hfft2 scipy.fft:hfft2
npcompile.linalg.compositions
  numpy: linalg.matmul linalg.outer linalg.tensordot linalg.diagonal linalg.trace
  numpy: linalg.matrix_power linalg.multi_dot kron linalg.cond linalg.matrix_rank linalg.pinv
  - cross numpy:cross numpy:linalg.cross
npcompile.linalg.factorisations
  numpy: linalg.solve linalg.inv linalg.det linalg.slogdet linalg.cholesky linalg.qr linalg.eigh
  numpy: linalg.eigvalsh linalg.svd linalg.svdvals
npcompile.linalg.general
  numpy: linalg.eig linalg.eigvals linalg.lstsq linalg.tensorsolve linalg.tensorinv
  - npcompile.linalg.general:complex_eig npcompile.linalg.general:complex_eig
  - npcompile.linalg.general:complex_eigvals npcompile.linalg.general:complex_eigvals
  - npcompile.linalg.general:least_squares npcompile.linalg.general:least_squares
npcompile.linalg.norms
  numpy: linalg.norm linalg.vector_norm linalg.matrix_norm
npcompile.linalg.scipy_factors
  - scipy.linalg:lu_factor scipy.linalg:lu_factor, scipy.linalg:lu_solve scipy.linalg:lu_solve
  - scipy.linalg:cholesky scipy.linalg:cholesky, scipy.linalg:cho_factor scipy.linalg:cho_factor
  - scipy.linalg:cho_solve scipy.linalg:cho_solve
  - scipy.linalg:solve_triangular scipy.linalg:solve_triangular, scipy.linalg:qr scipy.linalg:qr
  - scipy.linalg:svd scipy.linalg:svd, scipy.linalg:svdvals scipy.linalg:svdvals
  - scipy.linalg:eigh scipy.linalg:eigh, scipy.linalg:eigvalsh scipy.linalg:eigvalsh
npcompile.linalg.scipy_matrices
  - scipy.linalg:toeplitz scipy.linalg:toeplitz, scipy.linalg:hankel scipy.linalg:hankel
  - scipy.linalg:circulant scipy.linalg:circulant, scipy.linalg:companion scipy.linalg:companion
  - scipy.linalg:leslie scipy.linalg:leslie, scipy.linalg:helmert scipy.linalg:helmert
  - scipy.linalg:hilbert scipy.linalg:hilbert, scipy.linalg:fiedler scipy.linalg:fiedler
  - scipy.linalg:block_diag scipy.linalg:block_diag
  - scipy.linalg:convolution_matrix scipy.linalg:convolution_matrix
  - scipy.linalg:lu scipy.linalg:lu, scipy.linalg:inv scipy.linalg:inv
  - scipy.linalg:solve scipy.linalg:solve, scipy.linalg:det scipy.linalg:det
  - scipy.linalg:pinv scipy.linalg:pinv, scipy.linalg:norm scipy.linalg:norm
  - scipy.linalg:orthogonal_procrustes scipy.linalg:orthogonal_procrustes
npcompile.linalg.sums
  numpy: einsum matvec vecmat
  - vecdot numpy:vecdot numpy:linalg.vecdot
"""

#: the module of each name, and the name of each function's path
MODULES: dict[str, str] = {}
ALIASES: dict[str, str] = {}
#: the names of the ufuncs in npcompile's namespace
EAGER: set[str] = set()


def _read() -> None:
    module = ""
    for line in INDEX.strip().splitlines():
        words = line.split()
        if line.startswith("npcompile."):
            module, *names = words
        elif words[0] in ("numpy:", "eager:"):
            names = words[1:]
            EAGER.update(names if words[0] == "eager:" else ())
            ALIASES.update({f"numpy:{name}": name for name in names})
        else:
            names = []
            for text in line.partition("- ")[2].split(","):
                name, *paths = text.split()
                names.append(name)
                ALIASES.update(dict.fromkeys(paths, name))
        MODULES.update(dict.fromkeys(names, module))


_read()
