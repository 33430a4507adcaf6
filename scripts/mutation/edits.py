# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of a text that may be nested."""


class Wrapper:
    """Text before and after a range of a source, as bytes are counted. With `inside`,
    also a replacement of a part of the range that no other change touches: its begin,
    its end and its text."""

    def __init__(self, begin, end, opening, closing, inside=None):
        self.begin = begin
        self.end = end
        self.opening = opening
        self.closing = closing
        self.inside = inside

    def numbered(self, number):
        """Returns this wrapper with a number for each @."""
        return Wrapper(self.begin, self.end, self.opening.replace("@", str(number)),
                       self.closing.replace("@", str(number)), self.inside)

    def crosses(self, other):
        """Returns true if the ranges overlap and none is within the other."""
        return (self.begin < other.begin < self.end < other.end or
                other.begin < self.begin < other.end < self.end)


def apply(data, wrappers):
    """Returns a text with all changes. Of equal ranges, the first in `wrappers` is
    outside of the others."""
    # At one place, what ends comes first, the innermost before the others; then what
    # begins, the outermost before the others.
    inserted = []
    for order, wrapper in enumerate(wrappers):
        begin, end = wrapper.begin, wrapper.end
        inserted.append(((begin, 1, begin - end, order), begin, wrapper.opening))
        inserted.append(((end, 0, end - begin, -order), end, wrapper.closing))
        if wrapper.inside:
            begin, end, text = wrapper.inside
            inserted.append(((begin, 1, 0, 0), end, text))
    result, at = [], 0
    for (begin, *_), end, text in sorted(inserted, key=lambda item: item[0]):
        result += [data[at:begin], text.encode()]
        at = end
    return b"".join(result + [data[at:]])
