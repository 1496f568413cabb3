"""Which joints make an open chain of equal ones along the list of bodies."""

import equinox as eqx
import jax

from ._condition_kind import merged as merged_rows
from ._linkage import Linkage
from ._long_tree import LongTree
from ._serial_linkage import Link, SerialLinkage


def serial(linkage: Linkage) -> SerialLinkage | None:
    """The joints in loops along the links, if they make a chain of one kind along the list of bodies."""
    if not _is_chain(linkage):
        return None
    first = linkage.joints[0]
    alike = [eqx.tree_at(lambda one: one.site, joint, first.site) for joint in linkage.joints]
    numbers, rest = zip(*(eqx.partition(joint, eqx.is_array) for joint in alike), strict=True)
    base, count = linkage.grips[0][0], len(alike)
    if any(jax.tree.structure(one) != jax.tree.structure(numbers[0]) for one in numbers):
        return None
    if any(not eqx.tree_equal(one, rest[0]) for one in rest):
        return None
    befores = [pair[0] for pair in linkage.grips]
    if not base.live:
        befores[0] = befores[1]
    half, carriers = linkage.weights.size // 2, int(base.live)
    inverse = linkage.weights.reshape(2, 3, -1)
    links = [
        Link(
            (before.arm, before.frame),
            (own.arm, own.frame),
            (linkage.weights[carriers + k], inverse[1, :, carriers + k]),
            joint,
        )
        for k, (before, (_, own), joint) in enumerate(zip(befores, linkage.grips, numbers, strict=True))
    ]
    assert half == 3 * (carriers + count)
    leaves = zip(*(jax.tree.leaves(link) for link in links), strict=True)
    merged, varied = zip(*map(merged_rows, leaves), strict=True)
    structure = jax.tree.structure(links[0])
    return SerialLinkage(
        jax.tree.unflatten(structure, merged),
        base,
        linkage.weights,
        linkage.placement,
        rest[0],
        LongTree(linkage, range(count)),
        count,
        varied,
    )


def _is_chain(linkage: Linkage) -> bool:
    """Whether every joint holds the next body of the list on the one before."""
    base, tree = linkage.grips[0][0], linkage.tree
    carriers, placement = int(base.live), linkage.placement
    bodies = range(carriers, carriers + len(linkage.joints))
    if not linkage.independent or placement.driven:
        return False
    if base.live and (base.moving != 0 or base.turning != 0):
        return False
    if not len(placement.translating) == len(placement.rotating) == bodies.stop:
        return False
    return all(
        branch.forward
        and branch.joint == k
        and type(linkage.joints[k]) is type(linkage.joints[0])
        and own.moving == own.turning == body
        and (k == 0 or (before.moving == before.turning == body - 1))
        for k, (branch, (before, own), body) in enumerate(
            zip(tree.branches, linkage.grips, bodies, strict=True)
        )
    )
