"""Where each operator's record is defined, and the functions that it stands for.

Written by ``tools/operators.py`` from the definitions; do not edit.  A module is followed by the
names without a function of their own, and by a line for each other name with its functions' paths.
"""

INDEX = """
npcompile.ops.arithmetic add.outer subtract.outer multiply.outer divide.outer floor_divide.outer
npcompile.ops.arithmetic remainder.outer fmod.outer divmod.outer copysign.outer heaviside.outer
npcompile.ops.arithmetic power.outer scalar_power ldexp.outer modf.fraction modf.whole
npcompile.ops.arithmetic frexp.mantissa frexp.exponent
  add numpy:add
  subtract numpy:subtract
  multiply numpy:multiply
  divide numpy:divide
  negative numpy:negative
  positive numpy:positive
  square numpy:square
  reciprocal numpy:reciprocal
  sqrt numpy:sqrt
  floor_divide numpy:floor_divide
  remainder numpy:remainder
  fmod numpy:fmod
  divmod numpy:divmod
  absolute numpy:absolute
  fabs numpy:fabs
  sign numpy:sign
  copysign numpy:copysign
  signbit numpy:signbit
  heaviside numpy:heaviside
  deg2rad numpy:deg2rad
  radians numpy:radians
  rad2deg numpy:rad2deg
  degrees numpy:degrees
  power numpy:power
  ldexp numpy:ldexp
  modf numpy:modf
  frexp numpy:frexp
npcompile.ops.bitwise bitwise_and.outer bitwise_or.outer bitwise_xor.outer left_shift.outer
npcompile.ops.bitwise right_shift.outer
  bitwise_and numpy:bitwise_and
  bitwise_or numpy:bitwise_or
  bitwise_xor numpy:bitwise_xor
  invert numpy:invert
  left_shift numpy:left_shift
  right_shift numpy:right_shift
  bitwise_count numpy:bitwise_count
npcompile.ops.builtin
  python.abs builtins:abs
  python.divmod builtins:divmod
  python.pow builtins:pow
  python.round builtins:round
  python.min builtins:min
  python.max builtins:max
  math.sqrt math:sqrt
  math.fabs math:fabs
  math.sin math:sin
  math.cos math:cos
  math.tan math:tan
  math.asin math:asin
  math.acos math:acos
  math.atan math:atan
  math.sinh math:sinh
  math.cosh math:cosh
  math.tanh math:tanh
  math.asinh math:asinh
  math.acosh math:acosh
  math.atanh math:atanh
  math.exp math:exp
  math.exp2 math:exp2
  math.expm1 math:expm1
  math.log1p math:log1p
  math.log2 math:log2
  math.log10 math:log10
  math.cbrt math:cbrt
  math.erf math:erf
  math.erfc math:erfc
  math.gamma math:gamma
  math.lgamma math:lgamma
  math.log math:log
  math.isnan math:isnan
  math.isinf math:isinf
  math.isfinite math:isfinite
  math.floor math:floor
  math.ceil math:ceil
  math.trunc math:trunc
  math.degrees math:degrees
  math.radians math:radians
  math.copysign math:copysign
  math.atan2 math:atan2
  math.hypot math:hypot
  math.fmod math:fmod
  math.ldexp math:ldexp
  math.pow math:pow
  math.frexp math:frexp
  math.modf math:modf
npcompile.ops.casting
  astype numpy:ndarray.astype numpy:astype
  cast.bool numpy:bool
  cast.int8 numpy:int8
  cast.uint8 numpy:uint8
  cast.int16 numpy:int16
  cast.uint16 numpy:uint16
  cast.int32 numpy:int32
  cast.uint32 numpy:uint32
  cast.int64 numpy:int64
  cast.uint64 numpy:uint64
  cast.longlong numpy:longlong
  cast.ulonglong numpy:ulonglong
  cast.float16 numpy:float16
  cast.float32 numpy:float32
  cast.float64 numpy:float64
  cast.complex64 numpy:complex64
  cast.complex128 numpy:complex128
  python.int builtins:int
  python.float builtins:float
  python.complex builtins:complex
  python.bool builtins:bool
npcompile.ops.closeness
  isclose numpy:isclose
  allclose numpy:allclose
npcompile.ops.comparison less.outer less_equal.outer greater.outer greater_equal.outer
npcompile.ops.comparison equal.outer not_equal.outer logical_and.outer logical_or.outer
npcompile.ops.comparison logical_xor.outer maximum.outer minimum.outer fmax.outer fmin.outer
  less numpy:less
  less_equal numpy:less_equal
  greater numpy:greater
  greater_equal numpy:greater_equal
  equal numpy:equal
  not_equal numpy:not_equal
  logical_and numpy:logical_and
  logical_or numpy:logical_or
  logical_xor numpy:logical_xor
  logical_not numpy:logical_not
  isnan numpy:isnan
  isinf numpy:isinf
  isfinite numpy:isfinite
  isposinf numpy:isposinf
  isneginf numpy:isneginf
  maximum numpy:maximum
  minimum numpy:minimum
  fmax numpy:fmax
  fmin numpy:fmin
  clip.loop numpy:clip.loop
  clip.function numpy:clip
  clip numpy:ndarray.clip
  where.choose numpy:where
  nan_to_num numpy:nan_to_num
npcompile.ops.complex_math
  cmath.exp cmath:exp
  cmath.sqrt cmath:sqrt
  cmath.log10 cmath:log10
  cmath.sin cmath:sin
  cmath.cos cmath:cos
  cmath.tan cmath:tan
  cmath.sinh cmath:sinh
  cmath.cosh cmath:cosh
  cmath.tanh cmath:tanh
  cmath.asin cmath:asin
  cmath.acos cmath:acos
  cmath.atan cmath:atan
  cmath.asinh cmath:asinh
  cmath.acosh cmath:acosh
  cmath.atanh cmath:atanh
  cmath.log cmath:log
  cmath.phase cmath:phase
  cmath.polar cmath:polar
  cmath.rect cmath:rect
  cmath.isnan cmath:isnan
  cmath.isinf cmath:isinf
  cmath.isfinite cmath:isfinite
npcompile.ops.complexes scalar_multiply python_divide
  conjugate numpy:conjugate
  conjugate.method numpy:ndarray.conj numpy:ndarray.conjugate
  python.conjugate builtins:complex.conjugate builtins:float.conjugate
  real_part numpy:real
  imag_part numpy:imag
  isreal numpy:isreal
  iscomplex numpy:iscomplex
  angle numpy:angle
npcompile.ops.contraction
  matmul numpy:matmul operator:matmul
  dot numpy:dot numpy:ndarray.dot
  inner numpy:inner
  vdot numpy:vdot
  outer numpy:outer
  tensordot numpy:tensordot
npcompile.ops.creation
  zeros numpy:zeros
  zeros_like numpy:zeros_like
  ones numpy:ones
  ones_like numpy:ones_like
  empty numpy:empty
  empty_like numpy:empty_like
  full numpy:full
  full_like numpy:full_like
  array numpy:array
  asarray numpy:asarray
  asanyarray numpy:asanyarray
  ascontiguousarray numpy:ascontiguousarray
  asfortranarray numpy:asfortranarray
  ndarray.fill numpy:ndarray.fill
  copyto numpy:copyto
npcompile.ops.differences
  diff numpy:diff
  trapezoid numpy:trapezoid
  unwrap numpy:unwrap
  gradient numpy:gradient
npcompile.ops.finding
  nonzero numpy:nonzero numpy:ndarray.nonzero
  argwhere numpy:argwhere
  ix_ numpy:ix_
  flatnonzero numpy:flatnonzero
  extract numpy:extract
  compress numpy:compress
  ndarray.compress numpy:ndarray.compress
npcompile.ops.gathers add.at subtract.at multiply.at divide.at maximum.at minimum.at
npcompile.ops.gathers bitwise_and.at bitwise_or.at bitwise_xor.at logical_and.at logical_or.at
npcompile.ops.gathers logical_xor.at
  take numpy:take
  ndarray.take numpy:ndarray.take
  take_along_axis numpy:take_along_axis
  put_along_axis numpy:put_along_axis
  put numpy:put numpy:ndarray.put
  choose numpy:choose
  bincount numpy:bincount
npcompile.ops.histograms
  histogram numpy:histogram
npcompile.ops.joining
  concatenate numpy:concatenate numpy:concat
  stack numpy:stack
  vstack numpy:vstack
  hstack numpy:hstack
  dstack numpy:dstack
  column_stack numpy:column_stack
  append numpy:append
  repeat numpy:repeat numpy:ndarray.repeat
  tile numpy:tile
  roll numpy:roll
  pad numpy:pad
npcompile.ops.library
  sort numpy:sort
  argsort numpy:argsort numpy:ndarray.argsort
npcompile.ops.numerals
  python.bit_length builtins:int.bit_length
  python.bit_count builtins:int.bit_count
  python.is_integer builtins:float.is_integer numpy:floating.is_integer numpy:float64.is_integer
npcompile.ops.queries
  shape numpy:shape
  ndim numpy:ndim
  size numpy:size
  ndarray.item numpy:ndarray.item
  array_equal numpy:array_equal
npcompile.ops.ranges
  arange numpy:arange
  linspace numpy:linspace
  meshgrid numpy:meshgrid
  indices numpy:indices
  eye numpy:eye
  identity numpy:identity
  tri numpy:tri
  tril numpy:tril
  triu numpy:triu
  diag numpy:diag
  fill_diagonal numpy:fill_diagonal
npcompile.ops.reductions add.reduce multiply.reduce minimum.reduce maximum.reduce
npcompile.ops.reductions logical_and.reduce logical_or.reduce bitwise_and.reduce
npcompile.ops.reductions bitwise_or.reduce bitwise_xor.reduce
  sum numpy:sum numpy:ndarray.sum
  prod numpy:prod numpy:ndarray.prod
  min numpy:min numpy:amin numpy:ndarray.min
  max numpy:max numpy:amax numpy:ndarray.max
  all numpy:all numpy:ndarray.all
  any numpy:any numpy:ndarray.any
npcompile.ops.rounding
  floor numpy:floor
  ceil numpy:ceil
  trunc numpy:trunc
  rint numpy:rint
  round numpy:round numpy:around numpy:ndarray.round
  fix numpy:fix
npcompile.ops.scans add.accumulate multiply.accumulate minimum.accumulate maximum.accumulate
npcompile.ops.scans logical_and.accumulate logical_or.accumulate bitwise_and.accumulate
npcompile.ops.scans bitwise_or.accumulate bitwise_xor.accumulate
  cumsum numpy:cumsum numpy:ndarray.cumsum
  cumprod numpy:cumprod numpy:ndarray.cumprod
  cumulative_sum numpy:cumulative_sum
  cumulative_prod numpy:cumulative_prod
  nancumsum numpy:nancumsum
  nancumprod numpy:nancumprod
npcompile.ops.searching
  searchsorted numpy:searchsorted
  ndarray.searchsorted numpy:ndarray.searchsorted
  digitize numpy:digitize
  interp numpy:interp
npcompile.ops.selection
  flip numpy:flip
  flipud numpy:flipud
  fliplr numpy:fliplr
  rot90 numpy:rot90
  diagonal numpy:diagonal numpy:ndarray.diagonal
  trace numpy:trace numpy:ndarray.trace
  array_split numpy:array_split
  split numpy:split
  vsplit numpy:vsplit
  hsplit numpy:hsplit
  dsplit numpy:dsplit
npcompile.ops.statistics
  mean numpy:mean numpy:ndarray.mean
  average numpy:average
  var numpy:var numpy:ndarray.var
  std numpy:std numpy:ndarray.std
  argmin numpy:argmin numpy:ndarray.argmin
  argmax numpy:argmax numpy:ndarray.argmax
  count_nonzero numpy:count_nonzero
  ptp numpy:ptp
  nansum numpy:nansum
  nanprod numpy:nanprod
  nanmin numpy:nanmin
  nanmax numpy:nanmax
  nanargmin numpy:nanargmin
  nanargmax numpy:nanargmax
  nanmean numpy:nanmean
  nanvar numpy:nanvar
  nanstd numpy:nanstd
npcompile.ops.views
  transpose numpy:transpose
  ndarray.transpose numpy:ndarray.transpose
  matrix_transpose numpy:matrix_transpose numpy:linalg.matrix_transpose
  swapaxes numpy:swapaxes numpy:ndarray.swapaxes
  moveaxis numpy:moveaxis
  rollaxis numpy:rollaxis
  copy numpy:copy
  ndarray.copy numpy:ndarray.copy
  ndarray.flatten numpy:ndarray.flatten
  ravel numpy:ravel numpy:ndarray.ravel
  reshape numpy:reshape
  ndarray.reshape numpy:ndarray.reshape
  squeeze numpy:squeeze numpy:ndarray.squeeze
  expand_dims numpy:expand_dims
  atleast_1d numpy:atleast_1d
  atleast_2d numpy:atleast_2d
  atleast_3d numpy:atleast_3d
  ndarray.view numpy:ndarray.view
  broadcast_to numpy:broadcast_to
  broadcast_arrays numpy:broadcast_arrays
  numpy.lib.stride_tricks:sliding_window_view numpy.lib.stride_tricks:sliding_window_view
npcompile.special.axes log1p.quiet log.quiet
  softmax scipy.special:softmax
  log_softmax scipy.special:log_softmax
  logsumexp scipy.special:logsumexp
npcompile.special.elementary.nextafter nextafter.outer
  nextafter numpy:nextafter
  spacing numpy:spacing
npcompile.special.elementary_records arctan2.outer hypot.outer logaddexp.outer logaddexp2.outer
npcompile.special.elementary_records sqrt.complex pow float_power.outer
  exp numpy:exp
  exp2 numpy:exp2
  expm1 numpy:expm1
  log numpy:log
  log2 numpy:log2
  log10 numpy:log10
  log1p numpy:log1p
  sin numpy:sin
  cos numpy:cos
  tan numpy:tan
  sinh numpy:sinh
  cosh numpy:cosh
  tanh numpy:tanh
  arctan numpy:arctan
  arcsin numpy:arcsin
  arccos numpy:arccos
  arcsinh numpy:arcsinh
  arccosh numpy:arccosh
  arctanh numpy:arctanh
  cbrt numpy:cbrt
  arctan2 numpy:arctan2
  hypot numpy:hypot
  logaddexp numpy:logaddexp
  logaddexp2 numpy:logaddexp2
  float_power numpy:float_power
  sinc numpy:sinc
npcompile.special.scipy_compositions polygamma.values
  zeta scipy.special:zeta
  polygamma scipy.special:polygamma
  comb scipy.special:comb
  perm scipy.special:perm
  factorial scipy.special:factorial
  softplus scipy.special:softplus
  spherical_jn scipy.special:spherical_jn
  spherical_yn scipy.special:spherical_yn
  spherical_in scipy.special:spherical_in
  spherical_kn scipy.special:spherical_kn
  lambertw scipy.special:lambertw
npcompile.special.scipy_programs
  expit scipy.special:expit
  logit scipy.special:logit
  log_expit scipy.special:log_expit
  xlogy scipy.special:xlogy
  xlog1py scipy.special:xlog1py
  special.exp2 scipy.special:exp2
  special.expm1 scipy.special:expm1
  special.log1p scipy.special:log1p
  special.cbrt scipy.special:cbrt
  entr scipy.special:entr
  exp10 scipy.special:exp10
  erf scipy.special:erf
  erfc scipy.special:erfc
  ndtr scipy.special:ndtr
  gammaln scipy.special:gammaln
  gamma scipy.special:gamma
  rgamma scipy.special:rgamma
  psi scipy.special:psi scipy.special:digamma
  erfinv scipy.special:erfinv
  erfcinv scipy.special:erfcinv
  ndtri scipy.special:ndtri
  erfcx scipy.special:erfcx
  log_ndtr scipy.special:log_ndtr
  i0 scipy.special:i0
  i0e scipy.special:i0e
  i1 scipy.special:i1
  i1e scipy.special:i1e
  k0 scipy.special:k0
  k0e scipy.special:k0e
  k1 scipy.special:k1
  k1e scipy.special:k1e
  j0 scipy.special:j0
  j1 scipy.special:j1
  y0 scipy.special:y0
  y1 scipy.special:y1
  dawsn scipy.special:dawsn
  erfi scipy.special:erfi
  exp1 scipy.special:exp1
  wofz scipy.special:wofz
npcompile.special.scipy_subprograms
  gammainc scipy.special:gammainc
  gammaincc scipy.special:gammaincc
  betainc scipy.special:betainc
  beta scipy.special:beta
  betaln scipy.special:betaln
  _zeta scipy.special._ufuncs:_zeta
  _riemann_zeta scipy.special._ufuncs:_riemann_zeta
  chdtr scipy.special:chdtr
  chdtrc scipy.special:chdtrc
  gdtr scipy.special:gdtr
  gdtrc scipy.special:gdtrc
  pdtr scipy.special:pdtr
  pdtrc scipy.special:pdtrc
  fdtr scipy.special:fdtr
  fdtrc scipy.special:fdtrc
  stdtr scipy.special:stdtr
  ellipk scipy.special:ellipk
  ellipkm1 scipy.special:ellipkm1
  ellipe scipy.special:ellipe
  gammaincinv scipy.special:gammaincinv
  gammainccinv scipy.special:gammainccinv
  chdtri scipy.special:chdtri
  betaincinv scipy.special:betaincinv
  betainccinv scipy.special:betainccinv
  bdtr scipy.special:bdtr
  bdtrc scipy.special:bdtrc
  bdtri scipy.special:bdtri
  nbdtr scipy.special:nbdtr
  nbdtrc scipy.special:nbdtrc
  nbdtri scipy.special:nbdtri
  pdtri scipy.special:pdtri
  gdtrix scipy.special:gdtrix
  fdtri scipy.special:fdtri
  stdtrit scipy.special:stdtrit
  binom scipy.special:binom
  poch scipy.special:poch
  gammasgn scipy.special:gammasgn
  boxcox scipy.special:boxcox
  boxcox1p scipy.special:boxcox1p
  inv_boxcox scipy.special:inv_boxcox
  inv_boxcox1p scipy.special:inv_boxcox1p
  huber scipy.special:huber
  pseudo_huber scipy.special:pseudo_huber
  rel_entr scipy.special:rel_entr
  kl_div scipy.special:kl_div
  exprel scipy.special:exprel
  cosm1 scipy.special:cosm1
  powm1 scipy.special:powm1
  expi scipy.special:expi
  expn scipy.special:expn
  zetac scipy.special:zetac
  spence scipy.special:spence
  elliprf scipy.special:elliprf
  elliprc scipy.special:elliprc
  elliprd scipy.special:elliprd
  elliprg scipy.special:elliprg
  elliprj scipy.special:elliprj
  modstruve scipy.special:modstruve
  ellipkinc scipy.special:ellipkinc
  ellipeinc scipy.special:ellipeinc
  agm scipy.special:agm
  yn scipy.special:yn
  kn scipy.special:kn
  _spherical_jn scipy.special._ufuncs:_spherical_jn
  _spherical_yn scipy.special._ufuncs:_spherical_yn
  _spherical_in scipy.special._ufuncs:_spherical_in
  _spherical_kn scipy.special._ufuncs:_spherical_kn
  eval_genlaguerre scipy.special:eval_genlaguerre
  eval_gegenbauer scipy.special:eval_gegenbauer
  owens_t scipy.special:owens_t
  voigt_profile scipy.special:voigt_profile
  wrightomega scipy.special:wrightomega
  eval_jacobi scipy.special:eval_jacobi
  jv scipy.special:jv scipy.special:jn scipy.special:jve
  yv scipy.special:yv scipy.special:yve
  iv scipy.special:iv
  kv scipy.special:kv
  ive scipy.special:ive
  kve scipy.special:kve
  hankel1 scipy.special:hankel1
  hankel1e scipy.special:hankel1e
  hankel2 scipy.special:hankel2
  hankel2e scipy.special:hankel2e
  _lambertw scipy.special._ufuncs:_lambertw
  eval_chebyt scipy.special:eval_chebyt
  eval_chebyu scipy.special:eval_chebyu
  eval_sh_chebyt scipy.special:eval_sh_chebyt
  eval_sh_chebyu scipy.special:eval_sh_chebyu
  eval_chebyc scipy.special:eval_chebyc
  eval_chebys scipy.special:eval_chebys
  eval_legendre scipy.special:eval_legendre
  eval_sh_legendre scipy.special:eval_sh_legendre
  eval_laguerre scipy.special:eval_laguerre
  eval_hermite scipy.special:eval_hermite
  eval_hermitenorm scipy.special:eval_hermitenorm
npcompile.special.scipy_tuples sici.0 sici.1 shichi.0 shichi.1 fresnel.0 fresnel.1 airy.0 airy.1
npcompile.special.scipy_tuples airy.2 airy.3 ellipj.0 ellipj.1 ellipj.2 ellipj.3
  sici scipy.special:sici
  shichi scipy.special:shichi
  fresnel scipy.special:fresnel
  airy scipy.special:airy
  ellipj scipy.special:ellipj
npcompile.fft.cosines
  scipy.fft:dct scipy.fft:dct
  scipy.fft:dctn scipy.fft:dctn
  scipy.fft:idct scipy.fft:idct
  scipy.fft:idctn scipy.fft:idctn
  scipy.fft:dst scipy.fft:dst
  scipy.fft:dstn scipy.fft:dstn
  scipy.fft:idst scipy.fft:idst
  scipy.fft:idstn scipy.fft:idstn
npcompile.fft.frequencies
  fft.fftshift numpy:fft.fftshift scipy.fft:fftshift
  fft.ifftshift numpy:fft.ifftshift scipy.fft:ifftshift
  fft.fftfreq numpy:fft.fftfreq
  fft.rfftfreq numpy:fft.rfftfreq
  scipy.fft:fftfreq scipy.fft:fftfreq
  scipy.fft:rfftfreq scipy.fft:rfftfreq
  scipy.fft:next_fast_len scipy.fft:next_fast_len
  scipy.fft:prev_fast_len scipy.fft:prev_fast_len
npcompile.fft.records
  fft.fft numpy:fft.fft
  fft.ifft numpy:fft.ifft
  fft.rfft numpy:fft.rfft
  fft.irfft numpy:fft.irfft
  fft.hfft numpy:fft.hfft
  fft.ihfft numpy:fft.ihfft
  fft.fftn numpy:fft.fftn
  fft.ifftn numpy:fft.ifftn
  fft.fft2 numpy:fft.fft2
  fft.ifft2 numpy:fft.ifft2
  fft.rfftn numpy:fft.rfftn
  fft.rfft2 numpy:fft.rfft2
  fft.irfftn numpy:fft.irfftn
  fft.irfft2 numpy:fft.irfft2
npcompile.fft.scipy_records
  scipy.fft:fft scipy.fft:fft
  scipy.fft:ifft scipy.fft:ifft
  scipy.fft:rfft scipy.fft:rfft
  scipy.fft:irfft scipy.fft:irfft
  scipy.fft:hfft scipy.fft:hfft
  scipy.fft:ihfft scipy.fft:ihfft
  scipy.fft:fftn scipy.fft:fftn
  scipy.fft:fft2 scipy.fft:fft2
  scipy.fft:ifftn scipy.fft:ifftn
  scipy.fft:ifft2 scipy.fft:ifft2
  scipy.fft:rfftn scipy.fft:rfftn
  scipy.fft:rfft2 scipy.fft:rfft2
  scipy.fft:ihfftn scipy.fft:ihfftn
  scipy.fft:ihfft2 scipy.fft:ihfft2
  scipy.fft:irfftn scipy.fft:irfftn
  scipy.fft:irfft2 scipy.fft:irfft2
  scipy.fft:hfftn scipy.fft:hfftn
  scipy.fft:hfft2 scipy.fft:hfft2
npcompile.linalg.compositions
  linalg.matmul numpy:linalg.matmul
  linalg.outer numpy:linalg.outer
  linalg.tensordot numpy:linalg.tensordot
  linalg.diagonal numpy:linalg.diagonal
  linalg.trace numpy:linalg.trace
  linalg.matrix_power numpy:linalg.matrix_power
  linalg.multi_dot numpy:linalg.multi_dot
  kron numpy:kron
  cross numpy:cross numpy:linalg.cross
  linalg.cond numpy:linalg.cond
  linalg.matrix_rank numpy:linalg.matrix_rank
  linalg.pinv numpy:linalg.pinv
npcompile.linalg.factorisations
  linalg.solve numpy:linalg.solve
  linalg.inv numpy:linalg.inv
  linalg.det numpy:linalg.det
  linalg.slogdet numpy:linalg.slogdet
  linalg.cholesky numpy:linalg.cholesky
  linalg.qr numpy:linalg.qr
  linalg.eigh numpy:linalg.eigh
  linalg.eigvalsh numpy:linalg.eigvalsh
  linalg.svd numpy:linalg.svd
  linalg.svdvals numpy:linalg.svdvals
npcompile.linalg.general
  npcompile.linalg.general:complex_eig npcompile.linalg.general:complex_eig
  npcompile.linalg.general:complex_eigvals npcompile.linalg.general:complex_eigvals
  npcompile.linalg.general:least_squares npcompile.linalg.general:least_squares
  linalg.eig numpy:linalg.eig
  linalg.eigvals numpy:linalg.eigvals
  linalg.lstsq numpy:linalg.lstsq
  linalg.tensorsolve numpy:linalg.tensorsolve
  linalg.tensorinv numpy:linalg.tensorinv
npcompile.linalg.norms
  linalg.norm numpy:linalg.norm
  linalg.vector_norm numpy:linalg.vector_norm
  linalg.matrix_norm numpy:linalg.matrix_norm
npcompile.linalg.scipy_factors
  scipy.linalg:lu_factor scipy.linalg:lu_factor
  scipy.linalg:lu_solve scipy.linalg:lu_solve
  scipy.linalg:cholesky scipy.linalg:cholesky
  scipy.linalg:cho_factor scipy.linalg:cho_factor
  scipy.linalg:cho_solve scipy.linalg:cho_solve
  scipy.linalg:solve_triangular scipy.linalg:solve_triangular
  scipy.linalg:qr scipy.linalg:qr
  scipy.linalg:svd scipy.linalg:svd
  scipy.linalg:svdvals scipy.linalg:svdvals
  scipy.linalg:eigh scipy.linalg:eigh
  scipy.linalg:eigvalsh scipy.linalg:eigvalsh
npcompile.linalg.scipy_matrices
  scipy.linalg:toeplitz scipy.linalg:toeplitz
  scipy.linalg:hankel scipy.linalg:hankel
  scipy.linalg:circulant scipy.linalg:circulant
  scipy.linalg:companion scipy.linalg:companion
  scipy.linalg:leslie scipy.linalg:leslie
  scipy.linalg:helmert scipy.linalg:helmert
  scipy.linalg:hilbert scipy.linalg:hilbert
  scipy.linalg:fiedler scipy.linalg:fiedler
  scipy.linalg:block_diag scipy.linalg:block_diag
  scipy.linalg:convolution_matrix scipy.linalg:convolution_matrix
  scipy.linalg:lu scipy.linalg:lu
  scipy.linalg:pinv scipy.linalg:pinv
  scipy.linalg:norm scipy.linalg:norm
  scipy.linalg:orthogonal_procrustes scipy.linalg:orthogonal_procrustes
npcompile.linalg.sums
  einsum numpy:einsum
  vecdot numpy:vecdot numpy:linalg.vecdot
  matvec numpy:matvec
  vecmat numpy:vecmat
"""

#: the module of each name, and the name of each function's path
MODULES: dict[str, str] = {}
ALIASES: dict[str, str] = {}


def _read() -> None:
    module = ""
    for line in INDEX.strip().splitlines():
        words = line.split()
        if line.startswith("npcompile."):
            module, *names = words
        else:
            names = words[:1]
            ALIASES.update(dict.fromkeys(words[1:], words[0]))
        MODULES.update(dict.fromkeys(names, module))


_read()
