"""Shape aliases, so that a signature says which object it takes.

Frame and order are part of the convention: a `Quat` is Hamilton, scalar first `(w, x, y, z)`; a
`Rot` maps body components to space components, its columns are the directors `d1, d2, d3`.
Leading axes `...` are batch axes.
"""

from jaxtyping import Array, Bool, Float, Int

Scalar = Float[Array, ""]
Vec3 = Float[Array, "*batch 3"]
Quat = Float[Array, "*batch 4"]
Rot = Float[Array, "*batch 3 3"]
BoolScalar = Bool[Array, ""]
IntScalar = Int[Array, ""]
